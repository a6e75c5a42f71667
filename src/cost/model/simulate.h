/* SPDX-License-Identifier: Apache-2.0 */
/* The fast simulator: the cost of a plan that is known to be valid. */
#ifndef REGAL_COST_MODEL_SIMULATE_H
#define REGAL_COST_MODEL_SIMULATE_H

#include "cost/model/fitness.h"

typedef struct regal_simulator regal_simulator;

/* Scratch memory for plans of one problem; one per thread. */
regal_status regal_simulator_create(regal_context *context,
                                    const regal_problem *problem,
                                    regal_simulator **simulator);
void regal_simulator_free(regal_simulator *simulator);

/* O(steps + edges), allocates nothing. The plan must obey the model's rules:
 * what comes from outside goes to the verifier instead. */
void regal_simulate(regal_simulator *simulator, const regal_plan *plan,
                    regal_cost *cost);

#endif
