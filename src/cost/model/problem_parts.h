/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of regal_problem_bind: problem_flow.c, problem_memory.c and
 * problem_places.c. */
#ifndef REGAL_COST_MODEL_PROBLEM_PARTS_H
#define REGAL_COST_MODEL_PROBLEM_PARTS_H

#include "cost/model/problem.h"

/* Memory that is released with the problem; NULL when there is none. */
void *regal_problem_own(regal_problem *problem, size_t count, size_t size);
/* Sets tensors, inputs, uses, waits, needs, successors and predecessors. */
regal_status regal_problem_make_flow(regal_problem *problem);

/* Fills what each device holds for the whole plan; groups must be known. */
regal_status regal_problem_share_parameters(regal_problem *problem);
/* Fills `reuses`; the flow of tensors must be known. */
regal_status regal_problem_mark_reuse(regal_problem *problem);

/* Where ops may run: `allowed`, `restricted` and `leader`; needs the times. */
regal_status regal_problem_find_places(regal_problem *problem);

#endif
