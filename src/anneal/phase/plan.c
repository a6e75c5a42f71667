/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing: phases from a plan, and a plan from phases. A plan's
 * transfers become barriers between phases; a solution's barriers become the
 * transfers of what an op of the phase needs. */
#include "anneal/phase/phase.h"
#include "base/compare.h"

/* A plan on one device says nothing about phases. With one op in each, every op
 * can change its device by itself, and on one device they cost nothing: of all
 * starts this is the one that annealing gets furthest from. */
static void read_one_device(regal_phase *s, const regal_plan *plan) {
  uint32_t phase = 0;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    s->at[step->op] = phase++ << s->shift | step->device;
  }
}

/* The phase from which on the op may be where it is, for those that it waits
 * for: transfers have raised the phases of the devices already. */
static uint32_t first_phase(const regal_phase *s, uint32_t op, uint32_t device,
                            uint32_t phase) {
  for (REGAL_ROW(k, s->near_begin, 2 * op)) {
    uint32_t place = s->at[s->near[k]];
    bool elsewhere = (place & s->mask) != device;
    phase = regal_larger32(phase, regal_phase_of(s, place) + elsewhere);
  }
  return phase;
}

/* A transfer begins a phase on both of its devices, if one of them has run
 * anything in theirs: so none is left empty, and there are at most as many as
 * ops. */
static void read_phases(regal_phase *s, const regal_plan *plan) {
  uint32_t phase[REGAL_PHASE_DEVICES] = {0};
  uint32_t free[REGAL_PHASE_DEVICES] = {0}; /* first without an op */
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    uint32_t from = step->device, to = step->to;
    if (regal_step_runs(step)) {
      phase[from] = first_phase(s, step->op, from, phase[from]);
      free[from] = phase[from] + 1;
      s->at[step->op] = phase[from] << s->shift | from;
      continue;
    }
    phase[from] = phase[to] =
        regal_larger32(regal_larger32(phase[from], phase[to]),
                       regal_larger32(free[from], free[to]));
  }
}

void regal_phase_read(regal_phase *s, const regal_plan *plan) {
  bool one_device = true;
  for (uint32_t i = 1; i < plan->step_count; i++)
    one_device &= plan->steps[i].device == plan->steps[0].device;
  if (one_device)
    read_one_device(s, plan);
  else
    read_phases(s, plan);
  s->phases = s->ops + 1;
  regal_phase_recompute(s);
}

/* All that an op of the phase needs from elsewhere travels before its first op,
 * and with it all that is pending between the two devices. */
static void meet(regal_phase *s, uint32_t begin, uint32_t end, regal_plan *plan,
                 regal_pending_mode mode) {
  const regal_problem *problem = s->problem;
  regal_pending *pending = &s->walk.pending;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t op = s->order[i], device = s->placement[op];
    for (REGAL_ROW(k, problem->input_begin, op)) {
      uint32_t made_by = problem->producer[problem->input[k]];
      uint32_t home = s->placement[made_by];
      if (home != device &&
          s->walk.position[made_by] >
              pending->exchanged[home * problem->devices + device])
        regal_pending_exchange(pending, &s->walk.running, problem, s->placement,
                               home, device, begin + 1, plan, mode);
    }
  }
}

/* The plan as the model of cost has it; it costs no more. */
static regal_fitness write_phases(regal_phase *s, uint32_t phases,
                                  regal_plan *plan) {
  const regal_problem *problem = s->problem;
  regal_pending_mode mode = {false, false, true};
  plan->step_count = 0;
  regal_pending_begin(&s->walk.pending, problem->devices);
  regal_running_cost_begin(&s->walk.running, problem, s->placement, false,
                           false);
  for (uint32_t k = 0, begin = 0; k < phases; begin = s->bucket[k++]) {
    meet(s, begin, s->bucket[k], plan, mode);
    for (uint32_t i = begin; i < s->bucket[k]; i++) {
      uint32_t op = s->order[i], device = s->placement[op];
      regal_running_cost_run(&s->walk.running, problem, op, device, false,
                             false);
      regal_plan_add_run(plan, op, device);
      s->walk.position[op] = i + 1;
      regal_pending_add(&s->walk.pending, problem, s->placement, op, mode);
    }
  }
  return regal_running_cost_fitness(&s->walk.running, problem, false);
}

/* Transfers at the first op that needs one instead of before its phase are
 * sometimes better: the other device goes on meanwhile. */
void regal_phase_write(void *state, regal_plan *plan) {
  regal_phase *s = state;
  uint32_t phases = 0;
  regal_phase_save_best(s);
  for (uint32_t op = 0; op < s->ops; op++) {
    phases = regal_larger32(phases, regal_phase_of(s, s->best_at[op]) + 1);
    s->placement[op] = (uint8_t)(s->best_at[op] & s->mask);
  }
  regal_phase_sort(s, s->best_at, phases);
  regal_fitness phased = write_phases(s, phases, plan);
  regal_fitness late =
      regal_walk_batched(s->problem, &s->walk, s->order, s->placement, NULL);
  if (regal_fitness_less(late, phased))
    regal_walk_batched(s->problem, &s->walk, s->order, s->placement, plan);
}
