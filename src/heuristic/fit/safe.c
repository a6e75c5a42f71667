/* SPDX-License-Identifier: Apache-2.0 */
/* Slots, their intervals on the profiles of the devices, and trials that are
 * taken back when they do not fit (heuristic/fit/safe.h).
 */
#include "heuristic/fit/safe.h"

#include <string.h>

#include "base/compare.h"
#include "cost/model/running_cost.h"

/* Taken off the leaf of an op that has run, so that it is never the largest. */
#define OUT (INT64_MAX / 2)

bool regal_safe_suits(const regal_problem *problem) {
  double bytes = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    bytes += (double)problem->bytes[t];
  for (uint32_t op = 0; op < problem->ops; op++)
    bytes += (double)problem->graph->temporary_bytes[op];
  return bytes < (double)(OUT / 4);
}

static uint32_t most_touched(const regal_problem *problem) {
  uint32_t most = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t inputs = problem->input_begin[op + 1] - problem->input_begin[op];
    uint32_t outputs =
        problem->output_begin[op + 1] - problem->output_begin[op];
    most = regal_larger32(most, 2 * inputs + outputs);
  }
  return most;
}

void regal_safe_layout(regal_safe *safe, regal_carver *carver,
                       const regal_problem *problem) {
  size_t n = problem->ops, tensors = problem->tensors, uses = problem->uses;
  safe->problem = problem;
  safe->done = regal_carve(carver, n, 1);
  safe->leaf = regal_carve(carver, n, 4);
  safe->slot_begin = regal_carve(carver, tensors + 1, 4);
  safe->slots = regal_carve(carver, tensors + uses, sizeof *safe->slots);
  safe->slot_of_input = regal_carve(carver, uses, 4);
  safe->readers = regal_carve(carver, uses, 4);
  /* at most four nodes for an op, and two for a device without ops */
  safe->nodes = regal_carve(carver, 4 * n + 2 * (size_t)problem->devices,
                            sizeof *safe->nodes);
  safe->changes =
      regal_carve(carver, most_touched(problem), sizeof *safe->changes);
}

/* -- Slots ----------------------------------------------------------------- */

static uint32_t find_slot(const regal_safe *safe, uint32_t tensor,
                          uint32_t device) {
  uint32_t slot = safe->slot_begin[tensor];
  while (safe->slots[slot].device != device)
    slot++;
  return slot;
}

/* One for the tensor's home, and one for each other device of readers;
 * `readers_left` counts the readers of each. */
static void list_slots(regal_safe *safe, uint32_t tensor, uint32_t *count) {
  const regal_problem *problem = safe->problem;
  uint32_t slot_on[REGAL_MAX_DEVICES];
  uint64_t seen = 0;
  safe->slot_begin[tensor] = *count;
  for (uint32_t u = problem->use_begin[tensor];
       u <= problem->use_begin[tensor + 1]; u++) {
    bool home = u == problem->use_begin[tensor];
    uint32_t op = home ? problem->producer[tensor] : problem->consumer[u - 1];
    uint32_t device = safe->placement[op];
    if (!(seen >> device & 1)) {
      seen |= UINT64_C(1) << device;
      slot_on[device] = (*count)++;
      safe->slots[slot_on[device]] = (regal_safe_slot){
          .bytes = problem->bytes[tensor], .device = (uint16_t)device};
    }
    safe->slots[slot_on[device]].readers_left += !home;
  }
}

static void make_slots(regal_safe *safe) {
  const regal_problem *problem = safe->problem;
  uint32_t count = 0, readers = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    list_slots(safe, t, &count);
  safe->slot_begin[problem->tensors] = count;
  for (uint32_t s = 0; s < count; s++) {
    safe->slots[s].reader_begin = readers;
    readers += safe->slots[s].readers_left;
    safe->slots[s].readers_left = 0;
  }
}

/* Leaves, and the readers of each slot by position; returns the number of ops
 * on each device. */
static void number_leaves(regal_safe *safe, uint32_t count[]) {
  const regal_problem *problem = safe->problem;
  memset(count, 0, problem->devices * sizeof *count);
  for (uint32_t at = 0; at < problem->ops; at++) {
    uint32_t op = safe->order[at], device = safe->placement[op];
    for (REGAL_ROW(i, problem->input_begin, op)) {
      uint32_t tensor = problem->input[i];
      uint32_t found = find_slot(safe, tensor, device);
      uint32_t home = safe->slots[safe->slot_begin[tensor]].device;
      regal_safe_slot *slot = &safe->slots[found];
      safe->slot_of_input[i] = found;
      if (slot->readers_left == 0)
        slot->home_until = count[home];
      safe->readers[slot->reader_begin + slot->readers_left++] = op;
    }
    safe->leaf[op] = count[device]++;
  }
}

