/* SPDX-License-Identifier: Apache-2.0 */
/* The run time bound where transfers take time: exact values on small examples,
 * and against all plans of tiny graphs of forks and joins. */
#include <string.h>

#include "cost/bound/bound.h"
#include "cost/bound/parts.h"
#include "support/brute_force.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

/* A byte takes a nanosecond. */
static regal_machine *slow_machine(regal_context *context, uint32_t devices,
                                   int64_t latency_ns, bool overlapped) {
  regal_machine *machine =
      toy_linked_machine(context, devices, latency_ns, 1000000000);
  machine->overlapped = overlapped;
  return machine;
}

static int64_t bound_on(regal_context *context, const regal_graph *graph,
                        regal_machine *machine) {
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  int64_t bound;
  assert_int_equal(regal_bound_runtime(context, problem, &bound), REGAL_OK);
  regal_problem_free(problem);
  return bound;
}

static int64_t toy_bound(regal_context *context, const toy_op *ops,
                         size_t count, uint32_t devices, bool overlapped) {
  regal_graph *graph = toy_graph(context, ops, count);
  regal_machine *machine = slow_machine(context, devices, 0, overlapped);
  int64_t bound = bound_on(context, graph, machine);
  regal_graph_free(graph);
  return bound;
}
#define BLOCKING(context, ops, devices)                                        \
  toy_bound((context), (ops), sizeof(ops) / sizeof *(ops), (devices), false)
#define OVERLAPPED(context, ops, devices)                                      \
  toy_bound((context), (ops), sizeof(ops) / sizeof *(ops), (devices), true)

static void test_dear_branches_stay_together(void **state) {
  const toy_op ops[] = {{.run_ns = 1, .bytes = 20},
                        {.run_ns = 10, .bytes = 20, .reads = "a"},
                        {.run_ns = 12, .bytes = 20, .reads = "a"},
                        {.run_ns = 1, .reads = "bc"}};
  assert_int_equal(BLOCKING(*state, ops, 2), 24);
  assert_int_equal(BLOCKING(*state, ops, 5), 24);
  assert_int_equal(OVERLAPPED(*state, ops, 2), 24);
  assert_int_equal(OVERLAPPED(*state, ops, 5), 24);
}

static void test_cheap_branches_part(void **state) {
  const toy_op ops[] = {{.run_ns = 1, .bytes = 2},
                        {.run_ns = 10, .bytes = 3, .reads = "a"},
                        {.run_ns = 12, .bytes = 7, .reads = "a"},
                        {.run_ns = 1, .reads = "bc"}};
  /* c and d elsewhere: both transfers stop their device, unless they overlap:
   * then b is sent while c runs */
  assert_int_equal(BLOCKING(*state, ops, 2), 1 + 12 + 2 + 3 + 1);
  assert_int_equal(OVERLAPPED(*state, ops, 2), 1 + 2 + 12 + 1);
  assert_int_equal(OVERLAPPED(*state, ops, 3), 1 + 2 + 12 + 1);
}

static void test_a_tensor_is_sent_once(void **state) {
  /* d and e elsewhere cost one transfer of a, and two back. */
  const toy_op ops[] = {{.run_ns = 1, .bytes = 6},
                        {.run_ns = 20, .bytes = 50, .reads = "a"},
                        {.run_ns = 8, .bytes = 1, .reads = "a"},
                        {.run_ns = 9, .bytes = 1, .reads = "a"},
                        {.run_ns = 1, .reads = "bcd"}};
  assert_int_equal(BLOCKING(*state, ops, 2), 1 + 20 + 6 + 1 + 1 + 1);
  assert_int_equal(BLOCKING(*state, ops, 3), 1 + 20 + 6 + 1 + 1 + 1);
}

