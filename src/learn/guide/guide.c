/* SPDX-License-Identifier: Apache-2.0 */
/* A policy or a rule in a search: features, encoding, actions, proposal. The
 * evaluations of the features come off the budget of the search. */
#include "learn/guide/guide.h"

#include <stdio.h>
#include <string.h>

#include "policy/features.h"

/* A blind policy lists features, for its baseline, but acts without them. */
static bool needs_run(const regal_policy_config *config) {
  return config->kind != REGAL_POLICY_BLIND &&
         regal_features_need_run(&config->features);
}

uint64_t regal_guide_feature_evaluations(const regal_policy_config *config,
                                         uint64_t budget) {
  if (!needs_run(config))
    return 0;
  return budget / 2 < REGAL_FEATURE_EVALUATIONS ? budget / 2
                                                : REGAL_FEATURE_EVALUATIONS;
}

regal_status regal_guide_act(regal_context *context, const char *name,
                             const regal_network *network,
                             const regal_encoding *encoding,
                             const uint64_t *key, uint8_t *actions) {
  regal_network_sizes sizes = {0};
  regal_network_workspace *work;
  regal_network_draw draw;
  regal_network_add_sizes(&sizes, encoding);
  REGAL_TRY(regal_network_workspace_create(context, network, &sizes, &work));
  regal_status status =
      regal_network_forward(context, network, work, &encoding, 1, false);
  if (status == REGAL_OK && key)
    regal_network_sample(network, work, 0, *key, 1, actions, &draw);
  else if (status == REGAL_OK)
    regal_network_greedy(network, work, 0, actions, &draw);
  if (status == REGAL_OK && !regal_network_is_finite(&draw))
    status = regal_fail(context, REGAL_BAD_INPUT,
                        "%s: the policy's output for this graph overflows, "
                        "expected finite outputs",
                        name);
  regal_network_workspace_free(context, work);
  return status;
}

static regal_status choose(regal_guide *guide, const regal_search *search,
                           const regal_encoding *encoding, bool greedy,
                           uint8_t *actions) {
  if (!guide->policy)
    return regal_rule_actions(guide->context, guide->rule, encoding, actions);
  uint64_t key = regal_random_key(search->seed, REGAL_PURPOSE_POLICY, 1, 0);
  return regal_guide_act(guide->context, guide->name, guide->policy->network,
                         encoding, greedy ? NULL : &key, actions);
}

static regal_status propose_from(regal_guide *guide, regal_search *search,
                                 const regal_encoding *encoding, bool greedy,
                                 regal_proposal **proposal) {
  uint8_t *actions = regal_alloc(
      guide->context, regal_policy_actions(&guide->config, encoding), 1);
  if (!actions)
    return regal_fail_memory(guide->context);
  regal_status status = choose(guide, search, encoding, greedy, actions);
  if (status == REGAL_OK) {
    regal_beta_tables_fill_for(guide->betas, encoding, actions);
    status = regal_propose(guide->context, guide->betas, search->problem,
                           encoding, actions, proposal);
  }
  regal_release(guide->context, actions);
  return status;
}

static regal_status propose(void *state, regal_search *search, bool greedy,
                            regal_guidance *guidance) {
  regal_guide *guide = state;
  regal_context *context = guide->context;
  regal_brkga_features *features = NULL;
  regal_encoding *encoding;
  if (needs_run(&guide->config)) {
    regal_brkga_settings settings = regal_brkga_settings_of(search->options);
    uint64_t left = regal_budget_left(&search->budget);
    settings.decoder = regal_decoder_find(guide->config.decoder);
    REGAL_TRY(regal_brkga_features_run(
        search, &settings,
        regal_guide_feature_evaluations(&guide->config, left), &features));
  }
  regal_status status = regal_encode_problem(
      context, search->problem, &guide->config.features, guide->config.devices,
      features ? features->placement : NULL,
      features ? features->position : NULL, &encoding);
  if (status == REGAL_OK) {
    status = propose_from(guide, search, encoding, greedy, &guidance->proposal);
    regal_encoding_free(context, encoding);
  }
  if (status == REGAL_OK && features) {
    guidance->seen = features->best;
    guidance->seen_fitness = features->best_fitness;
    guidance->evaluations = features->evaluations;
    features->best = NULL;
  }
  regal_brkga_features_free(context, features);
  return status;
}

static regal_status fill(regal_guide *guide, const char *name,
                         uint32_t devices) {
  uint32_t made_for = guide->config.devices;
  guide->name = regal_copy_text(guide->context, name);
  if (!guide->name)
    return regal_fail_memory(guide->context);
  guide->proposer = (regal_proposer){
      .state = guide,
      .name = guide->name,
      .kind =
          guide->policy ? regal_policy_kind_name(guide->config.kind) : "rule",
      .propose = propose,
  };
  if (made_for != devices)
    snprintf(guide->proposer.made_for, sizeof guide->proposer.made_for,
             " for %u device%s", made_for, made_for == 1 ? "" : "s");
  return regal_beta_tables_create(guide->context, &guide->config,
                                  &guide->betas);
}

regal_status regal_guide_create(regal_context *context, const char *name,
                                regal_policy *policy, regal_rule rule,
                                const regal_problem *problem,
                                const regal_decoder *decoder,
                                regal_guide **guide) {
  regal_guide *made = regal_alloc(context, 1, sizeof *made);
  if (!made) {
    regal_policy_free(policy);
    return regal_fail_memory(context);
  }
  made->context = context;
  made->policy = policy;
  made->rule = rule;
  if (policy)
    made->config = policy->network->config;
  else
    regal_rule_config(rule, problem->devices, problem->objective, decoder->name,
                      &made->config);
  regal_status status = fill(made, name, problem->devices);
  if (status == REGAL_OK)
    *guide = made;
  else
    regal_guide_free(made);
  return status;
}

void regal_guide_free(regal_guide *guide) {
  if (!guide)
    return;
  regal_release(guide->context, guide->betas);
  regal_policy_free(guide->policy);
  regal_release(guide->context, guide->name);
  regal_release(guide->context, guide);
}
