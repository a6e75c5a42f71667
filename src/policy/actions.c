/* SPDX-License-Identifier: Apache-2.0 */
/* From levels to Betas and crossover biases (the paper's A.6). */
#include "policy/actions.h"

static double share_of(uint32_t level, uint32_t levels) {
  return (level + 1.0) / (levels + 1.0);
}

/* The paper's formulas, simplified: with variance = mean (1 - mean) share its
 * beta = (1 - mean) (1 / share - 1), and alpha = beta mean / (1 - mean). */
regal_action_beta regal_action_dequantise(const regal_policy_head *head,
                                          uint32_t mean, uint32_t variance) {
  double m = share_of(mean, head->mean_levels);
  double strength = 1 / share_of(variance, head->variance_levels) - 1;
  return (regal_action_beta){m * strength, (1 - m) * strength};
}

double regal_action_bias(const regal_policy_head *head, uint32_t level) {
  return 0.5 * (1 + (level + 1.0) / head->bias_levels);
}