static void test_windows_make_chains(void **state) {
  /* Twice the same, one inside of the other's branch. */
  const toy_op ops[] = {{.run_ns = 1, .bytes = 90},
                        {.run_ns = 5, .bytes = 90, .reads = "a"},
                        {.run_ns = 6, .bytes = 90, .reads = "a"},
                        {.run_ns = 1, .bytes = 90, .reads = "bc"},
                        {.run_ns = 7, .bytes = 90, .reads = "d"},
                        {.run_ns = 8, .bytes = 90, .reads = "d"},
                        {.run_ns = 1, .reads = "ef"}};
  assert_int_equal(BLOCKING(*state, ops, 2), 29);
  assert_int_equal(OVERLAPPED(*state, ops, 2), 29);
}

static void test_control_edges_cross_for_nothing(void **state) {
  const toy_op ops[] = {{.run_ns = 1, .bytes = 90},
                        {.run_ns = 10, .bytes = 90, .waits = "a"},
                        {.run_ns = 12, .bytes = 90, .waits = "a"},
                        {.run_ns = 1, .waits = "bc"}};
  assert_int_equal(BLOCKING(*state, ops, 2), 14);
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = slow_machine(*state, 2, 1000, false);
  machine->control_transfers = true;
  assert_int_equal(bound_on(*state, graph, machine), 14);
  regal_graph_free(graph);
}

