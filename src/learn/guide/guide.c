/* SPDX-License-Identifier: Apache-2.0 */
/* A policy or a rule in a search: features, encoding, actions, proposal. The
 * evaluations of the features come off the budget of the search. */
#include "learn/guide/guide.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policy/features.h"

/* A blind policy lists features, for its baseline, but acts without them. */
static bool needs(const regal_policy_config *config,
                  regal_feature_origin from) {
  return config->kind != REGAL_POLICY_BLIND &&
         regal_features_need(&config->features, from);
}

uint64_t regal_guide_feature_runs(const regal_policy_config *config) {
  return (uint64_t)needs(config, REGAL_FEATURE_FROM_POPULATION) +
         needs(config, REGAL_FEATURE_FROM_DRAFT);
}

uint64_t regal_guide_feature_evaluations(const regal_policy_config *config,
                                         uint64_t budget) {
  uint64_t runs = regal_guide_feature_runs(config);
  uint64_t each = runs ? budget / 2 / runs : 0;
  return each < REGAL_FEATURE_EVALUATIONS ? each : REGAL_FEATURE_EVALUATIONS;
}

/* -- Actions --------------------------------------------------------------- */

/* One gene: its levels are chosen independently. */
static regal_guide_odds odds_of(const regal_policy_head *head,
                                const uint8_t *action,
                                const regal_real **log_p) {
  const uint32_t levels[] = {head->mean_levels, head->variance_levels,
                             head->bias_levels};
  regal_guide_odds odds = {1, 0};
  for (size_t part = 0; part < regal_head_levels(head); part++) {
    odds.probability *= exp((double)(*log_p)[action[part]]);
    for (uint32_t i = 0; i < levels[part]; i++)
      odds.entropy -= exp((double)(*log_p)[i]) * (double)(*log_p)[i];
    *log_p += levels[part];
  }
  return odds;
}

static void note_odds(const regal_network *network,
                      const regal_network_workspace *work,
                      const regal_encoding *encoding, const uint8_t *actions,
                      regal_guide_odds *odds) {
  for (uint32_t h = 0; h < network->config.head_count; h++) {
    const regal_policy_head *head = &network->config.heads[h];
    const regal_real *log_p =
        regal_network_log_probabilities(network, work, 0, h);
    for (size_t g = regal_head_genes(head, encoding); g > 0; g--) {
      *odds++ = odds_of(head, actions, &log_p);
      actions += regal_head_levels(head);
    }
  }
}

static regal_status act(regal_context *context, const char *name,
                        const regal_network *network,
                        regal_network_workspace *work,
                        const regal_encoding *encoding, const uint64_t *key,
                        uint8_t *actions) {
  regal_network_draw draw;
  REGAL_TRY(regal_network_forward(context, network, work, &encoding, 1, false));
  if (key)
    regal_network_sample(network, work, 0, *key, 1, actions, &draw);
  else
    regal_network_greedy(network, work, 0, actions, &draw);
  return regal_network_is_finite(&draw)
             ? REGAL_OK
             : regal_fail(context, REGAL_BAD_INPUT,
                          "%s: the policy's output for this graph overflows, "
                          "expected finite outputs",
                          name);
}

regal_status regal_guide_act(regal_context *context, const char *name,
                             const regal_network *network,
                             const regal_encoding *encoding,
                             const uint64_t *key, uint8_t *actions,
                             regal_guide_odds *odds) {
  regal_network_sizes sizes = {0};
  regal_network_workspace *work;
  regal_network_add_sizes(&sizes, encoding);
  REGAL_TRY(regal_network_workspace_create(context, network, &sizes, &work));
  regal_status status =
      act(context, name, network, work, encoding, key, actions);
  if (status == REGAL_OK && odds)
    note_odds(network, work, encoding, actions, odds);
  regal_network_workspace_free(context, work);
  return status;
}

/* A rule is certain. */
static regal_status act_by_rule(const regal_guide *guide,
                                const regal_guide_choices *choices,
                                size_t genes) {
  for (size_t g = 0; choices->odds && g < genes; g++)
    choices->odds[g] = (regal_guide_odds){1, 0};
  return regal_rule_actions(guide->context, guide->rule, choices->encoding,
                            choices->actions);
}

