/* SPDX-License-Identifier: Apache-2.0 */
/* Moves on a list of steps: a transfer or an op to another place, ops to other
 * devices. Places are drawn so that ops stay in a topological order; transfers
 * are put right when the list is replayed (anneal/steps/replay.c).
 */
#include "anneal/driver/draw.h"
#include "anneal/steps/steps.h"

static uint32_t draw(regal_steps *s, uint32_t below) {
  return (uint32_t)regal_random_below(&s->random, below);
}

/* The first and last entry to which the op at hand can be taken. */
static void op_range(const regal_steps *s, uint32_t op, uint32_t *first,
                     uint32_t *last) {
  const regal_problem *problem = s->problem;
  const regal_graph *graph = problem->graph;
  uint32_t low = 0, high = s->now.count;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t after = s->at[problem->producer[problem->input[i]]] + 1;
    low = after > low ? after : low;
  }
  for (REGAL_ROW(i, graph->control_in_begin, op)) {
    uint32_t after = s->at[graph->control_in[i]] + 1;
    low = after > low ? after : low;
  }
  for (REGAL_ROW(k, problem->successor_begin, op)) {
    uint32_t before = s->at[problem->successor[k]];
    high = before < high ? before : high;
  }
  *first = low;
  *last = high - 1;
}

/* The same for a transfer: from its producer to its first reader. */
static void send_range(const regal_steps *s, regal_steps_entry entry,
                       uint32_t *first, uint32_t *last) {
  const regal_problem *problem = s->problem;
  uint32_t high = s->now.count;
  for (REGAL_ROW(u, problem->use_begin, entry.what)) {
    uint32_t reader = problem->consumer[u];
    if (s->placement[reader] == entry.to && s->at[reader] < high)
      high = s->at[reader];
  }
  *first = s->at[problem->producer[entry.what]] + 1;
  *last = high - 1;
}

static void rotate(regal_steps_entry *entries, uint32_t from, uint32_t to) {
  regal_steps_entry moved = entries[from];
  if (from < to)
    memmove(entries + from, entries + from + 1, (to - from) * sizeof *entries);
  else
    memmove(entries + to + 1, entries + to, (from - to) * sizeof *entries);
  entries[to] = moved;
}

/* By up to 2^k places, k random. */
static void shift(regal_steps *s, uint32_t from) {
  regal_steps_entry entry = s->now.entries[from];
  uint32_t first, last, reach = 1u << draw(s, 7);
  if (entry.to == REGAL_STEPS_RUN)
    op_range(s, entry.what, &first, &last);
  else
    send_range(s, entry, &first, &last);
  first = from > first + reach ? from - reach : first;
  last = last > from + reach ? from + reach : last;
  s->moved_from = from;
  s->moved_to = first + draw(s, last - first + 1);
  rotate(s->now.entries, s->moved_from, s->moved_to);
}

static void flip(regal_steps *s, uint32_t op, uint32_t device) {
  if (s->placement[op] == device || !(s->problem->allowed[op] >> device & 1))
    return;
  for (uint32_t member = regal_problem_leader(s->problem, op);
       member != REGAL_NONE; member = s->next_member[member]) {
    s->flipped[s->flips] = member;
    s->flipped_from[s->flips++] = s->placement[member];
    s->placement[member] = (uint8_t)device;
  }
}

static uint32_t other_device(regal_steps *s, uint32_t op) {
  return regal_draw_device(&s->random, s->problem->devices, s->placement[op]);
}

/* Two ops change devices, or one follows the other. */
static void flip_two(regal_steps *s, uint32_t op) {
  uint32_t device = other_device(s, op), from = s->placement[op];
  uint32_t other = draw(s, 2) ? regal_draw_neighbour(&s->random, s->problem, op)
                              : draw(s, s->problem->ops);
  flip(s, op, device);
  if (regal_problem_leader(s->problem, op) !=
      regal_problem_leader(s->problem, other))
    flip(s, other, s->placement[other] == device ? from : device);
}

/* Of sixteen: eleven shifts of any step, four of them with a change of device;
 * three changes of device, two of two ops. */
void regal_steps_move(regal_steps *s) {
  uint32_t kind = draw(s, 16), from = draw(s, s->now.count);
  s->moved_from = s->moved_to = s->flips = 0;
  regal_steps_entry entry = s->now.entries[from];
  if (kind < 7) {
    shift(s, from);
    return;
  }
  uint32_t op = entry.to == REGAL_STEPS_RUN ? entry.what
                                            : s->problem->producer[entry.what];
  if (kind < 11)
    shift(s, s->at[op]);
  if (kind < 14)
    flip(s, op, other_device(s, op));
  else
    flip_two(s, op);
}

void regal_steps_take_back(regal_steps *s) {
  while (s->flips > 0) {
    s->flips--;
    s->placement[s->flipped[s->flips]] = s->flipped_from[s->flips];
  }
  rotate(s->now.entries, s->moved_to, s->moved_from);
}

void regal_steps_index(regal_steps *s) {
  for (uint32_t i = 0; i < s->now.count; i++)
    if (s->now.entries[i].to == REGAL_STEPS_RUN)
      s->at[s->now.entries[i].what] = i;
}