/* -- Intervals ------------------------------------------------------------- */

static uint32_t last_leaf_end(const regal_safe *safe,
                              const regal_safe_slot *slot) {
  uint32_t last = slot->reader_begin + slot->readers_left - 1;
  return safe->leaf[safe->readers[last]] + 1;
}

/* Where the tensor is made: until its last reader there has run, all copies
 * have left, and the plan has ended if it is final. */
static void set_home(const regal_safe *safe, uint32_t tensor,
                     regal_safe_slot *slot) {
  const regal_problem *problem = safe->problem;
  uint32_t made = safe->leaf[problem->producer[tensor]];
  slot->needed = slot->readers_left || problem->is_final[tensor];
  slot->low = slot->there ? 0 : made;
  slot->high = slot->there ? 0 : made + 1;
  if (problem->is_final[tensor])
    slot->high = safe->profile[slot->device].size;
  if (slot->readers_left)
    slot->high = regal_larger32(slot->high, last_leaf_end(safe, slot));
  for (uint32_t s = safe->slot_begin[tensor] + 1;
       s < safe->slot_begin[tensor + 1]; s++)
    if (!safe->slots[s].there) {
      slot->needed = true;
      slot->high = regal_larger32(slot->high, safe->slots[s].home_until);
    }
}

static void set_copy(const regal_safe *safe, regal_safe_slot *slot) {
  slot->needed = slot->readers_left > 0;
  slot->low = slot->high = 0;
  if (!slot->needed)
    return;
  slot->low = slot->there ? 0 : safe->leaf[safe->readers[slot->reader_begin]];
  slot->high = last_leaf_end(safe, slot);
}

static void set_interval(const regal_safe *safe, uint32_t tensor,
                         regal_safe_slot *slot) {
  if (slot == &safe->slots[safe->slot_begin[tensor]])
    set_home(safe, tensor, slot);
  else
    set_copy(safe, slot);
}

static void move_interval(regal_safe *safe, const regal_safe_slot *from,
                          const regal_safe_slot *to) {
  if (!to->bytes || (from->low == to->low && from->high == to->high))
    return;
  regal_profile *profile = &safe->profile[to->device];
  int64_t bytes = to->bytes;
  if (from->low >= from->high || to->low >= to->high) {
    regal_profile_add(profile, from->low, from->high, -bytes);
    regal_profile_add(profile, to->low, to->high, bytes);
    return;
  }
  /* Both reach from now on or end at the same leaf: they overlap. */
  regal_profile_add(profile, to->low, from->low, bytes);
  regal_profile_add(profile, from->low, to->low, -bytes);
  regal_profile_add(profile, from->high, to->high, bytes);
  regal_profile_add(profile, to->high, from->high, -bytes);
}

/* -- Begin ----------------------------------------------------------------- */

static void begin_profiles(regal_safe *safe, const uint32_t count[]) {
  const regal_problem *problem = safe->problem;
  regal_profile_node *nodes = safe->nodes;
  for (uint32_t a = 0; a < problem->devices; a++) {
    regal_profile_begin(&safe->profile[a], nodes, count[a]);
    nodes += regal_profile_nodes(count[a]);
  }
  for (uint32_t op = 0; op < problem->ops; op++)
    regal_profile_raise(&safe->profile[safe->placement[op]], safe->leaf[op],
                        safe->leaf[op] + 1,
                        problem->graph->temporary_bytes[op]);
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (REGAL_ROW(s, safe->slot_begin, t)) {
      regal_safe_slot *slot = &safe->slots[s];
      set_interval(safe, t, slot);
      regal_profile_raise(&safe->profile[slot->device], slot->low, slot->high,
                          slot->bytes);
    }
  for (uint32_t a = 0; a < problem->devices; a++)
    regal_profile_sum(&safe->profile[a]);
}

/* What is left of the limits beside what stays for the whole plan. */
static void find_room(regal_safe *safe) {
  const regal_problem *problem = safe->problem;
  regal_running_cost held;
  regal_running_cost_hold(&held, problem, safe->placement);
  for (uint32_t a = 0; a < problem->devices; a++) {
    bool limited = problem->limit[a] != REGAL_UNLIMITED;
    safe->room[a] = limited ? problem->limit[a] - held.memory[a] : OUT;
    safe->now[a] = 0;
    safe->version[a] = 1;
  }
}

