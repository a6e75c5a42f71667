/* SPDX-License-Identifier: Apache-2.0 */
/* A memory limit that is said not to matter (cost/bound/most.c) is one that no
 * random plan exceeds; and on small graphs some plans reach the least such
 * limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "cost/bound/bound.h"
#include "cost/verify/verify.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"

static void set_limits(regal_problem *problem, int64_t bytes) {
  problem->limited = true;
  for (uint32_t a = 0; a < problem->devices; a++)
    problem->limit[a] = problem->machine->memory_limit[a] = bytes;
}

static bool binds(regal_context *context, const regal_problem *problem) {
  bool binding;
  assert_int_equal(regal_bound_limits(context, problem, &binding), REGAL_OK);
  return binding;
}

/* The least limit that does not matter. */
static int64_t find_least(regal_context *context, regal_problem *problem) {
  int64_t low = -1, high = INT64_C(1) << 40;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    set_limits(problem, middle);
    *(binds(context, problem) ? &low : &high) = middle;
  }
  return high;
}

static void test_no_plan_exceeds_it(void **state) {
  (void)state;
  uint32_t reached = 0, below_all = 0;
  for (uint64_t seed = 1; seed <= 150; seed++) {
    regal_context *context;
    regal_graph *graph;
    regal_machine *machine;
    regal_problem *problem;
    regal_context_create(&context, NULL);
    regal_test_random_graph(context, seed, seed % 4 ? 9 : 150, &graph);
    regal_test_random_small_machine(context, seed, 4, graph, &machine);
    assert_int_equal(
        regal_problem_bind(context, graph, machine, REGAL_RUNTIME, &problem),
        REGAL_OK);
    int64_t least = find_least(context, problem), most = 0;
    set_limits(problem, least);
    for (uint64_t i = 0; i < 20; i++) {
      regal_plan *plan;
      regal_cost cost;
      regal_test_random_plan(context, seed * 100 + i, graph, machine, &plan);
      assert_int_equal(
          regal_verify_plan(context, graph, machine, plan, &cost, NULL),
          REGAL_OK);
      assert_int_equal(cost.excess_bytes, 0);
      most = cost.max_peak_bytes > most ? cost.max_peak_bytes : most;
      regal_plan_free(plan);
    }
    reached += most == least && least > 0;
    below_all += least < graph->tensor_bytes;
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
  }
  assert_true(reached > 10); /* it is not only said of large ones */
  assert_true(below_all > 10);
}

static void test_memory_runs_out(void **state) {
  (void)state;
  failing_allocator memory = {0};
  regal_context *context;
  regal_graph *graph;
  regal_machine *machine;
  regal_problem *problem;
  bool binding;
  regal_allocator allocator = failing_allocator_of(&memory);
  regal_context_create(&context, &allocator);
  regal_test_random_graph(context, 8, 150, &graph);
  regal_test_random_small_machine(context, 8, 4, graph, &machine);
  assert_int_equal(
      regal_problem_bind(context, graph, machine, REGAL_RUNTIME, &problem),
      REGAL_OK);
  set_limits(problem, graph->tensor_bytes);
  memory.fail_at = memory.allocations + 1;
  assert_int_equal(regal_bound_limits(context, problem, &binding),
                   REGAL_NO_MEMORY);
  regal_problem_free(problem);
  regal_graph_free(graph);
  regal_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_plan_exceeds_it),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("limits that matter", tests, NULL, NULL);
}
