/* SPDX-License-Identifier: Apache-2.0 */
/* The models that CP-SAT gets, without CP-SAT: every valid plan is a solution
 * of as good a goal, and every such solution is a plan that is no worse. What
 * the solver itself makes of them is in tests/slow/test_cp_sat.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cost/model/simulate.h"
#include "cost/verify/verify.h"
#include "exact/formulation.h"
#include "exact/phases.h"
#include "exact/solve.h"
#include "heuristic/heuristics.h"
#include "support/brute_force.h"
#include "support/cp_checker.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"
#include "support/search_bench.h"
#include "support/toy_graph.h"

#define CASES 150

/* -- Plans as solutions ---------------------------------------------------- */

static long check_values(const regal_cp_model *model, const int64_t *values) {
  uint8_t *bytes;
  size_t size;
  assert_int_equal(regal_cp_pack(model, &bytes, &size), REGAL_OK);
  long broken = regal_test_cp_check(bytes, size, values, model->variables);
  regal_release(model->context, bytes);
  return broken;
}

static int64_t goal_of(const regal_cp_model *model, const int64_t *values) {
  int64_t goal = 0;
  for (size_t i = 0; i < model->goal_count; i++)
    goal += values[model->goal[i]];
  return goal;
}

static int64_t cost_for(const regal_exact_request *request,
                        const regal_cost *cost) {
  return request->goal == REGAL_EXACT_RUNTIME ? cost->runtime_ns
         : request->goal == REGAL_EXACT_PEAK  ? cost->max_peak_bytes
                                              : cost->excess_bytes;
}

/* The plan that comes back from the solution is valid and no worse. */
static void check_back(const regal_formulation *form, const int64_t *values,
                       const regal_cost *cost, uint64_t seed) {
  regal_plan *back;
  regal_cost again;
  regal_context *context = form->model.context;
  assert_int_equal(regal_formulation_plan(form, values, &back), REGAL_OK);
  if (regal_verify(context, form->problem, back, &again))
    fail_msg("seed %llu: %s", (unsigned long long)seed, regal_error(context));
  if (cost_for(&form->request, &again) > cost_for(&form->request, cost))
    fail_msg("seed %llu, goal %d: %lld became %lld", (unsigned long long)seed,
             (int)form->request.goal, (long long)cost_for(&form->request, cost),
             (long long)cost_for(&form->request, &again));
  if (form->limits_kept)
    assert_true(again.excess_bytes <= form->request.excess);
  regal_plan_free(back);
}

static void check_plan(regal_problem *problem, const regal_plan *plan,
                       regal_exact_goal goal, uint64_t seed) {
  regal_context *context = problem->context;
  regal_cost cost;
  assert_int_equal(regal_verify(context, problem, plan, &cost), REGAL_OK);
  bool excess = goal == REGAL_EXACT_EXCESS;
  regal_exact_request request = {.goal = goal,
                                 .limits = problem->limited && !excess,
                                 .excess = excess ? 0 : cost.excess_bytes};
  request.at_most = cost_for(&request, &cost);
  regal_formulation form;
  if (regal_formulate(context, problem, &request, &form))
    fail_msg("%s", regal_error(context));
  int64_t *values = regal_alloc(context, form.model.variables, 8);
  assert_non_null(values);
  assert_int_equal(regal_formulation_assign(&form, plan, &cost, values),
                   REGAL_OK);
  long broken = check_values(&form.model, values);
  if (broken != -1)
    fail_msg("seed %llu, goal %d: constraint %ld does not hold",
             (unsigned long long)seed, (int)goal, broken);
  assert_int_equal(regal_formulation_goal(&form, goal_of(&form.model, values)),
                   request.at_most);
  check_back(&form, values, &cost, seed);
  regal_release(context, values);
  regal_formulation_free(&form);
}

static void check_goals(regal_problem *problem, const regal_plan *plan,
                        uint64_t seed) {
  check_plan(problem, plan, REGAL_EXACT_RUNTIME, seed);
  check_plan(problem, plan, REGAL_EXACT_PEAK, seed);
  check_plan(problem, plan, REGAL_EXACT_EXCESS, seed);
}

