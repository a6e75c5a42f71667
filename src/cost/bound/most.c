/* SPDX-License-Identifier: Apache-2.0 */
/* Whether any plan can exceed a memory limit: the most that a device can hold.
 *
 * At any moment of any plan let v be the op that runs, or the next one to run
 * on any device. Then all ancestors of v have run, v's descendants have not. A
 * tensor can be held on some device only if its producer is no descendant of v,
 * and if it is final, or made by v, or if some reader is no ancestor of v. The
 * bytes of all these tensors, with the temporary bytes of v and all parameters
 * that the device may have to hold, bound what it holds; where that is within
 * the limit for every v, the limit does not matter.
 *
 * This is found for 64 ops v at a time, one bit each, as in cost/bound/live.c,
 * unless the sum of all tensors is small enough already.
 */
#include <string.h>

#include "base/carve.h"
#include "cost/bound/bound.h"
#include "cost/bound/parts.h"

#define MOST_STEPS 30000000

typedef struct most_bound {
  const regal_problem *problem;
  uint64_t *below, *above; /* [ops] the v that it is or precedes, or follows */
  int64_t (*sums)[256];    /* [8] bytes by value of 8 bits */
} most_bound;

/* Parameters that may have to be on a device. */
static int64_t most_resident(const regal_problem *problem, uint32_t device) {
  int64_t bytes = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->allowed[op] >> device & 1)
      bytes += problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++) {
    bool may = false;
    for (REGAL_ROW(r, problem->reader_begin, p))
      may |= problem->allowed[problem->reader[r]] >> device & 1;
    bytes += may ? problem->shared_bytes[p] : 0;
  }
  return bytes;
}

/* The least that a device has left for tensors and temporary bytes. */
static int64_t least_room(const regal_problem *problem) {
  int64_t least = INT64_MAX;
  for (uint32_t a = 0; a < problem->devices; a++) {
    if (problem->limit[a] == REGAL_UNLIMITED)
      continue;
    int64_t room = problem->limit[a] - most_resident(problem, a);
    least = room < least ? room : least;
  }
  return least;
}

static int64_t sum_of_all(const regal_problem *problem) {
  int64_t bytes = 0, temporary = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    bytes += problem->bytes[t];
  for (uint32_t op = 0; op < problem->ops; op++)
    if (problem->graph->temporary_bytes[op] > temporary)
      temporary = problem->graph->temporary_bytes[op];
  return bytes + temporary;
}

static void fill_sets(const most_bound *state, uint32_t first, uint32_t end) {
  const regal_problem *problem = state->problem;
  memset(state->below, 0, problem->ops * sizeof *state->below);
  memset(state->above, 0, problem->ops * sizeof *state->above);
  for (uint32_t v = first; v < end; v++)
    state->below[v] = state->above[v] = UINT64_C(1) << (v - first);
  for (uint32_t op = end; op-- > 0;)
    for (REGAL_ROW(s, problem->successor_begin, op))
      state->below[op] |= state->below[problem->successor[s]];
  for (uint32_t op = first; op < problem->ops; op++)
    for (REGAL_ROW(s, problem->successor_begin, op))
      state->above[problem->successor[s]] |= state->above[op];
}

/* The v at which the tensor may be held. What an op is itself is both below and
 * above it. */
static uint64_t held_at(const most_bound *state, uint32_t tensor) {
  const regal_problem *problem = state->problem;
  uint32_t by = problem->producer[tensor];
  uint64_t self = state->above[by] & state->below[by];
  uint64_t needed = problem->is_final[tensor] ? UINT64_MAX : self;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u];
    needed |= ~(state->below[reader] & ~state->above[reader]);
  }
  return needed & ~(state->above[by] & ~self);
}

static int64_t sum_at(const most_bound *state, uint32_t bit) {
  int64_t bytes = 0;
  for (uint32_t value = 0; value < 256; value++)
    if (value >> bit % 8 & 1)
      bytes += state->sums[bit / 8][value];
  return bytes;
}

/* Whether the ops first .. end - 1 can hold more than there is room for. */
static bool can_exceed(const most_bound *state, uint32_t first, uint32_t end,
                       int64_t room) {
  const regal_problem *problem = state->problem;
  fill_sets(state, first, end);
  memset(state->sums, 0, 8 * sizeof *state->sums);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint64_t at = held_at(state, t);
    for (uint32_t k = 0; k < 8; k++)
      state->sums[k][at >> 8 * k & 255] += problem->bytes[t];
  }
  for (uint32_t v = first; v < end; v++)
    if (sum_at(state, v - first) > room - problem->graph->temporary_bytes[v])
      return true;
  return false;
}

static void layout(most_bound *state, regal_carver *carver) {
  state->below = regal_carve(carver, state->problem->ops, 8);
  state->above = regal_carve(carver, state->problem->ops, 8);
  state->sums = regal_carve(carver, 8, sizeof *state->sums);
}

static bool is_quick(const regal_problem *problem) {
  double steps = 2.0 * problem->successor_begin[problem->ops] + problem->uses +
                 8.0 * problem->tensors + 2.0 * problem->ops;
  return problem->ops / 64.0 * steps < MOST_STEPS;
}

regal_status regal_bound_limits(regal_context *context,
                                const regal_problem *problem, bool *binding) {
  most_bound state = {.problem = problem};
  regal_carver carver = {NULL, 0};
  int64_t room = least_room(problem);
  *binding = room < sum_of_all(problem);
  if (!*binding || room < 0 || !is_quick(problem))
    return REGAL_OK;
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&state, &carver)));
  *binding = false;
  for (uint32_t first = 0; first < problem->ops && !*binding; first += 64) {
    uint32_t end = first + 64 < problem->ops ? first + 64 : problem->ops;
    *binding = can_exceed(&state, first, end, room);
  }
  regal_release(context, carver.base);
  return REGAL_OK;
}
