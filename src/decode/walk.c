#include "decode/walk.h"

void regal_walk_layout(regal_walk *walk, regal_carver *carver,
                       const regal_problem *problem) {
  walk->position = regal_carve(carver, problem->ops, 4);
  walk->sent = regal_carve(carver, problem->tensors, 8);
  regal_pending_layout(&walk->pending, carver, problem);
  regal_account_layout(&walk->account, carver, problem);
}

/* Exchanges with every device that has an input which was not sent yet. */
REGAL_INLINE void fetch_inputs(const regal_problem *problem, regal_walk *walk,
                               const uint8_t *placement, uint32_t op,
                               uint32_t position, regal_plan *plan,
                               regal_pending_mode mode) {
  uint32_t d = problem->devices, device = placement[op];
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t made_by = problem->producer[problem->input[i]];
    uint32_t home = placement[made_by];
    if (home != device &&
        walk->position[made_by] > walk->pending.exchanged[home * d + device])
      regal_pending_exchange(&walk->pending, &walk->account, problem, placement,
                             home, device, position, plan, mode);
  }
}

REGAL_INLINE void run_batched(const regal_problem *problem, regal_walk *walk,
                              const uint32_t *order, const uint8_t *placement,
                              regal_plan *plan, regal_pending_mode mode,
                              bool nothing_to_add) {
  regal_pending_begin(&walk->pending, problem->devices);
  regal_account_begin(&walk->account, problem, placement, mode.memory,
                      mode.overlapped);
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = order[i], device = placement[op];
    fetch_inputs(problem, walk, placement, op, i + 1, plan, mode);
    regal_account_run(&walk->account, problem, op, device, mode.memory,
                      mode.overlapped);
    if (plan)
      plan->steps[plan->step_count++] =
          (regal_step){op, REGAL_RUN, (uint16_t)device, (uint16_t)device};
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
  return regal_account_fitness(&walk->account, problem, memory);
}

REGAL_INLINE void send_late(const regal_problem *problem, regal_walk *walk,
                            const uint8_t *placement, uint32_t op,
                            regal_plan *plan, bool memory, bool overlapped) {
  uint32_t device = placement[op];
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t tensor = problem->input[i];
    uint32_t home = placement[problem->producer[tensor]];
    if (home == device || (walk->sent[tensor] >> device & 1))
      continue;
    walk->sent[tensor] |= UINT64_C(1) << device;
    regal_account_send(&walk->account, problem, placement, tensor, home, device,
                       memory, overlapped);
    if (plan)
      plan->steps[plan->step_count++] =
          regal_plan_send(problem, tensor, home, device);
  }
}

REGAL_INLINE void run_late(const regal_problem *problem, regal_walk *walk,
                           const uint32_t *order, const uint8_t *placement,
                           regal_plan *plan, bool memory, bool overlapped) {
  memset(walk->sent, 0, problem->tensors * sizeof *walk->sent);
  regal_account_begin(&walk->account, problem, placement, memory, overlapped);
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = order[i], device = placement[op];
    send_late(problem, walk, placement, op, plan, memory, overlapped);
    regal_account_run(&walk->account, problem, op, device, memory, overlapped);
    if (plan)
      plan->steps[plan->step_count++] =
          (regal_step){op, REGAL_RUN, (uint16_t)device, (uint16_t)device};
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
  return regal_account_fitness(&walk->account, problem, memory);
}

regal_fitness regal_walk_within_limit(const regal_problem *problem,
                                      regal_walk *walk, const uint32_t *order,
                                      const uint8_t *placement,
                                      regal_plan *plan) {
  regal_fitness batched =
      regal_walk_batched(problem, walk, order, placement, plan);
  if (batched.excess == 0)
    return batched;
  regal_fitness late = regal_walk_late(problem, walk, order, placement, NULL);
  if (!regal_fitness_less(late, batched))
    return batched;
  if (plan)
    regal_walk_late(problem, walk, order, placement, plan);
  return late;
}
