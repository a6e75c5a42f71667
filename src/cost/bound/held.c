/* SPDX-License-Identifier: Apache-2.0 */
/* Resident bytes, parameters and final tensors, summed by device and by what
 * must stay together. A parameter that several groups read is held by each
 * device of a reader: once at least, and for certain where a reader can run on
 * that device only. */
#include "cost/bound/held.h"

#include <string.h>

#include "cost/bound/parts.h"

static regal_wide final_bytes(const regal_problem *problem, uint32_t op) {
  regal_wide bytes = 0;
  for (REGAL_ROW(t, problem->output_begin, op))
    if (problem->is_final[t])
      bytes += problem->bytes[t];
  return bytes;
}

uint64_t regal_held_by(const regal_problem *problem, uint32_t shared) {
  uint64_t holders = 0;
  for (REGAL_ROW(r, problem->reader_begin, shared))
    if (regal_has_one_device(problem->allowed[problem->reader[r]]))
      holders |= problem->allowed[problem->reader[r]];
  return holders;
}

static void add_parameters(const regal_problem *problem, regal_held *held) {
  for (uint32_t p = 0; p < problem->shared; p++) {
    uint64_t holders = regal_held_by(problem, p);
    regal_wide bytes = problem->shared_bytes[p];
    held->all_resident += holders ? 0 : bytes;
    for (; holders; holders &= holders - 1) {
      held->resident[__builtin_ctzll(holders)] += bytes;
      held->all_resident += bytes;
    }
  }
}

static regal_wide room(const regal_problem *problem, const regal_held *held,
                       uint32_t a) {
  return problem->limit[a] - held->resident[a];
}

void regal_held_find(const regal_problem *problem, regal_held *held) {
  *held = (regal_held){.all_resident = 0};
  for (uint32_t op = 0; op < problem->ops; op++) {
    regal_wide resident = problem->resident_bytes[op];
    regal_wide final = final_bytes(problem, op);
    held->all_resident += resident;
    held->all_final += final;
    if (!regal_has_one_device(problem->allowed[op]))
      continue;
    uint32_t device = (uint32_t)__builtin_ctzll(problem->allowed[op]);
    held->resident[device] += resident;
    held->final[device] += final;
  }
  add_parameters(problem, held);
  for (uint32_t a = 1; a < problem->devices; a++) {
    if (held->resident[a] < held->resident[held->least])
      held->least = a;
    if (room(problem, held, a) > room(problem, held, held->roomiest))
      held->roomiest = a;
  }
}

/* On one device a final input never dies; else its copy on another may. */
static int64_t most_reused(const regal_problem *problem, uint32_t op) {
  regal_dying dying = {0, 0};
  if (!regal_may_reuse(problem, op))
    return 0;
  for (REGAL_ROW(i, problem->input_begin, op))
    if (problem->devices > 1 || !problem->is_final[problem->input[i]])
      regal_dying_add(&dying, problem->bytes[problem->input[i]]);
  return regal_most_reused(problem, op, dying);
}

int64_t regal_held_working_set(const regal_problem *problem, uint32_t op) {
  return regal_problem_working_set(problem, op) - most_reused(problem, op);
}

void regal_held_groups(const regal_problem *problem, regal_wide *group) {
  memset(group, 0, problem->ops * sizeof *group);
  for (uint32_t op = 0; op < problem->ops; op++)
    group[regal_problem_leader(problem, op)] += problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++) {
    uint64_t holders = regal_held_by(problem, p);
    for (REGAL_ROW(r, problem->reader_begin, p)) {
      uint32_t reader = problem->reader[r];
      if (!(problem->allowed[reader] & holders))
        group[reader] += problem->shared_bytes[p];
    }
  }
}

regal_wide regal_held_beside(const regal_problem *problem,
                             const regal_held *held, uint32_t op, uint32_t a,
                             regal_wide group_bytes) {
  bool counted = regal_has_one_device(problem->allowed[op]);
  return held->resident[a] + (counted ? 0 : group_bytes);
}

size_t regal_held_items(const regal_problem *problem, regal_keyed *item) {
  size_t count = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    item[op] = (regal_keyed){0, op};
  for (uint32_t op = 0; op < problem->ops; op++)
    item[regal_problem_leader(problem, op)].key +=
        problem->resident_bytes[op] + (int64_t)final_bytes(problem, op);
  for (uint32_t op = 0; op < problem->ops; op++)
    if (item[op].key)
      item[count++] = item[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    item[count++] = (regal_keyed){problem->shared_bytes[p], problem->ops + p};
  regal_keyed_sort(item, count);
  return count;
}
