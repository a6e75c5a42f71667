/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds on the largest peak of any device. Memory is counted by plan
 * steps, so these hold for every way of running transfers.
 *  - Working set: while an op runs, its inputs, outputs, temporary memory and
 *    the resident bytes and parameters of its group share a device; so do those
 *    of ops that can run on no other device. Outputs that may be written over
 *    an input take nothing, as far as the inputs go.
 *  - The end: all final tensors, all resident bytes and all parameters, once,
 *    over d devices; those of ops that can run on one device only, there.
 *  - Live set: while op v runs, every tensor that an ancestor of v produced and
 *    that is final, or that v or a descendant of v reads, is on some device.
 *    With v's outputs, its temporary memory and all resident bytes that is
 *    LIVE(v), spread over d devices. It is computed in live.c.
 *  - Cut: the ops that have run before v are some set D that is closed under
 *    dependencies; what D has made and others still read is there, whichever D
 *    it is. The least of that is at least LIVE(v): cut.c.
 */
#include "cost/bound/bound.h"
#include "cost/bound/parts.h"

/* Steps of 64 ops' bits over one edge or tensor, two nanoseconds each:
 * a second where memory matters, else a twentieth. */
#define LIVE_EFFORT 500000000
#define LIVE_EFFORT_IDLE 25000000
/* Minimum cuts take this part of it, in steps over one arc. */
#define CUT_SHARE 10

typedef __int128 wide;

static wide larger(wide a, wide b) {
  return a > b ? a : b;
}

static wide share(wide bytes, uint32_t devices) {
  return (bytes + devices - 1) / devices;
}

/* On one device a final input never dies; else its copy on another may. */
static wide most_reused(const regal_problem *problem, uint32_t op) {
  regal_dying dying = {0, 0};
  if (!regal_may_reuse(problem, op))
    return 0;
  for (REGAL_ROW(i, problem->input_begin, op))
    if (problem->devices > 1 || !problem->is_final[problem->input[i]])
      regal_dying_add(&dying, problem->bytes[problem->input[i]]);
  return regal_most_reused(problem, op, dying);
}

static wide working_set(const regal_problem *problem, uint32_t op) {
  return regal_problem_working_set(problem, op) - most_reused(problem, op);
}

static wide final_bytes(const regal_problem *problem, uint32_t op) {
  wide bytes = 0;
  for (REGAL_ROW(t, problem->output_begin, op))
    if (problem->is_final[t])
      bytes += problem->bytes[t];
  return bytes;
}

/* What must be where: resident bytes, parameters and final bytes of ops with
 * one device. */
typedef struct forced_bytes {
  wide resident[REGAL_MAX_DEVICES], final[REGAL_MAX_DEVICES];
  wide all_resident, all_final;
} forced_bytes;

/* The devices that must hold a shared parameter. */
static uint64_t forced_holders(const regal_problem *problem, uint32_t shared) {
  uint64_t holders = 0;
  for (REGAL_ROW(r, problem->reader_begin, shared))
    if (regal_has_one_device(problem->allowed[problem->reader[r]]))
      holders |= problem->allowed[problem->reader[r]];
  return holders;
}

static void force_parameters(const regal_problem *problem,
                             forced_bytes *forced) {
  for (uint32_t p = 0; p < problem->shared; p++) {
    uint64_t holders = forced_holders(problem, p);
    wide bytes = problem->shared_bytes[p];
    forced->all_resident += holders ? 0 : bytes;
    for (; holders; holders &= holders - 1) {
      forced->resident[__builtin_ctzll(holders)] += bytes;
      forced->all_resident += bytes;
    }
  }
}

static void sum_forced(const regal_problem *problem, forced_bytes *forced) {
  *forced = (forced_bytes){.all_resident = 0};
  for (uint32_t op = 0; op < problem->ops; op++) {
    wide resident = problem->resident_bytes[op];
    wide final = final_bytes(problem, op);
    forced->all_resident += resident;
    forced->all_final += final;
    if (!regal_has_one_device(problem->allowed[op]))
      continue;
    uint32_t device = (uint32_t)__builtin_ctzll(problem->allowed[op]);
    forced->resident[device] += resident;
    forced->final[device] += final;
  }
  force_parameters(problem, forced);
}

static wide bound_at_end(const regal_problem *problem,
                         const forced_bytes *forced) {
  wide found =
      share(forced->all_resident + forced->all_final, problem->devices);
  for (uint32_t a = 0; a < problem->devices; a++)
    found = larger(found, forced->resident[a] + forced->final[a]);
  return found;
}

/* The least resident bytes on any device that may run the op, its group's
 * included. */
static wide resident_beside(const regal_problem *problem, uint32_t op,
                            wide group_bytes, const forced_bytes *forced) {
  uint64_t mask = problem->allowed[op];
  if (regal_has_one_device(mask)) /* its group is among the forced */
    return forced->resident[__builtin_ctzll(mask)];
  wide least = forced->resident[__builtin_ctzll(mask)];
  for (; mask; mask &= mask - 1) {
    wide bytes = forced->resident[__builtin_ctzll(mask)];
    if (bytes < least)
      least = bytes;
  }
  return least + group_bytes;
}

/* Adds to what each group brings to its device, whichever that is, the
 * parameters that no device where it may run is forced to hold already. */
static void add_parameters(const regal_problem *problem, wide *group) {
  for (uint32_t p = 0; p < problem->shared; p++) {
    uint64_t holders = forced_holders(problem, p);
    for (REGAL_ROW(r, problem->reader_begin, p)) {
      uint32_t reader = problem->reader[r];
      if (!(problem->allowed[reader] & holders))
        group[reader] += problem->shared_bytes[p];
    }
  }
}

static regal_status bound_working_sets(regal_context *context,
                                       const regal_problem *problem,
                                       const forced_bytes *forced,
                                       wide *found) {
  wide *group = regal_alloc(context, problem->ops, sizeof *group);
  if (!group)
    return regal_fail_memory(context);
  for (uint32_t op = 0; op < problem->ops; op++)
    group[regal_problem_leader(problem, op)] += problem->resident_bytes[op];
  add_parameters(problem, group);
  for (uint32_t op = 0; op < problem->ops; op++) {
    wide beside = resident_beside(
        problem, op, group[regal_problem_leader(problem, op)], forced);
    *found = larger(*found, working_set(problem, op) + beside);
  }
  regal_release(context, group);
  return REGAL_OK;
}

regal_status regal_bound_memory(regal_context *context,
                                const regal_problem *problem,
                                int64_t *peak_bytes) {
  forced_bytes forced;
  sum_forced(problem, &forced);
  wide found = bound_at_end(problem, &forced);
  REGAL_TRY(bound_working_sets(context, problem, &forced, &found));
  uint64_t effort =
      regal_problem_needs_memory(problem) ? LIVE_EFFORT : LIVE_EFFORT_IDLE;
  int64_t live = 0;
  REGAL_TRY(regal_bound_live(context, problem, effort, &live));
  REGAL_TRY(regal_bound_cut(context, problem, effort / CUT_SHARE, live, &live));
  found = larger(found, share(live + forced.all_resident, problem->devices));
  *peak_bytes = found < INT64_MAX ? (int64_t)found : INT64_MAX;
  return REGAL_OK;
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
