/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a plan that somebody else made. */
#include "cost/model/plan.h"
#include "cost/model/problem.h"

/* Replaces the plan of a result, and all that says where it came from. */
static regal_status replace_plan(regal_context *context, const regal_plan *plan,
                                 const regal_cost *cost, regal_result *result) {
  regal_plan *copy;
  char *account = regal_copy_text(context, "");
  if (!account)
    return regal_fail_memory(context);
  regal_status status = regal_plan_copy(context, plan, &copy);
  if (status != REGAL_OK) {
    regal_release(context, account);
    return status;
  }
  regal_release(context, result->account);
  regal_plan_free(result->plan);
  result->account = account;
  result->plan = copy;
  result->cost = *cost;
  result->fits = cost->excess_bytes == 0;
  result->stop = REGAL_STOP_DONE;
  result->method = "given";
  result->seed = result->evaluations = 0;
  result->seconds = 0;
  result->threads = 0;
  return REGAL_OK;
}

regal_status regal_evaluate(regal_context *context,
                            const regal_problem *problem,
                            const regal_plan *plan, regal_result **result) {
  regal_cost cost;
  regal_options options;
  regal_result *made;
  REGAL_TRY(regal_verify(context, problem, plan, &cost));
  /* The plan of one device brings the bound and the cost before. */
  regal_options_init(&options);
  REGAL_TRY(regal_options_set(context, &options, "method", "single"));
  REGAL_TRY(regal_options_set(context, &options, "threads", "1"));
  REGAL_TRY(regal_optimize(context, problem, &options, &made));
  regal_status status = replace_plan(context, plan, &cost, made);
  if (status == REGAL_OK)
    *result = made;
  else
    regal_result_free(made);
  return status;
}
