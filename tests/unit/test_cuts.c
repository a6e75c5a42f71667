/* SPDX-License-Identifier: Apache-2.0 */
/* Stage cuts: what a stage holds, dynamic programming against all cuts, plans
 * against the verifier; and `split`. */
#include "heuristic/cut/cuts.h"
#include "heuristic/heuristics.h"

#include "base/random.h"
#include "heuristic/cut/parts.h"
#include "heuristic/list/orders.h"
#include "support/quick_failures.h"

enum { MOST_OPS = 40 };

/* -- A bench for one random problem ---------------------------------------- */

typedef struct bench {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_cut_order order[2]; /* the file's, LPMF */
  regal_cut_axis axis[2];   /* along the file, fold */
  regal_cut_bench cuts;
  int64_t sums[MOST_OPS + 2];
  uint32_t counts[MOST_OPS + 1];
  uint32_t room[4][MOST_OPS];
  uint8_t device[REGAL_MAX_DEVICES];
  void *block;
} bench;

/* Without op times and groups, so that every op is where its rank says. */
static void begin_bench(bench *b, regal_context *context, uint64_t seed,
                        uint32_t most_ops, uint32_t most_devices,
                        enum regal_objective objective) {
  regal_machine *machine;
  memset(b, 0, sizeof *b);
  b->context = context;
  regal_test_random_graph(context, seed, most_ops, &b->graph);
  regal_test_random_small_machine(context, seed, most_devices, b->graph,
                                  &machine);
  machine->timed_ops = 0;
  regal_release(context, machine->group);
  machine->group = NULL;
  regal_release(context, machine->pin);
  machine->pin = NULL;
  b->problem = toy_problem(context, b->graph, machine, objective);
  for (int i = 0; i < 2; i++) {
    b->order[i].order = b->room[i];
    b->axis[i].rank = b->room[2 + i];
  }
  regal_cuts_file_order(b->problem, b->order[0].order);
  assert_int_equal(regal_order_lpmf(context, b->problem, b->order[1].order),
                   REGAL_OK);
  regal_cuts_rank_along(b->problem, &b->order[0], &b->axis[0]);
  regal_cuts_rank_fold(b->problem, (uint32_t)(seed % b->problem->ops),
                       &b->axis[1]);
  regal_carver carver = {NULL, 0};
  regal_cut_bench_layout(&b->cuts, &carver, b->problem);
  b->block = regal_alloc(context, carver.used, 1);
  assert_non_null(b->block);
  carver = (regal_carver){b->block, 0};
  regal_cut_bench_layout(&b->cuts, &carver, b->problem);
  regal_cut_bench_begin(&b->cuts, b->problem);
  for (uint32_t d = 0; d < b->problem->devices; d++)
    b->device[d] = (uint8_t)d;
}

static void end_bench(bench *b) {
  regal_release(b->context, b->block);
  regal_problem_free(b->problem);
  regal_graph_free(b->graph);
}

/* All cuts between `points` points, as point numbers; false after the last. */
static bool next_cuts(uint32_t *cuts, uint32_t stages, uint32_t points) {
  uint32_t k = stages - 1;
  while (k > 0 && cuts[k] == points - 1)
    k--;
  if (k == 0)
    return false;
  cuts[k]++;
  for (uint32_t after = k + 1; after < stages; after++)
    cuts[after] = cuts[k];
  return true;
}

static void first_cuts(uint32_t *cuts, uint32_t stages, uint32_t points) {
  memset(cuts, 0, stages * sizeof *cuts);
  cuts[stages] = points - 1;
}

/* -- Stages ---------------------------------------------------------------- */

/* Cuts drawn from a seed, never falling. */
static void draw_cuts(uint64_t seed, const regal_problem *problem,
                      uint32_t *cuts) {
  cuts[0] = 0;
  for (uint32_t s = 1; s <= problem->devices; s++) {
    uint32_t left = problem->ops - cuts[s - 1];
    cuts[s] = cuts[s - 1] + (uint32_t)(regal_mix(seed + s) % (left + 1));
  }
  cuts[problem->devices] = problem->ops;
}

