/* SPDX-License-Identifier: Apache-2.0 */
/* From rewards to advantages. */
#ifndef REGAL_LEARN_ADVANTAGES_H
#define REGAL_LEARN_ADVANTAGES_H

#include "learn/train_settings.h"

/* From rewards to advantages, both [graphs][samples]; baselines [graphs] are
 * read for REGAL_ADVANTAGE_LEARNED only. Rewards that do not differ have no
 * advantage over each other. */
void regal_reinforce_advantages(regal_advantage kind, uint32_t graphs,
                                uint32_t samples, const double *rewards,
                                const double *baselines,
                                regal_real *advantages);
/* Divides advantages [graphs][samples] by their deviation, over the batch or
 * over each graph, or leaves them. */
void regal_scale_advantages(regal_advantage kind, uint32_t graphs,
                            uint32_t samples, regal_real *advantages);

/* The deviation of rewards [graphs][samples] within a graph: the root mean
 * square over graphs. NaN for one sample. It is the luck of BRKGA and what
 * actions change. */
double regal_reward_spread(uint32_t graphs, uint32_t samples,
                           const double *rewards);

#endif
