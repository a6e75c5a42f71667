/* SPDX-License-Identifier: Apache-2.0 */
/* Memory along an order with exchanges: the profile. A scan runs over positions
 * with the bytes held on both devices, the last exchange and the one to come;
 * what an exchange moves is found from the events around it. See
 * anneal/order/memory.h. */
#include "anneal/order/memory.h"

#include <string.h>

/* -- A scan ---------------------------------------------------------------- */

typedef struct scan {
  int64_t held[2], peak[2]; /* peaks since the block's beginning */
  uint32_t exchanged, next; /* the last exchange, and the one to come */
} scan;

/* The first position from `at` on that needs an exchange, the last one having
 * been at `exchanged`; or the number of ops. */
static uint32_t find_exchange(const regal_order *order, uint32_t at,
                              uint32_t exchanged) {
  uint32_t ops = order->problem->ops;
  for (; at < ops; at++) {
    uint32_t op = order->op_at[at];
    const regal_order_cell *cell = &order->cells[op];
    if (cell->remote &&
        regal_order_needs_exchange(order, op, cell->device, exchanged))
      break;
  }
  return at;
}

/* Copies that arrive for the op with the exchange at `first`, and originals
 * that are of no more use at home. */
REGAL_INLINE void add_firsts(const regal_order_memory *memory, uint32_t op,
                             uint32_t first, regal_walk_traffic *traffic) {
  const regal_problem *problem = memory->problem;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    const regal_order_record *record = &memory->records[tensor];
    if (record->first != op)
      continue;
    bool idle = memory->order->position[record->local] < first &&
                !problem->is_final[tensor];
    if (idle && memory->early[tensor])
      continue; /* it is there */
    traffic->arriving[record->home ^ 1] += problem->bytes[tensor];
    traffic->leaving[record->home] += idle ? problem->bytes[tensor] : 0;
  }
}

static void add_departure(const regal_order_memory *memory, uint32_t tensor,
                          uint32_t op, uint32_t first,
                          regal_walk_traffic *traffic) {
  const regal_order_record *record = &memory->records[tensor];
  if (record->local != op || !memory->early[tensor] ||
      record->first == REGAL_NONE || memory->problem->is_final[tensor] ||
      memory->order->position[record->first] < first)
    return;
  int64_t bytes = memory->problem->bytes[tensor];
  traffic->arriving[record->home ^ 1] += bytes;
  traffic->leaving[record->home] += bytes;
}

/* Tensors that the op was the last to use at home, and that leave early. */
REGAL_INLINE void add_departures(const regal_order_memory *memory, uint32_t op,
                                 uint32_t first, regal_walk_traffic *traffic) {
  const regal_problem *problem = memory->problem;
  for (REGAL_ROW(i, problem->input_begin, op))
    add_departure(memory, problem->input[i], op, first, traffic);
  for (REGAL_ROW(t, problem->output_begin, op))
    add_departure(memory, t, op, first, traffic);
}

/* The exchange at now->next; then finds the one after it. */
static void exchange(const regal_order_memory *memory, scan *now) {
  const regal_order *order = memory->order;
  const regal_order_event *events = memory->events;
  regal_walk_traffic traffic = {{0, 0}, {0, 0}};
  uint32_t before = now->exchanged, first = now->next;
  now->exchanged = first;
  now->next = find_exchange(order, first + 1, first);
  for (uint32_t i = before; i < first; i++)
    if (events[order->op_at[i]].departs)
      add_departures(memory, order->op_at[i], first, &traffic);
  for (uint32_t i = first; i < now->next; i++)
    if (events[order->op_at[i]].firsts)
      add_firsts(memory, order->op_at[i], first, &traffic);
  uint32_t a = regal_walk_first_sender(&traffic), b = a ^ 1;
  now->peak[b] = regal_later(now->peak[b], now->held[b] + traffic.arriving[b]);
  now->held[a] += traffic.arriving[a] - traffic.leaving[a];
  now->peak[a] = regal_later(now->peak[a], now->held[a]);
  now->held[b] += traffic.arriving[b] - traffic.leaving[b];
}

/* Whether the op is the last to use its input on its device, the next exchange
 * being at `next`. */
static bool dies(const regal_order_memory *memory, uint32_t tensor, uint32_t op,
                 uint32_t next) {
  const regal_order_record *record = &memory->records[tensor];
  if (record->home != memory->order->cells[op].device)
    return record->last == op;
  return record->local == op && !memory->problem->is_final[tensor] &&
         (record->first == REGAL_NONE ||
          memory->order->position[record->first] < next);
}

/* Bytes of outputs that take over an input: each the first that is large enough
 * and that no output before it has taken. */
static int64_t reused_by(regal_order_memory *memory, uint32_t op,
                         uint32_t next) {
  const regal_problem *problem = memory->problem;
  int64_t reused = 0;
  memory->takes++;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    int64_t bytes = problem->may_reuse[t] ? problem->bytes[t] : 0;
    for (uint32_t i = problem->input_begin[op];
         bytes && i < problem->input_begin[op + 1]; i++) {
      uint32_t input = problem->input[i];
      if (problem->bytes[input] < bytes ||
          memory->taken[input] == memory->takes ||
          !dies(memory, input, op, next))
        continue;
      memory->taken[input] = memory->takes;
      reused += bytes;
      break;
    }
  }
  return reused;
}

