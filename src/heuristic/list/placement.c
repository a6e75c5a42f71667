/* SPDX-License-Identifier: Apache-2.0 */
#include "heuristic/list/placement.h"

/* What speaks for a device as the one device for everything. */
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
