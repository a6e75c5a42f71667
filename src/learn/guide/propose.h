/* SPDX-License-Identifier: Apache-2.0 */
/* From a problem to what a policy reads, and from its actions to a proposal:
 * here the policy's heads meet the decoder's gene classes, by name.
 */
#ifndef REGAL_LEARN_GUIDE_PROPOSE_H
#define REGAL_LEARN_GUIDE_PROPOSE_H

#include "evolve/proposal.h"
#include "learn/guide/brkga_features.h"
#include "learn/guide/draft.h"
#include "policy/policy.h"

/* Sets what a new policy for the problem and decoder reads (the paper's
 * features, unless the config lists some) and serves, and leaves the rest;
 * heads are added one by one. */
void regal_config_for(const regal_problem *problem,
                      const regal_decoder *decoder,
                      regal_policy_config *config);
/* Adds a head for one of the decoder's gene classes. */
regal_status regal_config_add_head(regal_context *context,
                                   const regal_decoder *decoder,
                                   const char *gene_class, uint32_t mean_levels,
                                   uint32_t variance_levels,
                                   uint32_t bias_levels,
                                   regal_policy_config *config);

/* Fails unless each head of a policy from a file is what regal_config_add_head
 * makes for its gene class. `name` is the policy's, for messages. */
regal_status regal_config_check_heads(regal_context *context, const char *name,
                                      const regal_decoder *decoder,
                                      const regal_policy_config *config);
/* Whether a head can choose for a problem on so many devices. One that chooses
 * for each device (affinities, transfers) knows the devices that it was trained
 * for only, unless it is relative, which more devices do not disturb; all
 * others can. */
bool regal_head_serves(const regal_policy_head *head,
                       const regal_decoder *decoder, uint32_t devices);
/* Whether one of the policy's heads can. */
bool regal_config_serves(const regal_policy_config *config,
                         const regal_decoder *decoder, uint32_t devices);

/* The Betas of all actions that a policy has, as tables, so that an episode
 * makes none. Once filled it is only read, and may be shared by threads. */
typedef struct regal_beta_tables {
  const regal_policy_config *config; /* must outlive it */
  size_t first[REGAL_MOST_HEADS];    /* number of a head's first shape */
  size_t count;
  regal_beta_shape *shapes; /* [count] mean by mean: its variances */
  regal_gene *tables;       /* [count * REGAL_BETA_QUANTILES] */
  bool *made;               /* [count] the table is filled */
} regal_beta_tables;

/* One block, which regal_release frees. */
regal_status regal_beta_tables_create(regal_context *context,
                                      const regal_policy_config *config,
                                      regal_beta_tables **betas);
/* Fills the tables of every action. */
void regal_beta_tables_fill(regal_beta_tables *betas);
/* Fills the tables that these actions need. */
void regal_beta_tables_fill_for(regal_beta_tables *betas,
                                const regal_encoding *encoding,
                                const uint8_t *actions);

/* The proposal of one action vector, on the tables of `betas`, which must be
 * filled for it and outlive it: a Beta for each gene of the heads' classes and
 * perhaps a crossover bias; other classes are uniform, and so are those of
 * heads that do not serve the problem's number of devices. */
regal_status regal_propose(regal_context *context,
                           const regal_beta_tables *betas,
                           const regal_problem *problem,
                           const regal_encoding *encoding,
                           const uint8_t *actions, regal_proposal **proposal);

#endif
