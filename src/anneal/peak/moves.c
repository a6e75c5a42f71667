/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of the annealing for peak memory that change the order, and the mix of
 * all.
 *
 * Every change of the order is one form: some ops of a window of positions go
 * to its end, or to its beginning, and all keep their order otherwise. One op
 * up to its first successor (or down to its last predecessor); one op with all
 * that depends on it inside the window, so that nothing is in its way; or a run
 * of ops past its neighbours.
 */
#include "anneal/peak/peak.h"
#include "base/compare.h"

static void mark_member(regal_peak *chain, uint32_t op) {
  chain->member_mark[op] = chain->memory.serial;
}

static bool is_member(const regal_peak *chain, uint32_t op) {
  return chain->member_mark[op] == chain->memory.serial;
}

/* Members of the window low .. high go to its end, or to its beginning. */
static bool rearrange(regal_peak *chain, uint32_t low, uint32_t high,
                      bool to_end) {
  uint32_t count = high - low + 1, inside = 0;
  uint32_t *order = chain->order + low, *old = chain->window;
  memcpy(old, order, count * sizeof *old);
  for (uint32_t i = 0; i < count; i++)
    inside += is_member(chain, old[i]);
  if (inside == 0 || inside == count)
    return false;
  uint32_t member = to_end ? count - inside : 0, other = to_end ? 0 : inside;
  bool touch_members = 2 * inside <= count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t op = old[i];
    bool moves = is_member(chain, op);
    uint32_t at = moves ? member++ : other++;
    order[at] = op;
    chain->position[op] = low + at;
    if (moves == touch_members)
      regal_memory_touch_inputs(&chain->memory, op);
  }
  regal_memory_touch_window(&chain->memory, low, high);
  return true;
}

/* One op goes elsewhere. Everything between keeps its order, so that only the
 * records of what this op reads can change. */
void regal_peak_shift(regal_peak *chain, uint32_t op, uint32_t to) {
  uint32_t from = chain->position[op], low = regal_smaller32(from, to);
  uint32_t high = from < to ? to : from, count = high - low + 1;
  uint32_t *order = chain->order + low;
  memcpy(chain->window, order, count * sizeof *order);
  if (from < to)
    memmove(order, order + 1, (count - 1) * sizeof *order);
  else
    memmove(order + 1, order, (count - 1) * sizeof *order);
  chain->order[to] = op;
  for (uint32_t i = low; i <= high; i++)
    chain->position[chain->order[i]] = i;
  regal_memory_touch_inputs(&chain->memory, op);
  regal_memory_touch_window(&chain->memory, low, high);
}

void regal_peak_undo(regal_peak *chain) {
  const regal_memory *m = &chain->memory;
  regal_memory_undo(&chain->memory);
  for (uint32_t i = 0; i < m->window_count; i++) {
    uint32_t op = chain->window[i], at = m->window_low + i;
    chain->order[at] = op;
    chain->position[op] = at;
  }
}

/* The last position to which an op can be shifted, and the first. */
static uint32_t latest(const regal_peak *chain, uint32_t op) {
  const regal_problem *problem = chain->problem;
  uint32_t at = chain->ops;
  for (REGAL_ROW(k, problem->successor_begin, op))
    at = regal_smaller32(at, chain->position[problem->successor[k]]);
  return at - 1;
}

static uint32_t soonest(const regal_peak *chain, uint32_t op) {
  uint32_t at = 0;
  for (REGAL_ROW(k, chain->pred_begin, op))
    at = regal_larger32(at, chain->position[chain->pred[k]] + 1);
  return at;
}

/* How far to go: a power of two at most, small ones as often as large. */
static uint32_t draw_reach(regal_peak *chain, uint32_t powers) {
  return 1 + regal_peak_draw(chain, 1u << regal_peak_draw(chain, powers));
}

/* Which way, and how far: at random, or past the goal. */
static bool draw_way(regal_peak *chain, uint32_t at, uint32_t *reach) {
  uint32_t goal = chain->goal;
  if (goal == REGAL_NONE || goal == at || regal_peak_draw(chain, 2)) {
    *reach = draw_reach(chain, 8);
    return regal_peak_draw(chain, 2);
  }
  *reach = (goal > at ? goal - at : at - goal) + draw_reach(chain, 4) - 1;
  return goal > at;
}

