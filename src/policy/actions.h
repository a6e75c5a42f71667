/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: what the levels that a policy chooses mean (the paper's appendix,
 * "Action dequantization"). With k levels, level i stands for the share
 * (i + 1) / (k + 1): the mean of a Beta itself, its variance as a share of the
 * largest that a distribution with this mean can have.
 */
#ifndef REGAL_POLICY_ACTIONS_H
#define REGAL_POLICY_ACTIONS_H

#include "policy/policy.h"

typedef struct regal_action_beta {
  double alpha, beta;
} regal_action_beta;

/* The Beta of two levels of a head. */
regal_action_beta regal_action_dequantise(const regal_policy_head *head,
                                          uint32_t mean, uint32_t variance);
/* The crossover bias of a level, in (0.5, 1]. */
double regal_action_bias(const regal_policy_head *head, uint32_t level);

#endif
