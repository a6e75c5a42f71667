/* SPDX-License-Identifier: Apache-2.0 */
/* Adam (Kingma and Ba 2015) with clipping by global norm and linear decay: the
 * paper's optimiser. Moments are kept as floats, each step is computed in
 * double precision. */
#include "nn/adam.h"

#include <math.h>

regal_adam_settings regal_adam_paper(void) {
  return (regal_adam_settings){.learning_rate = 1e-4,
                               .final_learning_rate = 1e-4,
                               .beta1 = 0.9,
                               .beta2 = 0.999,
                               .epsilon = 1e-8,
                               .clip_norm = 10};
}

double regal_adam_learning_rate(const regal_adam_settings *settings,
                                uint64_t step) {
  if (!settings->decay_steps)
    return settings->learning_rate;
  if (step >= settings->decay_steps)
    return settings->final_learning_rate;
  double done = (double)step / (double)settings->decay_steps;
  return settings->learning_rate +
         done * (settings->final_learning_rate - settings->learning_rate);
}

static double norm_of(size_t count, const regal_real *gradient) {
  double square = 0;
  for (size_t i = 0; i < count; i++)
    square += (double)gradient[i] * gradient[i];
  return sqrt(square);
}

static double clip_scale(double most, double norm) {
  return most > 0 && norm > most ? most / norm : 1;
}

void regal_clip_norm(double most, size_t count, regal_real *gradient) {
  if (most <= 0)
    return;
  double norm = norm_of(count, gradient);
  double scale = clip_scale(most, norm);
  if (!isfinite(norm) || scale == 1)
    return;
  for (size_t i = 0; i < count; i++)
    gradient[i] = (regal_real)(scale * gradient[i]);
}

double regal_adam_step(const regal_adam_settings *settings, regal_adam *adam,
                       size_t count, const regal_real *gradient,
                       regal_real *parameters) {
  double norm = norm_of(count, gradient);
  if (!isfinite(norm))
    return norm;
  double scale = clip_scale(settings->clip_norm, norm);
  double rate = regal_adam_learning_rate(settings, adam->steps);
  double steps = (double)++adam->steps;
  double b1 = settings->beta1, b2 = settings->beta2;
  double unbiased1 = 1 - pow(b1, steps), unbiased2 = 1 - pow(b2, steps);
  for (size_t i = 0; i < count; i++) {
    double g = scale * gradient[i];
    double m = b1 * adam->mean[i] + (1 - b1) * g;
    double v = b2 * adam->deviation[i] + (1 - b2) * g * g;
    adam->mean[i] = (regal_real)m;
    adam->deviation[i] = (regal_real)v;
    parameters[i] -= (regal_real)(rate * (m / unbiased1) /
                                  (sqrt(v / unbiased2) + settings->epsilon));
  }
  return norm;
}
