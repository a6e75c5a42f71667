/* SPDX-License-Identifier: Apache-2.0 */
/* What a result says beside its plan. */
#ifndef REGAL_API_EVALUATE_H
#define REGAL_API_EVALUATE_H

#include "cost/model/problem.h"
#include "graph/graph.h"

/* The cost of what a user has today: all ops on one device where that is
 * allowed, in the order of the file. */
regal_status regal_cost_before(regal_context *context,
                               const regal_problem *problem,
                               regal_cost *before);

/* Fails if the plan moves a tensor of unknown size: that would seem to cost
 * nothing. */
regal_status regal_check_moved_sizes(regal_context *context,
                                     const regal_problem *problem,
                                     const regal_plan *plan);

/* Whether lower bounds mean anything: not where sizes are the user's guess. */
static inline bool regal_has_bounds(const regal_problem *problem) {
  return problem->graph->assumed_sizes == 0;
}

#endif
