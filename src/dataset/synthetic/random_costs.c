/* SPDX-License-Identifier: Apache-2.0 */
/* Normal numbers by Marsaglia's polar method: of the math library it needs only
 * the logarithm and the (exact) square root, which leaves the least room for
 * machines to differ.
 */
#include "dataset/synthetic/random_costs.h"

#include <math.h>

double regal_normal_next(regal_normal *normal) {
  if (normal->has_spare) {
    normal->has_spare = 0;
    return normal->spare;
  }
  double u, v, square;
  do {
    u = 2 * regal_random_unit(&normal->random) - 1;
    v = 2 * regal_random_unit(&normal->random) - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  double scale = sqrt(-2 * log(square) / square);
  normal->spare = v * scale;
  normal->has_spare = 1;
  return u * scale;
}

int64_t regal_random_bytes(regal_normal *normal) {
  int64_t bytes = (int64_t)floor(50 + 10 * regal_normal_next(normal) + 0.5);
  return bytes > 1 ? bytes : 1;
}

int64_t regal_random_run_ns(regal_normal *normal, int64_t touched) {
  double factor = 1 + 0.1 * regal_normal_next(normal);
  int64_t us = (int64_t)floor((double)touched * factor + 0.5);
  return us > 0 ? us * 1000 : 0;
}