static void check_peaks(bench *b, int axis, int order, uint64_t seed) {
  regal_cut_plan plan = {
      .axis = &b->axis[axis], .order = &b->order[order], .device = b->device};
  regal_plan *steps;
  regal_cost cost;
  int64_t peak = 0;
  draw_cuts(seed, b->problem, plan.cuts);
  regal_cuts_stages_begin(&b->cuts.stages, plan.axis, plan.order);
  for (uint32_t s = 0; s < b->problem->devices; s++)
    peak =
        regal_later(peak, regal_cuts_stage_peak(&b->cuts.stages, plan.cuts[s],
                                                plan.cuts[s + 1]));
  assert_int_equal(regal_cut_write(&b->cuts, b->context, &plan, &steps),
                   REGAL_OK);
  assert_int_equal(regal_verify_plan(b->context, b->graph, b->problem->machine,
                                     steps, &cost, NULL),
                   REGAL_OK);
  assert_int_equal(peak, cost.max_peak_bytes);
  regal_plan_free(steps);
}

/* Along the file for any number of devices, and any axis and order for two. */
static void test_stage_peaks_are_exact(void **state) {
  for (uint64_t seed = 1; seed <= 600; seed++) {
    bench b;
    begin_bench(&b, *state, seed, MOST_OPS, 5, REGAL_MEMORY);
    for (uint64_t k = 0; k < 3; k++) {
      check_peaks(&b, 0, 0, seed * 8 + k);
      if (b.problem->devices <= 2)
        for (int pair = 1; pair < 4; pair++)
          check_peaks(&b, pair & 1, pair >> 1, seed * 8 + k);
    }
    end_bench(&b);
  }
}

static void test_fold_rank(void **state) {
  /* a and b forward, c at the peak, d and e backward; f reads nothing. */
  const toy_op ops[] = {{.bytes = 1},
                        {.bytes = 1, .reads = "a"},
                        {.bytes = 1, .reads = "b"},
                        {.bytes = 1, .reads = "cb"},
                        {.bytes = 1, .reads = "da"},
                        {.bytes = 1}};
  const uint32_t expected[] = {0, 1, 2, 1, 0, 2};
  uint32_t rank[6];
  regal_cut_axis axis = {.rank = rank};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_RUNTIME);
  regal_cuts_rank_fold(problem, 2, &axis);
  assert_memory_equal(rank, expected, sizeof rank);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- Dynamic programming --------------------------------------------------- */

static void check_plan_stages(bench *b, regal_cut_aim aim) {
  const regal_cut_grid *grid = &b->cuts.grid;
  uint32_t d = b->problem->devices, cuts[REGAL_MAX_DEVICES + 1];
  uint32_t found[REGAL_MAX_DEVICES + 1];
  int64_t least = INT64_MAX;
  first_cuts(cuts, d, grid->points);
  do {
    bool fits = true;
    for (uint32_t s = 0; s < d; s++)
      fits &= grid->reach[s * grid->points + cuts[s]] >= cuts[s + 1];
    int64_t value = regal_cuts_stages_value(grid, b->device, d, cuts, aim);
    least = fits && value < least ? value : least;
  } while (next_cuts(cuts, d, grid->points));
  bool any = regal_cuts_plan_stages(grid, b->problem, b->device, aim, found);
  assert_int_equal(any, least != INT64_MAX);
  if (!any)
    return;
  for (uint32_t s = 0; s <= d; s++)
    for (cuts[s] = 0; grid->at[cuts[s]] != found[s];)
      assert_true(++cuts[s] < grid->points);
  assert_int_equal(regal_cuts_stages_value(grid, b->device, d, cuts, aim),
                   least);
}

