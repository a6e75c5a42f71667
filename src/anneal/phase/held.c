/* SPDX-License-Identifier: Apache-2.0 */
/* What devices hold, by blocks of phases: see anneal/phase/held.h. */
#include "anneal/phase/held.h"

#include <string.h>

/* Blocks first .. end - 1. */
typedef struct span {
  uint32_t first, end;
} span;

bool regal_phase_heeds(const regal_problem *problem) {
  return problem->devices == 2 && !problem->limited &&
         problem->limit[0] != REGAL_UNLIMITED &&
         problem->limit[1] != REGAL_UNLIMITED;
}

static void add(regal_phase *s, uint32_t device, uint32_t first, uint32_t end,
                int64_t bytes) {
  int64_t *held = s->held + (size_t)device * REGAL_PHASE_BLOCKS;
  int64_t limit = s->problem->limit[device], over = 0;
  for (uint32_t k = first; k < end; k++) {
    int64_t before = held[k] - limit, after = before + bytes;
    held[k] += bytes;
    over += (after > 0 ? after : 0) - (before > 0 ? before : 0);
  }
  s->over += over;
}

static uint32_t block_of(const regal_phase *s, uint32_t place) {
  return place >> (s->shift + s->block_bits);
}

/* Where both devices hold a tensor, if the op is at `place`. */
static void find_spans(const regal_phase *s, uint32_t tensor, uint32_t op,
                       uint32_t place, span spans[2]) {
  const regal_problem *problem = s->problem;
  uint32_t by = problem->producer[tensor], made = by == op ? place : s->at[by];
  uint32_t home = made & 1, local = block_of(s, made);
  uint32_t first = UINT32_MAX, last = 0;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u];
    uint32_t at = reader == op ? place : s->at[reader], k = block_of(s, at);
    if ((at & 1) == home) {
      local = k > local ? k : local;
    } else {
      first = k < first ? k : first;
      last = k > last ? k : last;
    }
  }
  if (first != UINT32_MAX && first > local)
    local = first;
  if (problem->is_final[tensor])
    local = s->blocks - 1;
  spans[home] = (span){block_of(s, made), local + 1};
  spans[home ^ 1] =
      first == UINT32_MAX ? (span){0, 0} : (span){first, last + 1};
}

/* From one span to another. */
static void change(regal_phase *s, uint32_t device, span from, span to,
                   int64_t bytes) {
  if (from.end <= to.first || to.end <= from.first) {
    add(s, device, from.first, from.end, -bytes);
    add(s, device, to.first, to.end, bytes);
    return;
  }
  add(s, device, from.first, to.first, -bytes); /* empty if the other way */
  add(s, device, to.first, from.first, bytes);
  add(s, device, to.end, from.end, -bytes);
  add(s, device, from.end, to.end, bytes);
}

static void change_tensor(regal_phase *s, uint32_t tensor, uint32_t op,
                          uint32_t from, uint32_t to) {
  int64_t bytes = s->problem->bytes[tensor];
  span before[2], after[2];
  if (bytes == 0)
    return;
  find_spans(s, tensor, op, from, before);
  find_spans(s, tensor, op, to, after);
  change(s, 0, before[0], after[0], bytes);
  change(s, 1, before[1], after[1], bytes);
}

/* What only the op itself needs. */
static void hold_own(regal_phase *s, uint32_t op, uint32_t place, int sign) {
  int64_t temporary = sign * s->problem->graph->temporary_bytes[op];
  int64_t resident = sign * s->problem->resident_bytes[op];
  uint32_t k = block_of(s, place);
  if (temporary)
    add(s, place & 1, k, k + 1, temporary);
  if (resident)
    add(s, place & 1, 0, s->blocks, resident);
}

static void move(regal_phase *s, uint32_t op, uint32_t from, uint32_t to) {
  const regal_problem *problem = s->problem;
  for (REGAL_ROW(i, problem->input_begin, op))
    change_tensor(s, problem->input[i], op, from, to);
  for (REGAL_ROW(t, problem->output_begin, op))
    change_tensor(s, t, op, from, to);
  hold_own(s, op, from, -1);
  hold_own(s, op, to, 1);
}

void regal_phase_hold(regal_phase *s, uint32_t op, uint32_t to) {
  move(s, op, s->at[op], to);
}

void regal_phase_release(regal_phase *s, uint32_t op, uint32_t to) {
  move(s, op, to, s->at[op]);
}

static void hold_tensor(regal_phase *s, uint32_t tensor, int sign) {
  span spans[2];
  find_spans(s, tensor, REGAL_NONE, 0, spans);
  for (uint32_t a = 0; a < 2; a++)
    add(s, a, spans[a].first, spans[a].end, sign * s->problem->bytes[tensor]);
}

void regal_phase_count_held(regal_phase *s) {
  const regal_problem *problem = s->problem;
  s->block_bits = 0;
  while ((s->phases - 1) >> s->block_bits >= REGAL_PHASE_BLOCKS)
    s->block_bits++;
  s->blocks = ((s->phases - 1) >> s->block_bits) + 1;
  memset(s->held, 0, 2 * (size_t)REGAL_PHASE_BLOCKS * sizeof *s->held);
  s->over = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    hold_tensor(s, t, 1);
  for (uint32_t op = 0; op < problem->ops; op++)
    hold_own(s, op, s->at[op], 1);
}

/* -- Moves of several ops -------------------------------------------------- */

static void mark_dirty(regal_phase *s, uint32_t tensor) {
  if (s->dirty_stamp[tensor] == s->dirty_stamps || !s->problem->bytes[tensor])
    return;
  s->dirty_stamp[tensor] = s->dirty_stamps;
  s->dirty[s->dirties++] = tensor;
}

/* The tensors that the tried ops read and make, each once. */
static void list_dirty(regal_phase *s) {
  const regal_problem *problem = s->problem;
  if (++s->dirty_stamps == 0) {
    memset(s->dirty_stamp, 0, problem->tensors * sizeof *s->dirty_stamp);
    s->dirty_stamps = 1;
  }
  s->dirties = 0;
  for (uint32_t i = 0; i < s->tries; i++) {
    for (REGAL_ROW(k, problem->input_begin, s->tried[i]))
      mark_dirty(s, problem->input[k]);
    for (REGAL_ROW(t, problem->output_begin, s->tried[i]))
      mark_dirty(s, t);
  }
}

static void hold_dirty(regal_phase *s, int sign) {
  for (uint32_t i = 0; i < s->dirties; i++)
    hold_tensor(s, s->dirty[i], sign);
  for (uint32_t i = 0; i < s->tries; i++)
    hold_own(s, s->tried[i], s->at[s->tried[i]], sign);
}

/* The tried ops go back to where they were, or there again. */
static void swap_places(regal_phase *s) {
  for (uint32_t i = 0; i < s->tries; i++) {
    uint32_t place = s->at[s->tried[i]];
    s->at[s->tried[i]] = s->tried_from[i];
    s->tried_from[i] = place;
  }
}

void regal_phase_hold_tried(regal_phase *s) {
  list_dirty(s);
  swap_places(s);
  hold_dirty(s, -1);
  swap_places(s);
  hold_dirty(s, 1);
}

void regal_phase_release_tried(regal_phase *s) {
  hold_dirty(s, -1);
  swap_places(s);
  hold_dirty(s, 1);
  swap_places(s);
}
