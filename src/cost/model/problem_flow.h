/* SPDX-License-Identifier: Apache-2.0 */
/* Between problem.c and problem_flow.c. */
#ifndef REGAL_COST_MODEL_PROBLEM_FLOW_H
#define REGAL_COST_MODEL_PROBLEM_FLOW_H

#include "cost/model/problem.h"

/* Memory that is released with the problem; NULL when there is none. */
void *regal_problem_own(regal_problem *problem, size_t count, size_t size);
/* Sets tensors, inputs, uses, waits, needs, successors and predecessors. */
regal_status regal_problem_make_flow(regal_problem *problem);

#endif
