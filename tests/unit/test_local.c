/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's local search: every neighbour costs what a simulation of the
 * whole plan says, the best of them is taken, where it ends no neighbour is
 * better; plans are valid, nothing gets worse, evaluations are counted exactly,
 * and the seed alone decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "anneal/local/descent.h"
#include "cost/verify/verify.h"
#include "support/brute_force.h"
#include "support/failing_allocator.h"
#include "support/quick_search.h"
#include "support/random_cases.h"
#include "support/search_bench.h"

regal_status regal_method_local(regal_search *search);

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

static void run_local(search_bench *b) {
  if (regal_method_local(&b->search))
    fail_msg("%s", regal_error(b->context));
}

/* -- All neighbours, one by one -------------------------------------------- */

/* Plain code that shares nothing with the method: every neighbour is written
 * as a plan and simulated. */
typedef struct plain {
  const regal_problem *problem;
  bool eager;
  regal_simulator *simulator;
  regal_plan *now, *next;
  uint8_t placement[256];
  regal_fitness best;
  uint64_t count;
} plain;

static bool reads(const regal_problem *p, uint32_t op, uint32_t tensor) {
  for (REGAL_ROW(i, p->input_begin, op))
    if (p->input[i] == tensor)
      return true;
  return false;
}

/* Whether the tensor goes to the device at a step of its own that comes before
 * its first reader there, among the steps from `from` on. */
static bool stays(const plain *s, uint32_t tensor, uint32_t to, uint32_t from) {
  for (uint32_t i = from; i < s->now->step_count; i++) {
    const regal_step *step = &s->now->steps[i];
    if (regal_step_runs(step)) {
      if (s->placement[step->op] == to && reads(s->problem, step->op, tensor))
        return false;
    } else if (regal_plan_tensor(s->problem, step) == tensor &&
               step->to == to) {
      return true;
    }
  }
  return false;
}

static bool needs(const plain *s, uint32_t tensor, uint32_t to) {
  if (s->placement[s->problem->producer[tensor]] == to)
    return false;
  for (REGAL_ROW(u, s->problem->use_begin, tensor))
    if (s->placement[s->problem->consumer[u]] == to)
      return true;
  return false;
}

static bool is_sent(const plain *s, uint32_t tensor, uint32_t to) {
  for (uint32_t i = 0; i < s->next->step_count; i++) {
    const regal_step *step = &s->next->steps[i];
    if (!regal_step_runs(step) && step->to == to &&
        regal_plan_tensor(s->problem, step) == tensor)
      return true;
  }
  return false;
}

static void send(plain *s, uint32_t tensor, uint32_t to) {
  if (!is_sent(s, tensor, to))
    regal_plan_add_send(s->next, s->problem, tensor,
                        s->placement[s->problem->producer[tensor]], to);
}

static void run_step(plain *s, uint32_t i) {
  const regal_problem *p = s->problem;
  uint32_t op = s->now->steps[i].op, device = s->placement[op];
  for (uint32_t t = 0; t < p->tensors; t++)
    if (reads(p, op, t) && needs(s, t, device))
      send(s, t, device);
  regal_plan_add_run(s->next, op, device);
  for (REGAL_ROW(t, p->output_begin, op))
    for (uint32_t to = 0; s->eager && to < p->devices; to++)
      if (needs(s, t, to) && !stays(s, t, to, i))
        send(s, t, to);
}

static void weigh(plain *s) {
  regal_cost cost;
  regal_simulate(s->simulator, s->next, &cost);
  regal_fitness fitness = regal_fitness_of(s->problem, &cost);
  if (regal_descent_better(fitness, s->best))
    s->best = fitness;
  s->count++;
}

/* The plan of the present placement, with the transfers where they are if they
 * can stay. */
static void rewrite(plain *s) {
  s->next->step_count = 0;
  for (uint32_t i = 0; i < s->now->step_count; i++) {
    const regal_step *step = &s->now->steps[i];
    uint32_t tensor = 0;
    if (regal_step_runs(step)) {
      run_step(s, i);
      continue;
    }
    tensor = regal_plan_tensor(s->problem, step);
    if (needs(s, tensor, step->to))
      send(s, tensor, step->to);
  }
}

static void try_flips(plain *s) {
  const regal_problem *p = s->problem;
  uint8_t before[256];
  memcpy(before, s->placement, p->ops);
  for (uint32_t op = 0; op < p->ops; op++)
    for (uint32_t to = 0; to < p->devices; to++) {
      if (to == before[op] || !(p->allowed[op] >> to & 1) ||
          regal_problem_leader(p, op) != op)
        continue;
      for (uint32_t m = 0; m < p->ops; m++)
        if (regal_problem_leader(p, m) == op)
          s->placement[m] = (uint8_t)to;
      rewrite(s);
      weigh(s);
      memcpy(s->placement, before, p->ops);
    }
}

