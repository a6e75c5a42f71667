/* SPDX-License-Identifier: Apache-2.0 */
/* The axes that are cut: the file's order, the order of list scheduling by
 * longest chains, and fold ranks (fold.c). And from cuts to a placement: an op
 * whose stage is on a device that cannot run it goes to the nearest stage that
 * can; a group goes where its first op is.
 */
#include <string.h>

#include "base/compare.h"
#include "heuristic/cut/fold.h"
#include "heuristic/cut/parts.h"

void regal_cuts_file_order(const regal_problem *problem, uint32_t *order) {
  for (uint32_t op = 0; op < problem->ops; op++)
    order[op] = op;
}

regal_status regal_cuts_list_order(regal_context *context,
                                   const regal_problem *problem,
                                   uint32_t *order) {
  regal_keyed *items = regal_alloc(context, problem->ops, sizeof *items);
  if (!items)
    return regal_fail_memory(context);
  for (uint32_t op = problem->ops; op-- > 0;) {
    int64_t after =
        0; /* keys are minus the chain, so that long ones go first */
    for (REGAL_ROW(s, problem->successor_begin, op)) {
      int64_t key = items[problem->successor[s]].key;
      after = key < after ? key : after;
    }
    items[op] =
        (regal_keyed){after - regal_problem_usual_run_ns(problem, op), op};
  }
  /* Of equal chains the lower op goes first: the order is topological. */
  regal_keyed_sort(items, problem->ops);
  for (uint32_t i = 0; i < problem->ops; i++)
    order[i] = items[i].op;
  regal_release(context, items);
  return REGAL_OK;
}

/* A group goes with its first op; true when there are any. */
static bool join_groups(const regal_problem *problem, uint32_t *rank) {
  if (!problem->leader)
    return false;
  for (uint32_t op = 0; op < problem->ops; op++)
    rank[op] = rank[problem->leader[op]];
  return true;
}

void regal_cuts_rank_along(const regal_problem *problem,
                           const regal_cut_order *order, regal_cut_axis *axis) {
  for (uint32_t i = 0; i < problem->ops; i++)
    axis->rank[order->order[i]] = i;
  axis->along = join_groups(problem, axis->rank) ? NULL : order;
}

void regal_cuts_rank_fold(const regal_problem *problem, uint32_t peak,
                          regal_cut_axis *axis) {
  regal_fold_rank(problem, peak, axis->rank);
  join_groups(problem, axis->rank);
  axis->along = NULL;
}

/* The device of the stage nearest to `stage` that can run the op. */
static uint8_t nearest_device(const regal_problem *problem, uint32_t op,
                              uint32_t stage, const uint8_t *device) {
  uint32_t d = problem->devices;
  uint64_t allowed = problem->allowed[op];
  for (uint32_t apart = 0; apart < d; apart++) {
    if (apart <= stage && (allowed >> device[stage - apart] & 1))
      return device[stage - apart];
    if (stage + apart < d && (allowed >> device[stage + apart] & 1))
      return device[stage + apart];
  }
  return device[stage]; /* never: every op can run somewhere */
}

static uint32_t stage_of(const uint32_t *cuts, uint32_t stages, uint32_t rank) {
  uint32_t low = 0, high = stages - 1; /* the last stage that begins by rank */
  while (low < high) {
    uint32_t middle = (low + high + 1) / 2;
    if (cuts[middle] <= rank)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

void regal_cuts_place(const regal_problem *problem, const uint32_t *rank,
                      const uint32_t *cuts, const uint8_t *device,
                      uint8_t *placement) {
  uint32_t d = problem->devices;
  if (d == 2) {
    for (uint32_t op = 0; op < problem->ops; op++)
      placement[op] = device[rank[op] >= cuts[1]];
  } else {
    for (uint32_t op = 0; op < problem->ops; op++)
      placement[op] = device[stage_of(cuts, d, rank[op])];
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!(problem->allowed[op] >> placement[op] & 1))
      placement[op] =
          nearest_device(problem, op, stage_of(cuts, d, rank[op]), device);
}
