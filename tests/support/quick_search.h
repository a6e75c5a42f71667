/* SPDX-License-Identifier: Apache-2.0 */
/* A search for methods of one pass, on a problem of a test's own. Include after
 * cmocka.h. */
#ifndef REGAL_TESTS_QUICK_SEARCH_H
#define REGAL_TESTS_QUICK_SEARCH_H

#include "cost/bound/bound.h"
#include "cost/verify/verify.h"
#include "search/search.h"

static inline regal_status quick_begin(regal_search *search,
                                       regal_context *context,
                                       const regal_problem *problem,
                                       const regal_options *options) {
  regal_search_open(search, context, problem, NULL, (uint64_t)options->seed,
                    REGAL_NO_LIMIT);
  search->options = options;
  return regal_bound_compute(context, problem, &search->bound);
}

static inline void quick_end(regal_search *search) {
  regal_search_close(search);
}

/* The best plan passes the verifier, costs what the fast code says, and not
 * less than the bound, if it fits. */
static inline void quick_check(const regal_search *search) {
  const regal_problem *problem = search->problem;
  regal_cost cost;
  assert_int_equal(regal_verify_plan(search->context, problem->graph,
                                     problem->machine, search->best, &cost,
                                     NULL),
                   REGAL_OK);
  regal_fitness fitness = regal_fitness_of(problem, &cost);
  assert_int_equal(fitness.excess, search->best_fitness.excess);
  assert_int_equal(fitness.value, search->best_fitness.value);
  assert_int_equal(fitness.tie, search->best_fitness.tie);
  assert_true(cost.excess_bytes || cost.runtime_ns >= search->bound.runtime_ns);
  assert_true(cost.max_peak_bytes >= search->bound.peak_bytes);
  assert_true(search->account[0] != 0);
}

#endif