static regal_status make_room(const regal_guide *guide, bool with_odds,
                              regal_guide_choices *choices, size_t *genes) {
  regal_context *context = guide->context;
  const regal_policy_config *config = &guide->config;
  *genes = 0;
  for (uint32_t h = 0; h < config->head_count; h++)
    *genes += regal_head_genes(&config->heads[h], choices->encoding);
  choices->actions =
      regal_alloc(context, regal_policy_actions(config, choices->encoding), 1);
  if (with_odds)
    choices->odds = regal_alloc(context, *genes, sizeof *choices->odds);
  return choices->actions && (choices->odds || !with_odds)
             ? REGAL_OK
             : regal_fail_memory(context);
}

static regal_status read_problem(const regal_guide *guide, regal_search *search,
                                 regal_guide_choices *choices) {
  const regal_policy_config *config = &guide->config;
  regal_brkga_settings settings = regal_brkga_settings_of(search->options);
  uint64_t each = regal_guide_feature_evaluations(
      config, regal_budget_left(&search->budget));
  regal_feature_runs runs = {0};
  settings.decoder = regal_decoder_find(config->decoder);
  if (needs(config, REGAL_FEATURE_FROM_POPULATION)) {
    REGAL_TRY(
        regal_brkga_features_run(search, &settings, each, &choices->features));
    runs.placement = choices->features->placement;
    runs.position = choices->features->position;
  }
  if (needs(config, REGAL_FEATURE_FROM_DRAFT)) {
    REGAL_TRY(regal_draft_run(search, &settings, each, &choices->draft));
    runs.draft = choices->draft->genes;
  }
  return regal_encode_problem(guide->context, search->problem,
                              &config->features, config->devices, &runs,
                              &choices->encoding);
}

uint64_t regal_guide_choices_evaluations(const regal_guide_choices *choices) {
  return (choices->features ? choices->features->evaluations : 0) +
         (choices->draft ? choices->draft->evaluations : 0);
}

regal_status regal_guide_choose(regal_guide *guide, regal_search *search,
                                bool greedy, bool with_odds,
                                regal_guide_choices *choices) {
  size_t genes;
  *choices = (regal_guide_choices){0};
  REGAL_TRY(read_problem(guide, search, choices));
  REGAL_TRY(make_room(guide, with_odds, choices, &genes));
  if (!guide->policy)
    return act_by_rule(guide, choices, genes);
  uint64_t key = regal_random_key(search->seed, REGAL_PURPOSE_POLICY, 1, 0);
  return regal_guide_act(guide->context, guide->name, guide->policy->network,
                         choices->encoding, greedy ? NULL : &key,
                         choices->actions, choices->odds);
}

void regal_guide_choices_free(regal_context *context,
                              regal_guide_choices *choices) {
  regal_brkga_features_free(context, choices->features);
  regal_draft_free(context, choices->draft);
  if (choices->encoding)
    regal_encoding_free(context, choices->encoding);
  regal_release(context, choices->actions);
  regal_release(context, choices->odds);
}

/* -- Proposals ------------------------------------------------------------- */

static void hand_over(regal_brkga_features *features,
                      regal_guidance *guidance) {
  guidance->seen = features->best;
  guidance->seen_fitness = features->best_fitness;
  features->best = NULL;
}

static regal_status propose(void *state, regal_search *search, bool greedy,
                            regal_guidance *guidance) {
  regal_guide *guide = state;
  regal_guide_choices choices;
  regal_status status =
      regal_guide_choose(guide, search, greedy, false, &choices);
  if (status == REGAL_OK) {
    regal_beta_tables_fill_for(guide->betas, choices.encoding, choices.actions);
    status =
        regal_propose(guide->context, guide->betas, search->problem,
                      choices.encoding, choices.actions, &guidance->proposal);
  }
  if (status == REGAL_OK)
    guidance->evaluations = regal_guide_choices_evaluations(&choices);
  if (status == REGAL_OK && choices.features)
    hand_over(choices.features, guidance);
  regal_guide_choices_free(guide->context, &choices);
  return status;
}

/* -- Guides ---------------------------------------------------------------- */

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
