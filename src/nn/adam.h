/* SPDX-License-Identifier: Apache-2.0 */
/* Adam (Kingma and Ba 2015) with clipping by global norm and linear decay of
 * the learning rate.
 *
 * The state is two arrays as long as the parameters and the number of steps:
 * saved and loaded as they are, a run continues bit for bit.
 */
#ifndef REGAL_NN_ADAM_H
#define REGAL_NN_ADAM_H

#include <stddef.h>
#include <stdint.h>

#include "nn/real.h"

typedef struct regal_adam_settings {
  double learning_rate; /* of the first step */
  double
      final_learning_rate; /* reached after decay_steps, kept from there on */
  uint64_t decay_steps;    /* 0: no decay */
  double beta1, beta2, epsilon;
  double clip_norm; /* 0: no clipping */
} regal_adam_settings;

/* The paper's: 1e-4, no decay, 0.9, 0.999, 1e-8, norm 10. */
regal_adam_settings regal_adam_paper(void);

typedef struct regal_adam {
  uint64_t steps;        /* taken so far */
  regal_real *mean;      /* [count] of gradients; zero at the start */
  regal_real *deviation; /* [count] of their squares; zero at the start */
} regal_adam;

double regal_adam_learning_rate(const regal_adam_settings *settings,
                                uint64_t step);

/* Scales the gradient so that its norm is at most `most`, if that is not 0. One
 * that is not finite is left as it is. */
void regal_clip_norm(double most, size_t count, regal_real *gradient);

/* One step down the gradient; both arrays have `count` entries, and the
 * gradient is left as it was. Returns the norm of the gradient before clipping;
 * when that is not finite nothing changes, not even the number of steps. */
double regal_adam_step(const regal_adam_settings *settings, regal_adam *adam,
                       size_t count, const regal_real *gradient,
                       regal_real *parameters);

#endif
