/* SPDX-License-Identifier: Apache-2.0 */
/* The bound on memory by minimum cuts: exact values, against its definition
 * over all sets D of small graphs, against the live set, and against plans. */

#include "cost/bound/bound.h"
#include "cost/bound/parts.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

#define ENOUGH UINT64_MAX

static int64_t cut_of(regal_context *context, const regal_problem *problem,
                      uint64_t effort) {
  int64_t bytes = -1;
  assert_int_equal(regal_bound_cut(context, problem, effort, 0, &bytes),
                   REGAL_OK);
  return bytes;
}

static void test_something_waits_wherever_the_rest_is(void **state) {
  /* c and d are beside each other's chains. While e runs, b's chain is before
   * it, in the middle, or done: at best its 4 bytes are there. */
  const toy_op ops[] = {{.bytes = 10},
                        {.bytes = 4, .reads = "a"},
                        {.bytes = 7, .reads = "a"},
                        {.bytes = 50, .reads = "c"},
                        {.bytes = 3, .reads = "d"},
                        {.bytes = 1, .reads = "be"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 1), REGAL_MEMORY);
  int64_t live, peak;
  assert_int_equal(regal_bound_live(*state, problem, ENOUGH, &live), REGAL_OK);
  assert_int_equal(live, 50 + 7);
  assert_int_equal(cut_of(*state, problem, ENOUGH), 50 + 7 + 4);
  assert_int_equal(regal_bound_memory(*state, problem, &peak), REGAL_OK);
  assert_int_equal(peak, 50 + 7 + 4);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_what_comes_before_comes_too(void **state) {
  /* a's bytes can be gone when d runs, but then b has run, whose bytes stay */
  const toy_op ops[] = {{.bytes = 10},
                        {.bytes = 3, .is_final = true},
                        {.bytes = 0, .reads = "ab"},
                        {.bytes = 50, .waits = "a"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 1), REGAL_MEMORY);
  assert_int_equal(cut_of(*state, problem, ENOUGH), 50 + 3);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_not_below_what_is_known(void **state) {
  const toy_op ops[] = {{.bytes = 10}, {.bytes = 4, .reads = "a"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_MEMORY);
  int64_t bytes;
  regal_bound_cut(*state, problem, ENOUGH, 13, &bytes);
  assert_int_equal(bytes, 14);
  regal_bound_cut(*state, problem, ENOUGH, 15, &bytes);
  assert_int_equal(bytes, 15);
  regal_bound_cut(*state, problem, 0, 13, &bytes);
  assert_int_equal(bytes, 13);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- By definition --------------------------------------------------------- */

static bool has(uint32_t set, uint32_t op) {
  return set >> op & 1;
}

/* What each op needs before it, in one step and in any number. */
static void find_needs(const regal_problem *problem, uint32_t *needs,
                       uint32_t *ancestors) {
  for (uint32_t op = 0; op < problem->ops; op++)
    needs[op] = ancestors[op] = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    for (uint32_t s = problem->successor_begin[op];
         s < problem->successor_begin[op + 1]; s++) {
      needs[problem->successor[s]] |= UINT32_C(1) << op;
      ancestors[problem->successor[s]] |= ancestors[op] | UINT32_C(1) << op;
    }
}

static bool is_closed(const regal_problem *problem, const uint32_t *needs,
                      uint32_t set) {
  for (uint32_t op = 0; op < problem->ops; op++)
    if (has(set, op) && (needs[op] & ~set))
      return false;
  return true;
}

/* Bytes that the ops of a set leave for the others. */
static int64_t bytes_left(const regal_problem *problem, uint32_t set) {
  int64_t bytes = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    bool needed = problem->is_final[t];
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1]; u++)
      needed = needed || !has(set, problem->consumer[u]);
    if (needed && has(set, problem->producer[t]))
      bytes += problem->bytes[t];
  }
  return bytes;
}

static int64_t slow_reused(const regal_problem *problem,
                           const uint32_t *ancestors, uint32_t v) {
  regal_dying dying = {0, 0};
  for (uint32_t i = problem->input_begin[v]; i < problem->input_begin[v + 1];
       i++) {
    uint32_t t = problem->input[i];
    bool needed = problem->is_final[t];
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1]; u++)
      needed = needed || has(ancestors[problem->consumer[u]], v);
    if (!needed)
      regal_dying_add(&dying, problem->bytes[t]);
  }
  return regal_may_reuse(problem, v) ? regal_most_reused(problem, v, dying) : 0;
}

static int64_t slow_cut(const regal_problem *problem) {
  uint32_t needs[16], ancestors[16];
  int64_t largest = 0;
  find_needs(problem, needs, ancestors);
  for (uint32_t v = 0; v < problem->ops; v++) {
    int64_t least = INT64_MAX;
    for (uint32_t set = 0; set < UINT32_C(1) << problem->ops; set++) {
      if (has(set, v) || (needs[v] & ~set) || !is_closed(problem, needs, set))
        continue;
      int64_t bytes = bytes_left(problem, set);
      least = bytes < least ? bytes : least;
    }
    least += problem->graph->temporary_bytes[v];
    for (uint32_t t = problem->output_begin[v];
         t < problem->output_begin[v + 1]; t++)
      least += problem->bytes[t];
    least -= slow_reused(problem, ancestors, v);
    largest = least > largest ? least : largest;
  }
  return largest;
}

static void test_by_definition(void **state) {
  regal_context *context = *state;
  unsigned above_live = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    int64_t live;
    regal_test_random_graph(context, seed, 11, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem = toy_problem(context, graph, machine, REGAL_MEMORY);
    int64_t cut = cut_of(context, problem, ENOUGH);
    assert_int_equal(cut, slow_cut(problem));
    regal_bound_live(context, problem, ENOUGH, &live);
    assert_true(cut >= live);
    above_live += cut > live;
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  assert_true(above_live > 10);
}

/* Larger cases of all kinds, with little effort and much. */
static void test_random_plans_need_more(void **state) {
  regal_context *context = *state;
  for (uint64_t seed = 1; seed <= 80; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_plan *plan;
    regal_cost cost;
    int64_t peak;
    regal_test_random_graph(context, seed, seed % 4 ? 50 : 400, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_test_random_plan(context, seed, graph, machine, &plan);
    regal_problem *problem = toy_problem(context, graph, machine, REGAL_MEMORY);
    assert_int_equal(regal_verify(context, problem, plan, &cost), REGAL_OK);
    assert_int_equal(regal_bound_memory(context, problem, &peak), REGAL_OK);
    assert_true(peak <= cost.max_peak_bytes);
    assert_true(cut_of(context, problem, 5000) <=
                cut_of(context, problem, ENOUGH));
    regal_problem_free(problem);
    regal_plan_free(plan);
    regal_graph_free(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_something_waits_wherever_the_rest_is),
      TOY_TEST(test_what_comes_before_comes_too),
      TOY_TEST(test_not_below_what_is_known),
      TOY_TEST(test_by_definition),
      TOY_TEST(test_random_plans_need_more),
  };
  return cmocka_run_group_tests_name("bound_cut", tests, NULL, NULL);
}
