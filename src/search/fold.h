/* Ranks of ops for moves and cuts that take whole layers. */
#ifndef REGAL_SEARCH_FOLD_H
#define REGAL_SEARCH_FOLD_H

#include "cost/problem.h"

/* All ops by fold rank: an op before the peak of memory (in the file's order,
 * on one device) has its own position, a later one the least rank of what it
 * depends on. A backward op so stands beside the forward layer that it belongs
 * to. Ties by index. `by_fold` has room for all ops. O(n + e). */
regal_status regal_fold_order(regal_context *context,
                              const regal_problem *problem, uint32_t *by_fold);

#endif