static bool depends(const plain *s, const regal_step *a, const regal_step *b) {
  const regal_problem *p = s->problem;
  if (!regal_step_runs(b))
    return regal_step_runs(a) && a->op == b->op;
  if (!regal_step_runs(a))
    return b->device == a->to && reads(p, b->op, regal_plan_tensor(p, a));
  for (REGAL_ROW(k, p->successor_begin, a->op))
    if (p->successor[k] == b->op)
      /* through a tensor of another device it is the transfer that must come
         before the reader, and it does */
      return true;
  return false;
}

static void try_swaps(plain *s) {
  regal_step *steps = s->next->steps;
  uint32_t count = s->now->step_count;
  for (uint32_t i = 0; i + 1 < count; i++) {
    if (depends(s, &s->now->steps[i], &s->now->steps[i + 1]))
      continue;
    s->next->step_count = count;
    memcpy(steps, s->now->steps, count * sizeof *steps);
    regal_step first = steps[i];
    steps[i] = steps[i + 1];
    steps[i + 1] = first;
    weigh(s);
  }
}

/* The best neighbour of what the descent has, and their number. */
static void try_all(plain *s, const regal_descent *d) {
  regal_cost cost;
  regal_descent_write(d, s->now);
  memcpy(s->placement, d->placement, s->problem->ops);
  regal_simulate(s->simulator, s->now, &cost);
  s->best = regal_fitness_of(s->problem, &cost);
  assert_int_equal(s->best.value, d->fitness.value);
  assert_int_equal(s->best.excess, d->fitness.excess);
  s->count = 0;
  try_flips(s);
  try_swaps(s);
}

static void begin_at_random(search_bench *b, regal_descent *d, uint64_t seed) {
  const regal_problem *problem = b->problem;
  uint32_t order[256];
  uint8_t placement[256];
  regal_random random = {seed, 0};
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t leader = regal_problem_leader(problem, op), device;
    do
      device = (uint32_t)regal_random_below(&random, problem->devices);
    while (!(problem->allowed[op] >> device & 1));
    order[op] = op;
    placement[op] = leader != op ? placement[leader] : (uint8_t)device;
  }
  regal_descent_begin(d, order, placement);
}

static void check_verified(search_bench *b, const regal_descent *d,
                           regal_plan *plan) {
  regal_cost cost;
  regal_descent_write(d, plan);
  assert_int_equal(regal_verify(b->context, b->problem, plan, &cost), REGAL_OK);
  regal_fitness fitness = regal_fitness_of(b->problem, &cost);
  assert_int_equal(fitness.value, d->fitness.value);
  assert_int_equal(fitness.excess, d->fitness.excess);
}

/* Down to the local optimum, neighbourhood by neighbourhood; returns the number
 * of moves. */
static int check_descent(search_bench *b, bool eager, uint64_t seed) {
  plain s = {.problem = b->problem, .eager = eager};
  uint32_t most = regal_plan_most_steps(b->problem);
  regal_descent *d;
  int moves = 0;
  assert_int_equal(regal_plan_create(b->context, most, &s.now), REGAL_OK);
  assert_int_equal(regal_plan_create(b->context, most, &s.next), REGAL_OK);
  assert_int_equal(regal_simulator_create(b->context, b->problem, &s.simulator),
                   REGAL_OK);
  assert_int_equal(regal_descent_create(b->context, b->problem, eager, &d),
                   REGAL_OK);
  begin_at_random(b, d, seed);
  for (bool better = true; better; moves += better) {
    regal_fitness before = d->fitness;
    try_all(&s, d);
    uint64_t half = regal_descent_scan(d, s.count / 2);
    assert_int_equal(half + regal_descent_scan(d, UINT64_MAX), s.count);
    assert_int_equal(d->best_fitness.value, s.best.value);
    assert_int_equal(d->best_fitness.excess, s.best.excess);
    better = regal_descent_move_on(d);
    assert_int_equal(better, regal_descent_better(s.best, before));
    assert_int_equal(d->fitness.value, s.best.value);
    check_verified(b, d, s.now);
  }
  regal_descent_free(d);
  regal_simulator_free(s.simulator);
  regal_plan_free(s.now);
  regal_plan_free(s.next);
  return moves;
}

static void test_neighbours_are_exact(void **state) {
  search_bench *b = *state;
  int moves = 0, fitting = 0, overlapped = 0, grouped = 0;
  for (uint64_t seed = 1; seed <= 240; seed++) {
    begin_case(b, seed, 24, 4, seed % 3 ? REGAL_RUNTIME : REGAL_MEMORY, 1);
    moves += check_descent(b, seed % 2, seed);
    fitting += b->problem->limited;
    overlapped += b->problem->machine->overlapped;
    grouped += b->problem->leader != NULL;
  }
  assert_true(moves > 400 && fitting > 20 && overlapped > 20 && grouped > 20);
}