/* The reach against the peaks themselves. */
static void check_reach(bench *b) {
  const regal_cut_grid *grid = &b->cuts.grid;
  for (uint32_t d = 0; d < b->problem->devices; d++)
    for (uint32_t g = 0; g < grid->points; g++)
      for (uint32_t end = g; end < grid->points; end++) {
        int64_t peak =
            regal_cuts_stage_peak(&b->cuts.stages, grid->at[g], grid->at[end]);
        assert_int_equal(grid->reach[d * grid->points + g] >= end,
                         peak <= b->problem->limit[d] || end == g);
      }
}

/* Whether the tensor has ends on both sides of a cut at this rank. */
static bool crosses(const regal_problem *problem, const uint32_t *rank,
                    uint32_t tensor, uint32_t at) {
  bool before = rank[problem->producer[tensor]] < at, both = false;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++)
    both |= (rank[problem->consumer[u]] < at) != before;
  return both;
}

static void check_sums(bench *b, const uint32_t *rank) {
  const regal_cut_grid *grid = &b->cuts.grid;
  const regal_problem *problem = b->problem;
  for (uint32_t g = 0; g < grid->points; g++) {
    int64_t cross = 0;
    for (uint32_t t = 0; t < problem->tensors && problem->devices > 1; t++)
      if (crosses(problem, rank, t, grid->at[g]))
        cross += regal_problem_transfer_ns(problem, t, 0, 1);
    assert_int_equal(grid->cross_ns[g], cross);
    for (uint32_t d = 0; d < grid->rows; d++) {
      int64_t work = 0;
      for (uint32_t op = 0; op < problem->ops; op++)
        if (rank[op] < grid->at[g])
          work += regal_problem_run_ns(problem, op, d);
      assert_int_equal(grid->work_ns[d * grid->points + g], work);
    }
  }
}

static void test_stages_by_dynamic_programming(void **state) {
  int limited = 0;
  for (uint64_t seed = 1; seed <= 500; seed++) {
    bench b;
    begin_bench(&b, *state, seed, 9, 4, REGAL_RUNTIME);
    int axis = (int)(seed % 2);
    regal_cut_grid_fill(&b.cuts.grid, b.problem, &b.axis[axis], 99, b.sums,
                        b.counts);
    check_sums(&b, b.axis[axis].rank);
    regal_cuts_stages_begin(&b.cuts.stages, &b.axis[axis], &b.order[0]);
    regal_cut_grid_limit(&b.cuts.grid, &b.cuts.stages);
    limited += b.problem->limited;
    if (!b.problem->reuses)
      check_reach(&b);
    check_plan_stages(&b, REGAL_CUT_BALANCE);
    check_plan_stages(&b, REGAL_CUT_CHEAP);
    end_bench(&b);
  }
  assert_true(limited > 50);
}

/* The least largest peak within the limits, or minus one minus the least
 * largest excess, over all cuts. */
static int64_t slow_least_peak(bench *b) {
  const regal_cut_grid *grid = &b->cuts.grid;
  const regal_problem *problem = b->problem;
  uint32_t d = problem->devices, cuts[REGAL_MAX_DEVICES + 1];
  int64_t least = INT64_MAX, least_excess = INT64_MAX;
  first_cuts(cuts, d, grid->points);
  do {
    int64_t peak = 0, excess = 0;
    for (uint32_t s = 0; s < d; s++) {
      int64_t here = regal_cuts_stage_peak(&b->cuts.stages, grid->at[cuts[s]],
                                           grid->at[cuts[s + 1]]);
      peak = regal_later(peak, here);
      excess = regal_later(excess, here - problem->limit[s]);
    }
    if (excess == 0 && peak < least)
      least = peak;
    least_excess = excess < least_excess ? excess : least_excess;
  } while (next_cuts(cuts, d, grid->points));
  return least_excess == 0 ? least : -1 - least_excess;
}

