/* SPDX-License-Identifier: Apache-2.0 */
/* The same problem with more groups: sets of ops that are to share a device.
 * Every plan of the gathered problem is one of the problem, at the same cost.
 */
#ifndef REGAL_COST_MODEL_GATHER_H
#define REGAL_COST_MODEL_GATHER_H

#include "cost/model/problem.h"

/* `unit` [ops] numbers sets of ops, below the number of ops; the ops of a group
 * have the same number. Some device must be able to run all ops of a unit. */
regal_status regal_problem_gather(regal_context *context,
                                  const regal_problem *problem,
                                  const uint32_t *unit,
                                  regal_problem **gathered);

#endif
