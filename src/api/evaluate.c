/* SPDX-License-Identifier: Apache-2.0 */
/* regal_evaluate: the result of a plan that was made elsewhere. The verifier
 * checks it and computes its cost; the lower bounds and the cost before are
 * those that a search would report. */
#include "api/evaluate.h"

#include "cost/bound/bound.h"
#include "cost/model/plan.h"
#include "cost/verify/verify.h"
#include "heuristic/list/orders.h"

regal_status regal_cost_before(regal_context *context,
                               const regal_problem *problem,
                               regal_cost *before) {
  regal_plan *plan;
  REGAL_TRY(regal_plan_single(context, problem, &plan));
  regal_status status = regal_verify(context, problem, plan, before);
  regal_plan_free(plan);
  return status;
}

static void choose_moved(const regal_graph *graph, const regal_plan *plan,
                         uint8_t *moved) {
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    if (regal_step_runs(step) || step->port < 0)
      continue;
    uint32_t tensor = graph->output_begin[step->op] + (uint32_t)step->port;
    moved[tensor] = graph->unknown[tensor];
  }
}

regal_status regal_check_moved_sizes(regal_context *context,
                                     const regal_problem *problem,
                                     const regal_plan *plan) {
  const regal_graph *graph = problem->graph;
  if (!graph->unknown_tensors)
    return REGAL_OK;
  uint8_t *moved = regal_alloc(context, graph->tensors, sizeof *moved);
  if (!moved)
    return regal_fail_memory(context);
  choose_moved(graph, plan, moved);
  regal_status status = regal_graph_check_sizes(
      context, graph, moved, "would be moved between devices");
  regal_release(context, moved);
  return status;
}

static regal_status find_bounds(regal_context *context,
                                const regal_problem *problem,
                                regal_bound *bound) {
  if (!regal_has_bounds(problem))
    return REGAL_OK;
  REGAL_TRY(regal_bound_runtime(context, problem, &bound->runtime_ns));
  return regal_bound_memory(context, problem, &bound->peak_bytes);
}

static regal_status fill(regal_context *context, const regal_problem *problem,
                         const regal_plan *plan, regal_result *result) {
  REGAL_TRY(regal_verify(context, problem, plan, &result->cost));
  REGAL_TRY(regal_check_moved_sizes(context, problem, plan));
  REGAL_TRY(find_bounds(context, problem, &result->bound));
  REGAL_TRY(regal_cost_before(context, problem, &result->before));
  REGAL_TRY(regal_plan_copy(context, plan, &result->plan));
  result->account = regal_copy_text(context, "");
  return result->account ? REGAL_OK : regal_fail_memory(context);
}

regal_status regal_evaluate(regal_context *context,
                            const regal_problem *problem,
                            const regal_plan *plan, regal_result **result) {
  REGAL_TRY(regal_need(context, problem && plan && result,
                       "an evaluation needs a problem, a plan and a place for "
                       "its result"));
  regal_result *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  made->problem = problem;
  made->stop = REGAL_STOP_DONE;
  made->method = "given";
  regal_status status = fill(context, problem, plan, made);
  made->fits = made->cost.excess_bytes == 0;
  if (status == REGAL_OK)
    *result = made;
  else
    regal_result_free(made);
  return status;
}
