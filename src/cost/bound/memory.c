/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds on the largest peak of any device. Memory is counted by plan
 * steps, so these hold for every way of running transfers.
 *  - Working set: while an op runs, its inputs, outputs, temporary memory and
 *    the resident bytes and parameters of its group share a device; so do those
 *    of ops that can run on no other device. Outputs that may be written over
 *    an input take nothing, as far as the inputs go.
 *  - The end: all final tensors, all resident bytes and all parameters, once,
 *    over d devices; those of ops that can run on one device only, there.
 *  - Pigeonhole: what a group holds at the end cannot be split, nor can a
 *    parameter. Of the k d + 1 largest of these some device holds k + 1.
 *  - Live set: while op v runs, every tensor that an ancestor of v produced and
 *    that is final, or that v or a descendant of v reads, is on some device.
 *    With v's outputs, its temporary memory and all resident bytes that is
 *    LIVE(v), spread over d devices. It is computed in live.c.
 *  - Cut: the ops that have run before v are some set D that is closed under
 *    dependencies; what D has made and others still read is there, whichever D
 *    it is. The least of that is at least LIVE(v): cut.c.
 */
#include <math.h>

#include "cost/bound/bound.h"
#include "cost/bound/held.h"
#include "cost/bound/parts.h"

/* A step is 64 ops' bits over one edge or tensor: a second of them where memory
 * matters, else a twentieth. */
#define STEPS_PER_SECOND 5e8
#define LIVE_SECONDS 1
#define LIVE_SECONDS_IDLE 0.05
/* Minimum cuts take this part of it, in steps over one arc. */
#define CUT_SHARE 10

static regal_wide larger(regal_wide a, regal_wide b) {
  return a > b ? a : b;
}

static regal_wide share(regal_wide bytes, uint32_t devices) {
  return (bytes + devices - 1) / devices;
}

static regal_wide bound_at_end(const regal_problem *problem,
                               const regal_held *held) {
  regal_wide found =
      share(held->all_resident + held->all_final, problem->devices);
  for (uint32_t a = 0; a < problem->devices; a++)
    found = larger(found, held->resident[a] + held->final[a]);
  return found;
}

/* On the device that may run the op and needs the least for it. */
static regal_wide needed_for(const regal_problem *problem,
                             const regal_held *held, uint32_t op,
                             regal_wide group_bytes) {
  regal_wide least = -1;
  uint64_t devices = regal_is_restricted(problem, op)
                         ? problem->allowed[op]
                         : UINT64_C(1) << held->least;
  for (uint64_t left = devices; left; left &= left - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(left);
    regal_wide bytes = regal_held_beside(problem, held, op, a, group_bytes);
    least = least < 0 || bytes < least ? bytes : least;
  }
  return least + regal_held_working_set(problem, op);
}

static regal_status bound_working_sets(regal_context *context,
                                       const regal_problem *problem,
                                       const regal_held *held,
                                       regal_wide *found) {
  regal_wide *group = regal_alloc(context, problem->ops, sizeof *group);
  if (!group)
    return regal_fail_memory(context);
  regal_held_groups(problem, group);
  for (uint32_t op = 0; op < problem->ops; op++)
    *found =
        larger(*found, needed_for(problem, held, op,
                                  group[regal_problem_leader(problem, op)]));
  regal_release(context, group);
  return REGAL_OK;
}

/* The window of the k + 1 smallest of the k d + 1 largest items moves down by d
 * and grows by one. */
int64_t regal_bound_pigeonhole(const regal_keyed *item, size_t count,
                               uint32_t devices, int64_t at_least) {
  size_t begin = count, end = count; /* the window is [begin, end) */
  int64_t found = at_least;
  regal_wide sum = 0;
  if (count)
    sum = item[--begin].key;
  while (begin && begin >= devices) {
    for (uint32_t i = 0; i < devices; i++)
      sum += item[--begin].key;
    for (uint32_t i = 1; i < devices; i++)
      sum -= item[--end].key;
    found = regal_larger(found, sum < INT64_MAX ? (int64_t)sum : INT64_MAX);
  }
  return found;
}

static regal_status bound_items(regal_context *context,
                                const regal_problem *problem,
                                regal_wide *found) {
  size_t most = (size_t)problem->ops + problem->shared;
  regal_keyed *item = regal_alloc(context, most, sizeof *item);
  if (!item)
    return regal_fail_memory(context);
  size_t count = regal_held_items(problem, item);
  *found =
      larger(*found, regal_bound_pigeonhole(item, count, problem->devices, 0));
  regal_release(context, item);
  return REGAL_OK;
}

regal_status regal_bound_memory_within(regal_context *context,
                                       const regal_problem *problem,
                                       double seconds, int64_t *peak_bytes) {
  regal_held held;
  regal_held_find(problem, &held);
  regal_wide found = bound_at_end(problem, &held);
  REGAL_TRY(bound_working_sets(context, problem, &held, &found));
  REGAL_TRY(bound_items(context, problem, &found));
  double most =
      regal_problem_needs_memory(problem) ? LIVE_SECONDS : LIVE_SECONDS_IDLE;
  uint64_t effort = (uint64_t)(fmin(seconds, most) * STEPS_PER_SECOND);
  int64_t live = 0;
  REGAL_TRY(regal_bound_live(context, problem, effort, &live));
  REGAL_TRY(regal_bound_cut(context, problem, effort / CUT_SHARE, live, &live));
  found = larger(found, share(live + held.all_resident, problem->devices));
  *peak_bytes = found < INT64_MAX ? (int64_t)found : INT64_MAX;
  return REGAL_OK;
}

regal_status regal_bound_memory(regal_context *context,
                                const regal_problem *problem,
                                int64_t *peak_bytes) {
  return regal_bound_memory_within(context, problem, INFINITY, peak_bytes);
}

regal_status regal_bound_compute(regal_context *context,
                                 const regal_problem *problem,
                                 regal_bound *bound) {
  regal_bound made;
  REGAL_TRY(regal_bound_runtime(context, problem, &made.runtime_ns));
  REGAL_TRY(regal_bound_memory(context, problem, &made.peak_bytes));
  *bound = made;
  return REGAL_OK;
}
