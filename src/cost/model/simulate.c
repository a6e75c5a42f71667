/* SPDX-License-Identifier: Apache-2.0 */
/* The exact cost of a given plan: walks its steps once by running_cost.h.
 * O(steps + uses), allocates nothing after create. The verifier computes the
 * same from its own code; tests compare the two.
 */
#include "cost/model/simulate.h"

#include "cost/model/plan.h"
#include "cost/model/running_cost.h"

struct regal_simulator {
  regal_context *context;
  const regal_problem *problem;
  uint8_t *placement; /* [ops] */
  regal_running_cost running;
};

static void layout(regal_simulator *simulator, regal_carver *carver) {
  regal_carve(carver, 1, sizeof *simulator);
  simulator->placement = regal_carve(carver, simulator->problem->ops, 1);
  regal_running_cost_layout(&simulator->running, carver, simulator->problem);
}

regal_status regal_simulator_create(regal_context *context,
                                    const regal_problem *problem,
                                    regal_simulator **simulator) {
  regal_simulator measured = {.context = context, .problem = problem};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&measured, &carver)));
  *simulator = (regal_simulator *)carver.base;
  **simulator = measured;
  return REGAL_OK;
}

void regal_simulator_free(regal_simulator *simulator) {
  if (simulator)
    regal_release(simulator->context, simulator);
}

REGAL_INLINE void walk(regal_simulator *simulator, const regal_plan *plan,
                       bool overlapped) {
  const regal_problem *problem = simulator->problem;
  regal_running_cost *running = &simulator->running;
  const uint8_t *placement = simulator->placement;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step))
      regal_running_cost_run(running, problem, step->op, step->device, true,
                             overlapped);
    else
      regal_running_cost_send(running, problem, placement,
                              regal_plan_tensor(problem, step), step->device,
                              step->to, true, overlapped);
  }
}

static void report(const regal_running_cost *running,
                   const regal_problem *problem, regal_cost *cost) {
  *cost = (regal_cost){
      .runtime_ns = regal_running_cost_runtime(running, problem->devices)};
  for (uint32_t a = 0; a < problem->devices; a++) {
    int64_t peak = running->peak[a];
    cost->peak_bytes[a] = peak;
    cost->max_peak_bytes = regal_later(cost->max_peak_bytes, peak);
    cost->excess_bytes += regal_later(0, peak - problem->limit[a]);
  }
}

void regal_simulate(regal_simulator *simulator, const regal_plan *plan,
                    regal_cost *cost) {
  const regal_problem *problem = simulator->problem;
  regal_plan_ops(plan, NULL, simulator->placement);
  bool overlapped = problem->machine->overlapped;
  regal_running_cost_begin(&simulator->running, problem, simulator->placement,
                           true, overlapped);
  if (overlapped)
    walk(simulator, plan, true);
  else
    walk(simulator, plan, false);
  report(&simulator->running, problem, cost);
}