/* Bytes of tensors whose last local reader this is and whose copy has left. */
static int64_t freed_by(const regal_order_memory *memory, uint32_t op,
                        uint32_t next) {
  const regal_problem *problem = memory->problem;
  int64_t bytes = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    const regal_order_record *record = &memory->records[tensor];
    if (record->local == op && record->first != REGAL_NONE &&
        !problem->is_final[tensor] &&
        memory->order->position[record->first] < next)
      bytes += problem->bytes[tensor];
  }
  return bytes;
}

static void scan_block(regal_order_memory *memory, scan *now, uint32_t first,
                       uint32_t end) {
  const regal_order *order = memory->order;
  const uint8_t *reuses = memory->problem->reuses;
  for (uint32_t i = first; i < end; i++) {
    if (i == now->next)
      exchange(memory, now);
    uint32_t op = order->op_at[i], device = order->cells[op].device;
    const regal_order_event *event = &memory->events[op];
    int64_t held = now->held[device], during = held + event->during;
    if (reuses && reuses[op])
      during -= reused_by(memory, op, now->next);
    now->peak[device] = regal_later(now->peak[device], during);
    now->held[device] = held + event->after;
    if (event->lasts)
      now->held[device] -= freed_by(memory, op, now->next);
  }
}

/* -- The whole order ------------------------------------------------------- */

/* One block; its level becomes known. */
static void scan_level(regal_order_memory *memory, scan *now, uint32_t block,
                       regal_order_level *level) {
  uint32_t first = block << memory->bits, ops = memory->problem->ops;
  uint32_t end = first + (1u << memory->bits);
  level->exchanged = now->exchanged;
  for (uint32_t a = 0; a < 2; a++)
    level->held[a] = now->peak[a] = now->held[a];
  scan_block(memory, now, first, end < ops ? end : ops);
  level->peak[0] = now->peak[0];
  level->peak[1] = now->peak[1];
}

void regal_order_memory_set(regal_order_memory *memory) {
  scan now = {.exchanged = 0};
  regal_order_memory_rebuild(memory);
  regal_residents_count(&memory->residents, memory->problem,
                        memory->order->device_of, now.held);
  now.next = find_exchange(memory->order, 0, 0);
  for (uint32_t k = 0; k < memory->blocks; k++)
    scan_level(memory, &now, k, &memory->levels[k]);
}

/* Peaks so far, and what blocks had beyond the limits. */
typedef struct tally {
  int64_t peak[2], spread;
} tally;

REGAL_INLINE void count_block(const regal_problem *problem, tally *tally,
                              int64_t peak0, int64_t peak1) {
  tally->peak[0] = peak0 > tally->peak[0] ? peak0 : tally->peak[0];
  tally->peak[1] = peak1 > tally->peak[1] ? peak1 : tally->peak[1];
  int64_t over0 = peak0 - problem->limit[0], over1 = peak1 - problem->limit[1];
  tally->spread += (over0 > 0 ? over0 : 0) + (over1 > 0 ? over1 : 0);
}

/* Levels first .. end - 1, where so much more is held. */
static void count_levels(const regal_order_memory *memory, uint32_t first,
                         uint32_t end, const int64_t more[2], tally *tally) {
  const regal_order_level *levels = memory->levels;
  for (uint32_t k = first; k < end; k++)
    count_block(memory->problem, tally, levels[k].peak[0] + more[0],
                levels[k].peak[1] + more[1]);
}

static regal_order_excess excess_of(const regal_order_memory *memory,
                                    const tally *tally) {
  const int64_t *limit = memory->problem->limit;
  int64_t bytes = regal_later(0, tally->peak[0] - limit[0]) +
                  regal_later(0, tally->peak[1] - limit[1]);
  return (regal_order_excess){bytes, tally->spread,
                              (double)bytes +
                                  memory->weight * (double)tally->spread};
}

regal_order_excess regal_order_memory_excess(const regal_order_memory *memory) {
  const int64_t nothing[2] = {0, 0};
  tally tally = {{0, 0}, 0};
  count_levels(memory, 0, memory->blocks, nothing, &tally);
  return excess_of(memory, &tally);
}

void regal_order_memory_phase(const regal_order_memory *memory,
                              uint32_t position, uint32_t *first,
                              uint32_t *end) {
  uint32_t block = position >> memory->bits;
  *first = memory->levels[block].exchanged;
  *end = find_exchange(memory->order, block << memory->bits, *first);
  while (*end <= position) {
    *first = *end;
    *end = find_exchange(memory->order, *first + 1, *first);
  }
}

/* A tensor leaves early if it does so nearer to its last reader at home than to
 * the first one elsewhere. */
