/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's distributions of sizes and times (appendix, synthetic dataset).
 *
 * A CostGraphDef holds whole bytes and whole microseconds, so both are rounded,
 * and a graph is the same after it was written and read.
 */
#ifndef REGAL_DATASET_SYNTHETIC_RANDOM_COSTS_H
#define REGAL_DATASET_SYNTHETIC_RANDOM_COSTS_H

#include <stdint.h>

#include "base/random.h"

/* Standard normal numbers; each pair of draws gives two. */
typedef struct regal_normal {
  regal_random random;
  double spare;
  int has_spare;
} regal_normal;

double regal_normal_next(regal_normal *normal);

/* A tensor's size: N(50, 10) bytes, rounded, at least 1. */
int64_t regal_random_bytes(regal_normal *normal);
/* The run time of an op whose inputs and outputs have `touched` bytes together:
 * that many microseconds times 1 + N(0, 0.1), rounded, at least 0. */
int64_t regal_random_run_ns(regal_normal *normal, int64_t touched);

#endif
