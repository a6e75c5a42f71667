/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: an array of steps, each the run of an op or the transfer of a tensor.
 * A plan made from an order and a placement sends each tensor just before its
 * first reader on a device.
 */
#include "cost/model/plan.h"

#include <string.h>

regal_status regal_plan_create(regal_context *context, uint32_t capacity,
                               regal_plan **plan) {
  regal_plan *made = regal_alloc(context, 1, sizeof *made);
  regal_step *steps = regal_alloc(context, capacity, sizeof *steps);
  if (!made || !steps) {
    regal_release(context, made);
    regal_release(context, steps);
    return regal_fail_memory(context);
  }
  *made = (regal_plan){.context = context, .steps = steps};
  *plan = made;
  return REGAL_OK;
}

regal_status regal_plan_copy(regal_context *context, const regal_plan *from,
                             regal_plan **plan) {
  REGAL_TRY(regal_plan_create(context, from->step_count, plan));
  (*plan)->step_count = from->step_count;
  memcpy((*plan)->steps, from->steps, from->step_count * sizeof *from->steps);
  return REGAL_OK;
}

void regal_plan_free(regal_plan *plan) {
  if (!plan)
    return;
  regal_release(plan->context, plan->steps);
  regal_release(plan->context, plan);
}

uint32_t regal_plan_most_steps(const regal_problem *problem) {
  uint64_t steps = problem->ops;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t uses = problem->use_begin[t + 1] - problem->use_begin[t];
    steps += uses < problem->devices ? uses : problem->devices - 1;
  }
  return steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX;
}

regal_step regal_plan_send(const regal_problem *problem, uint32_t tensor,
                           uint32_t from, uint32_t to) {
  uint32_t op = problem->producer[tensor];
  bool control = problem->control_tensor && problem->control_tensor[tensor];
  int32_t port = control ? -1 : (int32_t)(tensor - problem->output_begin[op]);
  return (regal_step){op, port, (uint16_t)from, (uint16_t)to};
}

uint32_t regal_plan_tensor(const regal_problem *problem,
                           const regal_step *step) {
  if (step->port < 0) /* the control tensor is the op's last one */
    return problem->output_begin[step->op + 1] - 1;
  return problem->output_begin[step->op] + (uint32_t)step->port;
}

regal_status regal_plan_from_order(regal_context *context,
                                   const regal_problem *problem,
                                   const uint32_t *order,
                                   const uint8_t *placement,
                                   regal_plan **plan) {
  uint64_t *sent = regal_alloc(context, problem->tensors, sizeof *sent);
  if (!sent)
    return regal_fail_memory(context);
  regal_plan *made;
  regal_status status =
      regal_plan_create(context, regal_plan_most_steps(problem), &made);
  if (status != REGAL_OK) {
    regal_release(context, sent);
    return status;
  }
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = order[i], device = placement[op];
    for (REGAL_ROW(k, problem->input_begin, op)) {
      uint32_t tensor = problem->input[k];
      uint32_t home = placement[problem->producer[tensor]];
      if (home == device || (sent[tensor] >> device & 1))
        continue;
      sent[tensor] |= UINT64_C(1) << device;
      regal_plan_add_send(made, problem, tensor, home, device);
    }
    regal_plan_add_run(made, op, device);
  }
  regal_release(context, sent);
  *plan = made;
  return REGAL_OK;
}

void regal_plan_relabel(const regal_problem *problem, const regal_plan *plan,
                        uint8_t relabel[REGAL_MAX_DEVICES]) {
  for (uint32_t a = 0; a < problem->devices; a++)
    relabel[a] = (uint8_t)a;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step) || step->op != problem->pinned)
      continue;
    relabel[step->device] = 0;
    relabel[0] = (uint8_t)step->device;
  }
}

regal_crossings regal_plan_crossings(const regal_problem *problem,
                                     const regal_plan *plan) {
  regal_crossings crossings = {0, 0};
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step))
      continue;
    crossings.transfers++;
    crossings.bytes += problem->bytes[regal_plan_tensor(problem, step)];
  }
  return crossings;
}
