/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: what the levels that a policy chooses mean (the paper's A.6, "Action
 * dequantization"). With k levels, level i stands for the share
 * (i + 1) / (k + 1): the mean of a Beta itself, its variance as a share of the
 * largest that a distribution with this mean can have.
 *
 * A relative head counts levels of means from the draft's gene, which is the
 * middle level, in steps of REGAL_DRAFT_SHIFT / REGAL_DRAFT_MEANS. It needs
 * Betas that are nearly certain, which equal steps of the variance do not have:
 * the strength alpha + beta falls by equal ratios instead, from
 * REGAL_STRONGEST_BETA to 2, which for a mean of 1/2 is uniform.
 */
#ifndef REGAL_POLICY_ACTIONS_H
#define REGAL_POLICY_ACTIONS_H

#include <math.h>

#include "policy/policy.h"

typedef struct regal_action_beta {
  double alpha, beta;
} regal_action_beta;

#define REGAL_STRONGEST_BETA 65536.0
#define REGAL_DRAFT_MEANS 256
#define REGAL_DRAFT_SHIFT 4 /* of a level */

static inline double regal_action_share(uint32_t level, uint32_t levels) {
  return (level + 1.0) / (levels + 1.0);
}

/* Means that a head's Betas can have. */
static inline uint32_t regal_action_means(const regal_policy_head *head) {
  return head->relative ? REGAL_DRAFT_MEANS : head->mean_levels;
}

/* alpha + beta of a level of the variance. With variance = mean (1 - mean)
 * share it is 1 / share - 1. */
static inline double regal_action_strength(const regal_policy_head *head,
                                           uint32_t variance) {
  uint32_t last = head->variance_levels - 1;
  if (head->relative)
    return REGAL_STRONGEST_BETA *
           pow(2 / REGAL_STRONGEST_BETA, (double)variance / last);
  return 1 / regal_action_share(variance, head->variance_levels) - 1;
}

/* The Beta of one of a head's means and a level of its variance: the paper's
 * formulas, simplified. */
static inline regal_action_beta
regal_action_dequantise(const regal_policy_head *head, uint32_t mean,
                        uint32_t variance) {
  double m = regal_action_share(mean, regal_action_means(head));
  double strength = regal_action_strength(head, variance);
  return (regal_action_beta){m * strength, (1 - m) * strength};
}

/* The draft's genes of a relative head; NULL: not relative, or no draft of as
 * many devices. */
const float *regal_draft_of(const regal_policy_head *head,
                            const regal_encoding *encoding);

/* Genes of an item that a head speaks for. What a relative head says of its
 * last device holds for all further ones: shifts and strengths, unlike means,
 * do not say which device. */
static inline uint32_t regal_head_reach(const regal_policy_head *head,
                                        const float *drafted,
                                        const regal_encoding *encoding) {
  return drafted && head->genes > 1 ? encoding->draft_devices : head->genes;
}

/* The action for a gene, out of those of a head. */
static inline const uint8_t *regal_action_of(const regal_policy_head *head,
                                             uint32_t reach, size_t gene,
                                             const uint8_t *actions) {
  size_t item = gene / reach, own = gene % reach;
  if (own >= head->genes)
    own = head->genes - 1;
  return actions + (item * head->genes + own) * regal_head_levels(head);
}

/* Which of the head's means a chosen level stands for. drafted is what
 * regal_draft_of gave. */
static inline uint32_t regal_action_mean(const regal_policy_head *head,
                                         const float *drafted, size_t gene,
                                         uint32_t level) {
  if (!head->relative)
    return level;
  int64_t means = REGAL_DRAFT_MEANS;
  double from = drafted ? (double)drafted[gene] : 0.5;
  int64_t shift = REGAL_DRAFT_SHIFT * ((int64_t)level - head->mean_levels / 2);
  int64_t at = (int64_t)(from * (double)means) + shift;
  return (uint32_t)(at < 0 ? 0 : at >= means ? means - 1 : at);
}

/* The crossover bias of a level, in (0.5, 1]. */
static inline double regal_action_bias(const regal_policy_head *head,
                                       uint32_t level) {
  return 0.5 * (1 + (level + 1.0) / head->bias_levels);
}

#endif
