/* SPDX-License-Identifier: Apache-2.0 */
/* Heads and tails by device, where some ops cannot run everywhere or devices
 * are unequal.
 *
 * start[j][a] bounds the start of op j from below in all plans with j on device
 * a. A lag p -> j of length (same, apart) gives
 *
 *   start[j][a] >= min(end[p][a] + same, min over b != a of end[p][b] + apart)
 *
 * with end[p][b] = start[p][b] + the run time of p on b: whichever device p is
 * on, one of these holds. Between ops on the devices a and b a path of ops that
 * may run anywhere therefore counts one transfer, the shortest of them, and a
 * path that leaves a device and comes back counts two. The same backwards from
 * the end of the plan gives until[j][a]. Op j is on some device, so that
 *
 *   T >= min over a of start[j][a] + run time on a + until[j][a].
 *
 * The best and the second best b serve all a: O(d) for each lag. */
#include "cost/bound/lags.h"
#include "cost/bound/parts.h"

#define MOST_SLOTS (1 << 23) /* ops times their devices: 128 MiB */

typedef struct device_bound {
  const regal_problem *problem;
  const regal_lags *lags;
  uint32_t *slot_begin;   /* [ops+1] one slot for each device of an op */
  int64_t *start, *until; /* [slots] */
} device_bound;

/* The least of an op's times over its devices, where it is, and the least of
 * the others. */
typedef struct two_least {
  int64_t least, next;
  uint32_t device;
} two_least;

static two_least least_with_run(const device_bound *state, uint32_t op,
                                const int64_t *time, int64_t *by_device) {
  two_least found = {REGAL_LAG_NEVER, REGAL_LAG_NEVER, 0};
  uint32_t slot = state->slot_begin[op];
  for (uint64_t left = state->problem->allowed[op]; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    int64_t ns =
        time[slot++] + regal_problem_run_ns(state->problem, op, device);
    by_device[device] = ns = regal_smaller(ns, REGAL_LAG_NEVER);
    if (ns < found.least)
      found = (two_least){ns, found.least, device};
    else
      found.next = regal_smaller(found.next, ns);
  }
  return found;
}

/* Over a lag from or to an op with these times, into `time` of the other. */
static void raise(const device_bound *state, const regal_lag *lag,
                  uint32_t other, uint64_t mask, const two_least *least,
                  const int64_t *by_device, int64_t *time) {
  uint32_t slot = state->slot_begin[other];
  for (uint64_t left = state->problem->allowed[other]; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    int64_t ns =
        (device == least->device ? least->next : least->least) + lag->apart;
    if (mask >> device & 1)
      ns = regal_smaller(ns, by_device[device] + lag->same);
    ns = regal_smaller(ns, REGAL_LAG_NEVER);
    time[slot] = regal_larger(time[slot], ns);
    slot++;
  }
}

static void raise_start(const device_bound *state, const regal_lag *lag) {
  int64_t by_device[REGAL_MAX_DEVICES];
  two_least least = least_with_run(state, lag->from, state->start, by_device);
  raise(state, lag, lag->to, state->problem->allowed[lag->from], &least,
        by_device, state->start);
}

static void find_starts(const device_bound *state) {
  const regal_lags *lags = state->lags;
  for (uint32_t op = 0; op < state->problem->ops; op++) {
    for (REGAL_ROW(k, lags->edge_begin, op))
      raise_start(state, &lags->edge[k]);
    for (REGAL_ROW(k, lags->found_begin, op))
      raise_start(state, &lags->found[k]);
  }
}

static void find_untils(const device_bound *state) {
  const regal_lags *lags = state->lags;
  for (uint32_t op = state->problem->ops; op-- > 0;) {
    int64_t by_device[REGAL_MAX_DEVICES];
    uint64_t mask = state->problem->allowed[op];
    two_least least = least_with_run(state, op, state->until, by_device);
    for (REGAL_ROW(k, lags->edge_begin, op))
      raise(state, &lags->edge[k], lags->edge[k].from, mask, &least, by_device,
            state->until);
    for (REGAL_ROW(k, lags->found_begin, op))
      raise(state, &lags->found[k], lags->found[k].from, mask, &least,
            by_device, state->until);
  }
}

static bool may_help(const regal_problem *problem, size_t *slots) {
  bool helps = problem->run_step > 0;
  *slots = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    *slots += (size_t)__builtin_popcountll(problem->allowed[op]);
    helps = helps || regal_is_restricted(problem, op);
  }
  return helps && *slots <= MOST_SLOTS;
}

static void fill(const device_bound *state, const int64_t *head,
                 const int64_t *tail) {
  const regal_problem *problem = state->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t begin = state->slot_begin[op];
    uint32_t end = begin + (uint32_t)__builtin_popcountll(problem->allowed[op]);
    state->slot_begin[op + 1] = end;
    for (uint32_t slot = begin; slot < end; slot++) {
      state->start[slot] = head[op];
      state->until[slot] = tail[op];
    }
  }
}

/* The least over the op's devices of its head, its tail, and of both with its
 * run time. */
static int64_t collect(const device_bound *state, uint32_t op, int64_t *head,
                       int64_t *tail) {
  int64_t whole = INT64_MAX;
  uint32_t slot = state->slot_begin[op];
  *head = *tail = INT64_MAX;
  for (uint64_t left = state->problem->allowed[op]; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    int64_t before = state->start[slot], after = state->until[slot];
    int64_t run = regal_problem_run_ns(state->problem, op, device);
    *head = regal_smaller(*head, before);
    *tail = regal_smaller(*tail, after);
    whole = regal_smaller(whole, before + run + after);
    slot++;
  }
  return whole;
}

static void layout(device_bound *state, regal_carver *carver, size_t slots) {
  state->slot_begin = regal_carve(carver, state->problem->ops + 1, 4);
  state->start = regal_carve(carver, slots, 8);
  state->until = regal_carve(carver, slots, 8);
}

regal_status regal_bound_devices(regal_context *context,
                                 const regal_problem *problem,
                                 const regal_lags *lags, int64_t *head,
                                 int64_t *tail, int64_t *found) {
  device_bound state = {.problem = problem, .lags = lags};
  size_t slots;
  if (!may_help(problem, &slots))
    return REGAL_OK;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&state, &carver, slots)));
  fill(&state, head, tail);
  find_starts(&state);
  find_untils(&state);
  for (uint32_t op = 0; op < problem->ops; op++)
    *found = regal_larger(*found, collect(&state, op, &head[op], &tail[op]));
  regal_release(context, carver.base);
  return REGAL_OK;
}
