/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing: what it costs to put an op elsewhere, doing so, and moves of
 * several ops that are undone when they are not accepted. All inlined into
 * anneal/phase/moves.c; `mode` is a constant there.
 */
#ifndef REGAL_ANNEAL_PHASE_PLACE_H
#define REGAL_ANNEAL_PHASE_PLACE_H

#include "anneal/phase/held.h"

typedef struct phase_mode {
  bool pair;  /* two devices */
  bool costs; /* transfers take time */
  bool heeds; /* memory limits */
} phase_mode;

/* The largest load of the phase of `place`, if that one changed. */
REGAL_INLINE int64_t phase_time(const regal_phase *s, uint32_t place,
                                int64_t change, phase_mode mode) {
  if (mode.pair)
    return regal_later(s->load[place] + change, s->load[place ^ 1]);
  const int64_t *load = s->load + (place & ~s->mask);
  uint32_t device = place & s->mask;
  int64_t largest = load[device] + change;
  for (uint32_t a = 0; a <= s->mask; a++)
    largest = a == device ? largest : regal_later(largest, load[a]);
  return largest;
}

/* The same with two loads of one phase changed. */
REGAL_INLINE int64_t phase_time_of_two(const regal_phase *s, uint32_t one,
                                       int64_t change, uint32_t other,
                                       int64_t other_change, phase_mode mode) {
  int64_t largest =
      regal_later(s->load[one] + change, s->load[other] + other_change);
  uint32_t begin = one & ~s->mask;
  for (uint32_t place = begin; !mode.pair && place <= begin + s->mask; place++)
    if (place != one && place != other)
      largest = regal_later(largest, s->load[place]);
  return largest;
}

/* What changing the loads of two different places adds to the cost. */
REGAL_INLINE int64_t phase_load_delta(const regal_phase *s, uint32_t one,
                                      int64_t change, uint32_t other,
                                      int64_t other_change, phase_mode mode) {
  if ((one ^ other) <= s->mask)
    return phase_time_of_two(s, one, change, other, other_change, mode) -
           phase_time(s, one, 0, mode);
  return phase_time(s, one, change, mode) - phase_time(s, one, 0, mode) +
         phase_time(s, other, other_change, mode) -
         phase_time(s, other, 0, mode);
}

REGAL_INLINE int64_t phase_send_ns(const regal_phase *s, uint32_t tensor,
                                   uint32_t from, uint32_t to,
                                   phase_mode mode) {
  if (mode.pair)
    return s->send_ns[2 * (size_t)tensor + from];
  return regal_problem_transfer_ns(s->problem, tensor, from, to);
}

/* What transfers cost more when the op changes from device a to b. */
REGAL_INLINE int64_t phase_transfer_delta(const regal_phase *s, uint32_t op,
                                          uint32_t a, uint32_t b,
                                          phase_mode mode) {
  const regal_problem *problem = s->problem;
  int64_t delta = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    uint32_t home = s->at[problem->producer[t]] & s->mask;
    const uint32_t *readers = s->readers + ((size_t)t << s->shift);
    if (home != a && readers[a] == 1)
      delta -= phase_send_ns(s, t, home, a, mode);
    if (home != b && readers[b] == 0)
      delta += phase_send_ns(s, t, home, b, mode);
  }
  for (REGAL_ROW(t, problem->output_begin, op)) {
    const uint32_t *readers = s->readers + ((size_t)t << s->shift);
    for (uint32_t to = 0; to <= (mode.pair ? 1 : s->mask); to++) {
      if (readers[to] && to != a)
        delta -= phase_send_ns(s, t, a, to, mode);
      if (readers[to] && to != b)
        delta += phase_send_ns(s, t, b, to, mode);
    }
  }
  return delta;
}

