/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds: exact values on small examples, against all plans of tiny
 * graphs, and the live set against its definition. */
#include "cost/bound/bound.h"

#include "cost/bound/parts.h"
#include "support/brute_force.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

static regal_bound bound_of(regal_context *context, const regal_graph *graph,
                            regal_machine *machine) {
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_MEMORY);
  regal_bound bound;
  assert_int_equal(regal_bound_compute(context, problem, &bound), REGAL_OK);
  regal_problem_free(problem);
  return bound;
}

static regal_bound plain_bound(regal_context *context, const toy_op *ops,
                               size_t count, uint32_t devices) {
  regal_graph *graph = toy_graph(context, ops, count);
  regal_bound bound = bound_of(context, graph, toy_machine(context, devices));
  regal_graph_free(graph);
  return bound;
}
#define BOUND(context, ops, devices)                                           \
  plain_bound((context), (ops), sizeof(ops) / sizeof *(ops), (devices))

/* -- Run time -------------------------------------------------------------- */

static void test_critical_path(void **state) {
  const toy_op ops[] = {{.run_ns = 5},
                        {.run_ns = 7, .reads = "a"},
                        {.run_ns = 2, .reads = "a"},
                        {.run_ns = 9, .reads = "c", .waits = "b"}};
  assert_int_equal(BOUND(*state, ops, 1).runtime_ns, 23); /* the work */
  assert_int_equal(BOUND(*state, ops, 2).runtime_ns, 21);
  assert_int_equal(BOUND(*state, ops, 64).runtime_ns, 21);
}

static void test_work_is_shared_out(void **state) {
  const toy_op ops[] = {{.run_ns = 2}, {.run_ns = 1}, {.run_ns = 1},
                        {.run_ns = 1}, {.run_ns = 1}, {.run_ns = 1}};
  assert_int_equal(BOUND(*state, ops, 1).runtime_ns, 7);
  assert_int_equal(BOUND(*state, ops, 2).runtime_ns, 4);
  assert_int_equal(BOUND(*state, ops, 3).runtime_ns, 3);
  assert_int_equal(BOUND(*state, ops, 7).runtime_ns, 2);
}

static void test_some_device_runs_three_of_five(void **state) {
  const toy_op ops[] = {{.run_ns = 3},
                        {.run_ns = 3},
                        {.run_ns = 3},
                        {.run_ns = 3},
                        {.run_ns = 3}};
  assert_int_equal(BOUND(*state, ops, 2).runtime_ns, 9); /* work: 8 */
}

static void test_energy_between_heads_and_tails(void **state) {
  const toy_op ops[] = {{.run_ns = 10},
                        {.run_ns = 2, .reads = "a"},
                        {.run_ns = 1, .reads = "a"},
                        {.run_ns = 1, .reads = "a"},
                        {.run_ns = 1, .reads = "a"},
                        {.run_ns = 1, .reads = "a"},
                        {.run_ns = 1, .reads = "a"},
                        {.run_ns = 10, .reads = "bcdefg"},
                        {.run_ns = 1}};
  assert_int_equal(BOUND(*state, ops, 2).runtime_ns, 10 + 4 + 10);
  assert_int_equal(BOUND(*state, ops, 3).runtime_ns, 10 + 3 + 10);
}

static void test_energy_with_unequal_thresholds(void **state) {
  /* Only c, d, e come after a (head 8); only they and b come before f. */
  const toy_op ops[] = {{.run_ns = 8},
                        {.run_ns = 1},
                        {.run_ns = 3, .reads = "a"},
                        {.run_ns = 3, .reads = "a"},
                        {.run_ns = 3, .reads = "a"},
                        {.run_ns = 6, .reads = "bcde"}};
  assert_int_equal(BOUND(*state, ops, 2).runtime_ns, 8 + 5 + 6);
}

static void test_speeds(void **state) {
  toy_op ops[40];
  for (size_t i = 0; i < 40; i++)
    ops[i] = (toy_op){.run_ns = 12};
  regal_graph *graph = toy_graph(*state, ops, 26);
  regal_machine *machine = toy_machine(*state, 2);
  machine->speed[1] = 3;
  /* 26 * 12 / (1 + 3) = 78; the smallest times over two devices give 52 */
  assert_int_equal(bound_of(*state, graph, machine).runtime_ns, 78);
  regal_graph_free(graph);
}

static void test_ops_with_one_device(void **state) {
  const toy_op ops[] = {{.run_ns = 1},
                        {.run_ns = 5, .reads = "a"},
                        {.run_ns = 5, .reads = "a"},
                        {.run_ns = 5, .reads = "a"},
                        {.run_ns = 5, .reads = "a"}};
  const int64_t never = REGAL_NEVER;
  const int64_t times[] = {1, 1, never, 6, never, 6, never, 6, 5, 5};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_times(machine, graph, times);
  assert_int_equal(bound_of(*state, graph, machine).runtime_ns, 1 + 18);
  regal_graph_free(graph);
}

