/* SPDX-License-Identifier: Apache-2.0 */
/* List scheduling within memory limits: the profile against a plain array, what
 * counts as safe against the simulator, schedules against the verifier; units,
 * stages, and the method. */
#include "heuristic/fit/sweep.h"
#include "heuristic/heuristics.h"

#include "base/random.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

#include "cost/model/gather.h"
#include "cost/model/simulate.h"
#include "decode/walk.h"
#include "heuristic/place/units.h"
#include "support/quick_search.h"

enum { LEAVES = 37, MOST_OPS = 40 };

static int64_t largest_of(const int64_t *leaf, uint32_t end) {
  int64_t most = INT64_MIN;
  for (uint32_t k = 0; k < end; k++)
    most = leaf[k] > most ? leaf[k] : most;
  return most;
}

static void test_profile(void **state) {
  (void)state;
  regal_random random = {regal_random_key(1, REGAL_PURPOSE_TEST, 0, 0), 0};
  regal_profile_node nodes[4 * LEAVES];
  int64_t leaf[LEAVES] = {0};
  regal_profile profile;
  regal_profile_begin(&profile, nodes, LEAVES);
  for (int step = 0; step < 4000; step++) {
    uint32_t low = (uint32_t)regal_random_below(&random, LEAVES + 1);
    uint32_t high = (uint32_t)regal_random_below(&random, LEAVES + 1);
    int64_t value = (int64_t)regal_random_below(&random, 2001) - 1000;
    if (step < 50) { /* before the sum */
      regal_profile_raise(&profile, low, high, value);
    } else if (step % 3 == 0 && low < LEAVES) {
      regal_profile_add_leaf(&profile, low, value);
      high = low + 1;
    } else {
      regal_profile_add(&profile, low, high, value);
    }
    for (uint32_t k = low; k < high; k++)
      leaf[k] += value;
    if (step == 49)
      regal_profile_sum(&profile);
    if (step >= 49)
      for (uint32_t end = 0; end <= LEAVES; end += 3)
        assert_int_equal(regal_profile_most(&profile, end),
                         largest_of(leaf, end));
  }
}

/* -- Schedules on random problems ------------------------------------------ */

typedef struct bench {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  uint32_t order[MOST_OPS];
  uint8_t placement[MOST_OPS];
  int64_t peak[REGAL_MAX_DEVICES]; /* of the order, transfers late */
  regal_fit fit;
  regal_walk walk;
  void *block;
} bench;

static void layout(bench *b, regal_carver *carver) {
  regal_fit_layout(&b->fit, carver, b->problem);
  regal_walk_layout(&b->walk, carver, b->problem);
}

/* An order and a placement by chance, and limits that they just keep. */
static void begin_bench(bench *b, regal_context *context, uint64_t seed) {
  regal_machine *machine;
  regal_plan *plan;
  *b = (bench){.context = context};
  regal_test_random_graph(context, seed, MOST_OPS, &b->graph);
  regal_test_random_small_machine(context, seed, 5, b->graph, &machine);
  regal_test_random_plan(context, seed, b->graph, machine, &plan);
  for (uint32_t a = 0; a < machine->devices; a++)
    machine->memory_limit[a] = INT64_MAX / 4;
  b->problem = toy_problem(context, b->graph, machine, REGAL_RUNTIME);
  regal_plan_ops(plan, b->order, b->placement);
  regal_plan_free(plan);
  regal_carver carver = {NULL, 0};
  assert_int_equal(REGAL_CARVE_BLOCK(context, carver, layout(b, &carver)),
                   REGAL_OK);
  b->block = carver.base;
  regal_walk_late(b->problem, &b->walk, b->order, b->placement, NULL);
  memcpy(b->peak, b->walk.running.peak, sizeof b->peak);
  for (uint32_t a = 0; a < b->problem->devices; a++)
    b->problem->limit[a] = machine->memory_limit[a] = b->peak[a];
}

static void end_bench(bench *b) {
  regal_release(b->context, b->block);
  regal_problem_free(b->problem);
  regal_graph_free(b->graph);
}

