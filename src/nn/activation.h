/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions. Their exponential is our own, so that results do not
 * depend on the C library, and vectorises; in double precision it is libm's. */
#ifndef REGAL_NN_ACTIVATION_H
#define REGAL_NN_ACTIVATION_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nn/real.h"
#include "nn/target.h"

#ifdef REGAL_REAL_DOUBLE
REGAL_INLINE double regal_exp(double x) {
  return exp(x);
}
#else
/* exp(x) by Cody and Waite's reduction and a polynomial of degree 7, within
 * 2e-7 of the value; arguments outside -87 .. 88 count as those, and what is
 * not a number as -87: it must not become an integer. */
REGAL_INLINE float regal_exp(float x) {
  x = x > -87.0f ? x : -87.0f;
  x = x < 88.0f ? x : 88.0f;
  /* Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. */
  float shifted = x * 1.44269504f + 12582912.0f;
  float n = shifted - 12582912.0f;
  float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.98756915e-4f;
  p = p * r + 1.39819995e-3f;
  p = p * r + 8.33345191e-3f;
  p = p * r + 4.16657959e-2f;
  p = p * r + 1.66666655e-1f;
  p = p * r + 5.00000012e-1f;
  p = (p * r) * r + r + 1.0f;
  int32_t bits = ((int32_t)n + 127) * (1 << 23);
  float power;
  memcpy(&power, &bits, sizeof power);
  return p * power;
}
#endif

REGAL_INLINE regal_real regal_sigmoid(regal_real x) {
  return 1 / (1 + regal_exp(-x));
}

REGAL_INLINE regal_real regal_tanh(regal_real x) {
  x = x < -20 ? -20 : x > 20 ? 20 : x;
  return 1 - 2 / (regal_exp(2 * x) + 1);
}

#endif