static void read_early(regal_order_memory *memory, const regal_plan *plan) {
  const uint32_t *position = memory->order->position;
  uint64_t ran = 0;
  memset(memory->early, 0, memory->problem->tensors);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step)) {
      ran++;
      continue;
    }
    uint32_t tensor = regal_plan_tensor(memory->problem, step);
    const regal_order_record *record = &memory->records[tensor];
    memory->early[tensor] = record->first != REGAL_NONE &&
                            2 * ran < (uint64_t)position[record->local] + 1 +
                                          position[record->first];
  }
}

/* What leaves early. */
enum { NONE, ALL, AS_IN_PLAN, WAYS };

/* Returns the violation. */
static double set_early(regal_order_memory *memory, int way,
                        const regal_plan *plan) {
  if (way == AS_IN_PLAN)
    read_early(memory, plan);
  else
    memset(memory->early, way, memory->problem->tensors);
  regal_order_memory_set(memory);
  return regal_order_memory_excess(memory).violation;
}

void regal_order_memory_read(regal_order_memory *memory,
                             const regal_plan *plan) {
  double violation[WAYS];
  int best = NONE;
  for (int way = NONE; way < WAYS; way++) {
    violation[way] = set_early(memory, way, plan);
    best = violation[way] < violation[best] ? way : best;
  }
  if (best != AS_IN_PLAN)
    set_early(memory, best, plan);
}

/* -- One move -------------------------------------------------------------- */

/* Whether the last exchange is the one that is kept for the block. */
static bool is_in_step(const regal_order_memory *memory, const scan *now,
                       uint32_t block) {
  return memory->levels[block].exchanged == now->exchanged &&
         !regal_order_is_crossed(memory->order, now->exchanged);
}

/* Whether all from this block on is as it is kept, except for a constant. */
static bool meets(const regal_order_memory *memory, const scan *now,
                  uint32_t block) {
  return block << memory->bits > memory->high && is_in_step(memory, now, block);
}

/* Passes over a block that differs from what is kept by a constant, if it is
 * one. */
static bool skip_block(const regal_order_memory *memory, scan *now,
                       uint32_t block, regal_order_level *level) {
  const regal_order_level *kept = &memory->levels[block];
  if (memory->concerned[block] == memory->stamps ||
      !is_in_step(memory, now, block))
    return false;
  bool last = block + 1 == memory->blocks;
  level->exchanged = now->exchanged;
  for (uint32_t a = 0; a < 2; a++) {
    int64_t more = now->held[a] - kept->held[a];
    level->held[a] = now->held[a];
    level->peak[a] = now->peak[a] = kept->peak[a] + more;
    now->held[a] = last ? now->held[a] : kept[1].held[a] + more;
  }
  now->exchanged = last ? now->exchanged : kept[1].exchanged;
  now->next = REGAL_NONE; /* not looked for */
  return true;
}

regal_order_excess regal_order_memory_try(regal_order_memory *memory,
                                          uint32_t toggled, double allowed) {
  const regal_order_level *levels = memory->levels;
  tally tally = {{0, 0}, 0};
  memory->scanned_from = memory->scanned = memory->blocks;
  regal_order_memory_begin(memory, toggled);
  if (memory->low == UINT32_MAX)
    return regal_order_memory_excess(memory);
  uint32_t k = levels[memory->low >> memory->bits].exchanged >> memory->bits;
  scan now = {.exchanged = levels[k].exchanged, .next = REGAL_NONE};
  now.held[0] = levels[k].held[0] + memory->base[0];
  now.held[1] = levels[k].held[1] + memory->base[1];
  memory->scanned_from = k;
  count_levels(memory, 0, k, memory->base, &tally);
  for (; k < memory->blocks && !meets(memory, &now, k); k++) {
    if (!skip_block(memory, &now, k, &memory->trial[k])) {
      if (now.next == REGAL_NONE)
        now.next =
            find_exchange(memory->order, k << memory->bits, now.exchanged);
      scan_level(memory, &now, k, &memory->trial[k]);
    }
    count_block(memory->problem, &tally, now.peak[0], now.peak[1]);
    regal_order_excess excess = excess_of(memory, &tally);
    if (excess.violation > allowed)
      return excess;
  }
  memory->scanned = k;
  for (uint32_t a = 0; k < memory->blocks && a < 2; a++)
    memory->rest[a] = now.held[a] - levels[k].held[a];
  count_levels(memory, k, memory->blocks, memory->rest, &tally);
  return excess_of(memory, &tally);
}

static void lift(regal_order_level *levels, uint32_t first, uint32_t end,
                 const int64_t more[2]) {
  if (more[0] == 0 && more[1] == 0)
    return;
  for (uint32_t k = first; k < end; k++)
    for (uint32_t a = 0; a < 2; a++) {
      levels[k].held[a] += more[a];
      levels[k].peak[a] += more[a];
    }
}

void regal_order_memory_keep(regal_order_memory *memory) {
  uint32_t from = memory->scanned_from, end = memory->scanned;
  lift(memory->levels, 0, from, memory->base);
  memcpy(memory->levels + from, memory->trial + from,
         (end - from) * sizeof *memory->levels);
  lift(memory->levels, end, memory->blocks, memory->rest);
}
