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

/* What a policy says of one gene: the probability of the levels that were
 * chosen, and the entropy of its choice, in nats. */
typedef struct regal_guide_odds {
  double probability, entropy;
} regal_guide_odds;

/* The actions of a network on one graph: the likeliest, or drawn by a key.
 * `odds` is NULL, or has room for all genes of all heads. Fails with "NAME: "
 * when an output is not finite. */
regal_status regal_guide_act(regal_context *context, const char *name,
                             const regal_network *network,
                             const regal_encoding *encoding,
                             const uint64_t *key, uint8_t *actions,
                             regal_guide_odds *odds);

/* What a policy has read of a problem, and its actions. */
typedef struct regal_guide_choices {
  regal_encoding *encoding;
  regal_brkga_features *features; /* or NULL: it needs none */
  regal_draft *draft;             /* the same */
  uint8_t *actions;
  regal_guide_odds *odds; /* of every gene of every head; NULL: not wanted */
} regal_guide_choices;

/* Reads the problem of the search, with evaluations of its budget where the
 * policy needs them, and chooses. To be freed also when it fails. */
regal_status regal_guide_choose(regal_guide *guide, regal_search *search,
                                bool greedy, bool with_odds,
                                regal_guide_choices *choices);
void regal_guide_choices_free(regal_context *context,
                              regal_guide_choices *choices);

/* Evaluations of a choice, which all were for features. */
uint64_t regal_guide_choices_evaluations(const regal_guide_choices *choices);

/* The runs of BRKGA that the policy's features need: of a population, of a
 * draft. */
uint64_t regal_guide_feature_runs(const regal_policy_config *config);
/* How many evaluations each of them gets out of a budget: 400, as in the paper,
 * and all of them at most half of it; 0 where there are none.
 */
uint64_t regal_guide_feature_evaluations(const regal_policy_config *config,
                                         uint64_t budget);

#endif