/* The plan keeps the limits, and takes the time that the scheduler says. */
static void check_schedule(bench *b, const regal_fit_setting *setting) {
  regal_plan *plan;
  regal_cost cost;
  assert_int_equal(
      regal_plan_create(b->context, regal_plan_most_steps(b->problem), &plan),
      REGAL_OK);
  int64_t ns = regal_fit_schedule(&b->fit, setting, INT64_MAX, plan);
  assert_int_equal(regal_verify_plan(b->context, b->graph, b->problem->machine,
                                     plan, &cost, NULL),
                   REGAL_OK);
  assert_int_equal(regal_fitness_of(b->problem, &cost).excess, 0);
  assert_int_equal(cost.runtime_ns, ns);
  assert_int_equal(regal_fit_schedule(&b->fit, setting, ns, NULL), ns);
  if (ns > 0)
    assert_true(regal_fit_schedule(&b->fit, setting, ns - 1, NULL) >= ns);
  regal_plan_free(plan);
}

static regal_fit_setting random_setting(regal_random *random) {
  return (regal_fit_setting){
      2 * regal_random_unit(random), 4 * regal_random_unit(random),
      2 * regal_random_unit(random), regal_random_below(random, 2) ? 1 : 0.3};
}

/* One byte less, where that is not held for the whole plan: it does not fit. */
static void check_tight(bench *b) {
  regal_running_cost held;
  regal_running_cost_hold(&held, b->problem, b->placement);
  for (uint32_t a = 0; a < b->problem->devices; a++) {
    if (b->peak[a] == held.memory[a])
      continue;
    b->problem->limit[a]--;
    assert_false(regal_fit_begin(&b->fit, b->order, b->placement));
    b->problem->limit[a]++;
  }
}

static void test_schedules(void **state) {
  uint32_t begun = 0;
  for (uint64_t seed = 1; seed <= 1500; seed++) {
    bench b;
    regal_random random = {regal_random_key(seed, REGAL_PURPOSE_TEST, 1, 0), 0};
    begin_bench(&b, *state, seed);
    bool fits = regal_fit_begin(&b.fit, b.order, b.placement);
    if (!b.problem->reuses) {
      assert_true(fits);
      check_tight(&b);
      regal_fit_begin(&b.fit, b.order, b.placement);
    }
    for (int k = 0; fits && k < 3; k++) {
      regal_fit_setting setting = random_setting(&random);
      check_schedule(&b, &setting);
    }
    begun += fits;
    end_bench(&b);
  }
  assert_true(begun > 1000);
}

/* -- Units and stages ------------------------------------------------------ */

/* Four layers of two microbatches, each with a weight of 100 bytes. */
static regal_graph *layers(regal_context *context, uint32_t count) {
  regal_builder *builder;
  regal_graph *graph;
  uint32_t id;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (uint32_t k = 0; k < count; k++)
    assert_int_equal(regal_builder_add_parameter(builder, 100, NULL), REGAL_OK);
  for (uint32_t i = 0; i < 2 * count; i++) {
    char name[2] = {(char)('a' + i), 0};
    assert_int_equal(regal_builder_add_op(builder, name, 10, 0, 0, &id),
                     REGAL_OK);
    assert_int_equal(regal_builder_add_output(builder, id, 1, false), REGAL_OK);
    assert_int_equal(regal_builder_add_parameter_use(builder, id, id % count),
                     REGAL_OK);
    if (id % count)
      assert_int_equal(regal_builder_add_input(builder, id, id - 1, 0),
                       REGAL_OK);
  }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}

static void check_placement(const regal_units *units,
                            regal_stage_pattern pattern, const char *expected) {
  uint8_t placement[16];
  bool found;
  assert_int_equal(regal_units_place(units, &pattern, placement, &found),
                   REGAL_OK);
  assert_int_equal(found, expected != NULL);
  for (uint32_t op = 0; expected && op < 2 * strlen(expected); op++)
    assert_int_equal(placement[op], expected[op % strlen(expected)] - '0');
}

