/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer transfers at the same cost: the last pass over the best plan.
 *
 * The model says what a transfer costs, and on real machines it costs more:
 * launches, synchronisation, and what the model's links leave out. Of plans
 * that the model calls equal, the one with fewer transfers, then fewer bytes,
 * is the better one. The pass changes the best plan of a search as long as its
 * transfers become fewer, or the same with fewer bytes, and nothing that the
 * search minimises becomes worse.
 */
#ifndef REGAL_TIDY_TIDY_H
#define REGAL_TIDY_TIDY_H

#include "search/search.h"

/* Takes a small share of the budget out of it; the whole is returned. */
regal_budget regal_tidy_reserve(regal_search *search);

/* Gives the whole budget back and tidies the best plan with what was kept. Says
 * in `what` by how much, or "" if nothing was gained. Depends on the seed and,
 * where the budget is evaluations, not on the time. */
regal_status regal_tidy(regal_search *search, const regal_budget *whole,
                        char *what, size_t size);

#endif
