/* SPDX-License-Identifier: Apache-2.0 */
/* Milestones of a BRKGA run against runs that end there. */
#include "dataset/synthetic/synthetic.h"
#include "evolve/milestones.h"
#include "support/failing_allocator.h"
#include "support/graph_sketch.h"

/* Inside generations, at their ends, and one beyond. */
static const uint64_t budgets[] = {1,   37,  99,  100,  101,  150,
                                   180, 181, 500, 1000, 1013, 2000};
enum { COUNT = sizeof budgets / sizeof *budgets };

typedef struct fixture {
  regal_options options;
  regal_graph *graph;
  regal_problem *problem;
  regal_pool *pool;
} fixture;

static fixture set_up(regal_context *context, int threads) {
  fixture f;
  regal_options_init(&f.options);
  assert_int_equal(
      regal_synthetic_graph(context, REGAL_ERDOS_RENYI, 60, 5, &f.graph),
      REGAL_OK);
  assert_int_equal(
      regal_problem_create(context, f.graph, &f.options, &f.problem), REGAL_OK);
  assert_int_equal(regal_pool_create(context, threads, &f.pool), REGAL_OK);
  return f;
}

static void tear_down(fixture *f) {
  regal_pool_free(f->pool);
  regal_problem_free(f->problem);
  regal_graph_free(f->graph);
}

static int64_t solve(regal_context *context, const fixture *f,
                     uint64_t budget) {
  regal_options options = f->options;
  regal_result *result;
  assert_int_equal(regal_options_set(context, &options, "method", "brkga"),
                   REGAL_OK);
  options.evaluations = (int64_t)budget;
  if (regal_optimize(context, f->problem, &options, &result) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  assert_int_equal(result->evaluations, budget);
  int64_t value = result->cost.runtime_ns;
  regal_result_free(result);
  return value;
}

/* Milestones with the options of the fixture. */
static regal_status follow(regal_context *context, const fixture *f,
                           const uint64_t *wanted, size_t count,
                           regal_fitness *best, bool *complete) {
  regal_brkga_settings settings = regal_brkga_settings_of(&f->options);
  regal_search search;
  regal_search_open(&search, context, f->problem, f->pool,
                    (uint64_t)f->options.seed, wanted[count - 1]);
  regal_status status =
      regal_brkga_milestones(&search, &settings, wanted, count, best);
  *complete = search.stop != REGAL_STOP_INTERRUPT;
  regal_search_close(&search);
  return status;
}

static void compare(regal_context *context, fixture *f) {
  regal_fitness best[COUNT];
  bool complete = false;
  if (follow(context, f, budgets, COUNT, best, &complete) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  assert_true(complete);
  for (size_t i = 0; i < COUNT; i++) {
    assert_int_equal(best[i].excess, 0);
    assert_int_equal(best[i].value, solve(context, f, budgets[i]));
  }
  assert_true(best[COUNT - 1].value < best[0].value);
}

static void test_milestones_are_runs_that_end_there(void **state) {
  fixture f = set_up(*state, 1);
  compare(*state, &f);
  f.options.seed = 77;
  compare(*state, &f);
  f.options.population = 50;
  f.options.elites = .1;
  compare(*state, &f);
  f.options.population = 7; /* generations that differ from all budgets */
  compare(*state, &f);
  strcpy(f.options.decoder, "batched");
  compare(*state, &f);
  tear_down(&f);
}

static void test_milestones_on_threads(void **state) {
  fixture f = set_up(*state, 3);
  compare(*state, &f);
  tear_down(&f);
}

static void test_stop(void **state) {
  fixture f = set_up(*state, 1);
  regal_fitness best[COUNT];
  bool complete = true;
  regal_stop_request(*state);
  assert_int_equal(follow(*state, &f, budgets, COUNT, best, &complete),
                   REGAL_OK);
  assert_false(complete);
  regal_stop_clear(*state);
  tear_down(&f);
}

static void expect(regal_context *context, const fixture *f,
                   const uint64_t *wanted, regal_status status,
                   const char *message) {
  regal_fitness best[2];
  bool complete;
  assert_int_equal(follow(context, f, wanted, 2, best, &complete), status);
  assert_string_equal(regal_error(context), message);
}

static void test_errors(void **state) {
  fixture f = set_up(*state, 1);
  expect(*state, &f, (uint64_t[]){0, 5}, REGAL_MISUSE,
         "the budgets of milestones ascend, from 1");
  expect(*state, &f, (uint64_t[]){5, 5}, REGAL_MISUSE,
         "the budgets of milestones ascend, from 1");
  regal_brkga_settings settings = regal_brkga_settings_of(&f.options);
  regal_search search;
  regal_fitness best;
  regal_search_open(&search, *state, f.problem, f.pool, 1, 6);
  assert_int_equal(
      regal_brkga_milestones(&search, &settings, (uint64_t[]){5}, 1, &best),
      REGAL_MISUSE);
  assert_string_equal(regal_error(*state),
                      "the last milestone is not the end of the budget");
  regal_search_close(&search);
  f.options.restart = 3;
  expect(*state, &f, (uint64_t[]){1, 5}, REGAL_MISUSE,
         "milestones are of one island without restarts");
  f.options.restart = 0;
  f.options.islands = 2;
  expect(*state, &f, (uint64_t[]){1, 5}, REGAL_MISUSE,
         "milestones are of one island without restarts");
  tear_down(&f);
}

static void test_failing_allocations(void **state) {
  (void)state;
  failing_allocator memory = {.fail_at = 0};
  regal_allocator allocator = failing_allocator_of(&memory);
  regal_context *context;
  assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
  fixture f = set_up(context, 1);
  size_t held = regal_bytes_in_use(context), n = 0;
  do {
    regal_fitness best[COUNT];
    bool complete;
    memory.failed = 0;
    memory.fail_at = memory.allocations + ++n;
    regal_status status = follow(context, &f, budgets, 3, best, &complete);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    assert_int_equal(regal_bytes_in_use(context), held);
  } while (memory.failed);
  assert_in_range(n, 5, 100);
  memory.fail_at = 0;
  tear_down(&f);
  regal_context_free(context);
  assert_int_equal(memory.blocks, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_milestones_are_runs_that_end_there),
      CONTEXT_TEST(test_milestones_on_threads),
      CONTEXT_TEST(test_stop),
      CONTEXT_TEST(test_errors),
      CONTEXT_TEST(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("milestones", tests, NULL, NULL);
}
