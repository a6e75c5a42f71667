/* SPDX-License-Identifier: Apache-2.0 */
/* The order of least peak memory of a tree, against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "cost/model/plan.h"
#include "cost/model/simulate.h"
#include "heuristic/list/orders.h"
#include "support/brute_force.h"
#include "support/toy_graph.h"

enum { CASES = 300, MOST_OPS = 8, MOST_ORDERS = 100000 };

/* Each op but the last has one reader behind it. */
static regal_graph *random_tree(regal_context *context, uint64_t seed) {
  regal_random random = {regal_random_key(seed, 0, 0, 0), 0};
  uint32_t n = 1 + (uint32_t)regal_random_below(&random, MOST_OPS);
  regal_builder *builder;
  regal_graph *graph;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (uint32_t op = 0; op < n; op++) {
    int64_t temporary = (int64_t)regal_random_below(&random, 20);
    int64_t bytes = (int64_t)regal_random_below(&random, 30);
    uint32_t made;
    assert_int_equal(regal_builder_add_op(builder, "", 1, temporary, 0, &made),
                     REGAL_OK);
    assert_int_equal(regal_builder_add_output(builder, op, bytes, op == n - 1),
                     REGAL_OK);
  }
  for (uint32_t op = 0; op + 1 < n; op++) {
    uint32_t reader =
        op + 1 + (uint32_t)regal_random_below(&random, n - op - 1);
    assert_int_equal(regal_builder_add_input(builder, reader, op, 0), REGAL_OK);
  }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}

static int64_t peak_of(regal_context *context, const regal_problem *problem) {
  uint32_t order[MOST_OPS];
  uint8_t placement[MOST_OPS] = {0};
  regal_plan *plan;
  regal_simulator *simulator;
  regal_cost cost;
  assert_int_equal(regal_order_tree(context, problem, order), REGAL_OK);
  assert_int_equal(
      regal_plan_from_order(context, problem, order, placement, &plan),
      REGAL_OK);
  assert_int_equal(regal_simulator_create(context, problem, &simulator),
                   REGAL_OK);
  regal_simulate(simulator, plan, &cost);
  regal_simulator_free(simulator);
  regal_plan_free(plan);
  return cost.peak_bytes[0];
}

static void test_trees_need_the_least(void **state) {
  regal_context *context = *state;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    regal_graph *graph = random_tree(context, seed);
    regal_problem *problem =
        toy_problem(context, graph, toy_machine(context, 1), REGAL_MEMORY);
    regal_test_best best;
    assert_true(regal_test_brute_force(context, graph, problem->machine,
                                       MOST_ORDERS, &best));
    assert_int_equal(peak_of(context, problem), best.memory.cost.peak_bytes[0]);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {TOY_TEST(test_trees_need_the_least)};
  return cmocka_run_group_tests_name("order_tree", tests, NULL, NULL);
}
