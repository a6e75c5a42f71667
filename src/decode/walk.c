/* SPDX-License-Identifier: Apache-2.0 */
/* From an order and a placement to a cost, and to a plan where one is wanted.
 * Three rules place the transfers: batched (decode/pending.h), late (each just
 * before its first reader), and, for two devices under a memory limit, batches
 * that wait for the last moment at which memory still allows them. Every loop
 * is compiled once for each combination of what has to be counted.
 */
#include "decode/walk.h"

void regal_walk_layout(regal_walk *walk, regal_carver *carver,
                       const regal_problem *problem) {
  walk->position = regal_carve(carver, problem->ops, 4);
  walk->sent = regal_carve(carver, problem->tensors, 8);
  walk->batch = regal_carve(carver, problem->tensors, 4);
  regal_pending_layout(&walk->pending, carver, problem);
  regal_running_cost_layout(&walk->running, carver, problem);
}

/* Exchanges with every device that has an input which was not sent yet. */
REGAL_INLINE void fetch_inputs(const regal_problem *problem, regal_walk *walk,
                               const uint8_t *placement, uint32_t op,
                               uint32_t position, regal_plan *plan,
                               regal_pending_mode mode) {
  uint32_t d = problem->devices, device = placement[op];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t made_by = problem->producer[problem->input[i]];
    uint32_t home = placement[made_by];
    if (home != device &&
        walk->position[made_by] > walk->pending.exchanged[home * d + device])
      regal_pending_exchange(&walk->pending, &walk->running, problem, placement,
                             home, device, position, plan, mode);
  }
}

REGAL_INLINE void run_batched(const regal_problem *problem, regal_walk *walk,
                              const uint32_t *order, const uint8_t *placement,
                              regal_plan *plan, regal_pending_mode mode,
                              bool nothing_to_add) {
  regal_pending_begin(&walk->pending, problem->devices);
  regal_running_cost_begin(&walk->running, problem, placement, mode.memory,
                           mode.overlapped);
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = order[i], device = placement[op];
    fetch_inputs(problem, walk, placement, op, i + 1, plan, mode);
    regal_running_cost_run(&walk->running, problem, op, device, mode.memory,
                           mode.overlapped);
    regal_plan_add_run(plan, op, device);
    walk->position[op] = i + 1;
    if (!nothing_to_add)
      regal_pending_add(&walk->pending, problem, placement, op, mode);
  }
}

regal_fitness regal_walk_batched(const regal_problem *problem, regal_walk *walk,
                                 const uint32_t *order,
                                 const uint8_t *placement, regal_plan *plan) {
  bool memory = regal_problem_needs_memory(problem);
  bool overlapped = problem->machine->overlapped;
  if (plan)
    plan->step_count = 0;
  if (memory || overlapped || plan)
    run_batched(problem, walk, order, placement, plan,
                (regal_pending_mode){memory, overlapped, true}, false);
  else if (problem->free_transfers)
    run_batched(problem, walk, order, placement, NULL,
                (regal_pending_mode){false, false, false}, true);
  else
    run_batched(problem, walk, order, placement, NULL,
                (regal_pending_mode){false, false, false}, false);
  return regal_running_cost_fitness(&walk->running, problem, memory);
}

REGAL_INLINE void send_late(const regal_problem *problem, regal_walk *walk,
                            const uint8_t *placement, uint32_t op,
                            regal_plan *plan, bool memory, bool overlapped) {
  uint32_t device = placement[op];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    uint32_t home = placement[problem->producer[tensor]];
    if (home == device || (walk->sent[tensor] >> device & 1))
      continue;
    walk->sent[tensor] |= UINT64_C(1) << device;
    regal_running_cost_send(&walk->running, problem, placement, tensor, home,
                            device, memory, overlapped);
    regal_plan_add_send(plan, problem, tensor, home, device);
  }
}

REGAL_INLINE void run_late(const regal_problem *problem, regal_walk *walk,
                           const uint32_t *order, const uint8_t *placement,
                           regal_plan *plan, bool memory, bool overlapped) {
  memset(walk->sent, 0, problem->tensors * sizeof *walk->sent);
  regal_running_cost_begin(&walk->running, problem, placement, memory,
                           overlapped);
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = order[i], device = placement[op];
    send_late(problem, walk, placement, op, plan, memory, overlapped);
    regal_running_cost_run(&walk->running, problem, op, device, memory,
                           overlapped);
    regal_plan_add_run(plan, op, device);
  }
}

regal_fitness regal_walk_late(const regal_problem *problem, regal_walk *walk,
                              const uint32_t *order, const uint8_t *placement,
                              regal_plan *plan) {
  bool memory = regal_problem_needs_memory(problem);
  bool overlapped = problem->machine->overlapped;
  if (plan)
    plan->step_count = 0;
  if (overlapped)
    run_late(problem, walk, order, placement, plan, memory, true);
  else if (memory)
    run_late(problem, walk, order, placement, plan, true, false);
  else
    run_late(problem, walk, order, placement, plan, false, false);
  return regal_running_cost_fitness(&walk->running, problem, memory);
}

/* -- Two devices: with the last exchange that is in time ------------------- */

/* The position of the first op after `first` that needs something made since
 * then on the other device, or the number of ops. */
