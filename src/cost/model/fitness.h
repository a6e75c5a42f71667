/* SPDX-License-Identifier: Apache-2.0 */
/* How good a plan is, as search compares it: less is better, first by what is
 * beyond the memory limit, then by the objective, then by the tie-break. */
#ifndef REGAL_COST_MODEL_FITNESS_H
#define REGAL_COST_MODEL_FITNESS_H

#include "cost/model/problem.h"

typedef struct regal_fitness {
  int64_t excess; /* bytes beyond the limits, summed over devices */
  int64_t value;  /* the objective: nanoseconds, or peak bytes */
  int64_t tie;    /* run time when the objective is memory, else 0 */
} regal_fitness;

/* Where a search needs one number: so many wholes (all of the work, or the
 * limit itself) for an excess as large as the limit. */
#define REGAL_EXCESS_PRICE 3.0

#define REGAL_FITNESS_WORST ((regal_fitness){INT64_MAX, INT64_MAX, INT64_MAX})

static inline bool regal_fitness_less(regal_fitness a, regal_fitness b) {
  if (a.excess != b.excess)
    return a.excess < b.excess;
  if (a.value != b.value)
    return a.value < b.value;
  return a.tie < b.tie;
}

static inline regal_fitness regal_fitness_of(const regal_problem *problem,
                                             const regal_cost *cost) {
  if (problem->objective == REGAL_MEMORY)
    return (regal_fitness){cost->excess_bytes, cost->max_peak_bytes,
                           cost->runtime_ns};
  return (regal_fitness){cost->excess_bytes, cost->runtime_ns, 0};
}

#endif
