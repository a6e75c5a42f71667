/* SPDX-License-Identifier: Apache-2.0 */
/* Plans from memory, and the times of their steps. Nothing that comes in is
 * trusted: the verifier passes every plan that these calls make. */
#include <string.h>

#include "cost/model/plan.h"
#include "cost/verify/verify.h"
#include "format/plan/plan.h"

static regal_status check_arguments(regal_context *context, bool complete,
                                    size_t count) {
  REGAL_TRY(regal_need(context, complete,
                       "a plan from memory needs a problem, its steps and a "
                       "place to put it"));
  if (count > UINT32_MAX)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "a plan of %zu steps is too long", count);
  return REGAL_OK;
}

regal_status regal_plan_from_steps(regal_context *context,
                                   const regal_problem *problem,
                                   const regal_step *steps, size_t count,
                                   regal_plan **plan) {
  regal_cost cost;
  REGAL_TRY(
      check_arguments(context, problem && plan && (steps || !count), count));
  regal_plan given = {.context = context,
                      .step_count = (uint32_t)count,
                      .steps = (regal_step *)steps};
  REGAL_TRY(regal_verify(context, problem, &given, &cost));
  return regal_plan_copy(context, &given, plan);
}

regal_status regal_plan_from_ids(regal_context *context,
                                 const regal_problem *problem,
                                 const uint32_t *ids, const uint16_t *devices,
                                 size_t count, regal_plan **plan) {
  regal_plan *made;
  regal_cost cost;
  REGAL_TRY(
      check_arguments(context, problem && plan && (ids || !count), count));
  REGAL_TRY(regal_plan_take_order(context, problem, ids, devices,
                                  (uint32_t)count, &made));
  regal_status status = regal_verify(context, problem, made, &cost);
  if (status == REGAL_OK)
    *plan = made;
  else
    regal_plan_free(made);
  return status;
}

regal_status regal_plan_times(regal_context *context,
                              const regal_problem *problem,
                              const regal_plan *plan, int64_t *start_ns,
                              int64_t *end_ns) {
  regal_timeline timeline;
  regal_cost cost;
  REGAL_TRY(regal_need(context, problem && plan && start_ns && end_ns,
                       "the times of a plan need a problem, a plan and two "
                       "arrays"));
  REGAL_TRY(regal_verify_plan(context, problem->graph, problem->machine, plan,
                              &cost, &timeline));
  size_t bytes = plan->step_count * sizeof *start_ns;
  memcpy(start_ns, timeline.start_ns, bytes);
  memcpy(end_ns, timeline.end_ns, bytes);
  regal_timeline_free(&timeline);
  return REGAL_OK;
}

regal_status regal_plan_save_times(regal_context *context,
                                   const regal_result *result,
                                   const char *path) {
  regal_timeline timeline;
  regal_cost cost;
  REGAL_TRY(regal_need(context, result && path,
                       "saving a plan needs a result and a path"));
  const regal_problem *problem = result->problem;
  REGAL_TRY(regal_verify_plan(context, problem->graph, problem->machine,
                              result->plan, &cost, &timeline));
  regal_status status = regal_plan_write(context, result, timeline.start_ns,
                                         timeline.end_ns, path);
  regal_timeline_free(&timeline);
  return status;
}
