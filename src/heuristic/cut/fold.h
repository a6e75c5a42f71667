/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of ops for moves and cuts that take whole layers. */
#ifndef REGAL_HEURISTIC_CUT_FOLD_H
#define REGAL_HEURISTIC_CUT_FOLD_H

#include "cost/model/problem.h"

/* Fold ranks: an op up to `peak`, where memory peaks in the file's order on one
 * device, has its own position, a later one the least rank of what it depends
 * on. A backward op so stands beside the forward layer that it belongs to.
 * `rank` has room for all ops. O(n + e). */
void regal_fold_rank(const regal_problem *problem, uint32_t peak,
                     uint32_t *rank);

/* All ops by fold rank, ties by index. `by_fold` has room for all ops. */
regal_status regal_fold_order(regal_context *context,
                              const regal_problem *problem, uint32_t *by_fold);

#endif
