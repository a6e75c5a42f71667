/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets and searches inside searches: what a share is, what a child keeps to
 * itself, and what a stage hands back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "heuristic/heuristics.h"
#include "support/search_bench.h"
#include "support/toy_graph.h"

static void test_shares(void **state) {
  search_bench *b = *state;
  regal_budget budget = regal_budget_of(b->context, 1000);
  budget.used = 200;
  budget.target = 7;
  regal_budget part = regal_budget_share(&budget, 0.3);
  assert_int_equal(part.limit, 240);
  assert_int_equal(part.used, 0);
  assert_true(part.target == 7);
  assert_true(isinf(part.deadline));
  regal_budget_cap(&part, 100);
  assert_int_equal(regal_budget_left(&part), 100);
  regal_budget_cap(&part, 150);
  assert_int_equal(regal_budget_left(&part), 100);

  budget = regal_budget_of(b->context, REGAL_NO_LIMIT);
  double now = regal_seconds();
  budget.deadline = now + 1000;
  part = regal_budget_share(&budget, 0.5);
  assert_false(regal_budget_is_counted(&part));
  assert_true(fabs(part.deadline - now - 500) < 10);
}

/* More may be used than was allowed, by methods that count only afterwards. */
static void test_nothing_is_left(void **state) {
  search_bench *b = *state;
  regal_budget budget = regal_budget_of(b->context, 10);
  budget.used = 12;
  assert_int_equal(regal_budget_left(&budget), 0);
  assert_int_equal(regal_budget_share(&budget, 1).limit, 0);
}

/* Which of several reasons is given. */
static void test_reasons(void **state) {
  search_bench *b = *state;
  regal_budget budget = regal_budget_of(b->context, 10);
  assert_int_equal(regal_budget_stop(&budget, 5, true), REGAL_STOP_DONE);
  budget.deadline = regal_seconds() - 1;
  assert_true(regal_budget_is_cut(&budget));
  assert_int_equal(regal_budget_stop(&budget, 5, true), REGAL_STOP_TIME);
  budget.used = 10;
  assert_int_equal(regal_budget_stop(&budget, 5, true), REGAL_STOP_BUDGET);
  budget.target = 5;
  assert_int_equal(regal_budget_stop(&budget, 5, false), REGAL_STOP_BUDGET);
  assert_int_equal(regal_budget_stop(&budget, 5, true), REGAL_STOP_TARGET);
  regal_stop_request(b->context);
  assert_int_equal(regal_budget_stop(&budget, 5, true), REGAL_STOP_INTERRUPT);
  regal_stop_clear(b->context);
}

static void begin(search_bench *b) {
  use_synthetic(b, 40, 3);
  search_begin(b);
  b->search.budget.limit = 1000;
  assert_int_equal(regal_method_single(&b->search), REGAL_OK);
}

/* A stage begins with the best plan, and hands back a better one. */
static void test_stage(void **state) {
  search_bench *b = *state;
  regal_search *search = &b->search, stage;
  begin(b);
  const regal_plan *first = search->best;
  regal_fitness before = search->best_fitness;
  regal_search_stage(search, 0.5, &stage);
  assert_null(search->best);
  assert_ptr_equal(stage.best, first);
  assert_int_equal(stage.budget.limit, 500);
  assert_int_equal(regal_method_heft(&stage), REGAL_OK);
  stage.budget.used = 123;
  regal_search_close(&stage);
  assert_int_equal(search->budget.used, 123);
  assert_true(regal_fitness_less(search->best_fitness, before));
  assert_true(same_fitness(search->best_fitness, search->plan_fitness));
  regal_cost cost;
  assert_int_equal(regal_search_cost(search, search->best, &cost), REGAL_OK);
  assert_true(
      same_fitness(regal_fitness_of(b->problem, &cost), search->plan_fitness));
  assert_int_equal(search->stop, REGAL_STOP_DONE);
}

/* A stage that uses all of it ends the search, one that has a part does not. */
static void test_stage_that_ends_it(void **state) {
  search_bench *b = *state;
  regal_search *search = &b->search, stage;
  begin(b);
  regal_search_stage(search, 0.5, &stage);
  stage.budget.used = 500;
  assert_true(regal_search_should_stop(&stage));
  regal_search_close(&stage);
  assert_int_equal(search->stop, REGAL_STOP_DONE);
  regal_search_stage(search, 1, &stage);
  stage.budget.used = 500;
  assert_true(regal_search_should_stop(&stage));
  regal_search_close(&stage);
  assert_int_equal(search->stop, REGAL_STOP_BUDGET);
}

/* A child from nothing changes no more than the count. */
static void test_child(void **state) {
  search_bench *b = *state;
  regal_search *search = &b->search, child;
  begin(b);
  const regal_plan *best = search->best;
  regal_fitness before = search->best_fitness;
  regal_search_child(search, b->problem, 0.1, &child);
  assert_null(child.best);
  assert_int_equal(regal_method_heft(&child), REGAL_OK);
  assert_non_null(child.best);
  child.budget.used = 7;
  regal_search_close(&child);
  assert_ptr_equal(search->best, best);
  assert_true(same_fitness(search->best_fitness, before));
  assert_int_equal(search->budget.used, 7);
}

typedef struct heard {
  int reports;
  int64_t best;
  uint64_t evaluations;
} heard;

