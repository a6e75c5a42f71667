/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that run all ops in one order on one device: which device that
 * is, and the order of the file, depth first, breadth first, least peak memory
 * first, and XLA's list order (list.c and walk.c make them).
 */
#include "heuristic/list/orders.h"
#include "heuristic/heuristics.h"

#include "base/compare.h"
#include "search/search.h"

/* -- The device ------------------------------------------------------------ */

/* How well a device suits as the only one. */
typedef struct candidate {
  uint32_t ops;     /* that can run there */
  int64_t total_ns; /* of these ops */
  int64_t limit;
} candidate;

static candidate rate_device(const regal_problem *problem, uint32_t device) {
  candidate rated = {.limit = problem->limit[device]};
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->allowed[op] >> device & 1) {
      rated.ops++;
      rated.total_ns += regal_problem_run_ns(problem, op, device);
    }
  return rated;
}

static bool is_better(candidate a, candidate b) {
  if (a.ops != b.ops)
    return a.ops > b.ops;
  if (a.total_ns != b.total_ns)
    return a.total_ns < b.total_ns;
  return a.limit > b.limit;
}

static uint32_t best_device(const regal_problem *problem) {
  uint32_t best = 0;
  candidate best_rated = rate_device(problem, 0);
  for (uint32_t device = 1; device < problem->devices; device++) {
    candidate rated = rate_device(problem, device);
    if (is_better(rated, best_rated)) {
      best = device;
      best_rated = rated;
    }
  }
  return best;
}

static uint32_t fastest_device(const regal_problem *problem, uint32_t op) {
  uint64_t left = problem->allowed[op];
  uint32_t fastest = (uint32_t)__builtin_ctzll(left);
  for (left &= left - 1; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    if (regal_problem_run_ns(problem, op, device) <
        regal_problem_run_ns(problem, op, fastest))
      fastest = device;
  }
  return fastest;
}

void regal_place_single(const regal_problem *problem, uint8_t *placement) {
  uint32_t main_device = best_device(problem);
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t first = regal_problem_leader(problem, op);
    if (problem->allowed[op] >> main_device & 1)
      placement[op] = (uint8_t)main_device;
    else if (first < op)
      placement[op] = placement[first];
    else
      placement[op] = (uint8_t)fastest_device(problem, op);
  }
}

regal_status regal_plan_single(regal_context *context,
                               const regal_problem *problem,
                               regal_plan **plan) {
  uint32_t *order = regal_alloc(context, problem->ops, sizeof *order);
  uint8_t *placement = regal_alloc(context, problem->ops, 1);
  regal_status status =
      order && placement ? REGAL_OK : regal_fail_memory(context);
  if (status == REGAL_OK) {
    for (uint32_t op = 0; op < problem->ops; op++)
      order[op] = op;
    regal_place_single(problem, placement);
    status = regal_plan_from_order(context, problem, order, placement, plan);
  }
  regal_release(context, placement);
  regal_release(context, order);
  return status;
}

/* -- The methods ----------------------------------------------------------- */

regal_status regal_order_of_file(regal_context *context,
                                 const regal_problem *problem,
                                 uint32_t *order) {
  (void)context;
  for (uint32_t op = 0; op < problem->ops; op++)
    order[op] = op;
  return REGAL_OK;
}

static void account_for(regal_search *search, const char *name,
                        const uint8_t *placement) {
  const regal_problem *problem = search->problem;
  uint64_t used = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    used |= UINT64_C(1) << placement[op];
  if (used & (used - 1))
    regal_search_account(search,
                         "%s, on %d devices because of where ops can run", name,
                         __builtin_popcountll(used));
  else
    regal_search_account(search, "%s, everything on device %d", name,
                         used ? __builtin_ctzll(used) : 0);
}

static regal_status offer_order(regal_search *search, regal_order_fn make,
                                const uint8_t *placement) {
  regal_context *context = search->context;
  const regal_problem *problem = search->problem;
  uint32_t *order = regal_alloc(context, problem->ops, sizeof *order);
  regal_status status =
      order ? make(context, problem, order) : regal_fail_memory(context);
  if (status == REGAL_OK)
    status = regal_search_offer_order(search, order, placement);
  regal_release(context, order);
  return status;
}

/* How long the busiest device runs its ops, in any order of them. */
static int64_t longest_load(const regal_problem *problem,
                            const uint8_t *placement) {
  int64_t load[REGAL_MAX_DEVICES] = {0}, longest = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    load[placement[op]] += regal_problem_run_ns(problem, op, placement[op]);
  for (uint32_t a = 0; a < problem->devices; a++)
    longest = regal_larger(longest, load[a]);
  return longest;
}

/* On a large graph an order takes tens of milliseconds, and one device is no
 * match for a plan on several: then none is made. */
static regal_status run_order(regal_search *search, const char *name,
                              regal_order_fn make) {
  const regal_problem *problem = search->problem;
  regal_status status = REGAL_OK;
  uint8_t *placement = regal_alloc(search->context, problem->ops, 1);
  if (!placement)
    return regal_fail_memory(search->context);
  regal_place_single(problem, placement);
  if (regal_search_could_keep(search, longest_load(problem, placement)))
    status = offer_order(search, make, placement);
  account_for(search, name, placement);
  regal_release(search->context, placement);
  return status;
}

regal_status regal_method_single(regal_search *search) {
  return run_order(search, "the file's order", regal_order_of_file);
}

regal_status regal_method_dfs(regal_search *search) {
  return run_order(search, "depth-first order", regal_order_dfs);
}

regal_status regal_method_bfs(regal_search *search) {
  return run_order(search, "breadth-first order", regal_order_bfs);
}

regal_status regal_method_lpmf(regal_search *search) {
  return run_order(search, "least-peak-memory-first order", regal_order_lpmf);
}

regal_status regal_method_tree(regal_search *search) {
  return run_order(search, "order of a tree", regal_order_tree);
}

regal_status regal_method_xla_list(regal_search *search) {
  return run_order(search, "XLA's list order", regal_order_xla_list);
}

regal_status regal_method_xla_dfs(regal_search *search) {
  return run_order(search, "XLA's depth-first order", regal_order_xla_dfs);
}