/* One op, alone; `far`: as far as it can. */
static bool shift_alone(regal_peak *chain, uint32_t op, bool far) {
  uint32_t at = chain->position[op], reach;
  bool later = draw_way(chain, at, &reach);
  if (far)
    reach = chain->ops;
  uint32_t to, most;
  if (later) {
    most = latest(chain, op);
    to = most - at < reach ? most : at + reach;
  } else {
    most = soonest(chain, op);
    to = at - most < reach ? most : at - reach;
  }
  if (to == at)
    return false;
  regal_peak_shift(chain, op, to);
  return true;
}

/* Ops in the way of others: those that depend on them, or those that they
 * depend on. */
typedef struct neighbours {
  const uint32_t *begin, *op; /* rows of ops */
} neighbours;

static neighbours neighbours_of(const regal_peak *chain, bool later) {
  const regal_problem *problem = chain->problem;
  return later ? (neighbours){problem->successor_begin, problem->successor}
               : (neighbours){chain->pred_begin, chain->pred};
}

/* One op and whatever is in its way. */
static bool shift_closure(regal_peak *chain, uint32_t op) {
  uint32_t at = chain->position[op], reach;
  bool later = draw_way(chain, at, &reach);
  neighbours near = neighbours_of(chain, later);
  reach = regal_smaller32(reach, later ? chain->ops - 1 - at : at);
  mark_member(chain, op);
  for (uint32_t i = 0; i <= reach; i++) {
    uint32_t by = chain->order[later ? at + i : at - i];
    if (!is_member(chain, by))
      continue;
    for (REGAL_ROW(k, near.begin, by))
      mark_member(chain, near.op[k]);
  }
  if (reach == 0)
    return false;
  return later ? rearrange(chain, at, at + reach, true)
               : rearrange(chain, at - reach, at, false);
}

/* A run of ops, as it is, past its neighbours. */
static bool shift_run(regal_peak *chain, uint32_t op) {
  uint32_t at = chain->position[op];
  uint32_t end = regal_smaller32(chain->ops, at + 1 + draw_reach(chain, 6));
  uint32_t reach = draw_reach(chain, 8);
  bool later = regal_peak_draw(chain, 2);
  neighbours near = neighbours_of(chain, later);
  uint32_t first = 0, last = chain->ops - 1;
  for (uint32_t i = at; i < end; i++)
    mark_member(chain, chain->order[i]);
  for (uint32_t i = at; i < end; i++)
    for (REGAL_ROW(k, near.begin, chain->order[i])) {
      uint32_t other = chain->position[near.op[k]];
      if (is_member(chain, near.op[k]))
        continue;
      if (later)
        last = regal_smaller32(last, other - 1);
      else
        first = regal_larger32(first, other + 1);
    }
  if (later) {
    uint32_t to = regal_smaller32(last, end - 1 + reach);
    return to > end - 1 && rearrange(chain, at, to, true);
  }
  uint32_t to = at > first + reach ? at - reach : first;
  return to < at && rearrange(chain, to, end - 1, false);
}

/* -- The mix --------------------------------------------------------------- */

static bool move_order(regal_peak *chain, uint32_t op) {
  uint32_t kind = regal_peak_draw(chain, 16);
  if (kind < 7)
    return shift_alone(chain, op, false);
  if (kind < 9)
    return shift_alone(chain, op, true);
  if (kind >= 13)
    return shift_run(chain, op);
  if (!shift_closure(chain, op))
    return false;
  if (chain->devices > 1 && regal_peak_draw(chain, 2))
    regal_peak_pack(chain);
  return true;
}

bool regal_peak_move(regal_peak *chain) {
  uint32_t op = regal_peak_draw_op(chain);
  uint32_t kind = chain->devices == 1 ? 0 : regal_peak_draw(chain, 16);
  if (kind < 6)
    return move_order(chain, op);
  if (kind > 6)
    return regal_peak_move_devices(chain, op);
  bool moved = move_order(chain, op);
  return regal_peak_flip_op(chain, op) || moved;
}