static void listen(void *state, const regal_progress *progress) {
  heard *heard = state;
  heard->reports++;
  heard->best = progress->best;
  heard->evaluations = progress->evaluations;
}

/* A start of its own knows nothing of its parent's plan, and nobody hears of it
 * while it is behind. */
static void test_begins_anew(void **state) {
  search_bench *b = *state;
  regal_search *search = &b->search, child;
  heard heard = {0};
  begin(b);
  assert_int_equal(regal_method_heft(search), REGAL_OK);
  int64_t best = search->best_fitness.value;
  regal_search_anew(search, 0.5, &child);
  assert_null(child.best);
  assert_true(same_fitness(child.best_fitness, REGAL_FITNESS_WORST));
  regal_set_progress(b->context, listen, &heard);
  search->last_report = 0; /* long ago */
  assert_int_equal(regal_method_single(&child), REGAL_OK);
  assert_true(child.best_fitness.value > best);
  assert_int_equal(heard.reports, 1);
  assert_int_equal(heard.best, best);
  regal_set_progress(b->context, NULL, NULL);
  regal_search_close(&child);
  assert_int_equal(search->best_fitness.value, best);
}

/* Of plans of equal cost the one with fewer transfers is kept, then the one
 * that sends fewer bytes. */
static void test_fewer_transfers_win(void **state) {
  search_bench *b = *state;
  const toy_op ops[] = {{.run_ns = 5, .bytes = 9},
                        {.run_ns = 5, .bytes = 1, .reads = "a"},
                        {.run_ns = 5, .bytes = 1, .reads = "b"}};
  const uint32_t order[] = {0, 1, 2};
  const uint8_t rows[][3] = {{0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {0, 0, 0}};
  const uint32_t steps[] = {5, 4, 4, 3};
  regal_graph *graph = TOY_GRAPH(b->context, ops);
  regal_problem *problem =
      toy_problem(b->context, graph, toy_machine(b->context, 2), REGAL_RUNTIME);
  regal_search search;
  regal_search_open(&search, b->context, problem, NULL, 1, 10);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(regal_search_offer_order(&search, order, rows[i]),
                     REGAL_OK);
    assert_int_equal(search.best->step_count, steps[i]);
    assert_int_equal(search.best->steps[search.best->step_count - 1].device,
                     rows[i][2]);
  }
  assert_int_equal(regal_search_offer_order(&search, order, rows[1]), REGAL_OK);
  assert_int_equal(search.best->step_count, 3);
  regal_search_close(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* What may still be kept: by value, within the limits, or by the search without
 * limits. */
static void test_what_could_be_kept(void **state) {
  search_bench *b = *state;
  regal_problem problem = {.objective = REGAL_RUNTIME};
  regal_search search, other;
  regal_search_open(&search, b->context, &problem, NULL, 1, 10);
  regal_search_open(&other, b->context, &problem, NULL, 1, 10);
  assert_true(regal_search_could_keep(&search, INT64_MAX));
  search.plan_fitness = (regal_fitness){0, 100, 0};
  assert_false(regal_search_could_keep(&search, 101));
  assert_true(regal_search_could_keep(&search, 100)); /* fewer transfers */
  search.unlimited = &other;
  assert_true(regal_search_could_keep(&search, 101));
  other.plan_fitness = (regal_fitness){0, 60, 0};
  assert_false(regal_search_could_keep(&search, 101));
  search.plan_fitness.excess = 1;
  assert_true(regal_search_could_keep(&search, 101));
  search.plan_fitness.excess = 0;
  problem.objective = REGAL_MEMORY;
  assert_true(regal_search_could_keep(&search, 101));
}

/* Nobody hears what is found for another view of the problem, only how far the
 * search is. */
static void test_views_report_their_parent(void **state) {
  search_bench *b = *state;
  regal_search *search = &b->search, view, stage;
  heard heard = {0};
  begin(b);
  regal_set_progress(b->context, listen, &heard);
  regal_problem other = *b->problem;
  other.objective = REGAL_MEMORY;
  search->budget.target = 9;
  regal_search_child(search, &other, 0.5, &view);
  assert_true(view.budget.target == 0);
  assert_int_equal(view.bound.runtime_ns, 0);
  view.budget.used = 20;
  regal_search_stage(&view, 1, &stage);
  stage.budget.used = 3;
  assert_int_equal(regal_method_single(&stage), REGAL_OK);
  assert_true(heard.reports <= 1);
  search->last_report = 0; /* long ago */
  regal_search_report(&stage, false);
  assert_int_equal(heard.best, search->best_fitness.value);
  assert_int_equal(heard.evaluations, 23);
  regal_search_close(&stage);
  regal_search_close(&view);
  assert_int_equal(search->budget.used, 23);
  regal_set_progress(b->context, NULL, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_shares),
      SEARCH_TEST(test_nothing_is_left),
      SEARCH_TEST(test_reasons),
      SEARCH_TEST(test_stage),
      SEARCH_TEST(test_stage_that_ends_it),
      SEARCH_TEST(test_child),
      SEARCH_TEST(test_begins_anew),
      SEARCH_TEST(test_fewer_transfers_win),
      SEARCH_TEST(test_what_could_be_kept),
      SEARCH_TEST(test_views_report_their_parent),
  };
  return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
