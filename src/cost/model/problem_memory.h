/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of regal_problem_bind that only memory needs. */
#ifndef REGAL_COST_MODEL_PROBLEM_MEMORY_H
#define REGAL_COST_MODEL_PROBLEM_MEMORY_H

#include "cost/model/problem.h"

/* Fills what each device holds for the whole plan; groups must be known. */
regal_status regal_problem_share_parameters(regal_problem *problem);
/* Fills `reuses`; the flow of tensors must be known. */
regal_status regal_problem_mark_reuse(regal_problem *problem);

#endif
