/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: shares of what is left, and the rules that end a run. The order of
 * the rules decides which reason is reported when several hold.
 */
#include "search/budget.h"

#include <math.h>

#include "base/parallel/threads.h"

regal_budget regal_budget_of(regal_context *context, uint64_t evaluations) {
  return (regal_budget){
      .context = context, .limit = evaluations, .deadline = INFINITY};
}

regal_budget regal_budget_share(const regal_budget *budget, double share) {
  regal_budget part = *budget;
  part.used = 0;
  if (regal_budget_is_counted(budget))
    part.limit = (uint64_t)(share * (double)regal_budget_left(budget));
  if (isfinite(budget->deadline)) {
    double now = regal_seconds();
    part.deadline = now + share * (budget->deadline - now);
  }
  return part;
}

void regal_budget_cap(regal_budget *budget, uint64_t evaluations) {
  if (regal_budget_left(budget) > evaluations)
    budget->limit = budget->used + evaluations;
}

bool regal_budget_is_cut(const regal_budget *budget) {
  return regal_stop_requested(budget->context) ||
         (isfinite(budget->deadline) && regal_seconds() >= budget->deadline);
}

regal_stop regal_budget_stop(const regal_budget *budget, int64_t value,
                             bool fits) {
  if (regal_stop_requested(budget->context))
    return REGAL_STOP_INTERRUPT;
  if (fits && (double)value <= budget->target)
    return REGAL_STOP_TARGET;
  if (budget->used >= budget->limit)
    return REGAL_STOP_BUDGET;
  return regal_seconds() >= budget->deadline ? REGAL_STOP_TIME
                                             : REGAL_STOP_DONE;
}
