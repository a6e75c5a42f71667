/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: what the levels that a policy chooses mean (the paper's A.6, "Action
 * dequantization"). With k levels, level i stands for the share
 * (i + 1) / (k + 1): the mean of a Beta itself, its variance as a share of the
 * largest that a distribution with this mean can have.
 */
#ifndef REGAL_POLICY_ACTIONS_H
#define REGAL_POLICY_ACTIONS_H

#include "policy/policy.h"

typedef struct regal_action_beta {
  double alpha, beta;
} regal_action_beta;

static inline double regal_action_share(uint32_t level, uint32_t levels) {
  return (level + 1.0) / (levels + 1.0);
}

/* The Beta of two levels of a head: the paper's formulas, simplified. With
 * variance = mean (1 - mean) share its beta = (1 - mean) (1 / share - 1), and
 * alpha = beta mean / (1 - mean). */
static inline regal_action_beta
regal_action_dequantise(const regal_policy_head *head, uint32_t mean,
                        uint32_t variance) {
  double m = regal_action_share(mean, head->mean_levels);
  double strength = 1 / regal_action_share(variance, head->variance_levels) - 1;
  return (regal_action_beta){m * strength, (1 - m) * strength};
}

/* The crossover bias of a level, in (0.5, 1]. */
static inline double regal_action_bias(const regal_policy_head *head,
                                       uint32_t level) {
  return 0.5 * (1 + (level + 1.0) / head->bias_levels);
}

#endif
