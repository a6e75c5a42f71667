/* SPDX-License-Identifier: Apache-2.0 */
/* One choice among a few levels: softmax, its gradient, and draws.
 *
 * The largest logit is subtracted first, so that no exponential overflows. With
 * entropy H = - sum p log p the gradient of H by logit j is
 * - p(j) (log p(j) + H); that of - log p(i) is p(j) - [i = j]. */
#include "nn/categorical.h"

#include <math.h>

#include "nn/activation.h"

regal_real regal_categorical_forward(uint32_t levels, const regal_real *logits,
                                     regal_real *p, regal_real *log_p) {
  regal_real top = logits[0], sum = 0, entropy = 0;
  for (uint32_t j = 1; j < levels; j++)
    top = logits[j] > top ? logits[j] : top;
  for (uint32_t j = 0; j < levels; j++)
    p[j] = regal_exp(logits[j] - top);
  for (uint32_t j = 0; j < levels; j++)
    sum += p[j];
  regal_real log_sum = (regal_real)log(sum);
  for (uint32_t j = 0; j < levels; j++) {
    p[j] /= sum;
    log_p[j] = logits[j] - top - log_sum;
    entropy -= p[j] * log_p[j];
  }
  return entropy;
}

void regal_categorical_backward(uint32_t levels, const regal_real *p,
                                const regal_real *log_p,
                                const regal_real *taken,
                                regal_real entropy_weight,
                                regal_real *d_logits) {
  regal_real entropy = 0, all = 0;
  for (uint32_t j = 0; j < levels; j++) {
    entropy -= p[j] * log_p[j];
    all += taken[j];
  }
  for (uint32_t j = 0; j < levels; j++)
    d_logits[j] =
        all * p[j] - taken[j] + entropy_weight * p[j] * (log_p[j] + entropy);
}

uint32_t regal_categorical_draw(uint32_t levels, const regal_real *p,
                                uint64_t number) {
  double u = (double)(number >> 11) * 0x1p-53, below = 0;
  for (uint32_t j = 0; j + 1 < levels; j++) {
    below += p[j];
    if (u < below)
      return j;
  }
  return levels - 1;
}

uint32_t regal_categorical_best(uint32_t levels, const regal_real *p) {
  uint32_t best = 0;
  for (uint32_t j = 1; j < levels; j++)
    if (p[j] > p[best])
      best = j;
  return best;
}
