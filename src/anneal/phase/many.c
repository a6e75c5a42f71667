/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing: many ops change their device at once: neighbours in the file
 * or in its fold, or a connected cluster. Other moves cannot do that: a plan on
 * one device gets better only when a whole stage has left it.
 *
 * All phases are then drafted anew, O(ops + uses): each keeps its ops, but
 * becomes several where an edge now leads from device to device within it, and
 * joins the one before it where that is legal and costs no more. So the ops
 * that moved run in parallel with those that do not need them at once. The
 * draft replaces the solution only if it is accepted.
 */
#include "anneal/phase/phase.h"

/* A length of up to half of the ops, all orders of magnitude alike. */
static uint32_t draw_length(regal_phase *s) {
  uint32_t most = 1;
  while ((2u << most) < s->ops)
    most++;
  return 2u << (uint32_t)regal_random_below(&s->random, most);
}

/* Neighbours in the file or in its fold: those on the device of
 * `op` go to `device`; one time in eight the two change places. */
static void place_run(regal_phase *s, uint32_t op, uint32_t device, bool fold) {
  bool both = regal_random_below(&s->random, 8) == 0;
  uint32_t from = s->at[op] & s->mask, length = draw_length(s);
  uint32_t begin = fold ? s->fold_at[op] : op;
  for (uint32_t i = begin; i < s->ops && i - begin < length; i++) {
    uint32_t member = fold ? s->by_fold[i] : i, now = s->placement[member];
    uint32_t to = now == from ? device : both && now == device ? from : now;
    if (s->problem->allowed[member] >> to & 1)
      s->placement[member] = (uint8_t)to;
  }
}

/* A connected cluster on the device of `op`, grown from it. */
static void place_cluster(regal_phase *s, uint32_t op, uint32_t device) {
  uint32_t from = s->at[op] & s->mask, wanted = draw_length(s);
  uint32_t *queue = s->tried, members = 1;
  if (!(s->problem->allowed[op] >> device & 1))
    return;
  queue[0] = op;
  s->placement[op] = (uint8_t)device;
  for (uint32_t i = 0; i < members && members < wanted; i++) {
    uint64_t r = regal_random_next(&s->random);
    for (uint32_t k = s->near_begin[2 * queue[i]];
         k < s->near_begin[2 * queue[i] + 2] && members < wanted;
         k++, r = r >> 2 | r << 62) {
      uint32_t other = s->near[k];
      if (s->placement[other] != from || !(r & 3) ||
          !(s->problem->allowed[other] >> device & 1))
        continue;
      s->placement[other] = (uint8_t)device;
      queue[members++] = other;
    }
  }
}

/* The devices after the move, into `placement`. */
static void place_some(regal_phase *s, uint32_t op, uint32_t device) {
  uint32_t kind = (uint32_t)regal_random_below(&s->random, 3);
  for (uint32_t k = 0; k < s->ops; k++)
    s->placement[k] = (uint8_t)(s->at[k] & s->mask);
  if (kind == 2)
    place_cluster(s, op, device);
  else
    place_run(s, op, device, kind);
}

static int64_t transfers_of(const regal_phase *s) {
  const regal_problem *problem = s->problem;
  int64_t cost = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t home = s->placement[problem->producer[t]];
    uint64_t devices = 0;
    for (REGAL_ROW(u, problem->use_begin, t))
      devices |= UINT64_C(1) << s->placement[problem->consumer[u]];
    devices &= ~(UINT64_C(1) << home);
    for (; devices; devices &= devices - 1)
      cost += regal_problem_transfer_ns(problem, t, home,
                                        (uint32_t)__builtin_ctzll(devices));
  }
  return cost;
}

/* Drafts the ops order[begin .. end - 1], one phase, after the `groups` that
 * there are; returns how many there are then. */
static uint32_t draft_phase(regal_phase *s, uint32_t begin, uint32_t end,
                            uint32_t groups) {
  uint32_t made = groups, width = s->mask + 1;
  bool joins = groups > 0;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t op = s->order[i], group = groups;
    for (REGAL_ROW(k, s->near_begin, 2 * op)) {
      uint32_t before = s->near[k], there = s->draft[before];
      bool apart = s->placement[before] != s->placement[op];
      if (there >= groups)
        group = there + apart > group ? there + apart : group;
      else if (there + 1 == groups && apart)
        joins = false;
    }
    for (; made <= group; made++)
      memset(s->draft_load + ((size_t)made << s->shift), 0,
             width * sizeof *s->draft_load);
    s->draft[op] = group;
    s->draft_load[(size_t)group << s->shift | s->placement[op]] +=
        regal_problem_run_ns(s->problem, op, s->placement[op]);
  }
  if (!joins)
    return made;
  int64_t *last = s->draft_load + ((size_t)(groups - 1) << s->shift);
  if (!regal_phase_join(s, last, last + width, true))
    return made;
  memmove(last + width, last + 2 * width,
          ((size_t)(made - groups - 1) << s->shift) * sizeof *last);
  for (uint32_t i = begin; i < end; i++)
    s->draft[s->order[i]]--;
  return made - 1;
}

/* Puts the drafted phases in force, with an empty one between any two. */
static void take_draft(regal_phase *s, uint32_t groups) {
  regal_phase_save_best(s);
  for (uint32_t op = 0; op < s->ops; op++)
    s->at[op] = (2 * s->draft[op] + 1) << s->shift | s->placement[op];
  s->phases = 2 * groups + 1;
  s->renumbered = true;
  regal_phase_recompute(s);
  regal_phase_note_best(s);
}

void regal_phase_flip_many(regal_phase *s) {
  uint32_t op = (uint32_t)regal_random_below(&s->random, s->ops), groups = 0;
  uint32_t device =
      (uint32_t)regal_random_below(&s->random, s->problem->devices - 1);
  device += device >= (s->at[op] & s->mask);
  int64_t allowed = s->cost + (int64_t)regal_phase_tolerance(s);
  place_some(s, op, device);
  int64_t cost = s->readers ? transfers_of(s) : 0;
  if (cost > allowed)
    return;
  regal_phase_sort(s, s->at, s->phases);
  for (uint32_t phase = 0, begin = 0; phase < s->phases;
       begin = s->bucket[phase++])
    if (s->bucket[phase] > begin)
      groups = draft_phase(s, begin, s->bucket[phase], groups);
  for (uint32_t k = 0; k < groups; k++)
    cost += regal_phase_largest(s, s->draft_load + ((size_t)k << s->shift));
  if (cost <= allowed)
    take_draft(s, groups);
}
