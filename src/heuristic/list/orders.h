/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for memory that compilers use today: each gives a topological order of
 * all ops, looking at one device only, in O((n + e) log n) for n ops and e
 * edges. `order` has room for all ops.
 */
#ifndef REGAL_HEURISTIC_LIST_ORDERS_H
#define REGAL_HEURISTIC_LIST_ORDERS_H

#include "cost/model/problem.h"

typedef regal_status (*regal_order_fn)(regal_context *context,
                                       const regal_problem *problem,
                                       uint32_t *order);

regal_status regal_order_of_file(regal_context *context,
                                 const regal_problem *problem, uint32_t *order);
/* Ops by (key, index), each after its predecessors, which are visited in that
 * order too. */
regal_status regal_order_depth_first(regal_context *context,
                                     const regal_problem *problem,
                                     const int64_t *key, uint32_t *order);
/* The same with own bytes + bytes read as keys. */
regal_status regal_order_dfs(regal_context *context,
                             const regal_problem *problem, uint32_t *order);
/* The ready op whose predecessors ran first: their positions, ascending, are
 * compared one after the other; then by index. */
regal_status regal_order_bfs(regal_context *context,
                             const regal_problem *problem, uint32_t *order);
/* Least peak memory first: of the ready ops that keep the peak as it is, the
 * one that leaves least memory in use; when none does, the one that raises the
 * peak least. */
regal_status regal_order_lpmf(regal_context *context,
                              const regal_problem *problem, uint32_t *order);
/* The ready op that frees most bytes net of what it allocates, then the one
 * with most successors, then the one that became ready last. */
regal_status regal_order_xla_list(regal_context *context,
                                  const regal_problem *problem,
                                  uint32_t *order);

/* Segments between the valleys of what subtrees hold (heuristic/list/tree.c):
 * the least peak of a tree, and an order for other graphs. */
regal_status regal_order_tree(regal_context *context,
                              const regal_problem *problem, uint32_t *order);
/* The ops that nothing depends on, by index, each after its predecessors; these
 * by falling number of extra users (those of an op beyond the first, summed
 * over all paths that lead to it), then by falling bytes, summed likewise. */
regal_status regal_order_xla_dfs(regal_context *context,
                                 const regal_problem *problem, uint32_t *order);

/* All ops on one device, as far as they can run there: the device that can run
 * most ops, of these the fastest for them, of these the one with most memory,
 * of these the first. Other ops go where the first op of their group runs
 * fastest. O(n d). */
void regal_place_single(const regal_problem *problem, uint8_t *placement);
/* The placement of HEFT itself (heuristic/list/heft.c). Under a limit no device
 * gets more to hold for the whole plan than this share of it, as long as
 * another has room; 0: limits are ignored. */
regal_status regal_heft_place(regal_context *context,
                              const regal_problem *problem, double memory_share,
                              uint8_t *placement);
/* The plan of regal_place_single in the order of the file: what a user has
 * without any optimisation. */
regal_status regal_plan_single(regal_context *context,
                               const regal_problem *problem, regal_plan **plan);

#endif
