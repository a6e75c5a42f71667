/* SPDX-License-Identifier: Apache-2.0 */
/* The last pass over a plan: fewer transfers, nothing worse. */
#include <string.h>

#include "cost/verify/verify.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"
#include "tidy/tidy.h"

/* A search whose best plan is this one. */
static void begin(regal_context *context, const regal_problem *problem,
                  regal_search *search, regal_plan *plan) {
  regal_search_open(search, context, problem, NULL, 7, 1000000);
  assert_int_equal(regal_search_offer(search, plan), REGAL_OK);
}

static void begin_order(regal_context *context, const regal_problem *problem,
                        regal_search *search, const uint8_t *placement) {
  const uint32_t order[] = {0, 1, 3, 2, 4};
  regal_plan *plan;
  assert_int_equal(
      regal_plan_from_order(context, problem, order, placement, &plan),
      REGAL_OK);
  begin(context, problem, search, plan);
}

static void tidy(regal_search *search, char what[64]) {
  regal_budget whole = regal_tidy_reserve(search);
  assert_int_equal(regal_tidy(search, &whole, what, 64), REGAL_OK);
  assert_true(search->budget.used <= search->budget.limit);
}

/* Two chains, and an op without time that joins the wrong one. */
static const toy_op chains[] = {{.run_ns = 5, .bytes = 3},
                                {.run_ns = 5, .bytes = 3},
                                {.run_ns = 0, .bytes = 4, .reads = "a"},
                                {.run_ns = 5, .bytes = 3, .reads = "b"},
                                {.run_ns = 5, .bytes = 3, .reads = "c"}};

static void test_a_detour_is_left_out(void **state) {
  const uint8_t placement[] = {0, 1, 1, 1, 0};
  regal_graph *graph = TOY_GRAPH(*state, chains);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_RUNTIME);
  regal_search search;
  char what[64];
  begin_order(*state, problem, &search, placement);
  assert_int_equal(search.best->step_count, 7);
  tidy(&search, what);
  assert_string_equal(what, "tidied: 2 to 0 transfers");
  assert_int_equal(search.best->step_count, 5);
  assert_true(search.plan_fitness.value <= 15);
  tidy(&search, what);
  assert_string_equal(what, "");
  regal_search_close(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_transfers_that_pay_stay(void **state) {
  /* two branches of equal length: b, and d before c */
  const toy_op ops[] = {{.run_ns = 1, .bytes = 3},
                        {.run_ns = 9, .bytes = 3, .reads = "a"},
                        {.run_ns = 5, .bytes = 3, .reads = "a"},
                        {.run_ns = 4, .bytes = 3, .reads = "a"},
                        {.run_ns = 1, .bytes = 3, .reads = "bcd"}};
  const uint8_t placement[] = {0, 1, 0, 0, 0};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_RUNTIME);
  regal_search search;
  char what[64];
  begin_order(*state, problem, &search, placement);
  tidy(&search, what);
  assert_string_equal(what, "");
  assert_int_equal(search.plan_fitness.value, 11);
  assert_int_equal(search.best->step_count, 7);
  regal_search_close(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_pins_and_groups_stay(void **state) {
  const uint8_t placement[] = {0, 1, 1, 1, 0};
  regal_graph *graph = TOY_GRAPH(*state, chains);
  regal_machine *machine = toy_machine(*state, 2);
  toy_groups(machine, graph, "-aa--"); /* c with b, which has work to do */
  regal_problem *problem = toy_problem(*state, graph, machine, REGAL_RUNTIME);
  regal_search search;
  char what[64];
  begin_order(*state, problem, &search, placement);
  tidy(&search, what);
  assert_true(search.plan_fitness.value <= 15);
  for (uint32_t i = 0; i < search.best->step_count; i++)
    assert_true(search.best->steps[i].op != 2 ||
                search.best->steps[i].port != REGAL_RUN ||
                search.best->steps[i].device == 1);
  regal_search_close(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* Whatever the machine, the objective and the limits. */
static void test_nothing_gets_worse(void **state) {
  regal_context *context = *state;
  unsigned tried = 0, fewer = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_plan *plan;
    regal_search search, again;
    regal_cost cost;
    char what[64];
    regal_test_random_graph(context, seed, 40, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_test_random_plan(context, seed, graph, machine, &plan);
    regal_problem *problem =
        toy_problem(context, graph, machine, (enum regal_objective)(seed % 2));
    begin(context, problem, &search, plan);
    regal_fitness before = search.plan_fitness;
    regal_crossings sent = regal_plan_crossings(problem, search.best);
    assert_int_equal(regal_plan_copy(context, search.best, &plan), REGAL_OK);
    begin(context, problem, &again, plan);
    tidy(&search, what);
    tidy(&again, what);
    assert_int_equal(regal_verify(context, problem, search.best, &cost),
                     REGAL_OK);
    regal_fitness after = regal_fitness_of(problem, &cost);
    assert_false(regal_fitness_less(before, after));
    assert_false(regal_fitness_less(after, search.plan_fitness) ||
                 regal_fitness_less(search.plan_fitness, after));
    regal_crossings left = regal_plan_crossings(problem, search.best);
    assert_false(regal_crossings_less(sent, left));
    assert_int_equal(regal_crossings_less(left, sent), what[0] != 0);
    assert_int_equal(search.best->step_count, again.best->step_count);
    assert_memory_equal(search.best->steps, again.best->steps,
                        search.best->step_count * sizeof *plan->steps);
    tried += sent.transfers > 0;
    fewer += what[0] != 0;
    regal_search_close(&search);
    regal_search_close(&again);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  assert_true(tried > 150 && fewer > tried / 2);
}

static void test_budget(void **state) {
  const uint8_t placement[] = {0, 1, 1, 1, 0};
  regal_graph *graph = TOY_GRAPH(*state, chains);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_RUNTIME);
  regal_search search;
  char what[64];
  begin_order(*state, problem, &search, placement);
  search.budget.limit = 200;
  regal_budget whole = regal_tidy_reserve(&search);
  assert_int_equal(search.budget.limit, 198);
  search.budget.used = 200; /* nothing is left */
  assert_int_equal(regal_tidy(&search, &whole, what, sizeof what), REGAL_OK);
  assert_string_equal(what, "");
  search.budget.used = 198;
  assert_int_equal(regal_tidy(&search, &whole, what, sizeof what), REGAL_OK);
  assert_true(search.budget.used > 198 && search.budget.used <= 200);
  assert_int_equal(search.budget.limit, 200);
  regal_search_close(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_memory_runs_out(void **state) {
  const uint8_t placement[] = {0, 1, 1, 1, 0};
  unsigned failures = 0;
  (void)state;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_search search;
    char what[64];
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_graph *graph = TOY_GRAPH(context, chains);
    regal_problem *problem =
        toy_problem(context, graph, toy_machine(context, 2), REGAL_RUNTIME);
    begin_order(context, problem, &search, placement);
    regal_budget whole = regal_tidy_reserve(&search);
    memory.fail_at = memory.allocations + n;
    regal_status status = regal_tidy(&search, &whole, what, sizeof what);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    failures += memory.failed;
    regal_search_close(&search);
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
  }
  assert_true(failures > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_a_detour_is_left_out),
      TOY_TEST(test_transfers_that_pay_stay),
      TOY_TEST(test_pins_and_groups_stay),
      TOY_TEST(test_nothing_gets_worse),
      TOY_TEST(test_budget),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("tidy", tests, NULL, NULL);
}