/* What it adds to the cost to put an op into another place. */
REGAL_INLINE int64_t phase_delta(const regal_phase *s, uint32_t op, uint32_t to,
                                 phase_mode mode) {
  uint32_t from = s->at[op], a = from & s->mask, b = to & s->mask;
  int64_t delta =
      phase_load_delta(s, from, -regal_problem_run_ns(s->problem, op, a), to,
                       regal_problem_run_ns(s->problem, op, b), mode);
  if (mode.costs && a != b)
    delta += phase_transfer_delta(s, op, a, b, mode);
  return delta;
}

REGAL_INLINE void phase_relink(regal_phase *s, uint32_t op, uint32_t from,
                               uint32_t to) {
  uint32_t before = s->before[op], next = s->next[op], head = s->first[to];
  if (before == REGAL_NONE)
    s->first[from] = next;
  else
    s->next[before] = next;
  if (next != REGAL_NONE)
    s->before[next] = before;
  s->before[op] = REGAL_NONE;
  s->next[op] = head;
  s->first[to] = op;
  if (head != REGAL_NONE)
    s->before[head] = op;
}

/* Puts the op there; the cost is the caller's to change. */
REGAL_INLINE void phase_place(regal_phase *s, uint32_t op, uint32_t to,
                              phase_mode mode) {
  const regal_problem *problem = s->problem;
  uint32_t from = s->at[op], a = from & s->mask, b = to & s->mask;
  s->load[from] -= regal_problem_run_ns(problem, op, a);
  s->load[to] += regal_problem_run_ns(problem, op, b);
  s->at[op] = to;
  if (from >> s->shift != to >> s->shift)
    phase_relink(s, op, from >> s->shift, to >> s->shift);
  if (!s->is_changed[op]) {
    s->is_changed[op] = 1;
    s->changed[s->changes++] = op;
  }
  if (!mode.costs || a == b)
    return;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t *readers = s->readers + ((size_t)problem->input[i] << s->shift);
    readers[a]--;
    readers[b]++;
  }
}

/* Metropolis' rule. */
REGAL_INLINE bool phase_accepts(regal_phase *s, int64_t delta) {
  if (delta <= 0)
    return true;
  return (double)delta <= regal_phase_tolerance(s);
}

/* -- Moves of several ops -------------------------------------------------- */

REGAL_INLINE void phase_begin_tries(regal_phase *s) {
  regal_phase_save_best(s);
  s->tries = 0;
  s->cost_before = s->cost;
}

/* Puts the op there for what that adds to the cost; every op at most once in a
 * move. */
REGAL_INLINE void phase_try_for(regal_phase *s, uint32_t op, uint32_t to,
                                int64_t delta, phase_mode mode) {
  s->cost += delta;
  s->tried[s->tries] = op;
  s->tried_from[s->tries++] = s->at[op];
  phase_place(s, op, to, mode);
}

REGAL_INLINE void phase_try(regal_phase *s, uint32_t op, uint32_t to,
                            phase_mode mode) {
  phase_try_for(s, op, to, phase_delta(s, op, to, mode), mode);
}

/* Metropolis' rule with the penalty, which can fall to nothing at most. */
REGAL_INLINE bool phase_accepts_tried(regal_phase *s, phase_mode mode) {
  int64_t delta = s->cost - s->cost_before;
  if (!mode.heeds)
    return phase_accepts(s, delta);
  int64_t penalty = regal_phase_penalty(s);
  double tolerance = regal_phase_tolerance(s);
  if ((double)(delta - penalty) > tolerance)
    return false;
  regal_phase_hold_tried(s);
  int64_t more = regal_phase_penalty(s) - penalty;
  s->cost += more;
  if ((double)(delta + more) <= tolerance)
    return true;
  regal_phase_release_tried(s);
  return false;
}

/* Keeps what was tried, by Metropolis' rule and if it is `legal`; or takes it
 * back. */
REGAL_INLINE void phase_end_tries(regal_phase *s, bool legal, phase_mode mode) {
  if (legal && phase_accepts_tried(s, mode)) {
    regal_phase_note_best(s);
    return;
  }
  while (s->tries > 0) {
    s->tries--;
    phase_place(s, s->tried[s->tries], s->tried_from[s->tries], mode);
  }
  s->cost = s->cost_before;
}

#endif
