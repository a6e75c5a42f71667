/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of the annealing for peak memory that change devices, and times of
 * transfers. */
#include "anneal/driver/draw.h"
#include "anneal/memory/readers.h"
#include "anneal/peak/peak.h"
#include "base/compare.h"

#define MOST_PACKED 16

static bool may_place(const regal_peak *chain, uint32_t op, uint32_t device) {
  return chain->memory.placement[op] != device &&
         (chain->problem->allowed[op] >> device & 1);
}

/* If it may and is not there already. */
static bool place(regal_peak *chain, uint32_t op, uint32_t device) {
  if (!may_place(chain, op, device))
    return false;
  regal_memory_place(&chain->memory, op, device);
  return true;
}

bool regal_peak_flip_op(regal_peak *chain, uint32_t op) {
  return place(chain, op,
               regal_draw_device(&chain->random, chain->devices,
                                 chain->memory.placement[op]));
}

/* A random neighbour: a predecessor or a successor. */
static uint32_t draw_neighbour(regal_peak *chain, uint32_t op) {
  const regal_problem *problem = chain->problem;
  uint32_t ins = chain->pred_begin[op + 1] - chain->pred_begin[op];
  uint32_t outs =
      problem->successor_begin[op + 1] - problem->successor_begin[op];
  if (ins + outs == 0)
    return op;
  uint32_t k = regal_peak_draw(chain, ins + outs);
  return k < ins ? chain->pred[chain->pred_begin[op] + k]
                 : problem->successor[problem->successor_begin[op] + k - ins];
}

/* Connected ops of one device go to another, together. */
static bool flip_cluster(regal_peak *chain, uint32_t op, uint32_t size) {
  uint32_t from = chain->memory.placement[op], count = 0;
  uint32_t device = regal_draw_device(&chain->random, chain->devices, from);
  if (!place(chain, op, device))
    return false;
  chain->members[count++] = op;
  for (uint32_t tries = 0; tries < 2 * size && count < size; tries++) {
    uint32_t next =
        draw_neighbour(chain, chain->members[regal_peak_draw(chain, count)]);
    if (chain->memory.placement[next] == from && place(chain, next, device))
      chain->members[count++] = next;
  }
  return true;
}

/* All ops of one device in a window go to another. */
static bool flip_window(regal_peak *chain, uint32_t op, uint32_t size) {
  uint32_t from = chain->memory.placement[op], at = chain->position[op];
  uint32_t device = regal_draw_device(&chain->random, chain->devices, from);
  uint32_t end = regal_smaller32(chain->ops, at + size);
  bool changed = false;
  for (uint32_t i = at; i < end; i++) {
    uint32_t next = chain->order[i];
    if (chain->memory.placement[next] == from)
      changed |= place(chain, next, device);
  }
  return changed;
}

/* Where many ops make the same peak, to change the device of one of them does
 * not help: all that need half as much as this one, or more, go to one device.
 */
static bool gather(regal_peak *chain) {
  if (chain->crowded_count == 0)
    return false;
  uint32_t op = regal_peak_draw_crowded(chain);
  uint32_t device = chain->memory.placement[op];
  double bytes = chain->memory.add[op];
  bool changed = false;
  if (regal_peak_draw(chain, 2)) {
    device = regal_peak_draw(chain, chain->devices);
    changed = place(chain, op, device);
  }
  for (uint32_t i = 0; i < chain->crowded_count && !chain->memory.overflow;
       i++) {
    uint32_t next = chain->crowded[i];
    if (2 * chain->memory.add[next] >= bytes)
      changed |= place(chain, next, device);
  }
  return changed;
}

void regal_peak_pack(regal_peak *chain) {
  uint32_t device = regal_peak_draw(chain, chain->devices), count = 0;
  uint32_t end = chain->memory.window_low + chain->memory.window_count;
  for (uint32_t i = chain->memory.window_low; i < end && count < MOST_PACKED;
       i++) {
    uint32_t op = chain->order[i];
    if (chain->member_mark[op] != chain->memory.serial)
      continue;
    count++;
    place(chain, op, device);
  }
}

/* An op on another device: a few positions on, or of the same crowd. */
static uint32_t draw_other(regal_peak *chain, uint32_t op) {
  if (regal_peak_draw(chain, 2)) {
    uint32_t at = chain->position[op] + 1 + regal_peak_draw(chain, 8);
    return chain->order[regal_smaller32(at, chain->ops - 1)];
  }
  uint32_t other = regal_peak_draw_op(chain);
  for (int i = 0;
       i < 4 && chain->memory.placement[other] == chain->memory.placement[op];
       i++)
    other = regal_peak_draw_op(chain);
  return other;
}

/* Two ops change places. */
static bool swap_devices(regal_peak *chain, uint32_t op) {
  uint32_t other = draw_other(chain, op);
  uint32_t a = chain->memory.placement[op], b = chain->memory.placement[other];
  if (!may_place(chain, op, b) || !may_place(chain, other, a))
    return false;
  regal_memory_place(&chain->memory, op, b);
  regal_memory_place(&chain->memory, other, a);
  return true;
}

/* The tensor is kept for an op of its device between its last use there and its
 * first elsewhere. */
static bool keep(regal_peak *chain, uint32_t tensor) {
  regal_memory *m = &chain->memory;
  regal_memory_readers by;
  if (!regal_memory_may_keep(chain->problem, tensor))
    return false;
  regal_memory_find_readers(chain->problem, chain->position, m->placement,
                            tensor, &by);
  uint32_t after = chain->position[by.local] + 1, end = chain->ops;
  for (uint64_t left = by.remote; left; left &= left - 1)
    end =
        regal_smaller32(end, chain->position[by.first[__builtin_ctzll(left)]]);
  for (uint32_t tries = 0; tries < 4 && after < end; tries++) {
    uint32_t op = chain->order[after + regal_peak_draw(chain, end - after)];
    if (m->placement[op] != by.home || m->keeps[op] != REGAL_NONE)
      continue;
    regal_memory_keep(m, tensor, op);
    return true;
  }
  return false;
}

/* Something that the op reads, and that travels, does so early, late, or after
 * another op. */
static bool change_time(regal_peak *chain, uint32_t op) {
  const regal_problem *problem = chain->problem;
  uint32_t count = problem->input_begin[op + 1] - problem->input_begin[op];
  if (count == 0)
    return false;
  uint32_t t =
      problem->input[problem->input_begin[op] + regal_peak_draw(chain, count)];
  if (chain->memory.remote[t] == 0 || problem->bytes[t] == 0)
    return false;
  if (regal_peak_draw(chain, 4) == 0)
    return keep(chain, t);
  regal_memory_toggle_early(&chain->memory, t);
  return true;
}

bool regal_peak_move_devices(regal_peak *chain, uint32_t op) {
  uint32_t kind = regal_peak_draw(chain, 9);
  if (kind < 2)
    return regal_peak_flip_op(chain, op);
  if (kind < 5)
    return flip_cluster(chain, op,
                        2 + regal_peak_draw(chain, kind < 4 ? 7 : 33));
  if (kind < 7)
    return change_time(chain, op);
  if (kind < 8)
    return swap_devices(chain, op);
  if (regal_peak_draw(chain, 8) == 0)
    return gather(chain);
  return flip_window(
      chain, op,
      2 + regal_peak_draw(chain, regal_peak_draw(chain, 2) ? 9 : 41));
}
