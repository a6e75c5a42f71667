/* SPDX-License-Identifier: Apache-2.0 */
/* One choice among a few levels: softmax of its logits. */
#ifndef REGAL_NN_CATEGORICAL_H
#define REGAL_NN_CATEGORICAL_H

#include <stdint.h>

#include "nn/real.h"

/* Probabilities and their logarithms; returns the entropy in nats. */
regal_real regal_categorical_forward(uint32_t levels, const regal_real *logits,
                                     regal_real *p, regal_real *log_p);

/* The gradient of   sum of taken[j] * -log p(j)  -  entropy_weight * entropy,
 * where taken[j] is the weight of level j among the actions taken. */
void regal_categorical_backward(uint32_t levels, const regal_real *p,
                                const regal_real *log_p,
                                const regal_real *taken,
                                regal_real entropy_weight,
                                regal_real *d_logits);

/* The level that `number` (64 random bits) falls on. */
uint32_t regal_categorical_draw(uint32_t levels, const regal_real *p,
                                uint64_t number);
/* The likeliest level, the lowest of them. */
uint32_t regal_categorical_best(uint32_t levels, const regal_real *p);

#endif