/* Best plans, and some others, of random graphs on random machines. */
static void test_plans_are_solutions(void **state) {
  regal_context *context = *state;
  int optima = 0, limited = 0, overlapped = 0, reuse = 0;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_best best;
    regal_test_random_graph(context, seed, 7, &graph);
    regal_test_random_small_machine(context, seed, 3, graph, &machine);
    bool known = regal_test_brute_force(context, graph, machine, 3000, &best);
    regal_problem *problem =
        toy_problem(context, graph, machine, (enum regal_objective)(seed % 2));
    limited += problem->limited;
    overlapped += machine->overlapped;
    reuse += problem->reuses != NULL;
    if (known) {
      optima++;
      regal_plan fast = {context, best.runtime.step_count, best.runtime.steps};
      regal_plan small = {context, best.memory.step_count, best.memory.steps};
      check_goals(problem, &fast, seed);
      check_goals(problem, &small, seed);
    }
    for (uint64_t k = 0; k < 3; k++) {
      regal_plan *plan;
      regal_test_random_plan(context, seed * 8 + k, graph, problem->machine,
                             &plan);
      check_goals(problem, plan, seed);
      regal_plan_free(plan);
    }
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  assert_true(optima > CASES / 3 && limited > 10 && overlapped > 10);
  assert_true(reuse > 10);
}

/* So many steps that the model has only what is held: plans that just fit are
 * solutions, and parameters cannot be left out. */
