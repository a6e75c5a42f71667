/* SPDX-License-Identifier: Apache-2.0 */
/* Hill climbing: every plan is valid and costs what it says, nothing gets
 * worse, small graphs are solved, evaluations are counted exactly, and the seed
 * alone decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "anneal/climb/climb.h"
#include "anneal/driver/annealers.h"
#include "cost/verify/verify.h"
#include "decode/walk.h"
#include "support/brute_force.h"
#include "support/failing_allocator.h"
#include "support/quick_search.h"
#include "support/random_cases.h"
#include "support/search_bench.h"

/* A random case, as a search with a budget. */
static void begin_case(search_bench *b, uint64_t seed, uint32_t ops,
                       uint32_t devices, enum regal_objective objective,
                       uint64_t budget) {
  regal_machine *machine;
  problem_end(b);
  regal_test_random_graph(b->context, seed, ops, &b->graph);
  regal_test_random_small_machine(b->context, seed, devices, b->graph,
                                  &machine);
  assert_int_equal(
      regal_problem_bind(b->context, b->graph, machine, objective, &b->problem),
      REGAL_OK);
  assert_int_equal(quick_begin(&b->search, b->context, b->problem, &b->options),
                   REGAL_OK);
  b->search.budget.limit = budget;
}

static void run_climb(search_bench *b) {
  if (regal_method_climb(&b->search))
    fail_msg("%s", regal_error(b->context));
}

/* -- Whole searches -------------------------------------------------------- */

/* All kinds of machines: limits, groups, forbidden devices, links, waits. */
static void test_plans_are_valid(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    begin_case(b, seed, seed % 8 ? 30 : 200, seed % 16 ? 4 : 64,
               seed % 3 ? REGAL_RUNTIME : REGAL_MEMORY, 400);
    b->options.climb_restart = seed % 5 ? -1 : 2;
    b->search.seed = seed;
    run_climb(b);
    quick_check(&b->search);
    assert_true(b->search.budget.used <= 400);
    if (b->search.stop == REGAL_STOP_BUDGET)
      assert_int_equal(b->search.budget.used, 400);
    else
      assert_int_equal(b->search.stop, REGAL_STOP_BOUND);
  }
}

static void test_budget_is_exact(void **state) {
  search_bench *b = *state;
  for (uint64_t budget = 1; budget < 2000; budget = 2 * budget + 1) {
    use_synthetic(b, 60, 3);
    search_begin(b);
    b->search.bound = (regal_bound){0};
    b->search.budget.limit = budget;
    b->options.climb_restart = 1;
    run_climb(b);
    assert_int_equal(b->search.budget.used, budget);
    assert_int_equal(b->search.stop, REGAL_STOP_BUDGET);
    assert_non_null(b->search.best);
  }
}

/* One chain: threads make no difference, the seed does. */
static void test_seed_decides(void **state) {
  search_bench *b = *state;
  static const char *const objectives[] = {"runtime", "memory"};
  for (int k = 0; k < 2; k++) {
    regal_result *results[3];
    set_option(b, "method", "climb");
    set_option(b, "objective", objectives[k]);
    set_option(b, "evaluations", "3000");
    use_synthetic(b, 80, 5);
    for (int i = 0; i < 3; i++) {
      b->options.threads = i == 1 ? 3 : 1;
      b->options.seed = i == 2 ? 8 : 7;
      results[i] = optimize(b);
    }
    assert_int_equal(results[0]->evaluations, results[1]->evaluations);
    assert_true(same_plan(results[0]->plan, results[1]->plan));
    assert_false(same_plan(results[0]->plan, results[2]->plan));
    for (int i = 0; i < 3; i++)
      regal_result_free(results[i]);
  }
}

/* More moves of the same chain are never worse, across restarts, too. */
static void test_more_is_better(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    regal_fitness last = REGAL_FITNESS_WORST;
    for (uint64_t budget = 1; budget <= 4096; budget *= 4) {
      begin_case(b, seed, 40, 3, seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY,
                 budget);
      b->search.bound = (regal_bound){0};
      b->options.climb_restart = 3;
      run_climb(b);
      regal_fitness now = b->search.plan_fitness;
      assert_true(regal_climb_compare(&now, &last) <= 0);
      last = now;
    }
  }
}

static void test_restarts(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 50, 2);
  for (int restart = 0; restart < 2; restart++) {
    search_begin(b);
    b->search.budget.limit = 20000;
    b->options.climb_restart = restart;
    run_climb(b);
    if (restart == 0) {
      assert_string_equal(b->search.account, "hill climbing: 1 start");
      continue;
    }
    int starts = atoi(b->search.account + strlen("hill climbing: "));
    assert_in_range(starts, 50, 20000 / b->problem->ops + 1);
  }
}

/* The first start is the plan that is given. */
static void test_start_from_plan(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    begin_case(b, seed, 40, 3, REGAL_RUNTIME, 5000);
    b->options.climb_restart = -1;
    run_climb(b);
    regal_fitness before = b->search.plan_fitness;
    regal_plan *plan = b->search.best;
    b->search.best = NULL;
    b->search.start = plan;
    b->search.budget.limit = 1;
    b->search.budget.used = 0;
    run_climb(b);
    assert_int_equal(b->search.budget.used, 1);
    assert_true(same_fitness(before, b->search.plan_fitness));
    regal_plan_free(plan);
  }
}

/* Orders with transfers that follow from them do not hold every optimum, and
 * hill climbing does not find all that they hold: mostly is what we ask. */
