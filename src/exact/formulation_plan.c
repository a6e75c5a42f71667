/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a solution. Starts of the solver need not be as early as they
 * could be; only their order counts. Steps are sorted by start, then by end,
 * then as the graph goes, and the simulator gives the plan its real times.
 */
#include "exact/formulation.h"

#include <stdlib.h>

#include "base/carve.h"

typedef regal_formulation form;

typedef struct timed_step {
  int64_t start, end;
  uint64_t rank; /* an op, then the transfers of its outputs */
  regal_step step;
} timed_step;

static int compare_steps(const void *left, const void *right) {
  const timed_step *a = left, *b = right;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->end != b->end)
    return a->end < b->end ? -1 : 1;
  return (a->rank > b->rank) - (a->rank < b->rank);
}

bool regal_exact_needs(const regal_problem *problem, const uint8_t *placement,
                       uint32_t tensor, uint32_t to) {
  if (placement[problem->producer[tensor]] == to)
    return false;
  for (REGAL_ROW(u, problem->use_begin, tensor))
    if (placement[problem->consumer[u]] == to)
      return true;
  return false;
}

static void layout(const regal_problem *problem, regal_exact_times *times,
                   regal_carver *carver) {
  size_t n = problem->ops, routes = (size_t)problem->tensors * problem->devices;
  times->placement = regal_carve(carver, n, 1);
  times->start = regal_carve(carver, n, 8);
  times->end = regal_carve(carver, n, 8);
  times->sent_start = regal_carve(carver, routes, 8);
  times->sent_end = regal_carve(carver, routes, 8);
}

regal_status regal_exact_times_create(regal_context *context,
                                      const regal_problem *problem,
                                      regal_exact_times *times) {
  regal_carver carver = {NULL, 0};
  REGAL_TRY(
      REGAL_CARVE_BLOCK(context, carver, layout(problem, times, &carver)));
  times->block = carver.base;
  return REGAL_OK;
}

static regal_status make_plan(regal_context *context,
                              const regal_problem *problem,
                              const regal_exact_times *times,
                              regal_plan **plan) {
  const uint8_t *placement = times->placement;
  uint32_t d = problem->devices, count = 0;
  size_t most = regal_plan_most_steps(problem);
  timed_step *steps = regal_alloc(context, most, sizeof *steps);
  if (!steps)
    return regal_fail_memory(context);
  for (uint32_t op = 0; op < problem->ops; op++)
    steps[count++] =
        (timed_step){times->start[op], times->end[op], (uint64_t)op * 2,
                     regal_plan_run(op, placement[op])};
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t to = 0; to < d; to++)
      if (regal_exact_needs(problem, placement, t, to)) {
        uint32_t op = problem->producer[t];
        size_t at = (size_t)t * d + to;
        steps[count++] = (timed_step){
            times->sent_start[at], times->sent_end[at], (uint64_t)op * 2 + 1,
            regal_plan_send(problem, t, placement[op], to)};
      }
  qsort(steps, count, sizeof *steps, compare_steps);
  regal_status status = regal_plan_create(context, count, plan);
  for (uint32_t i = 0; status == REGAL_OK && i < count; i++)
    (*plan)->steps[(*plan)->step_count++] = steps[i].step;
  regal_release(context, steps);
  return status;
}

regal_status regal_exact_plan(regal_context *context,
                              const regal_problem *problem,
                              regal_exact_times *times, regal_plan **plan) {
  regal_status status = make_plan(context, problem, times, plan);
  regal_release(context, times->block);
  return status;
}

static void read_times(const form *form, const int64_t *values,
                       regal_exact_times *s) {
  const regal_problem *problem = form->problem;
  const regal_exact_axis *axis = form->memory ? &form->places : &form->clock;
  uint32_t d = form->devices;
  for (uint32_t op = 0; op < problem->ops; op++) {
    for (uint32_t a = 0; a < d; a++)
      if (regal_cp_holds(values, regal_exact_on(form, op, a)))
        s->placement[op] = (uint8_t)a;
    s->start[op] = values[axis->start[op]];
    s->end[op] =
        s->start[op] + regal_exact_run(form, axis, op, s->placement[op]);
  }
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t to = 0; to < d; to++) {
      size_t at = (size_t)t * d + to;
      uint32_t op = problem->producer[t], from = s->placement[op];
      int32_t variable = axis->sent[at];
      s->sent_start[at] = variable < 0 ? s->end[op] : values[variable];
      s->sent_end[at] = s->sent_start[at];
      if (from != to && variable >= 0)
        s->sent_end[at] += regal_exact_send(form, axis, t, from, to);
    }
}

regal_status regal_formulation_plan(const regal_formulation *formulation,
                                    const int64_t *values, regal_plan **plan) {
  const regal_problem *problem = formulation->problem;
  regal_context *context = formulation->model.context;
  regal_exact_times times;
  REGAL_TRY(regal_exact_times_create(context, problem, &times));
  read_times(formulation, values, &times);
  return regal_exact_plan(context, problem, &times, plan);
}
