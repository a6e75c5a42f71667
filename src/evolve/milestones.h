/* SPDX-License-Identifier: Apache-2.0 */
/* What one run of BRKGA had found after each of several budgets.
 *
 * Random numbers are keyed by generation and individual, so a run with a
 * smaller budget is a prefix of a longer one with the same seed, also where the
 * budget ends in the middle of a generation: one run answers for all.
 */
#ifndef REGAL_EVOLVE_MILESTONES_H
#define REGAL_EVOLVE_MILESTONES_H

#include "evolve/settings.h"

/* best[i] is exactly what BRKGA with budgets[i] evaluations ends with; budgets
 * ascend, from 1, and the last one is the search's. One island, no restarts, no
 * time limit. When a stop is requested before the end, search->stop is
 * REGAL_STOP_INTERRUPT, and best[] is not valid. */
regal_status regal_brkga_milestones(regal_search *search,
                                    const regal_brkga_settings *settings,
                                    const uint64_t *budgets, size_t count,
                                    regal_fitness *best);

#endif