static void test_small_graphs_are_solved(void **state) {
  search_bench *b = *state;
  int cases = 0, solved[2] = {0, 0};
  for (uint64_t seed = 1; cases < 60; seed++) {
    regal_test_best best;
    begin_case(b, seed, 7, 2, REGAL_RUNTIME, 1);
    if (b->problem->ops < 4 || b->problem->devices < 2 ||
        !regal_test_brute_force(b->context, b->graph, b->problem->machine,
                                20000, &best))
      continue;
    cases++;
    for (int k = 0; k < 2; k++) {
      begin_case(b, seed, 7, 2, k ? REGAL_MEMORY : REGAL_RUNTIME, 3000);
      run_climb(b);
      const regal_cost *cost = k ? &best.memory.cost : &best.runtime.cost;
      regal_fitness optimum = regal_fitness_of(b->problem, cost);
      int order = regal_climb_compare(&b->search.plan_fitness, &optimum);
      assert_true(order >= 0);
      solved[k] += order == 0;
    }
  }
  assert_true(solved[0] >= 54);
  assert_true(solved[1] >= 54);
}

/* -- Engines --------------------------------------------------------------- */

/* What an engine says after every move is what a walk over all of it says. */
static void check_engine(search_bench *b, const regal_climb_engine *engine,
                         uint64_t seed) {
  const regal_problem *problem = b->problem;
  uint32_t order[256];
  uint8_t placement[256];
  regal_random random = {seed, 0};
  regal_fitness fitness, last;
  regal_walk walk;
  regal_climb_solution s = {.problem = problem, .engine = engine};
  regal_carver carver = {NULL, 0};
  regal_walk_layout(&walk, &carver, problem);
  char *block = calloc(carver.used, 1);
  assert_non_null(block);
  carver = (regal_carver){block, 0};
  regal_walk_layout(&walk, &carver, problem);
  assert_int_equal(engine->create(b->context, &s), REGAL_OK);
  for (uint32_t op = 0; op < problem->ops; op++) {
    order[op] = op;
    placement[op] =
        problem->leader && problem->leader[op] != op
            ? placement[problem->leader[op]]
            : (uint8_t)regal_climb_pick(problem->allowed[op], &random);
  }
  engine->begin(s.state, order, placement, &fitness);
  bool late =
      problem->machine->overlapped || problem->objective == REGAL_MEMORY;
  for (int i = 0; i < 300; i++) {
    last = fitness;
    bool better = regal_climb_step(&s, &random, &fitness);
    assert_int_equal(better, regal_climb_compare(&fitness, &last) < 0);
    assert_true(regal_climb_compare(&fitness, &last) <= 0);
    regal_fitness walked = (late ? regal_walk_late : regal_walk_within_limit)(
        problem, &walk, s.order, s.placement, NULL);
    assert_int_equal(walked.excess, fitness.excess);
    assert_int_equal(walked.value, fitness.value);
  }
  engine->destroy(s.state);
  free(block);
}

static void test_engines_are_exact(void **state) {
  search_bench *b = *state;
  int memory = 0;
  for (uint64_t seed = 1; seed <= 240; seed++) {
    begin_case(b, seed, 60, 5, seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY, 1);
    check_engine(b, &regal_climb_order, seed);
    if (!regal_annealer_memory.suits(b->problem))
      continue;
    check_engine(b, &regal_climb_peak, seed);
    memory++;
  }
  assert_true(memory > 60);
}

/* Uniform over the devices that are given. */
static void test_pick(void **state) {
  (void)state;
  int counts[64] = {0};
  regal_random random = {1, 0};
  uint64_t devices = UINT64_C(1) << 63 | 1 << 5 | 1;
  for (int i = 0; i < 3000; i++)
    counts[regal_climb_pick(devices, &random)]++;
  assert_int_equal(counts[0] + counts[5] + counts[63], 3000);
  assert_in_range(counts[0], 900, 1100);
  assert_in_range(counts[5], 900, 1100);
}

static void test_allocation_fails(void **state) {
  search_bench *b = *state;
  for (int k = 0; k < 2; k++)
    for (size_t n = 1;; n++) {
      failing_allocator memory = {0};
      regal_allocator allocator = failing_allocator_of(&memory);
      regal_context *context;
      begin_case(b, 4, 30, 2, k ? REGAL_MEMORY : REGAL_RUNTIME, 100);
      assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
      b->search.context = context;
      memory.fail_at = memory.allocations + n;
      regal_status status = regal_method_climb(&b->search);
      bool failed = memory.failed != 0;
      assert_int_equal(status, failed ? REGAL_NO_MEMORY : REGAL_OK);
      regal_search_close(&b->search);
      regal_context_free(context);
      assert_int_equal(memory.blocks, 0);
      if (!failed)
        break;
      assert_true(n < 10);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_plans_are_valid),
      SEARCH_TEST(test_budget_is_exact),
      SEARCH_TEST(test_seed_decides),
      SEARCH_TEST(test_more_is_better),
      SEARCH_TEST(test_restarts),
      SEARCH_TEST(test_start_from_plan),
      SEARCH_TEST(test_small_graphs_are_solved),
      SEARCH_TEST(test_engines_are_exact),
      cmocka_unit_test(test_pick),
      SEARCH_TEST(test_allocation_fails),
  };
  return cmocka_run_group_tests_name("climb", tests, NULL, NULL);
}
