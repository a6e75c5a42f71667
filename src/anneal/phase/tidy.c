/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing: the numbers of phases, and a solution's cost from scratch.
 * Moves leave phases empty and split others; now and then they are numbered
 * anew, in O(ops + uses), so that there are few, and an empty one everywhere
 * for a move to use. */
#include "anneal/phase/held.h"

void regal_phase_sort(regal_phase *s, const uint32_t *at, uint32_t phases) {
  uint32_t *bucket = s->bucket;
  memset(bucket, 0, ((size_t)phases + 2) * sizeof *bucket);
  for (uint32_t op = 0; op < s->ops; op++)
    bucket[regal_phase_of(s, at[op]) + 1]++;
  for (uint32_t k = 0; k < phases; k++)
    bucket[k + 1] += bucket[k];
  for (uint32_t op = 0; op < s->ops; op++)
    s->order[bucket[regal_phase_of(s, at[op])]++] = op;
}

static void link_members(regal_phase *s) {
  memset(s->first, 0xff, s->phases * sizeof *s->first);
  for (uint32_t op = s->ops; op-- > 0;) {
    uint32_t phase = regal_phase_of(s, s->at[op]), head = s->first[phase];
    s->next[op] = head;
    s->before[op] = REGAL_NONE;
    if (head != REGAL_NONE)
      s->before[head] = op;
    s->first[phase] = op;
  }
}

static int64_t count_readers(regal_phase *s) {
  const regal_problem *problem = s->problem;
  int64_t cost = 0;
  memset(s->readers, 0,
         ((size_t)problem->tensors << s->shift) * sizeof *s->readers);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t *readers = s->readers + ((size_t)t << s->shift);
    uint32_t home = s->at[problem->producer[t]] & s->mask;
    for (REGAL_ROW(u, problem->use_begin, t)) {
      uint32_t device = s->at[problem->consumer[u]] & s->mask;
      if (readers[device]++ == 0 && device != home)
        cost += regal_problem_transfer_ns(problem, t, home, device);
    }
  }
  return cost;
}

void regal_phase_recompute(regal_phase *s) {
  memset(s->load, 0, ((size_t)s->phases << s->shift) * sizeof *s->load);
  for (uint32_t op = 0; op < s->ops; op++)
    s->load[s->at[op]] +=
        regal_problem_run_ns(s->problem, op, s->at[op] & s->mask);
  link_members(s);
  s->cost = s->readers ? count_readers(s) : 0;
  for (uint32_t phase = 0; phase < s->phases; phase++)
    s->cost += regal_phase_largest(s, s->load + ((size_t)phase << s->shift));
  if (!s->heeds)
    return;
  regal_phase_count_held(s);
  s->cost += regal_phase_penalty(s);
}

/* Whether the ops order[begin .. end - 1], one phase, can join `phase`, the
 * last of those that have their new number: no edge between devices. */
static bool may_join(const regal_phase *s, uint32_t begin, uint32_t end,
                     uint32_t phase) {
  for (uint32_t i = begin; i < end; i++) {
    uint32_t op = s->order[i];
    uint32_t place = phase << s->shift | (s->at[op] & s->mask);
    for (REGAL_ROW(k, s->near_begin, 2 * op))
      if (regal_phase_of(s, s->at[s->near[k]]) == phase &&
          s->at[s->near[k]] != place)
        return false;
  }
  return true;
}

bool regal_phase_join(const regal_phase *s, int64_t *group, const int64_t *load,
                      bool if_equal) {
  int64_t together = 0;
  for (uint32_t a = 0; a <= s->mask; a++)
    together = regal_later(together, group[a] + load[a]);
  int64_t apart = regal_phase_largest(s, group) + regal_phase_largest(s, load);
  if (together > apart || (together == apart && !if_equal))
    return false;
  for (uint32_t a = 0; a <= s->mask; a++)
    group[a] += load[a];
  return true;
}

/* During the pass new numbers have no gaps, and are below all old ones that are
 * still to come. */
void regal_phase_tidy(regal_phase *s) {
  int64_t group[REGAL_PHASE_DEVICES];
  uint32_t groups = 0;
  regal_phase_save_best(s);
  regal_phase_sort(s, s->at, s->phases);
  for (uint32_t phase = 0, begin = 0; phase < s->phases; phase++) {
    uint32_t end = s->bucket[phase];
    if (begin == end)
      continue;
    const int64_t *load = s->load + ((size_t)phase << s->shift);
    if (groups == 0 || !may_join(s, begin, end, groups - 1) ||
        !regal_phase_join(s, group, load, false)) {
      memcpy(group, load, (s->mask + 1) * sizeof *group);
      groups++;
    }
    for (uint32_t i = begin; i < end; i++) {
      uint32_t op = s->order[i];
      s->at[op] = (groups - 1) << s->shift | (s->at[op] & s->mask);
    }
    begin = end;
  }
  for (uint32_t op = 0; op < s->ops; op++) {
    uint32_t phase = 2 * regal_phase_of(s, s->at[op]) + 1;
    s->at[op] = phase << s->shift | (s->at[op] & s->mask);
  }
  s->phases = 2 * groups + 1;
  s->renumbered = true;
  regal_phase_recompute(s);
  regal_phase_note_best(s);
}

void regal_phase_save_best(regal_phase *s) {
  if (!s->best_is_present)
    return;
  s->best_is_present = false;
  if (s->renumbered)
    memcpy(s->best_at, s->at, s->ops * sizeof *s->at);
  for (uint32_t i = 0; i < s->changes; i++) {
    uint32_t op = s->changed[i];
    s->best_at[op] = s->at[op];
    s->is_changed[op] = 0;
  }
  s->changes = 0;
  s->renumbered = false;
}
