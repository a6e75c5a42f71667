/* SPDX-License-Identifier: Apache-2.0 */
/* Making plans: a buffer of steps, and a plan from an order and a placement. */
#ifndef REGAL_COST_MODEL_PLAN_H
#define REGAL_COST_MODEL_PLAN_H

#include "cost/model/problem.h"

/* An empty plan with room for `capacity` steps (step_count starts at 0). */
regal_status regal_plan_create(regal_context *context, uint32_t capacity,
                               regal_plan **plan);
regal_status regal_plan_copy(regal_context *context, const regal_plan *from,
                             regal_plan **plan);

/* The most steps that any plan of the problem can have. */
uint32_t regal_plan_most_steps(const regal_problem *problem);

/* A plan that runs the ops in `order` (a topological order of all ops) where
 * `placement` says, each transfer just before its first reader. */
regal_status regal_plan_from_order(regal_context *context,
                                   const regal_problem *problem,
                                   const uint32_t *order,
                                   const uint8_t *placement, regal_plan **plan);

/* The step that runs an op. */
static inline regal_step regal_plan_run(uint32_t op, uint32_t device) {
  return (regal_step){op, REGAL_RUN, (uint16_t)device, (uint16_t)device};
}

/* The step that sends problem tensor `tensor` from one device to another. */
regal_step regal_plan_send(const regal_problem *problem, uint32_t tensor,
                           uint32_t from, uint32_t to);

/* Both as the next step of a plan that has room for it; nothing if that is
 * NULL, where only the cost is wanted. */
static inline void regal_plan_add_run(regal_plan *plan, uint32_t op,
                                      uint32_t device) {
  if (plan)
    plan->steps[plan->step_count++] = regal_plan_run(op, device);
}

static inline void regal_plan_add_send(regal_plan *plan,
                                       const regal_problem *problem,
                                       uint32_t tensor, uint32_t from,
                                       uint32_t to) {
  if (plan)
    plan->steps[plan->step_count++] =
        regal_plan_send(problem, tensor, from, to);
}

/* The problem's tensor that a send step carries. */
uint32_t regal_plan_tensor(const regal_problem *problem,
                           const regal_step *step);

/* Renames interchangeable devices so that the pinned op is on device 0: the
 * device that it is on and device 0 trade names. */
void regal_plan_relabel(const regal_problem *problem, const regal_plan *plan,
                        uint8_t relabel[REGAL_MAX_DEVICES]);

/* What a plan sends. Of plans of equal cost the one with fewer transfers, then
 * fewer bytes, is better. */
typedef struct regal_crossings {
  int64_t transfers;
  __int128 bytes;
} regal_crossings;

regal_crossings regal_plan_crossings(const regal_problem *problem,
                                     const regal_plan *plan);

static inline bool regal_crossings_less(regal_crossings a, regal_crossings b) {
  return a.transfers != b.transfers ? a.transfers < b.transfers
                                    : a.bytes < b.bytes;
}

static inline bool regal_step_runs(const regal_step *step) {
  return step->port == REGAL_RUN;
}

/* Its ops in their order, which may be NULL, and their devices. */
static inline void regal_plan_ops(const regal_plan *plan, uint32_t *order,
                                  uint8_t *placement) {
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (!regal_step_runs(step))
      continue;
    placement[step->op] = (uint8_t)step->device;
    if (order)
      *order++ = step->op;
  }
}

#endif
