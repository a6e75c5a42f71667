/* SPDX-License-Identifier: Apache-2.0 */
/* All placements of a tiny problem, and for each all orders (orders.c).
 *
 * The searches make plans by rules: ops in an order, tensors sent when the rule
 * says so. With a handful of ops all plans can be looked at instead, transfers
 * at every place among them: where memory counts, sending early may free the
 * sender. Placements that only rename interchangeable devices are left out.
 */
#include "enumerate/enumerate.h"

#include "enumerate/orders.h"

/* Of 280 random problems of 5 to 14 ops (bench/small_optima.py) all but three
 * are through after 0.25 s, nine in ten after 0.02 s. */
#define MOST_OPS 14
#define MOST_PLACEMENTS 1000000
#define MOST_NODES 2000000

/* Not counting that devices may be interchangeable. */
static double count_placements(const regal_problem *problem) {
  double count = 1;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (regal_problem_leader(problem, op) == op)
      count *= __builtin_popcountll(problem->allowed[op]);
  return problem->symmetric ? count / problem->devices : count;
}

bool regal_can_enumerate(const regal_problem *problem) {
  return problem->ops <= MOST_OPS &&
         regal_plan_most_steps(problem) <= REGAL_MOST_ENUMERATED_STEPS &&
         count_placements(problem) <= MOST_PLACEMENTS;
}

/* The ops before `op` have their devices, of which `used` are the first. */
static regal_status place(regal_orders *o, uint32_t op, uint32_t used) {
  const regal_problem *problem = o->problem;
  if (o->cut)
    return REGAL_OK;
  if (op == problem->ops)
    return regal_orders_run(o);
  uint32_t leader = regal_problem_leader(problem, op);
  if (leader != op) {
    o->placement[op] = o->placement[leader];
    return place(o, op + 1, used);
  }
  for (uint64_t left = problem->allowed[op]; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    if (problem->symmetric && device > used)
      break;
    o->placement[op] = (uint8_t)device;
    REGAL_TRY(place(o, op + 1, used + (device == used)));
  }
  return REGAL_OK;
}

static uint64_t most_nodes(const regal_search *search) {
  uint64_t left = regal_budget_left(&search->budget);
  return left < MOST_NODES / search->problem->ops ? left * search->problem->ops
                                                  : MOST_NODES;
}

regal_status regal_enumerate(regal_search *search, bool *complete) {
  const regal_problem *problem = search->problem;
  regal_orders plain = {.search = search,
                        .problem = problem,
                        .memory = regal_problem_needs_memory(problem),
                        .overlapped = problem->machine->overlapped,
                        .most_nodes = most_nodes(search)};
  regal_orders *o = regal_carve_struct(search->context, &plain, sizeof plain,
                                       regal_orders_layout);
  if (!o)
    return regal_fail_memory(search->context);
  regal_status status = place(o, 0, 0);
  search->budget.used += (o->nodes + problem->ops - 1) / problem->ops;
  *complete = !o->cut;
  regal_release(search->context, o);
  return status;
}
