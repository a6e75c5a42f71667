/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of one pass when memory runs out: the n-th allocation fails, and all
 * is released. */
#ifndef REGAL_TESTS_QUICK_FAILURES_H
#define REGAL_TESTS_QUICK_FAILURES_H

#include "support/toy_graph.h"

#include "support/failing_allocator.h"
#include "support/quick_search.h"
#include "support/random_cases.h"

typedef struct quick_case {
  uint32_t devices;
  int64_t latency_ns;
  enum regal_objective objective;
} quick_case;

/* Whether there was an n-th allocation. */
static inline bool quick_fails_at(regal_method_fn method, quick_case on,
                                  size_t n) {
  failing_allocator memory = {0};
  regal_allocator allocator = failing_allocator_of(&memory);
  regal_context *context;
  regal_graph *graph;
  regal_options options;
  regal_search search;
  assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
  regal_test_random_graph(context, 3, 20, &graph);
  regal_options_init(&options);
  regal_machine *machine =
      toy_linked_machine(context, on.devices, on.latency_ns, 0);
  regal_problem *problem = toy_problem(context, graph, machine, on.objective);
  assert_int_equal(quick_begin(&search, context, problem, &options), REGAL_OK);
  memory.fail_at = memory.allocations + n;
  regal_status status = method(&search);
  bool failed = memory.failed > 0;
  assert_int_equal(status, failed ? REGAL_NO_MEMORY : REGAL_OK);
  quick_end(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
  regal_context_free(context);
  assert_int_equal(memory.blocks, 0);
  return failed;
}

/* How many allocations there are, each of which has failed once. */
static inline size_t quick_failures(regal_method_fn method, quick_case on) {
  size_t n = 1;
  while (quick_fails_at(method, on, n))
    n++;
  return n - 1;
}

#endif
