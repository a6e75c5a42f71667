/* SPDX-License-Identifier: Apache-2.0 */
/* What a result says beside its plan. */
#ifndef REGAL_API_EVALUATE_H
#define REGAL_API_EVALUATE_H

#include "cost/model/problem.h"

/* The cost of what a user has today: all ops on one device where that is
 * allowed, in the order of the file. */
regal_status regal_cost_before(regal_context *context,
                               const regal_problem *problem,
                               regal_cost *before);

#endif
