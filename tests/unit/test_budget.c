/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: the default one by problem, how long it takes, whole plans where
 * others make moves, and what waits until the end of the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/budget.h"
#include "api/methods.h"
#include "auto/whole.h"
#include "cost/bound/bound.h"
#include "support/search_bench.h"

static void use_layered(search_bench *b, uint32_t ops) {
  problem_end(b);
  if (regal_layered_graph(b->context, ops, 32, 2, 1, &b->graph))
    fail_msg("%s", regal_error(b->context));
  make_problem(b);
}

/* Evaluations where the user gives no budget. */
static uint64_t default_of(search_bench *b) {
  make_problem(b);
  search_begin(b);
  b->search.method = regal_method_find(b->options.method);
  regal_search_set_budget(&b->search);
  return b->search.budget.limit;
}

/* Times of moves on graphs of this size: docs/results.md. */
static void test_default_is_about_a_second(void **state) {
  search_bench *b = *state;
  use_layered(b, 20000);
  assert_int_equal(default_of(b), 15000);
  set_option(b, "devices", "8");
  assert_int_equal(default_of(b), 1000);
  set_option(b, "devices", "2");
  set_option(b, "transfers", "overlapped");
  assert_in_range(default_of(b), 5000, 6000);
  set_option(b, "memory-limit", "1GB");
  assert_int_equal(default_of(b), 1000);
  set_option(b, "method", "brkga");
  assert_int_equal(default_of(b), 5000);
  use_layered(b, 100);
  set_option(b, "method", "auto");
  assert_int_equal(default_of(b), 500000);
}

static void test_how_long_it_takes(void **state) {
  search_bench *b = *state;
  use_layered(b, 30000);
  assert_true(regal_default_seconds(b->graph, &b->options) == 1);
  use_layered(b, 120000);
  assert_true(regal_default_seconds(b->graph, &b->options) == 8);
  set_option(b, "time", "3");
  assert_true(regal_default_seconds(b->graph, &b->options) == 0);
  set_option(b, "time", "0");
  set_option(b, "method", "heft");
  assert_true(regal_default_seconds(b->graph, &b->options) == 0);
  set_option(b, "method", "cp-sat");
  assert_true(regal_default_seconds(b->graph, &b->options) == 60);
}

/* As many as take a fifth of a second, or as long as the moves would. */
static void test_whole_plans(void **state) {
  search_bench *b = *state;
  use_layered(b, 10000);
  search_begin(b);
  b->search.budget.limit = 1000;
  regal_auto_cap_plans(&b->search, 0.2, 1e-6, 500);
  assert_int_equal(b->search.budget.limit, 20);
  b->search.budget.limit = 100000;
  regal_auto_cap_plans(&b->search, 0.2, 1e-6, 5000);
  assert_int_equal(b->search.budget.limit, 500);
  b->search.budget.limit = 100000;
  regal_auto_cap_plans(&b->search, 0.2, 1e-6, 50);
  assert_int_equal(b->search.budget.limit, 50);
  b->search.budget.limit = REGAL_NO_LIMIT;
  regal_auto_cap_plans(&b->search, 0.2, 1e-6, 50);
  assert_false(regal_budget_is_counted(&b->search.budget));
}

static void keep_bound(void *state, const regal_progress *progress) {
  *(int64_t *)state = progress->bound;
}

/* A live set that takes a second waits until the time that the user gave is
 * over. */
static void test_bound_on_memory_may_wait(void **state) {
  search_bench *b = *state;
  int64_t whole, meanwhile = 0;
  set_option(b, "objective", "memory");
  set_option(b, "method", "single");
  use_layered(b, 2000);
  regal_bound_memory(b->context, b->problem, &whole);
  regal_set_progress(b->context, keep_bound, &meanwhile);
  set_option(b, "time", "1us");
  regal_result *hasty = optimize(b);
  assert_in_range(meanwhile, 1, whole - 1);
  assert_int_equal(hasty->bound.peak_bytes, whole);
  set_option(b, "time", "100");
  regal_result *patient = optimize(b);
  assert_int_equal(meanwhile, whole);
  regal_set_progress(b->context, NULL, NULL);
  regal_result_free(hasty);
  regal_result_free(patient);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_default_is_about_a_second),
      SEARCH_TEST(test_how_long_it_takes),
      SEARCH_TEST(test_whole_plans),
      SEARCH_TEST(test_bound_on_memory_may_wait),
  };
  return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