bool regal_safe_begin(regal_safe *safe, const uint32_t *order,
                      const uint8_t *placement) {
  const regal_problem *problem = safe->problem;
  uint32_t count[REGAL_MAX_DEVICES];
  safe->order = order;
  safe->placement = placement;
  safe->next = 0;
  memset(safe->done, 0, problem->ops);
  make_slots(safe);
  number_leaves(safe, count);
  begin_profiles(safe, count);
  find_room(safe);
  for (uint32_t a = 0; a < problem->devices; a++) {
    int64_t most =
        count[a] ? regal_profile_most(&safe->profile[a], count[a]) : 0;
    if (most > safe->room[a])
      return false;
  }
  return true;
}

/* -- One op ---------------------------------------------------------------- */

/* An op has run that makes, reads or sends what is in the slot. */
static void change_slot(regal_safe *safe, uint32_t tensor,
                        regal_safe_slot *slot) {
  regal_safe_change *change = &safe->changes[safe->change_count++];
  *change = (regal_safe_change){slot, *slot};
  slot->there = true;
  while (slot->readers_left &&
         safe->done[safe->readers[slot->reader_begin + slot->readers_left - 1]])
    slot->readers_left--;
  set_interval(safe, tensor, slot);
  move_interval(safe, &change->old, slot);
}

/* The leaf of an op that has run does not count any more. */
static void mark_done(regal_safe *safe, uint32_t op, bool done) {
  uint32_t leaf = safe->leaf[op];
  safe->done[op] = done;
  regal_profile_add_leaf(&safe->profile[safe->placement[op]], leaf,
                         done ? -OUT : OUT);
}

static void change_slots(regal_safe *safe, uint32_t op) {
  const regal_problem *problem = safe->problem;
  safe->change_count = 0;
  mark_done(safe, op, true);
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    regal_safe_slot *here = &safe->slots[safe->slot_of_input[i]];
    bool arrives = !here->there;
    change_slot(safe, tensor, here);
    if (arrives)
      change_slot(safe, tensor, &safe->slots[safe->slot_begin[tensor]]);
  }
  for (REGAL_ROW(t, problem->output_begin, op))
    change_slot(safe, t, &safe->slots[safe->slot_begin[t]]);
}

static void take_back(regal_safe *safe, uint32_t op) {
  mark_done(safe, op, false);
  while (safe->change_count) {
    regal_safe_change *change = &safe->changes[--safe->change_count];
    move_interval(safe, change->slot, &change->old);
    *change->slot = change->old;
  }
}

static int64_t held(const regal_safe_slot *slot) {
  return slot->there && slot->needed ? slot->bytes : 0;
}

static void keep(regal_safe *safe, uint32_t op) {
  safe->version[safe->placement[op]]++;
  for (uint32_t k = 0; k < safe->change_count; k++) {
    const regal_safe_change *change = &safe->changes[k];
    safe->now[change->old.device] += held(change->slot) - held(&change->old);
    safe->version[change->old.device]++;
  }
  while (safe->next < safe->problem->ops && safe->done[safe->order[safe->next]])
    safe->next++;
}

/* Bytes that the op adds to its device: outputs, and inputs that arrive. */
static int64_t added_bytes(const regal_safe *safe, uint32_t op) {
  const regal_problem *problem = safe->problem;
  int64_t bytes = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    const regal_safe_slot *slot = &safe->slots[safe->slot_of_input[i]];
    bytes += slot->there ? 0 : slot->bytes;
  }
  for (REGAL_ROW(t, problem->output_begin, op))
    bytes += problem->bytes[t];
  return bytes;
}

bool regal_safe_run(regal_safe *safe, uint32_t op) {
  uint32_t device = safe->placement[op];
  const regal_profile *profile = &safe->profile[device];
  int64_t added = added_bytes(safe, op), room = safe->room[device];
  int64_t during =
      safe->now[device] + added + safe->problem->graph->temporary_bytes[op];
  if (during > room)
    return false;
  int64_t ahead = regal_profile_most(profile, safe->leaf[op]);
  bool sure = ahead == INT64_MIN || ahead + added <= room;
  change_slots(safe, op);
  if (!sure && regal_profile_most(profile, safe->leaf[op]) > room) {
    take_back(safe, op);
    return false;
  }
  keep(safe, op);
  return true;
}