static void test_groups_run_one_after_the_other(void **state) {
  const toy_op ops[] = {{.run_ns = 2},
                        {.run_ns = 5, .reads = "a"},
                        {.run_ns = 5, .reads = "a"},
                        {.run_ns = 5, .reads = "a"},
                        {.run_ns = 4, .reads = "bcd"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 4);
  toy_groups(machine, graph, "-aaa-");
  assert_int_equal(bound_of(*state, graph, machine).runtime_ns, 2 + 15 + 4);
  machine = toy_machine(*state, 4);
  assert_int_equal(bound_of(*state, graph, machine).runtime_ns, 2 + 5 + 4);
  regal_graph_free(graph);
}

static void test_a_group_picks_one_device_for_all(void **state) {
  const toy_op ops[] = {{.run_ns = 1}, {.run_ns = 1}};
  const int64_t times[] = {1, 8, 8, 1}; /* each op is fast elsewhere */
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_times(machine, graph, times);
  toy_groups(machine, graph, "aa");
  assert_int_equal(bound_of(*state, graph, machine).runtime_ns, 9);
  regal_graph_free(graph);
}

/* -- Memory ---------------------------------------------------------------- */

static void test_working_set(void **state) {
  const toy_op ops[] = {{.bytes = 10},
                        {.bytes = 20},
                        {.bytes = 5, .reads = "ab", .temporary = 7}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 42);
  assert_int_equal(BOUND(*state, ops, 3).peak_bytes, 42);
}

static void test_live_set(void **state) {
  /* While c runs, a's output waits for d; b's is read. */
  const toy_op ops[] = {{.bytes = 100},
                        {.bytes = 10, .reads = "a"},
                        {.bytes = 60, .reads = "b"},
                        {.bytes = 1, .reads = "ac"}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 170);
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, 161); /* d's working set */
}

static void test_live_set_over_devices(void **state) {
  /* Six tensors wait behind a chain: no op reads more than two of them. */
  const toy_op ops[] = {{.bytes = 9},
                        {.bytes = 9, .reads = "a"},
                        {.bytes = 9, .reads = "b"},
                        {.bytes = 9, .reads = "c"},
                        {.bytes = 0, .reads = "d"},
                        {.bytes = 0, .reads = "ad", .waits = "e"},
                        {.bytes = 0, .reads = "bc", .waits = "e"}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 36);
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, 18);
  assert_int_equal(BOUND(*state, ops, 3).peak_bytes, 18);
}

static void test_final_tensors_stay(void **state) {
  const toy_op ops[] = {{.bytes = 50, .is_final = true},
                        {.bytes = 50, .is_final = true},
                        {.bytes = 51, .is_final = true}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 151);
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, 100); /* two of them */
  assert_int_equal(BOUND(*state, ops, 3).peak_bytes, 51);
}

static void test_resident_bytes(void **state) {
  const toy_op ops[] = {{.bytes = 10, .resident = 100},
                        {.bytes = 10, .reads = "a", .resident = 31}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 20 + 131);
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, 110);
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_groups(machine, graph, "aa");
  assert_int_equal(bound_of(*state, graph, machine).peak_bytes, 20 + 131);
  regal_graph_free(graph);
}

static void test_bytes_of_ops_with_one_device(void **state) {
  const toy_op ops[] = {{.bytes = 10, .resident = 100, .is_final = true},
                        {.bytes = 40, .resident = 7},
                        {.bytes = 80, .is_final = true}};
  const int64_t never = REGAL_NEVER;
  const int64_t times[] = {1, never, 1, never, 1, 1};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_times(machine, graph, times);
  /* b's 40 bytes beside both ops' resident ones */
  assert_int_equal(bound_of(*state, graph, machine).peak_bytes, 147);
  regal_graph_free(graph);
}

static void test_results_of_ops_with_one_device(void **state) {
  const toy_op ops[] = {{.bytes = 60, .is_final = true},
                        {.bytes = 61, .is_final = true, .resident = 5}};
  const int64_t times[] = {1, REGAL_NEVER, 1, REGAL_NEVER};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_times(machine, graph, times);
  assert_int_equal(bound_of(*state, graph, machine).peak_bytes, 126);
  regal_graph_free(graph);
}

static void test_outputs_over_inputs(void **state) {
  toy_op ops[] = {{.bytes = 100},
                  {.bytes = 90, .reads = "a", .temporary = 7},
                  {.bytes = 80, .reads = "b"}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 197);
  ops[1].may_reuse = true;
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 170); /* c */
  ops[2].may_reuse = true;
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 107);
  ops[1].bytes = 101; /* does not fit; c's does */
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, 208);
}