static void test_what_is_held(void **state) {
  regal_context *context = *state;
  unsigned held = 0;
  for (uint64_t seed = 20; seed < 45; seed++) {
    regal_graph *graph;
    regal_plan *plan;
    regal_cost cost;
    regal_test_random_graph(context, seed, 30, &graph);
    regal_problem *problem =
        toy_problem(context, graph, toy_machine(context, 24), REGAL_RUNTIME);
    regal_test_random_plan(context, seed, graph, problem->machine, &plan);
    assert_int_equal(regal_verify(context, problem, plan, &cost), REGAL_OK);
    problem->limited = true;
    for (uint32_t a = 0; a < problem->devices; a++)
      problem->limit[a] = problem->machine->memory_limit[a] =
          cost.max_peak_bytes;
    check_plan(problem, plan, REGAL_EXACT_RUNTIME, seed);
    regal_exact_request request = {.limits = true, .at_most = cost.runtime_ns};
    regal_formulation form;
    assert_int_equal(regal_formulate(context, problem, &request, &form),
                     REGAL_OK);
    assert_true(form.limits_kept != form.limits_held);
    held += form.limits_held && problem->shared > 0;
    regal_formulation_free(&form);
    regal_plan_free(plan);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  assert_true(held > 5);
}

/* A parameter that fits beside none of the others. */
static void test_what_is_held_is_limited(void **state) {
  regal_context *context = *state;
  enum { OPS = 9 };
  toy_op ops[OPS];
  uint32_t order[OPS];
  uint8_t placement[OPS] = {0};
  for (uint32_t op = 0; op < OPS; op++) {
    ops[op] = (toy_op){.run_ns = 1, .bytes = 1, .parameters = "1"};
    order[op] = op;
  }
  ops[OPS - 1].reads = "a";
  ops[OPS - 1].parameters = "2";
  regal_graph *graph = TOY_GRAPH(context, ops);
  regal_machine *machine = toy_machine(context, 64);
  for (uint32_t a = 0; a < 64; a++)
    machine->memory_limit[a] = 103;
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  regal_exact_request request = {.limits = true, .at_most = 10};
  for (int fits = 1; fits >= 0; fits--) {
    regal_plan *plan;
    regal_cost cost;
    regal_formulation form;
    placement[OPS - 1] = (uint8_t)fits;
    regal_plan_from_order(context, problem, order, placement, &plan);
    assert_int_equal(regal_verify(context, problem, plan, &cost), REGAL_OK);
    assert_int_equal(cost.excess_bytes == 0, fits);
    regal_formulate(context, problem, &request, &form);
    assert_true(form.limits_held);
    int64_t *values = regal_alloc(context, form.model.variables, 8);
    regal_formulation_assign(&form, plan, &cost, values);
    assert_int_equal(check_values(&form.model, values) == -1, fits);
    regal_release(context, values);
    regal_formulation_free(&form);
    regal_plan_free(plan);
  }
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- What is no solution --------------------------------------------------- */

static const toy_op diamond[] = {
    {.run_ns = 10, .bytes = 4},
    {.run_ns = 21, .bytes = 5, .reads = "a"},
    {.run_ns = 30, .bytes = 6, .reads = "a", .temporary = 3},
    {.run_ns = 40, .bytes = 7, .reads = "bc", .is_final = true},
};

typedef struct case_of_diamond {
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *plan;
  regal_cost cost;
  regal_formulation form;
  int64_t *values;
} diamond_case;

/* a and c on device 0, b on device 1, then d on device 0. */
static void diamond_begin(regal_context *context, regal_exact_request request,
                          diamond_case *d) {
  static const uint32_t order[] = {0, 1, 2, 3};
  static const uint8_t placement[] = {0, 1, 0, 0};
  d->graph = TOY_GRAPH(context, diamond);
  d->problem =
      toy_problem(context, d->graph, toy_machine(context, 2), REGAL_RUNTIME);
  assert_int_equal(
      regal_plan_from_order(context, d->problem, order, placement, &d->plan),
      REGAL_OK);
  assert_int_equal(regal_verify(context, d->problem, d->plan, &d->cost),
                   REGAL_OK);
  request.at_most = 1000;
  assert_int_equal(regal_formulate(context, d->problem, &request, &d->form),
                   REGAL_OK);
  d->values = regal_alloc(context, d->form.model.variables, 8);
  assert_int_equal(
      regal_formulation_assign(&d->form, d->plan, &d->cost, d->values),
      REGAL_OK);
  assert_int_equal(check_values(&d->form.model, d->values), -1);
}

static void diamond_end(regal_context *context, diamond_case *d) {
  regal_release(context, d->values);
  regal_formulation_free(&d->form);
  regal_plan_free(d->plan);
  regal_problem_free(d->problem);
  regal_graph_free(d->graph);
}

/* A changed value of the variable breaks something. */
static void assert_breaks(diamond_case *d, int32_t variable, int64_t value) {
  assert_true(variable >= 0 && d->values[variable] != value);
  int64_t before = d->values[variable];
  d->values[variable] = value;
  assert_int_not_equal(check_values(&d->form.model, d->values), -1);
  d->values[variable] = before;
}

static void test_wrong_times_are_no_solutions(void **state) {
  regal_context *context = *state;
  diamond_case d;
  diamond_begin(context, (regal_exact_request){.goal = REGAL_EXACT_RUNTIME},
                &d);
  const regal_formulation *form = &d.form;
  assert_int_equal(d.cost.runtime_ns, 80);
  assert_int_equal(d.values[form->makespan], 80);
  assert_breaks(&d, form->makespan, 79);
  assert_breaks(&d, form->clock.start[3], 39); /* before c has ended */
  assert_breaks(&d, form->clock.start[2], 0);  /* while a runs */
  assert_breaks(&d, form->clock.start[1], 9);  /* before its input came */
  assert_breaks(&d, form->sent[1], 0);         /* b needs a's tensor */
  assert_breaks(&d, form->clock.sent[1], 9);   /* before it is made */
  assert_breaks(&d, form->clock.sent[1], 25);  /* while c runs */
  diamond_end(context, &d);
}

static void test_wrong_memory_is_no_solution(void **state) {
  regal_context *context = *state;
  diamond_case d;
  diamond_begin(context, (regal_exact_request){.goal = REGAL_EXACT_PEAK}, &d);
  const regal_formulation *form = &d.form;
  int64_t peak = d.cost.max_peak_bytes;
  assert_int_equal(d.values[form->peak], peak);
  assert_breaks(&d, form->peak, peak - 1);
  assert_breaks(&d, form->room[0], d.values[form->room[0]] - 1);
  assert_breaks(&d, form->until[0], d.values[form->until[0]] - 1);
  assert_breaks(&d, form->from[0], d.values[form->from[0]] + 1);
  assert_breaks(&d, form->held[1], 0);
  assert_breaks(&d, form->places.start[3], d.values[form->places.start[1]]);
  diamond_end(context, &d);
}

/* Clock and places: steps of one device are in one order on both. */
static void test_wrong_order_is_no_solution(void **state) {
  regal_context *context = *state;
  diamond_case d;
  diamond_begin(
      context,
      (regal_exact_request){.goal = REGAL_EXACT_RUNTIME, .limits = true}, &d);
  const regal_formulation *form = &d.form;
  assert_true(form->timed && form->memory && form->pair_count > 0);
  for (size_t i = 0; i < form->pair_count; i++) {
    const regal_exact_pair *pair = &form->pairs[i];
    int64_t *first = &d.values[pair->first[0]];
    int64_t *second = &d.values[pair->first[1]];
    if (!*first && !*second)
      continue;                                 /* they share nothing here */
    assert_breaks(&d, pair->first[*second], 0); /* they do share a device */
    int64_t swap = *first;
    *first = *second;
    *second = swap; /* the other way round */
    assert_int_not_equal(check_values(&form->model, d.values), -1);
    *second = *first;
    *first = swap;
  }
  /* a's tensor leaves device 0 before c starts there: so in the plan, too */
  int32_t sent = form->places.sent[1], c = form->places.start[2];
  assert_true(d.values[sent] < d.values[c]);
  assert_breaks(&d, sent, d.values[c]);
  diamond_end(context, &d);
}

/* -- Numbers and sizes ----------------------------------------------------- */

/* Times and sizes are in units of their common divisor. The larger op is on
 * device 0, so that there is one choice of a device and one transfer. */
static void test_units_and_sizes(void **state) {
  regal_context *context = *state;
  const toy_op ops[] = {{.run_ns = 20, .bytes = 8},
                        {.run_ns = 30, .bytes = 12, .reads = "a"}};
  regal_graph *graph = TOY_GRAPH(context, ops);
  regal_problem *problem =
      toy_problem(context, graph, toy_machine(context, 2), REGAL_RUNTIME);
  regal_exact_request request = {.goal = REGAL_EXACT_RUNTIME, .at_most = 50};
  regal_formulation form;
  assert_int_equal(regal_formulate(context, problem, &request, &form),
                   REGAL_OK);
  assert_int_equal(form.unit_ns, 10);
  assert_int_equal(form.unit_bytes, 4);
  assert_int_equal(form.clock.horizon, 5);
  assert_int_equal(regal_formulation_goal(&form, 5), 50);
  /* true; a's device; two starts; a transfer and its start; the makespan */
  assert_int_equal(form.model.variables, 1 + 1 + 2 + 2 + 1);
  /* the edge; the transfer after a, needed by b, before b; three places to run
   * and the transfer's; two devices; all ops at once; the makespan */
  assert_int_equal(form.model.row_count, 1 + 3 + 4 + 2 + 3 + 1);
  regal_formulation_free(&form);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_times_beyond_doubles(void **state) {
  regal_context *context = *state;
  const toy_op ops[] = {{.run_ns = (INT64_C(1) << 60) + 1}, {.run_ns = 3}};
  regal_graph *graph = TOY_GRAPH(context, ops);
  regal_problem *problem =
      toy_problem(context, graph, toy_machine(context, 2), REGAL_RUNTIME);
  regal_exact_request request = {.goal = REGAL_EXACT_RUNTIME,
                                 .at_most = INT64_C(1) << 61};
  regal_formulation form;
  assert_int_equal(regal_formulate(context, problem, &request, &form),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "cp-sat: times or sizes are beyond 9007199254740992, "
                      "more than CP-SAT can count; try --method auto");
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_too_many_ops(void **state) {
  search_bench *b = *state;
  if (regal_layered_graph(b->context, 20001, 32, 3, 1, &b->graph))
    fail_msg("%s", regal_error(b->context));
  make_problem(b);
  regal_exact_request request = {.at_most = 1000};
  regal_formulation form;
  char message[200];
  assert_int_equal(regal_formulate(b->context, b->problem, &request, &form),
                   REGAL_BAD_INPUT);
  snprintf(message, sizeof message,
           "cp-sat: 20001 ops with %u tensors on 2 devices are more than "
           "CP-SAT can use; try --method auto",
           b->problem->tensors);
  assert_string_equal(regal_error(b->context), message);
}

static void test_too_many_rows(void **state) {
  regal_context *context = *state;
  regal_cp_model model;
  regal_cp_init(&model, context, 1);
  int32_t x = regal_cp_variable(&model, 0, 9);
  regal_cp_after(&model, x, REGAL_CP_NONE, 1, NULL, 0);
  assert_int_equal(regal_cp_status(&model), REGAL_OK);
  regal_cp_after(&model, x, REGAL_CP_NONE, 2, NULL, 0);
  assert_int_equal(regal_cp_status(&model), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "cp-sat: the problem needs more than 1 constraints, "
                      "more than CP-SAT can use; try --method auto");
  regal_cp_free(&model);
}

/* What is known beforehand is left out or taken to the other side. */
static void test_known_literals(void **state) {
  regal_context *context = *state;
  regal_cp_model model;
  regal_cp_init(&model, context, 100);
  int32_t x = regal_cp_literal(&model), y = regal_cp_not(x);
  int32_t satisfied[] = {x, REGAL_CP_TRUE}, one[] = {REGAL_CP_FALSE, y};
  int32_t never = REGAL_CP_FALSE, always = REGAL_CP_TRUE;
  regal_cp_clause(&model, satisfied, 2);
  regal_cp_after(&model, x, REGAL_CP_NONE, 1, &never, 1);
  assert_int_equal(regal_cp_interval(&model, x, 1, REGAL_CP_FALSE),
                   REGAL_CP_NONE);
  assert_int_equal(model.row_count, 0);
  regal_cp_clause(&model, one, 2);
  assert_int_equal(model.rows[0].count, 1);
  assert_int_equal(model.refs[model.rows[0].begin], y);
  regal_cp_begin(&model, REGAL_CP_LINEAR);
  regal_cp_literal_term(&model, REGAL_CP_TRUE, 5);
  regal_cp_literal_term(&model, REGAL_CP_FALSE, 50);
  regal_cp_literal_term(&model, y, 3);
  regal_cp_end(&model, 6, INT64_MAX, &always, 1);
  assert_int_equal(model.rows[1].range[0], -2); /* -3 x >= 6 - 5 - 3 */
  assert_true(model.rows[1].range[1] == INT64_MAX);
  assert_int_equal(model.rows[1].count, 1);
  assert_int_equal(model.rows[1].wants, 0);
  regal_cp_free(&model);
}

/* -- Phases ---------------------------------------------------------------- */

/* A plan whose phases are few is a solution; what comes back is no worse. */
static void test_phases(void **state) {
  search_bench *b = *state;
  int hinted = 0;
  set_option(b, "control", "transfer");
  for (uint64_t seed = 0; seed < 20; seed++) {
    use_synthetic(b, 15, seed);
    assert_true(regal_phases_apply(b->problem));
    search_begin(b);
    assert_int_equal(regal_method_heft(&b->search), REGAL_OK);
    regal_phases phases;
    assert_int_equal(
        regal_phases_create(b->context, b->problem, b->search.best, &phases),
        REGAL_OK);
    if (phases.model.hint) {
      regal_plan *plan;
      regal_cost cost;
      hinted++;
      assert_int_equal(check_values(&phases.model, phases.model.hint), -1);
      assert_int_equal(regal_phases_plan(&phases, phases.model.hint, &plan),
                       REGAL_OK);
      assert_int_equal(regal_verify(b->context, b->problem, plan, &cost),
                       REGAL_OK);
      assert_true(cost.runtime_ns <= goal_of(&phases.model, phases.model.hint));
      assert_true(goal_of(&phases.model, phases.model.hint) <=
                  b->search.plan_fitness.value);
      regal_plan_free(plan);
    }
    regal_phases_free(&phases);
  }
  assert_true(hinted > 10);
}

/* -- Answers and messages -------------------------------------------------- */

static void test_answers(void **state) {
  regal_context *context = *state;
  regal_cp_model model;
  regal_cp_answer answer;
  regal_cp_init(&model, context, 10);
  regal_cp_minimise(&model, regal_cp_variable(&model, 0, 100));
  /* optimal; solution 1, 54; 54.00000000000001 as a double; bound 54 */
  const uint8_t optimal[] = {0x08, 4, 0x12, 2, 1,    54,   0x19, 0x02, 0,
                             0,    0, 0,    0, 0x4b, 0x40, 0x21, 0,    0,
                             0,    0, 0,    0, 0x4b, 0x40, 0xe8, 0x01, 54};
  assert_int_equal(
      regal_cp_read_answer(&model, optimal, sizeof optimal, &answer), REGAL_OK);
  assert_int_equal(answer.verdict, REGAL_CP_OPTIMAL);
  assert_int_equal(answer.goal, 54);
  assert_int_equal(answer.bound, 54);
  regal_release(context, answer.values);
  const uint8_t unknown[] = {0x08, 0};
  assert_int_equal(
      regal_cp_read_answer(&model, unknown, sizeof unknown, &answer), REGAL_OK);
  assert_true(!answer.values && answer.bound == INT64_MIN);
  const uint8_t invalid[] = {0x08, 1}, outside[] = {0x08, 2, 0x12, 2, 1, 101};
  assert_int_equal(
      regal_cp_read_answer(&model, invalid, sizeof invalid, &answer),
      REGAL_INTERNAL);
  assert_string_equal(regal_error(context),
                      "cp-sat: CP-SAT does not accept the model");
  assert_int_equal(
      regal_cp_read_answer(&model, outside, sizeof outside, &answer),
      REGAL_INTERNAL);
  assert_string_equal(regal_error(context),
                      "cp-sat: CP-SAT's solution is not one of the model");
  assert_int_equal(regal_cp_read_answer(&model, optimal, 3, &answer),
                   REGAL_INTERNAL);
  assert_string_equal(regal_error(context),
                      "cp-sat: CP-SAT's answer cannot be read");
  regal_cp_free(&model);
}

static void assert_refused(search_bench *b, const char *message) {
  regal_result *result;
  assert_int_equal(regal_optimize(b->context, b->problem, &b->options, &result),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context), message);
}

static void test_missing_library(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 10, 1);
  set_option(b, "method", "cp-sat");
  set_option(b, "ortools", REGAL_TEST_DATA "/unit");
  assert_refused(b, "--ortools: " REGAL_TEST_DATA
                    "/unit: OR-tools' library, libortools.so, is not in this "
                    "folder");
  set_option(b, "ortools", REGAL_TEST_DATA "/none.so");
  assert_refused(b, "--ortools: " REGAL_TEST_DATA
                    "/none.so: cannot open shared object file: No such file "
                    "or directory");
  set_option(b, "ortools", "libc.so.6");
  assert_refused(b, "--ortools: libc.so.6: has no SolveCpModelWithParameters, "
                    "so it is not OR-tools' library, or too old");
  b->options.ortools[0] = 0;
  setenv("REGAL_ORTOOLS", REGAL_TEST_DATA "/unit", 1);
  assert_refused(b, "REGAL_ORTOOLS: " REGAL_TEST_DATA
                    "/unit: OR-tools' library, libortools.so, is not in this "
                    "folder");
  unsetenv("REGAL_ORTOOLS");
}

/* Every allocation on the way fails once. */
static void fail_each(regal_exact_request request) {
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    diamond_case d;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    diamond_begin(context, request, &d);
    regal_formulation form;
    uint8_t *bytes;
    size_t size;
    memory.fail_at = memory.allocations + n;
    regal_status status =
        regal_formulate(context, d.problem, &d.form.request, &form);
    if (status == REGAL_OK) {
      status = regal_cp_pack(&form.model, &bytes, &size);
      if (status == REGAL_OK)
        regal_release(context, bytes);
      regal_formulation_free(&form);
    }
    bool failed = memory.failed;
    assert_int_equal(status, failed ? REGAL_NO_MEMORY : REGAL_OK);
    diamond_end(context, &d);
    assert_int_equal(regal_bytes_in_use(context), 0);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!failed)
      break;
  }
}

static void test_allocations(void **state) {
  (void)state;
  fail_each((regal_exact_request){.goal = REGAL_EXACT_PEAK});
  fail_each((regal_exact_request){.goal = REGAL_EXACT_RUNTIME, .limits = true});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_plans_are_solutions),
      TOY_TEST(test_what_is_held),
      TOY_TEST(test_what_is_held_is_limited),
      TOY_TEST(test_wrong_times_are_no_solutions),
      TOY_TEST(test_wrong_memory_is_no_solution),
      TOY_TEST(test_wrong_order_is_no_solution),
      TOY_TEST(test_units_and_sizes),
      TOY_TEST(test_times_beyond_doubles),
      SEARCH_TEST(test_too_many_ops),
      TOY_TEST(test_too_many_rows),
      TOY_TEST(test_known_literals),
      SEARCH_TEST(test_phases),
      TOY_TEST(test_answers),
      SEARCH_TEST(test_missing_library),
      cmocka_unit_test(test_allocations),
  };
  return cmocka_run_group_tests_name("cp_sat_model", tests, NULL, NULL);
}