static void test_least_peak_is_least(void **state) {
  int beyond = 0;
  for (uint64_t seed = 1; seed <= 500; seed++) {
    bench b;
    uint32_t cuts[REGAL_MAX_DEVICES + 1];
    begin_bench(&b, *state, seed, 9, 4, REGAL_MEMORY);
    int axis = (int)(seed % 2), order = (int)(seed / 2 % 2);
    regal_cut_grid_fill(&b.cuts.grid, b.problem, &b.axis[axis], 99, b.sums,
                        b.counts);
    regal_cuts_stages_begin(&b.cuts.stages, &b.axis[axis], &b.order[order]);
    if (!b.problem->reuses) {
      int64_t least = slow_least_peak(&b);
      beyond += least < 0;
      assert_int_equal(regal_cuts_least_peak(&b.cuts.grid, &b.cuts.stages,
                                             b.device, UINT32_MAX, cuts),
                       least);
    }
    end_bench(&b);
  }
  assert_true(beyond > 10);
}

static void test_the_grid_parts_ops_evenly(void **state) {
  bench b;
  uint64_t seed = 1;
  for (;; seed++) {
    begin_bench(&b, *state, seed, MOST_OPS, 2, REGAL_RUNTIME);
    if (b.problem->ops == MOST_OPS)
      break;
    end_bench(&b);
  }
  regal_cut_grid_fill(&b.cuts.grid, b.problem, &b.axis[0], 9, b.sums, b.counts);
  assert_int_equal(b.cuts.grid.points, 9);
  for (uint32_t g = 0; g < 9; g++)
    assert_int_equal(b.cuts.grid.at[g], g * MOST_OPS / 8);
  end_bench(&b);
}

/* -- Methods --------------------------------------------------------------- */

static void check_starts(regal_context *context, const regal_problem *problem) {
  regal_cuts *cuts;
  uint32_t orders[9][MOST_OPS];
  uint8_t placements[9][MOST_OPS];
  assert_int_equal(regal_cuts_find(context, problem, &cuts), REGAL_OK);
  uint32_t count = regal_cuts_count(cuts);
  assert_in_range(count, 1, 9);
  for (uint32_t k = 0; k < count; k++) {
    regal_plan *plan;
    regal_cost cost;
    assert_int_equal(regal_cuts_plan(cuts, k, &plan), REGAL_OK);
    assert_int_equal(regal_verify_plan(context, problem->graph,
                                       problem->machine, plan, &cost, NULL),
                     REGAL_OK);
    regal_fitness claimed = regal_cuts_fitness(cuts, k);
    regal_fitness real = regal_fitness_of(problem, &cost);
    assert_int_equal(real.value, claimed.value);
    assert_int_equal(real.excess, claimed.excess);
    assert_false(k &&
                 regal_fitness_less(real, regal_cuts_fitness(cuts, k - 1)));
    regal_cuts_read(cuts, k, orders[k], placements[k]);
    for (uint32_t other = 0; other < k; other++)
      assert_true(memcmp(orders[k], orders[other], problem->ops * 4) ||
                  memcmp(placements[k], placements[other], problem->ops));
    regal_plan_free(plan);
  }
  regal_cuts_free(cuts);
}

