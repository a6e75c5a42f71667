/* SPDX-License-Identifier: Apache-2.0 */
/* The best that any plan of a tiny graph can do, found by trying all of them:
 * every placement that the machine allows, and for each every order of its ops
 * and needed transfers, each judged by the verifier. */
#ifndef REGAL_TESTS_BRUTE_FORCE_H
#define REGAL_TESTS_BRUTE_FORCE_H

#include "cost/model/machine.h"

#define REGAL_TEST_MOST_STEPS 64

typedef struct regal_test_optimum {
  regal_cost cost;
  uint32_t step_count;
  regal_step steps[REGAL_TEST_MOST_STEPS]; /* the first plan that reaches it */
} regal_test_optimum;

typedef struct regal_test_best {
  uint64_t plans;             /* how many there are */
  regal_test_optimum runtime; /* least excess, then least run time */
  regal_test_optimum memory;  /* least excess, then peak, then run time */
} regal_test_best;

/* False when there are more than `most_plans` (about a million a second), or
 * when a plan would have more than REGAL_TEST_MOST_STEPS steps. Aborts when the
 * verifier rejects a plan: they are all valid. */
bool regal_test_brute_force(regal_context *context, const regal_graph *graph,
                            const regal_machine *machine, uint64_t most_plans,
                            regal_test_best *best);

#endif
