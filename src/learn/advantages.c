/* SPDX-License-Identifier: Apache-2.0 */
/* From rewards to advantages: what is taken off a reward, and what the rest is
 * divided by (trainer_step.c says why). */
#include "learn/advantages.h"

#include <math.h>

/* The reward less the mean of the graph's other samples: an unbiased baseline,
 * since it does not depend on the sample itself. */
static double leave_one_out(const double *rewards, uint32_t samples,
                            uint32_t s) {
  double others = 0;
  for (uint32_t i = 0; i < samples; i++)
    others += i == s ? 0 : rewards[i];
  return rewards[s] - others / (samples - 1);
}

static void scale(regal_real *advantages, size_t count) {
  double square = 0;
  for (size_t i = 0; i < count; i++)
    square += (double)advantages[i] * advantages[i];
  double deviation = sqrt(square / (double)count);
  for (size_t i = 0; i < count && deviation > 0; i++)
    advantages[i] = (regal_real)(advantages[i] / deviation);
}

void regal_scale_advantages(regal_advantage kind, uint32_t graphs,
                            uint32_t samples, regal_real *advantages) {
  for (uint32_t g = 0; g < graphs && kind == REGAL_ADVANTAGE_GRAPH; g++)
    scale(advantages + (size_t)g * samples, samples);
  if (kind == REGAL_ADVANTAGE_BATCH)
    scale(advantages, (size_t)graphs * samples);
}

void regal_reinforce_advantages(regal_advantage kind, uint32_t graphs,
                                uint32_t samples, const double *rewards,
                                const double *baselines,
                                regal_real *advantages) {
  for (uint32_t g = 0; g < graphs; g++) {
    const double *of_graph = rewards + (size_t)g * samples;
    for (uint32_t s = 0; s < samples; s++)
      advantages[(size_t)g * samples + s] =
          (regal_real)(kind == REGAL_ADVANTAGE_LEARNED
                           ? of_graph[s] - baselines[g]
                           : leave_one_out(of_graph, samples, s));
  }
  regal_scale_advantages(kind, graphs, samples, advantages);
}

double regal_reward_spread(uint32_t graphs, uint32_t samples,
                           const double *rewards) {
  double square = 0;
  for (uint32_t g = 0; g < graphs; g++) {
    const double *of_graph = rewards + (size_t)g * samples;
    double mean = 0;
    for (uint32_t s = 0; s < samples; s++)
      mean += of_graph[s] / samples;
    for (uint32_t s = 0; s < samples; s++)
      square += (of_graph[s] - mean) * (of_graph[s] - mean);
  }
  return samples > 1 ? sqrt(square / graphs / (samples - 1)) : NAN;
}
