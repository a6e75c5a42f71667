/* SPDX-License-Identifier: Apache-2.0 */
/* Perturbed parameters and the gradient that their rewards give: the head of
 * perturb.h has the estimator. Signs are bits of counter-based random numbers,
 * 64 parameters to a number, so they are made again instead of kept. */
#include "learn/perturb.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "learn/advantages.h"

/* The signs of one pair. */
typedef struct signs {
  const regal_network *network;
  uint64_t key; /* of the pair */
} signs;

static signs signs_of(const regal_network *network, uint64_t key,
                      uint32_t sample) {
  return (signs){network,
                 regal_random_key(key, REGAL_PURPOSE_POLICY, 2, sample / 2)};
}

static double side_of(uint32_t sample) {
  return sample % 2 ? -1 : 1;
}

static void add_signs(const signs *s, size_t first, size_t end, regal_real step,
                      regal_real *values) {
  for (size_t i = first; i < end;) {
    uint64_t bits = regal_random_at(s->key, i / 64) >> i % 64;
    size_t stop = (i / 64 + 1) * 64 < end ? (i / 64 + 1) * 64 : end;
    for (; i < stop; i++, bits >>= 1)
      values[i] += bits & 1 ? step : -step;
  }
}

/* Adds step * c (power 1) or step / c (power -1) times the signs of a pair to
 * all parameters of the policy. */
static void add_all(const signs *s, double step, int power,
                    regal_real *values) {
  const regal_network *network = s->network;
  for (uint32_t b = 0; b < network->block_count; b++) {
    const regal_network_block *block = &network->blocks[b];
    double scale = 1 / sqrt(block->rows);
    if (block->at >= network->policy_count)
      break;
    add_signs(s, block->at, block->at + (size_t)block->rows * block->columns,
              (regal_real)(step * (power > 0 ? scale : 1 / scale)), values);
  }
}

void regal_perturb(const regal_network *network, uint64_t key, uint32_t sample,
                   double sigma, regal_real *parameters) {
  signs s = signs_of(network, key, sample);
  memcpy(parameters, network->parameters,
         network->parameter_count * sizeof *parameters);
  add_all(&s, sigma * side_of(sample), 1, parameters);
}

void regal_perturb_gradient(const regal_network *network, uint64_t key,
                            uint32_t samples, double sigma,
                            const regal_real *advantages, double share,
                            regal_real *gradient) {
  for (uint32_t sample = 0; sample < samples; sample++) {
    signs s = signs_of(network, key, sample);
    double step = advantages[sample] * side_of(sample) * share / sigma;
    if (step != 0)
      add_all(&s, -step, -1, gradient);
  }
}

void regal_pair_advantages(regal_advantage kind, uint32_t graphs,
                           uint32_t samples, const double *rewards,
                           regal_real *advantages) {
  size_t count = (size_t)graphs * samples;
  for (size_t i = 0; i < count; i++)
    advantages[i] = (regal_real)((rewards[i] - rewards[i ^ 1]) / 2);
  regal_scale_advantages(kind, graphs, samples, advantages);
}