static void test_outputs_over_inputs_that_stay(void **state) {
  /* On one device a cannot die with b, being final. */
  toy_op ops[] = {{.bytes = 100, .is_final = true},
                  {.bytes = 90, .reads = "a", .may_reuse = true}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 190);
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, 100);
  /* Nor if something after b reads it. */
  const toy_op later[] = {{.bytes = 100},
                          {.bytes = 90, .reads = "a", .may_reuse = true},
                          {.bytes = 80, .reads = "b", .may_reuse = true},
                          {.bytes = 1, .reads = "ac", .may_reuse = true}};
  assert_int_equal(BOUND(*state, later, 1).peak_bytes, 190);
  assert_int_equal(BOUND(*state, later, 2).peak_bytes, 180); /* d: a, c */
}

static void test_parameters(void **state) {
  const toy_op ops[] = {{.bytes = 10, .parameters = "23"},
                        {.bytes = 5, .reads = "a", .parameters = "34"},
                        {.bytes = 5, .parameters = "4"}};
  assert_int_equal(BOUND(*state, ops, 1).peak_bytes, 11100 + 15);
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, 11000 + 15); /* b */
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_groups(machine, graph, "a-a");
  /* c with what a reads too: the 1000 of a and b are not c's alone */
  assert_int_equal(bound_of(*state, graph, machine).peak_bytes, 11100 + 10);
  regal_graph_free(graph);
}

static void test_parameters_of_ops_with_one_device(void **state) {
  const toy_op ops[] = {{.bytes = 1, .parameters = "2"},
                        {.bytes = 2, .parameters = "2"},
                        {.bytes = 3, .parameters = "2"}};
  const int64_t never = REGAL_NEVER;
  const int64_t times[] = {1, never, 1, 1, never, 1};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_times(machine, graph, times);
  /* Both devices must hold it; b reads it wherever it is. */
  assert_int_equal(bound_of(*state, graph, machine).peak_bytes, 103);
  regal_graph_free(graph);
}

static void test_sizes_that_do_not_add_up(void **state) {
  const toy_op ops[] = {{.bytes = INT64_MAX / 4, .temporary = INT64_MAX / 8}};
  int64_t expected = INT64_MAX / 4 + INT64_MAX / 8;
  assert_int_equal(BOUND(*state, ops, 2).peak_bytes, expected);
}

/* -- Against all plans ----------------------------------------------------- */

static void test_no_plan_is_better(void **state) {
  regal_context *context = *state;
  unsigned tried = 0, runtime_met = 0, memory_met = 0;
  for (uint64_t seed = 1; seed <= 1300; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_best best;
    regal_test_random_graph(context, seed, 6, &graph);
    regal_test_random_small_machine(context, seed, 3, graph, &machine);
    for (uint32_t a = 0; a < machine->devices; a++)
      machine->memory_limit[a] = REGAL_UNLIMITED;
    if (regal_test_brute_force(context, graph, machine, 5000, &best)) {
      regal_bound bound = bound_of(context, graph, machine);
      assert_true(bound.runtime_ns <= best.runtime.cost.runtime_ns);
      assert_true(bound.peak_bytes <= best.memory.cost.max_peak_bytes);
      tried++;
      runtime_met += bound.runtime_ns == best.runtime.cost.runtime_ns;
      memory_met += bound.peak_bytes == best.memory.cost.max_peak_bytes;
    } else {
      regal_machine_free(machine);
    }
    regal_graph_free(graph);
  }
  /* the bounds are met by far more than the trivial cases */
  assert_true(tried > 900);
  assert_true(runtime_met > tried * 9 / 10);
  assert_true(memory_met > tried * 9 / 10);
}

/* -- The live set by its definition ---------------------------------------- */

static void find_reachable(const regal_problem *problem, uint32_t from,
                           uint8_t *reached) {
  for (uint32_t op = 0; op < problem->ops; op++)
    reached[op] = op == from;
  for (uint32_t op = from; op < problem->ops; op++)
    for (uint32_t s = problem->successor_begin[op];
         reached[op] && s < problem->successor_begin[op + 1]; s++)
      reached[problem->successor[s]] = 1;
}

/* reach[i * ops + j]: op i is j or an ancestor of j */
static bool is_live(const regal_problem *problem, const uint8_t *reach,
                    uint32_t tensor, uint32_t op) {
  uint32_t producer = problem->producer[tensor];
  size_t n = problem->ops;
  if (producer == op)
    return true;
  if (!reach[producer * n + op])
    return false;
  bool needed = problem->is_final[tensor];
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++)
    needed = needed || reach[op * n + problem->consumer[u]];
  return needed;
}

