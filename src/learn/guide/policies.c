/* SPDX-License-Identifier: Apache-2.0 */
/* Which policy --policy means: a rule, a shipped policy by its name, a file;
 * or, without a name, the first shipped policy made for the problem. */
#include "learn/guide/policies.h"

#include <string.h>

#include "policies.embedded.h"

const regal_shipped_policy regal_shipped_policies[] = {
    REGAL_EMBEDDED_POLICIES{NULL, NULL, 0}};

static const char *wanted_decoder(const regal_options *options) {
  return options->decoder[0] ? options->decoder : "paper";
}

/* -- Rules ----------------------------------------------------------------- */

static const struct {
  const char *name;
  regal_rule rule;
} rules[] = {{"rule", REGAL_RULE_ORDER}, {"rule-depth", REGAL_RULE_DEPTH}};
#define RULES (sizeof rules / sizeof *rules)

static bool has_priorities(const regal_decoder *decoder) {
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++)
    if (!strcmp(decoder->classes[c].name, REGAL_RULE_CLASS) &&
        decoder->classes[c].domain == REGAL_GENE_OP)
      return true;
  return false;
}

static regal_status open_rule(regal_context *context,
                              const regal_options *options,
                              const regal_problem *problem, size_t index,
                              regal_guide **guide) {
  const regal_decoder *decoder = regal_decoder_find(wanted_decoder(options));
  if (!has_priorities(decoder))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found decoder %s, expected one with a %s for each "
                      "op",
                      rules[index].name, decoder->name, REGAL_RULE_CLASS);
  return regal_guide_create(context, rules[index].name, NULL, rules[index].rule,
                            problem, decoder, guide);
}

/* -- Shipped policies ------------------------------------------------------ */

static bool is_suitable(const regal_policy_config *config,
                        const regal_options *options,
                        const regal_problem *problem, const char *kind) {
  const regal_decoder *decoder = regal_decoder_find(config->decoder);
  bool right_kind = kind[0]
                        ? !strcmp(regal_policy_kind_name(config->kind), kind)
                        : config->kind != REGAL_POLICY_GAS;
  return right_kind && decoder &&
         regal_config_serves(config, decoder, problem->devices) &&
         config->objective == (uint32_t)problem->objective &&
         (!options->decoder[0] || !strcmp(config->decoder, options->decoder));
}

/* How far a policy is from the number of devices: the same, fewer, more. */
static uint32_t distance(uint32_t made_for, uint32_t devices) {
  return made_for <= devices ? devices - made_for : made_for;
}

/* Sets `found` to the first of the nearest that serve, or to the last, which
 * has no name. */
static regal_status find_shipped(regal_context *context,
                                 const regal_options *options,
                                 const regal_problem *problem, const char *kind,
                                 const regal_shipped_policy **found) {
  const regal_shipped_policy *nearest = NULL, *shipped = regal_shipped_policies;
  uint32_t least = UINT32_MAX;
  for (; shipped->name; shipped++) {
    regal_policy_config config;
    regal_policy_provenance provenance;
    REGAL_TRY(regal_policy_peek(context, shipped->name, shipped->bytes,
                                shipped->size, &config, &provenance));
    uint32_t far = distance(config.devices, problem->devices);
    if (far < least && is_suitable(&config, options, problem, kind)) {
      least = far;
      nearest = shipped;
    }
  }
  *found = nearest ? nearest : shipped;
  return REGAL_OK;
}

static regal_status fail_none(regal_context *context,
                              const regal_options *options,
                              const regal_problem *problem, const char *kind) {
  const char *decoder = options->decoder;
  bool memory = problem->objective == REGAL_MEMORY;
  return regal_fail(
      context, REGAL_BAD_INPUT,
      "no %s%spolicy for objective %s and %s%s comes with regal; --policy "
      "names "
      "a file%s, and 'regal train DATASET --devices %u%s%s%s%s%s -o FILE' "
      "makes "
      "one",
      kind, kind[0] ? " " : "", regal_objective_name(problem->objective),
      decoder[0] ? "decoder " : "any decoder", decoder,
      kind[0] ? "" : " or rule", problem->devices,
      memory ? " --objective memory" : "", decoder[0] ? " --decoder " : "",
      decoder, kind[0] ? " --policy-kind " : "", kind);
}

static const regal_shipped_policy *shipped_by_name(const char *name) {
  const regal_shipped_policy *shipped = regal_shipped_policies;
  while (shipped->name && strcmp(shipped->name, name) != 0)
    shipped++;
  return shipped;
}

/* -- Any ------------------------------------------------------------------- */

/* A policy is for its own decoder, and for another one with the same genes if
 * the user names that. */
static void adopt_decoder(const regal_options *options,
                          regal_policy_config *config) {
  const regal_decoder *made_for = regal_decoder_find(config->decoder);
  const regal_decoder *wanted = regal_decoder_find(options->decoder);
  if (made_for && wanted && regal_decoders_share_genes(made_for, wanted))
    snprintf(config->decoder, sizeof config->decoder, "%s", wanted->name);
}

static regal_status open_policy(regal_context *context,
                                const regal_options *options,
                                const regal_problem *problem, const char *name,
                                const regal_shipped_policy *shipped,
                                regal_guide **guide) {
  regal_policy *policy;
  if (shipped->name)
    REGAL_TRY(regal_policy_read(context, shipped->name, shipped->bytes,
                                shipped->size, &policy));
  else
    REGAL_TRY(regal_policy_load(context, name, &policy));
  const regal_policy_config *config = &policy->network->config;
  adopt_decoder(options, &policy->network->config);
  regal_status status =
      regal_policy_check(context, name, config, problem->objective,
                         options->decoder[0] ? options->decoder : NULL);
  const regal_decoder *decoder = regal_decoder_find(config->decoder);
  if (status == REGAL_OK && !decoder)
    status = regal_fail(context, REGAL_BAD_INPUT,
                        "%s: found a policy for decoder %s, expected one that "
                        "'regal methods' lists",
                        name, config->decoder);
  if (status == REGAL_OK)
    status = regal_config_check_heads(context, name, decoder, config);
  if (status == REGAL_OK &&
      !regal_config_serves(config, decoder, problem->devices))
    status = regal_fail(context, REGAL_BAD_INPUT,
                        "%s: found a policy that chooses for each of %u "
                        "device%s only, expected one for %u devices",
                        name, config->devices, config->devices == 1 ? "" : "s",
                        problem->devices);
  if (status != REGAL_OK) {
    regal_policy_free(policy);
    return status;
  }
  return regal_guide_create(context, name, policy, REGAL_RULE_ORDER, problem,
                            decoder, guide);
}

regal_status regal_policies_open(regal_context *context,
                                 const regal_options *options,
                                 const regal_problem *problem, const char *kind,
                                 regal_guide **guide) {
  const char *name = options->policy;
  const regal_shipped_policy *shipped;
  for (size_t i = 0; i < RULES; i++)
    if (!strcmp(name, rules[i].name))
      return open_rule(context, options, problem, i, guide);
  if (name[0]) {
    shipped = shipped_by_name(name);
  } else {
    REGAL_TRY(find_shipped(context, options, problem, kind, &shipped));
    if (!shipped->name)
      return fail_none(context, options, problem, kind);
    name = shipped->name;
  }
  return open_policy(context, options, problem, name, shipped, guide);
}
