/* SPDX-License-Identifier: Apache-2.0 */
/* Stage cuts: ops are ranked, the axis of ranks is cut into one stage for each
 * device, and every op runs where its rank falls.
 *
 * Ranks: the position in the file; the fold rank, by which an op after the
 * memory peak of the file's order goes with the earliest op that it depends on
 * (so that the backward part of a layer joins its forward part); and the
 * position in a list order, by critical path for run time, by least peak memory
 * first for memory. Cuts are proposed by dynamic programming on costs that add
 * up along the axis (heuristic/cut/parts.h), within the memory limits, and then
 * moved one at a time, each plan costed exactly (decode/walk.h).
 *
 * About 900 walks where the graph is small, some 24 where it is large: 1 to 5
 * milliseconds for 300 to 1000 ops (three times that where memory counts), a
 * few seconds for a million.
 */
#ifndef REGAL_HEURISTIC_CUT_CUTS_H
#define REGAL_HEURISTIC_CUT_CUTS_H

#include "cost/model/fitness.h"
#include "cost/model/plan.h"

typedef struct regal_cuts regal_cuts;

/* Looks for good cuts. They come with the best first, at most one for each pair
 * of a rank and an order, and no two with the same order and placement: starts
 * for local search. The problem must outlive them. */
regal_status regal_cuts_find(regal_context *context,
                             const regal_problem *problem, regal_cuts **cuts);
void regal_cuts_free(regal_cuts *cuts);

uint32_t regal_cuts_count(const regal_cuts *cuts); /* at least 1 */
regal_fitness regal_cuts_fitness(const regal_cuts *cuts, uint32_t k);
/* The k-th best: a topological order of all ops, and a device for each. Says
 * how transfers follow: true as regal_walk_batched, false as regal_walk_late
 * sends them. */
bool regal_cuts_read(regal_cuts *cuts, uint32_t k, uint32_t *order,
                     uint8_t *placement);
/* The k-th best as a plan; its cost is regal_cuts_fitness. */
regal_status regal_cuts_plan(regal_cuts *cuts, uint32_t k, regal_plan **plan);

#endif