static void test_plans_pass_the_verifier(void **state) {
  static const regal_method_fn methods[] = {regal_method_cut,
                                            regal_method_split};
  regal_context *context = *state;
  regal_options options;
  regal_options_init(&options);
  for (uint64_t seed = 1; seed <= 250; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_search search, single;
    regal_test_random_graph(context, seed, seed % 8 ? 12 : MOST_OPS, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem = toy_problem(
        context, graph, machine, seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY);
    quick_begin(&single, context, problem, &options);
    assert_int_equal(regal_method_single(&single), REGAL_OK);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(quick_begin(&search, context, problem, &options),
                       REGAL_OK);
      assert_int_equal(methods[i](&search), REGAL_OK);
      quick_check(&search);
      if (problem->symmetric)
        assert_false(
            regal_fitness_less(single.best_fitness, search.best_fitness));
      quick_end(&search);
    }
    quick_end(&single);
    check_starts(context, problem);
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
}

/* The best of all cuts of the file's order, each sent late or together. */
static regal_fitness slow_split(bench *b, bool batched) {
  regal_cut_plan best = {.fitness = REGAL_FITNESS_WORST}, tried;
  uint32_t d = b->problem->devices;
  tried = (regal_cut_plan){.axis = &b->axis[0],
                           .order = &b->order[0],
                           .device = b->device,
                           .batched = batched};
  first_cuts(tried.cuts, d, b->problem->ops + 1);
  do {
    regal_cut_try(&b->cuts, &tried, &best);
  } while (next_cuts(tried.cuts, d, b->problem->ops + 1));
  return best.fitness;
}

/* `split` is the best of all cuts; both find one that fits where there is. */
static void test_split_is_the_best_cut(void **state) {
  regal_options options;
  regal_options_init(&options);
  int tight = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    bench b;
    regal_search search;
    begin_bench(&b, *state, seed, 12, 4,
                seed % 3 ? REGAL_RUNTIME : REGAL_MEMORY);
    bool batched = !b.problem->machine->overlapped &&
                   !regal_problem_needs_memory(b.problem);
    regal_fitness best = slow_split(&b, batched);
    quick_begin(&search, *state, b.problem, &options);
    assert_int_equal(regal_split_file(&search), REGAL_OK);
    assert_int_equal(search.best_fitness.excess, best.excess);
    assert_int_equal(search.best_fitness.value, best.value);
    assert_int_equal(search.best_fitness.tie, best.tie);
    quick_end(&search);
    quick_begin(&search, *state, b.problem, &options);
    assert_int_equal(regal_cut(&search), REGAL_OK);
    if (best.excess == 0 && !b.problem->reuses)
      assert_int_equal(search.best_fitness.excess, 0);
    tight += best.excess == 0 && b.problem->limited;
    quick_end(&search);
    end_bench(&b);
  }
  assert_true(tight > 20);
}

static void test_split_of_a_chain(void **state) {
  const toy_op ops[] = {
      {.run_ns = 4, .bytes = 1, .resident = 10},
      {.run_ns = 5, .bytes = 9, .reads = "a", .resident = 10},
      {.run_ns = 6, .bytes = 1, .reads = "b", .resident = 10},
      {.run_ns = 3, .bytes = 1, .reads = "c", .resident = 10}};
  regal_options options;
  regal_search search;
  regal_options_init(&options);
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  machine->bandwidth[0][1] = machine->bandwidth[1][0] = 1000000000;
  machine->memory_limit[0] = machine->memory_limit[1] = 40;
  regal_problem *problem = toy_problem(*state, graph, machine, REGAL_RUNTIME);
  quick_begin(&search, *state, problem, &options);
  assert_int_equal(regal_method_split(&search), REGAL_OK);
  quick_check(&search);
  /* 40 resident bytes and the tensors do not fit on one device. Of the cuts
   * that do, b's output takes 9 ns to send, the others' 1. */
  assert_int_equal(search.best_fitness.value, 4 + 5 + 6 + 3 + 1);
  assert_string_equal(search.account, "the best of all 5 cuts of the file's "
                                      "order");
  quick_end(&search);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- Failures -------------------------------------------------------------- */

static void test_memory_runs_out(void **state) {
  (void)state;
  const quick_case on = {2, 0, REGAL_MEMORY};
  assert_true(quick_failures(regal_method_cut, on) > 2);
  assert_true(quick_failures(regal_method_split, on) > 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_stage_peaks_are_exact),
      TOY_TEST(test_fold_rank),
      TOY_TEST(test_stages_by_dynamic_programming),
      TOY_TEST(test_least_peak_is_least),
      TOY_TEST(test_the_grid_parts_ops_evenly),
      TOY_TEST(test_plans_pass_the_verifier),
      TOY_TEST(test_split_is_the_best_cut),
      TOY_TEST(test_split_of_a_chain),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("cuts", tests, NULL, NULL);
}