static uint32_t find_exchange(const regal_problem *problem,
                              const regal_walk *walk, const uint32_t *order,
                              const uint8_t *placement, uint32_t first) {
  for (uint32_t at = first + 1; at < problem->ops; at++) {
    uint32_t op = order[at];
    for (REGAL_ROW(i, problem->input_begin, op)) {
      uint32_t made_by = problem->producer[problem->input[i]];
      if (placement[made_by] != placement[op] &&
          walk->position[made_by] >= first)
        return at;
    }
  }
  return problem->ops;
}

/* What travels with one exchange. */
typedef struct traffic {
  regal_walk_traffic bytes;
  uint32_t count; /* in walk->batch */
} traffic;

static void add_to_batch(const regal_problem *problem, regal_walk *walk,
                         uint32_t tensor, uint32_t home, traffic *traffic) {
  int64_t bytes = problem->bytes[tensor];
  walk->sent[tensor] = 1;
  walk->batch[traffic->count++] = tensor;
  traffic->bytes.arriving[home ^ 1] += bytes;
  if (walk->running.left[2 * (size_t)tensor + home] == 1)
    traffic->bytes.leaving[home] += bytes;
}

/* Whether all that is left to do for it at home is to leave. */
static bool is_idle(const regal_walk *walk, uint32_t tensor, uint32_t home) {
  const uint32_t *left = walk->running.left + 2 * (size_t)tensor;
  return !walk->sent[tensor] && left[home] == 1 && left[home ^ 1] > 0;
}

/* Tensors that the op was the last to use at home. */
static void add_early(const regal_problem *problem, regal_walk *walk,
                      const uint8_t *early, const uint8_t *placement,
                      uint32_t op, traffic *traffic) {
  uint32_t device = placement[op];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    if (early[tensor] && placement[problem->producer[tensor]] == device &&
        is_idle(walk, tensor, device))
      add_to_batch(problem, walk, tensor, device, traffic);
  }
  for (REGAL_ROW(t, problem->output_begin, op))
    if (early[t] && is_idle(walk, t, device))
      add_to_batch(problem, walk, t, device, traffic);
}

static void add_inputs(const regal_problem *problem, regal_walk *walk,
                       const uint8_t *placement, uint32_t op,
                       traffic *traffic) {
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    uint32_t home = placement[problem->producer[tensor]];
    if (home != placement[op] && !walk->sent[tensor])
      add_to_batch(problem, walk, tensor, home, traffic);
  }
}

static void send_batch(const regal_problem *problem, regal_walk *walk,
                       const uint8_t *placement, const traffic *traffic,
                       regal_plan *plan) {
  uint32_t from = regal_walk_first_sender(&traffic->bytes);
  for (uint32_t turn = 0; turn < 2; turn++, from ^= 1)
    for (uint32_t i = 0; i < traffic->count; i++) {
      uint32_t tensor = walk->batch[i];
      if (placement[problem->producer[tensor]] != from)
        continue;
      regal_running_cost_send(&walk->running, problem, placement, tensor, from,
                              from ^ 1, true, false);
      regal_plan_add_send(plan, problem, tensor, from, from ^ 1);
    }
}

regal_fitness regal_walk_timely(const regal_problem *problem, regal_walk *walk,
                                const uint32_t *order, const uint8_t *placement,
                                const uint8_t *early, regal_plan *plan) {
  if (plan)
    plan->step_count = 0;
  for (uint32_t i = 0; i < problem->ops; i++)
    walk->position[order[i]] = i;
  memset(walk->sent, 0, problem->tensors * sizeof *walk->sent);
  regal_running_cost_begin(&walk->running, problem, placement, true, false);
  for (uint32_t before = 0, first = 0, end; first < problem->ops;
       before = first, first = end) {
    traffic traffic = {{{0, 0}, {0, 0}}, 0};
    end = find_exchange(problem, walk, order, placement, first);
    for (uint32_t i = before; early && i < first; i++)
      add_early(problem, walk, early, placement, order[i], &traffic);
    for (uint32_t i = first; i < end; i++)
      add_inputs(problem, walk, placement, order[i], &traffic);
    send_batch(problem, walk, placement, &traffic, plan);
    for (uint32_t i = first; i < end; i++) {
      uint32_t op = order[i], device = placement[op];
      regal_running_cost_run(&walk->running, problem, op, device, true, false);
      regal_plan_add_run(plan, op, device);
    }
  }
  return regal_running_cost_fitness(&walk->running, problem, true);
}

static regal_fitness walk_last(const regal_problem *problem, regal_walk *walk,
                               const uint32_t *order, const uint8_t *placement,
                               regal_plan *plan) {
  return regal_walk_timely(problem, walk, order, placement, NULL, plan);
}

/* -- The best of them ------------------------------------------------------ */

typedef regal_fitness walk_fn(const regal_problem *problem, regal_walk *walk,
                              const uint32_t *order, const uint8_t *placement,
                              regal_plan *plan);

regal_fitness regal_walk_within_limit(const regal_problem *problem,
                                      regal_walk *walk, const uint32_t *order,
                                      const uint8_t *placement,
                                      regal_plan *plan) {
  walk_fn *walks[] = {regal_walk_batched, regal_walk_late, walk_last};
  uint32_t count = regal_walk_suits_timely(problem) ? 3 : 2, chosen = 0;
  regal_fitness best =
      regal_walk_batched(problem, walk, order, placement, plan);
  for (uint32_t i = count; best.excess > 0 && --i > 0;) {
    regal_fitness other = walks[i](problem, walk, order, placement, NULL);
    if (regal_fitness_less(other, best)) {
      best = other;
      chosen = i;
    }
  }
  if (plan && chosen > 0)
    walks[chosen](problem, walk, order, placement, plan);
  return best;
}