static void test_the_fastest_link_counts(void **state) {
  const toy_op ops[] = {{.run_ns = 1, .bytes = 10},
                        {.run_ns = 10, .bytes = 10, .reads = "a"},
                        {.run_ns = 12, .bytes = 10, .reads = "a"},
                        {.run_ns = 1, .reads = "bc"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = slow_machine(*state, 3, 5, true);
  assert_int_equal(bound_on(*state, graph, machine), 24);
  machine = slow_machine(*state, 3, 5, true);
  machine->latency_ns[2][1] = 1;
  machine->bandwidth[1][2] = 0; /* endless */
  assert_int_equal(bound_on(*state, graph, machine), 1 + 1 + 10 + 1 + 1);
  regal_graph_free(graph);
}

static void test_huge_times(void **state) {
  const int64_t huge = INT64_MAX / 32;
  const toy_op ops[] = {{.run_ns = huge, .bytes = 9},
                        {.run_ns = huge, .bytes = 9, .reads = "a"},
                        {.run_ns = huge, .bytes = 9, .reads = "a"},
                        {.run_ns = huge, .reads = "bc"}};
  int64_t bound = BLOCKING(*state, ops, 2);
  assert_true(bound >= 3 * huge && bound <= 4 * huge);
}

/* -- Against all plans ----------------------------------------------------- */

typedef struct dice {
  uint64_t seed, thrown;
} dice;

static uint32_t throw(dice * dice, uint32_t sides) {
  uint64_t x = dice->seed * UINT64_C(0x9e3779b97f4a7c15) + ++dice->thrown;
  x = (x ^ (x >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((x ^ (x >> 32)) % sides);
}

/* From the first op everything comes, into the last everything goes. */
static regal_graph *fork_and_join(regal_context *context, dice *dice) {
  toy_op ops[7] = {{0}};
  char reads[7][8] = {{0}}, waits[7][8] = {{0}};
  bool is_read[7] = {false};
  uint32_t count = 4 + throw(dice, 3);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t edges = 0;
    for (uint32_t j = 0; j < i; j++) {
      bool needed = i + 1 == count ? !is_read[j] : j + 1 == i && !edges;
      if (!needed && throw(dice, 5) > 1)
        continue;
      char *list = throw(dice, 8) ? reads[i] : waits[i];
      list[strlen(list)] = (char)('a' + j);
      is_read[j] = true;
      edges++;
    }
    ops[i] = (toy_op){.run_ns = throw(dice, 25),
                      .bytes = throw(dice, 30),
                      .reads = reads[i],
                      .waits = waits[i]};
  }
  return toy_graph(context, ops, count);
}

static regal_machine *random_links(regal_context *context, dice *dice) {
  regal_machine *machine = slow_machine(context, 2 + !throw(dice, 4),
                                        throw(dice, 6), throw(dice, 2));
  machine->control_transfers = throw(dice, 2);
  if (!throw(dice, 4))
    machine->latency_ns[1][0] = throw(dice, 9);
  if (!throw(dice, 4))
    machine->speed[1] = 2;
  return machine;
}

static void free_links(regal_machine *machine) {
  for (uint32_t a = 0; a < machine->devices; a++)
    for (uint32_t b = 0; b < machine->devices; b++)
      machine->latency_ns[a][b] = machine->bandwidth[a][b] = 0;
}

static void test_no_plan_is_faster(void **state) {
  regal_context *context = *state;
  unsigned tried = 0, raised = 0, met = 0, met_before = 0;
  for (uint64_t seed = 1; seed <= 700; seed++) {
    dice dice = {seed, 0}, again;
    regal_test_best best;
    regal_graph *graph = fork_and_join(context, &dice);
    again = dice;
    regal_machine *machine = random_links(context, &dice);
    if (regal_test_brute_force(context, graph, machine, 3000, &best)) {
      regal_machine *idle = random_links(context, &again);
      free_links(idle);
      int64_t bound = bound_on(context, graph, machine);
      int64_t simple = bound_on(context, graph, idle);
      assert_true(bound <= best.runtime.cost.runtime_ns);
      assert_true(bound >= simple);
      tried++;
      raised += bound > simple;
      met += bound == best.runtime.cost.runtime_ns;
      met_before += simple == best.runtime.cost.runtime_ns;
    } else {
      regal_machine_free(machine);
    }
    regal_graph_free(graph);
  }
  assert_true(tried > 400);
  assert_true(raised > tried / 5);
  assert_true(met > met_before * 5 / 4);
}

/* Larger cases of all kinds: not above any plan, nor below the bound without
 * transfer times. */
static void test_random_plans_are_not_faster(void **state) {
  regal_context *context = *state;
  unsigned raised = 0;
  for (uint64_t seed = 1; seed <= 250; seed++) {
    regal_graph *graph;
    regal_machine *machine, *idle;
    regal_plan *plan;
    regal_cost cost;
    regal_test_random_graph(context, seed, 80, &graph);
    regal_test_random_machine(context, seed, graph, &machine);
    regal_test_random_machine(context, seed, graph, &idle);
    free_links(idle);
    regal_test_random_plan(context, seed, graph, machine, &plan);
    regal_problem *problem =
        toy_problem(context, graph, machine, REGAL_RUNTIME);
    int64_t bound, simple = bound_on(context, graph, idle);
    assert_int_equal(regal_verify(context, problem, plan, &cost), REGAL_OK);
    assert_int_equal(regal_bound_runtime(context, problem, &bound), REGAL_OK);
    assert_true(cost.excess_bytes || bound <= cost.runtime_ns);
    assert_true(bound >= simple);
    raised += bound > simple;
    regal_problem_free(problem);
    regal_plan_free(plan);
    regal_graph_free(graph);
  }
  assert_true(raised > 5);
}

static void test_memory_runs_out(void **state) {
  (void)state;
  unsigned failures = 0;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_graph *graph;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_test_random_graph(context, 3, 20, &graph);
    regal_problem *problem = toy_problem(
        context, graph, slow_machine(context, 2, 5, false), REGAL_RUNTIME);
    size_t held = memory.blocks;
    memory.fail_at = memory.allocations + n;
    int64_t bound;
    regal_status status = regal_bound_runtime(context, problem, &bound);
    assert_int_equal(memory.blocks, held);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    failures += memory.failed;
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
    if (!memory.failed)
      break;
  }
  assert_int_equal(failures, 3); /* the bound, its lags, windows */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_dear_branches_stay_together),
      TOY_TEST(test_cheap_branches_part),
      TOY_TEST(test_a_tensor_is_sent_once),
      TOY_TEST(test_windows_make_chains),
      TOY_TEST(test_control_edges_cross_for_nothing),
      TOY_TEST(test_the_fastest_link_counts),
      TOY_TEST(test_huge_times),
      TOY_TEST(test_no_plan_is_faster),
      TOY_TEST(test_random_plans_are_not_faster),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("bound_transfer", tests, NULL, NULL);
}
