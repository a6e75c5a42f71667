/* SPDX-License-Identifier: Apache-2.0 */
/* REINFORCE: from rewards to advantages. */
#ifndef REGAL_LEARN_REINFORCE_H
#define REGAL_LEARN_REINFORCE_H

#include "learn/train_settings.h"
#include "nn/real.h"

/* rewards and advantages are [graphs][samples]; baselines [graphs] are read for
 * REGAL_ADVANTAGE_LEARNED alone. Rewards that do not differ have no advantage
 * over each other. */
void regal_reinforce_advantages(regal_advantage kind, uint32_t graphs,
                                uint32_t samples, const double *rewards,
                                const double *baselines,
                                regal_real *advantages);

#endif
