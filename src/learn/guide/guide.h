/* SPDX-License-Identifier: Apache-2.0 */
/* A policy at work: reads a problem, chooses actions, and hands the search a
 * proposal (evolve/proposer.h).
 */
#ifndef REGAL_LEARN_GUIDE_GUIDE_H
#define REGAL_LEARN_GUIDE_GUIDE_H

#include "evolve/proposer.h"
#include "learn/guide/propose.h"
#include "policy/policy_file.h"
#include "policy/rule.h"

typedef struct regal_guide {
  regal_context *context;
  regal_proposer proposer; /* what the search gets */
  char *name;
  regal_policy *policy; /* or NULL: a rule */
  regal_rule rule;
  regal_policy_config config;
  regal_beta_tables *betas;
} regal_guide;

/* Takes the policy over, also when it fails; with NULL the rule serves, on the
 * problem's devices and objective. */
regal_status regal_guide_create(regal_context *context, const char *name,
                                regal_policy *policy, regal_rule rule,
                                const regal_problem *problem,
                                const regal_decoder *decoder,
                                regal_guide **guide);
void regal_guide_free(regal_guide *guide);

/* The actions of a network on one graph: the likeliest, or drawn by a key.
 * Fails with "NAME: " when an output is not finite. */
regal_status regal_guide_act(regal_context *context, const char *name,
                             const regal_network *network,
                             const regal_encoding *encoding,
                             const uint64_t *key, uint8_t *actions);

/* How many evaluations go into features out of a budget: 400, as in the paper,
 * and at most half of it; 0 where the policy reads no feature that needs them.
 */
uint64_t regal_guide_feature_evaluations(const regal_policy_config *config,
                                         uint64_t budget);

#endif