static void test_stages(void **state) {
  regal_context *context = *state;
  regal_graph *graph = layers(context, 8);
  regal_machine *machine = toy_machine(context, 2);
  machine->memory_limit[0] = machine->memory_limit[1] = 500;
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME),
                *gathered;
  regal_units *units;
  assert_int_equal(regal_units_create(context, problem, 1, &units), REGAL_OK);
  assert_int_equal(units->count, 8);
  assert_int_equal(units->joined, 8);
  assert_int_equal(units->bytes[3], 100);
  assert_int_equal(regal_units_arrange(units), REGAL_OK);
  check_placement(units, (regal_stage_pattern){1, false, 1}, "00001111");
  check_placement(units, (regal_stage_pattern){2, false, 1}, "00110011");
  check_placement(units, (regal_stage_pattern){2, true, 1}, "00111100");
  check_placement(units, (regal_stage_pattern){4, false, 1}, "01010101");
  check_placement(units, (regal_stage_pattern){1, false, 0.5}, NULL);
  assert_int_equal(
      regal_problem_gather(context, problem, units->unit, &gathered), REGAL_OK);
  assert_int_equal(gathered->shared, 0);
  assert_int_equal(regal_problem_leader(gathered, 11), 3);
  regal_problem_free(gathered);
  regal_units_free(units);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- The method ------------------------------------------------------------ */

/* Three of four weights fit each device: it must split them, and can. */
static void test_method(void **state) {
  regal_context *context = *state;
  regal_options options;
  regal_options_init(&options);
  regal_graph *graph = layers(context, 4);
  regal_machine *machine = toy_machine(context, 2);
  machine->memory_limit[0] = machine->memory_limit[1] = 310;
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  regal_search search;
  assert_int_equal(quick_begin(&search, context, problem, &options), REGAL_OK);
  assert_int_equal(regal_fit_within_limits(&search, true), REGAL_OK);
  quick_check(&search);
  assert_int_equal(search.best_fitness.excess, 0);
  assert_int_equal(search.best_fitness.value,
                   50); /* 40, and one layer's wait */
  quick_end(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* What these methods do without limits replicates weights, or needs the file's
 * order; with limits they find a plan that fits. */
static void test_methods_within_limits(void **state) {
  static const regal_method_fn plain[] = {regal_heft, regal_cut,
                                          regal_split_file};
  static const regal_method_fn methods[] = {regal_method_heft, regal_method_cut,
                                            regal_method_split};
  regal_context *context = *state;
  regal_options options;
  regal_options_init(&options);
  regal_graph *graph = layers(context, 8);
  regal_machine *machine = toy_machine(context, 2);
  machine->memory_limit[0] = machine->memory_limit[1] = 410;
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  for (int k = 0; k < 3; k++)
    for (int limits = 0; limits < 2; limits++) {
      regal_search search;
      assert_int_equal(quick_begin(&search, context, problem, &options),
                       REGAL_OK);
      assert_int_equal((limits ? methods : plain)[k](&search), REGAL_OK);
      quick_check(&search);
      if (limits || k == 0)
        assert_int_equal(search.best_fitness.excess > 0, !limits);
      if (limits) /* 160 is one op after the other */
        assert_true(search.best_fitness.value < 160);
      quick_end(&search);
    }
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* On any problem there is a plan, and the verifier agrees with it. */
static void test_method_on_random_problems(void **state) {
  regal_context *context = *state;
  regal_options options;
  regal_options_init(&options);
  for (uint64_t seed = 1; seed <= 60; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_search search;
    regal_test_random_graph(context, seed, MOST_OPS, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem =
        toy_problem(context, graph, machine, REGAL_RUNTIME);
    assert_int_equal(quick_begin(&search, context, problem, &options),
                     REGAL_OK);
    search.budget.limit = 40;
    assert_int_equal(regal_method_fit(&search), REGAL_OK);
    assert_true(search.budget.used <= 40);
    quick_check(&search);
    quick_end(&search);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

static int set_up(void **state) {
  return regal_context_create((regal_context **)state, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  bool leaked = regal_bytes_in_use(*state) != 0;
  regal_context_free(*state);
  return leaked;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_profile),
      TEST(test_schedules),
      TEST(test_stages),
      TEST(test_method),
      TEST(test_methods_within_limits),
      TEST(test_method_on_random_problems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
