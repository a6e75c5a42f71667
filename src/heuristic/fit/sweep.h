/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a good setting of the list scheduler (heuristic/fit/fit.h).
 *
 * Which priorities are best depends on the graph, the placement and the memory
 * that is left, and the run time is a rough function of them: settings that are
 * nearly alike may differ by several percent. So a sweep tries the settings of
 * a table, then settings that are drawn at random, and more and more often
 * variations of the best one. A pass is given up as soon as it is behind.
 */
#ifndef REGAL_HEURISTIC_FIT_SWEEP_H
#define REGAL_HEURISTIC_FIT_SWEEP_H

#include "base/random.h"
#include "heuristic/fit/fit.h"

typedef struct regal_fit_sweep {
  regal_random random;
  regal_fit_setting best;
  int64_t best_ns;      /* INT64_MAX before the first pass */
  uint32_t passes;      /* made so far */
  uint32_t improved_at; /* the pass that found the best */
} regal_fit_sweep;

enum { REGAL_FIT_TABLE = 8 }; /* settings that come first */

void regal_fit_sweep_begin(regal_fit_sweep *sweep, uint64_t seed,
                           uint64_t number);
/* The next pass, for what `fit` has begun; whether it is better than all before
 * it. */
bool regal_fit_sweep_pass(regal_fit_sweep *sweep, regal_fit *fit);

#endif
