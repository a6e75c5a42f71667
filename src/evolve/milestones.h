/* SPDX-License-Identifier: Apache-2.0 */
/* What one run of BRKGA had found after each of several budgets.
 *
 * Random numbers are keyed by generation and individual, so a run with a
 * smaller budget is a prefix of a longer one with the same seed, also where the
 * budget ends in the middle of a generation: one run answers for all.
 */
#ifndef REGAL_EVOLVE_MILESTONES_H
#define REGAL_EVOLVE_MILESTONES_H

#include "base/parallel/threads.h"
#include "cost/model/fitness.h"

/* best[i] is exactly what method brkga with the decoder that the options name
 * (paper if none), and budgets[i] evaluations ends with; budgets ascend, from
 * 1. One island, no restarts, no time limit. When a stop is requested before
 * the last budget, *complete is false and best[] holds nothing of use. */
regal_status regal_brkga_milestones(regal_context *context,
                                    const regal_problem *problem,
                                    const regal_options *options,
                                    regal_pool *pool, const uint64_t *budgets,
                                    size_t count, regal_fitness *best,
                                    bool *complete);

#endif
