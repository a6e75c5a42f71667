/* SPDX-License-Identifier: Apache-2.0 */
/* Placement by graph partitioning (heuristic/partition/partition.h), then a
 * depth-first order (heuristic/list/orders.h), which each device follows for
 * its own ops: two methods.
 *
 * `gp-dfs` is the paper's baseline, read literally: Kernighan and Lin's
 * algorithm, which exchanges pairs and so balances the number of ops; XLA's
 * depth-first order; every transfer a step of its own, by --send just before
 * its first reader or right behind its producer.
 *
 * `partition` is what these ideas give when nothing is to be reproduced: loads
 * are balanced (--partitioner), the order is Inductor's, and transfers are made
 * together at the first need, or each just before its first reader; the better
 * plan is kept.
 */
#include "decode/walk.h"
#include "heuristic/heuristics.h"
#include "heuristic/list/orders.h"
#include "heuristic/partition/partition.h"
#include "search/search.h"

enum { PARTITIONER_FM, PARTITIONER_METIS }; /* as in regal_options.h */
enum { SEND_LATE, SEND_EAGER };             /* likewise */

typedef struct placed {
  uint32_t *order;    /* [ops] */
  uint8_t *placement; /* [ops] */
  regal_walk walk;
} placed;

static void layout(placed *made, regal_carver *carver,
                   const regal_problem *problem) {
  made->order = regal_carve(carver, problem->ops, 4);
  made->placement = regal_carve(carver, problem->ops, 1);
  regal_walk_layout(&made->walk, carver, problem);
}

/* -- Plans ----------------------------------------------------------------- */

typedef void write_fn(const regal_problem *problem, placed *made,
                      regal_plan *plan);

static void write_batched(const regal_problem *problem, placed *made,
                          regal_plan *plan) {
  regal_walk_batched(problem, &made->walk, made->order, made->placement, plan);
}

static void write_late(const regal_problem *problem, placed *made,
                       regal_plan *plan) {
  regal_walk_late(problem, &made->walk, made->order, made->placement, plan);
}

static void write_eager(const regal_problem *problem, placed *made,
                        regal_plan *plan) {
  plan->step_count = 0;
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = made->order[i], home = made->placement[op];
    regal_plan_add_run(plan, op, home);
    for (REGAL_ROW(t, problem->output_begin, op)) {
      uint64_t readers = 0;
      for (REGAL_ROW(u, problem->use_begin, t))
        readers |= UINT64_C(1) << made->placement[problem->consumer[u]];
      for (readers &= ~(UINT64_C(1) << home); readers; readers &= readers - 1)
        regal_plan_add_send(plan, problem, t, home,
                            (uint32_t)__builtin_ctzll(readers));
    }
  }
}

static regal_status offer(regal_search *search, placed *made, write_fn *write) {
  const regal_problem *problem = search->problem;
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(search->context, regal_plan_most_steps(problem),
                              &plan));
  write(problem, made, plan);
  return regal_search_offer(search, plan);
}

static void account(regal_search *search, const placed *made,
                    const char *partitioner, const char *order) {
  regal_search_account(
      search, "partitioned by %s: %lld bytes between devices, %s order",
      partitioner,
      (long long)regal_partition_bytes(search->problem, made->placement),
      order);
}

/* -- Methods --------------------------------------------------------------- */

static regal_status run_gp_dfs(regal_search *search, placed *made) {
  const regal_problem *problem = search->problem;
  bool eager = search->options->send == SEND_EAGER;
  REGAL_TRY(regal_partition(search->context, problem, regal_bisect_kl,
                            REGAL_LOAD_OPS, search->seed, made->placement));
  REGAL_TRY(regal_order_xla_dfs(search->context, problem, made->order));
  account(search, made, "Kernighan and Lin's passes", "XLA's depth-first");
  return offer(search, made, eager ? write_eager : write_late);
}

static regal_status run_partition(regal_search *search, placed *made) {
  const regal_problem *problem = search->problem;
  bool metis = search->options->partitioner == PARTITIONER_METIS;
  REGAL_TRY(regal_partition(search->context, problem,
                            metis ? regal_bisect_metis : regal_bisect_fm,
                            REGAL_LOAD_COST, search->seed, made->placement));
  REGAL_TRY(regal_order_dfs(search->context, problem, made->order));
  account(search, made, metis ? "METIS" : "Fiduccia and Mattheyses' passes",
          "depth-first");
  REGAL_TRY(offer(search, made, write_batched));
  return offer(search, made, write_late);
}

static regal_status run_with(regal_search *search,
                             regal_status (*run)(regal_search *, placed *)) {
  placed made;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(search->context, carver,
                              layout(&made, &carver, search->problem)));
  regal_status status = run(search, &made);
  regal_release(search->context, carver.base);
  return status;
}

regal_status regal_method_gp_dfs(regal_search *search) {
  return run_with(search, run_gp_dfs);
}

regal_status regal_method_partition(regal_search *search) {
  return run_with(search, run_partition);
}
