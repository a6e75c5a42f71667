/* SPDX-License-Identifier: Apache-2.0 */
/* regal_verify, for callers who have a problem. The verifier itself knows
 * nothing of problems; this file takes the graph and the machine out of one. */
#include "cost/model/problem.h"
#include "cost/verify/verify.h"

regal_status regal_verify(regal_context *context, const regal_problem *problem,
                          const regal_plan *plan, regal_cost *cost) {
  if (!context)
    return REGAL_MISUSE;
  if (!problem || !plan || !cost)
    return regal_fail(context, REGAL_MISUSE,
                      "regal_verify: a problem, a plan and a place for the "
                      "cost are needed");
  return regal_verify_plan(context, problem->graph, problem->machine, plan,
                           cost, NULL);
}