/* -- Whole searches -------------------------------------------------------- */

static void test_plans_are_valid(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    begin_case(b, seed, seed % 8 ? 30 : 200, seed % 16 ? 4 : 64,
               seed % 3 ? REGAL_RUNTIME : REGAL_MEMORY, 2000);
    b->options.send = seed % 2;
    b->search.seed = seed;
    run_local(b);
    quick_check(&b->search);
    if (b->search.stop == REGAL_STOP_BUDGET)
      assert_int_equal(b->search.budget.used, 2000);
    else
      assert_int_equal(b->search.stop, REGAL_STOP_BOUND);
  }
}

static void test_budget_is_exact(void **state) {
  search_bench *b = *state;
  for (uint64_t budget = 1; budget < 20000; budget = 2 * budget + 1) {
    use_synthetic(b, 60, 3);
    search_begin(b);
    b->search.bound = (regal_bound){0};
    b->search.budget.limit = budget;
    run_local(b);
    assert_int_equal(b->search.budget.used, budget);
    assert_int_equal(b->search.stop, REGAL_STOP_BUDGET);
    assert_non_null(b->search.best);
  }
}

static void test_seed_decides(void **state) {
  search_bench *b = *state;
  static const char *const objectives[] = {"runtime", "memory"};
  for (int k = 0; k < 2; k++) {
    regal_result *results[3];
    set_option(b, "method", "local");
    set_option(b, "objective", objectives[k]);
    set_option(b, "evaluations", "5000");
    use_synthetic(b, 80, 5);
    for (int i = 0; i < 3; i++) {
      b->options.threads = i == 1 ? 3 : 1;
      b->options.seed = i == 2 ? 8 : 7;
      results[i] = optimize(b);
    }
    assert_true(same_plan(results[0]->plan, results[1]->plan));
    assert_false(same_plan(results[0]->plan, results[2]->plan));
    for (int i = 0; i < 3; i++)
      regal_result_free(results[i]);
  }
}

/* More evaluations of the same search are never worse, across restarts, too;
 * a search that restarts finds more than its first start alone. */
static void test_more_is_better(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    regal_fitness last = REGAL_FITNESS_WORST;
    for (uint64_t budget = 1; budget <= 16384; budget *= 4) {
      begin_case(b, seed, 40, 3, seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY,
                 budget);
      b->search.bound = (regal_bound){0};
      run_local(b);
      regal_fitness now = b->search.plan_fitness;
      assert_false(regal_descent_better(last, now));
      last = now;
    }
  }
}

static void test_restarts(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 50, 2);
  search_begin(b);
  b->search.budget.limit = 20000;
  run_local(b);
  int starts = atoi(b->search.account + strlen("local search: "));
  assert_in_range(starts, 3, 40);
}

/* The first start is the plan that is given, its transfers where they are. */
static void test_start_from_plan(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    begin_case(b, seed, 40, 3, REGAL_RUNTIME, 5000);
    run_local(b);
    regal_fitness before = b->search.plan_fitness;
    regal_plan *plan = b->search.best;
    b->search.best = NULL;
    b->search.start = plan;
    b->search.budget.limit = 1;
    b->search.budget.used = 0;
    run_local(b);
    assert_int_equal(b->search.budget.used, 1);
    assert_true(same_fitness(before, b->search.plan_fitness));
    assert_true(same_plan(plan, b->search.best));
    regal_plan_free(plan);
  }
}

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
      run_local(b);
      const regal_cost *cost = k ? &best.memory.cost : &best.runtime.cost;
      regal_fitness optimum = regal_fitness_of(b->problem, cost);
      assert_false(regal_descent_better(b->search.plan_fitness, optimum));
      solved[k] += !regal_descent_better(optimum, b->search.plan_fitness);
    }
  }
  assert_true(solved[0] >= 45);
  assert_true(solved[1] >= 45);
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
      regal_status status = regal_method_local(&b->search);
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
      SEARCH_TEST(test_neighbours_are_exact),
      SEARCH_TEST(test_plans_are_valid),
      SEARCH_TEST(test_budget_is_exact),
      SEARCH_TEST(test_seed_decides),
      SEARCH_TEST(test_more_is_better),
      SEARCH_TEST(test_restarts),
      SEARCH_TEST(test_start_from_plan),
      SEARCH_TEST(test_small_graphs_are_solved),
      SEARCH_TEST(test_allocation_fails),
  };
  return cmocka_run_group_tests_name("local", tests, NULL, NULL);
}
