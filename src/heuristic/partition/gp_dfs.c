/* SPDX-License-Identifier: Apache-2.0 */
/* `gp-dfs`: placement by graph partitioning (heuristic/partition/partition.h),
 * then the depth-first order (heuristic/list/orders.h), which each device
 * follows for its own ops. Transfers follow from both, once together at the
 * first need and once each just before its first reader; the better plan is
 * kept.
 */
#include "decode/walk.h"
#include "heuristic/heuristics.h"
#include "heuristic/list/orders.h"
#include "heuristic/partition/partition.h"
#include "search/search.h"

enum { PARTITIONER_FM, PARTITIONER_METIS }; /* as in regal_options.h */

typedef struct gp_dfs {
  uint32_t *order;    /* [ops] */
  uint8_t *placement; /* [ops] */
  regal_walk walk;
} gp_dfs;

static void layout(gp_dfs *made, regal_carver *carver,
                   const regal_problem *problem) {
  made->order = regal_carve(carver, problem->ops, 4);
  made->placement = regal_carve(carver, problem->ops, 1);
  regal_walk_layout(&made->walk, carver, problem);
}

static regal_status offer(regal_search *search, gp_dfs *made, bool batched) {
  const regal_problem *problem = search->problem;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context, regal_plan_most_steps(problem),
                              &plan));
  (batched ? regal_walk_batched : regal_walk_late)(
      problem, &made->walk, made->order, made->placement, plan);
  return regal_search_offer(search, plan);
}

static regal_status run(regal_search *search, gp_dfs *made) {
  const regal_problem *problem = search->problem;
  bool metis = search->options->partitioner == PARTITIONER_METIS;
  REGAL_TRY(regal_partition(search->context, problem,
                            metis ? regal_bisect_metis : regal_bisect_fm,
                            search->seed, made->placement));
  REGAL_TRY(regal_order_dfs(search->context, problem, made->order));
  REGAL_TRY(offer(search, made, true));
  REGAL_TRY(offer(search, made, false));
  regal_search_account(
      search,
      "partitioned by %s: %lld bytes between devices, depth-first order",
      metis ? "METIS" : "Fiduccia and Mattheyses' passes",
      (long long)regal_partition_bytes(problem, made->placement));
  return REGAL_OK;
}

regal_status regal_method_gp_dfs(regal_search *search) {
  gp_dfs made;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(search->context, carver,
                              layout(&made, &carver, search->problem)));
  regal_status status = run(search, &made);
  regal_release(search->context, carver.base);
  return status;
}