/* Bytes of the op's inputs that nothing needs after it, and its outputs that
 * may be written over one of them. */
static int64_t slow_reused(const regal_problem *problem, const uint8_t *reach,
                           uint32_t op) {
  int64_t dying = 0, largest = 0, reusing = 0;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t t = problem->input[i];
    bool needed = problem->is_final[t];
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1]; u++)
      needed =
          needed || (problem->consumer[u] != op &&
                     reach[(size_t)op * problem->ops + problem->consumer[u]]);
    if (needed)
      continue;
    dying += problem->bytes[t];
    largest = problem->bytes[t] > largest ? problem->bytes[t] : largest;
  }
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    if (problem->may_reuse[t] && problem->bytes[t] <= largest)
      reusing += problem->bytes[t];
  return reusing < dying ? reusing : dying;
}

static int64_t slow_live(regal_context *context, const regal_problem *problem) {
  size_t n = problem->ops;
  uint8_t *reach = regal_alloc(context, n * n, 1);
  int64_t largest = 0;
  assert_non_null(reach);
  for (uint32_t op = 0; op < n; op++)
    find_reachable(problem, op, reach + op * n);
  for (uint32_t op = 0; op < n; op++) {
    int64_t live =
        problem->graph->temporary_bytes[op] - slow_reused(problem, reach, op);
    for (uint32_t t = 0; t < problem->tensors; t++)
      if (is_live(problem, reach, t, op))
        live += problem->bytes[t];
    largest = live > largest ? live : largest;
  }
  regal_release(context, reach);
  return largest;
}

static void test_live_set_by_definition(void **state) {
  regal_context *context = *state;
  unsigned less = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    regal_graph *graph;
    regal_machine *machine;
    regal_test_random_graph(context, seed, seed % 2 ? 900 : 40, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_problem *problem = toy_problem(context, graph, machine, REGAL_MEMORY);
    int64_t quick, hurried, slow = slow_live(context, problem);
    regal_bound_live(context, problem, UINT64_MAX, &quick);
    assert_int_equal(quick, slow);
    regal_bound_live(context, problem, 0, &hurried); /* one block */
    assert_true(hurried <= slow);
    less += hurried < slow;
    regal_problem_free(problem);
    regal_graph_free(graph);
  }
  assert_true(less > 3); /* so that several blocks were put together */
}

/* -- Failures -------------------------------------------------------------- */

static void test_memory_runs_out(void **state) {
  (void)state;
  size_t failures = 0;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_graph *graph;
    regal_bound bound = {-1, -1};
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_test_random_graph(context, 3, 20, &graph);
    regal_machine *machine = toy_machine(context, 2);
    machine->group = regal_alloc(context, graph->ops, 4);
    regal_problem *problem =
        toy_problem(context, graph, machine, REGAL_RUNTIME);
    size_t held = memory.blocks;
    memory.fail_at = memory.allocations + n;
    regal_status status = regal_bound_compute(context, problem, &bound);
    assert_int_equal(memory.blocks, held);
    if (memory.failed) {
      assert_int_equal(status, REGAL_NO_MEMORY);
      assert_string_equal(regal_error(context), "out of memory");
      assert_int_equal(bound.runtime_ns, -1);
      failures++;
    }
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
  }
  assert_int_equal(failures, 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_critical_path),
      TOY_TEST(test_work_is_shared_out),
      TOY_TEST(test_some_device_runs_three_of_five),
      TOY_TEST(test_energy_between_heads_and_tails),
      TOY_TEST(test_energy_with_unequal_thresholds),
      TOY_TEST(test_speeds),
      TOY_TEST(test_ops_with_one_device),
      TOY_TEST(test_groups_run_one_after_the_other),
      TOY_TEST(test_a_group_picks_one_device_for_all),
      TOY_TEST(test_working_set),
      TOY_TEST(test_live_set),
      TOY_TEST(test_live_set_over_devices),
      TOY_TEST(test_final_tensors_stay),
      TOY_TEST(test_resident_bytes),
      TOY_TEST(test_bytes_of_ops_with_one_device),
      TOY_TEST(test_results_of_ops_with_one_device),
      TOY_TEST(test_outputs_over_inputs),
      TOY_TEST(test_outputs_over_inputs_that_stay),
      TOY_TEST(test_parameters),
      TOY_TEST(test_parameters_of_ops_with_one_device),
      TOY_TEST(test_sizes_that_do_not_add_up),
      TOY_TEST(test_no_plan_is_better),
      TOY_TEST(test_live_set_by_definition),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("bound", tests, NULL, NULL);
}
