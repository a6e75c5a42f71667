/* SPDX-License-Identifier: Apache-2.0 */
/* What the fast code makes of outputs that may be written over an input, and of
 * parameters: peaks counted by hand, and what the problem keeps of them. */
#include "cost/model/plan.h"
#include "cost/model/simulate.h"
#include "support/failing_allocator.h"
#include "support/toy_graph.h"

/* Simulates the ops in their own order, each on the device that its digit
 * says; transfers come just before their first reader. */
static regal_cost simulated(regal_context *context,
                            const regal_problem *problem, const char *devices) {
  uint32_t order[26];
  uint8_t placement[26];
  regal_plan *plan;
  regal_simulator *simulator;
  regal_cost cost;
  for (uint32_t op = 0; op < problem->ops; op++) {
    order[op] = op;
    placement[op] = (uint8_t)(devices[op] - '0');
  }
  assert_int_equal(
      regal_plan_from_order(context, problem, order, placement, &plan),
      REGAL_OK);
  assert_int_equal(regal_simulator_create(context, problem, &simulator),
                   REGAL_OK);
  regal_simulate(simulator, plan, &cost);
  regal_simulator_free(simulator);
  regal_plan_free(plan);
  return cost;
}

/* Peaks of two devices, the same with overlapped transfers and control edges
 * as transfers. */
static void expect_peaks(regal_context *context, const regal_graph *graph,
                         const char *devices, int64_t first, int64_t second) {
  for (int variant = 0; variant < 4; variant++) {
    regal_machine *machine = toy_machine(context, 2);
    machine->overlapped = variant & 1;
    machine->control_transfers = variant & 2;
    regal_problem *problem = toy_problem(context, graph, machine, REGAL_MEMORY);
    regal_cost cost = simulated(context, problem, devices);
    assert_int_equal(cost.peak_bytes[0], first);
    assert_int_equal(cost.peak_bytes[1], second);
    regal_problem_free(problem);
  }
}
#define PEAKS(context, ops, devices, first, second)                            \
  do {                                                                         \
    regal_graph *graph_ = TOY_GRAPH(context, ops);                             \
    expect_peaks(context, graph_, devices, first, second);                     \
    regal_graph_free(graph_);                                                  \
  } while (0)

/* -- One output ------------------------------------------------------------ */

static void test_written_over_its_input(void **state) {
  toy_op ops[] = {{.bytes = 100},
                  {.bytes = 100, .reads = "a", .temporary = 7},
                  {.bytes = 1, .reads = "b"}};
  PEAKS(*state, ops, "000", 207, 0);
  ops[1].may_reuse = true;
  PEAKS(*state, ops, "000", 107, 0);
}

static void test_after_the_step_nothing_differs(void **state) {
  /* b's 60 bytes are in the place of a's 100 during b, and 60 alone beside
   * c's 100 afterwards. */
  const toy_op ops[] = {{.bytes = 100},
                        {.bytes = 60, .reads = "a", .may_reuse = true},
                        {.bytes = 100},
                        {.bytes = 1, .reads = "bc"}};
  PEAKS(*state, ops, "0000", 161, 0);
}

static void test_a_smaller_input_is_left_alone(void **state) {
  toy_op ops[] = {{.bytes = 99},
                  {.bytes = 100, .reads = "a", .may_reuse = true}};
  PEAKS(*state, ops, "00", 199, 0);
  ops[0].bytes = 100;
  PEAKS(*state, ops, "00", 100, 0);
}

static void test_two_small_inputs_do_not_add_up(void **state) {
  const toy_op ops[] = {{.bytes = 60},
                        {.bytes = 60},
                        {.bytes = 100, .reads = "ab", .may_reuse = true}};
  PEAKS(*state, ops, "000", 220, 0);
}

static void test_an_input_with_a_later_reader(void **state) {
  /* c reads a after b: a does not die with b, but it does with c. */
  const toy_op ops[] = {{.bytes = 100},
                        {.bytes = 50, .reads = "a", .may_reuse = true},
                        {.bytes = 100, .reads = "ab", .may_reuse = true}};
  PEAKS(*state, ops, "000", 150, 0);
  const toy_op earlier[] = {{.bytes = 100},
                            {.bytes = 50, .reads = "a", .is_final = true},
                            {.bytes = 100, .reads = "a", .may_reuse = true}};
  PEAKS(*state, earlier, "000", 150, 0);
}

static void test_a_final_input_stays(void **state) {
  toy_op ops[] = {{.bytes = 100, .is_final = true},
                  {.bytes = 100, .reads = "a", .may_reuse = true}};
  PEAKS(*state, ops, "00", 200, 0);
  /* The copy on another device is not the result. */
  PEAKS(*state, ops, "01", 100, 100);
  ops[0].is_final = false;
  PEAKS(*state, ops, "00", 100, 0);
}

static void test_a_received_copy_is_reused(void **state) {
  const toy_op ops[] = {{.bytes = 100},
                        {.bytes = 90, .reads = "a", .may_reuse = true},
                        {.bytes = 80, .reads = "a", .may_reuse = true}};
  PEAKS(*state, ops, "011", 100, 190); /* with b; c's is in a's place */
  PEAKS(*state, ops, "001", 190, 100);
}

static void test_a_transfer_out_is_a_use(void **state) {
  /* a is sent to device 1 after b has run on device 0: it does not die there
   * with b. Sent before, it does. */
  const toy_op after[] = {{.bytes = 100},
                          {.bytes = 100, .reads = "a", .may_reuse = true},
                          {.bytes = 1, .reads = "a"}};
  PEAKS(*state, after, "001", 200, 101);
  const toy_op before[] = {{.bytes = 100},
                           {.bytes = 1, .reads = "a"},
                           {.bytes = 100, .reads = "a", .may_reuse = true}};
  PEAKS(*state, before, "010", 100, 101);
}

static void test_no_bytes(void **state) {
  toy_op ops[] = {{.bytes = 0},
                  {.bytes = 10},
                  {.bytes = 0, .reads = "ab", .may_reuse = true},
                  {.bytes = 5, .reads = "c", .may_reuse = true}};
  PEAKS(*state, ops, "0000", 10, 0);
  ops[2].reads = "a";
  ops[3].reads = "ab";
  PEAKS(*state, ops, "0000", 10, 0);
}

/* -- Several outputs ------------------------------------------------------- */

/* Ops a, b, ... with an output each, of the given sizes, and one op more that
 * reads them in the order of the letters and waits for a. Its ports have the
 * other sizes; bit k of `marks`: port k may reuse. Lists end with -1. */
static regal_graph *one_join(regal_context *context, const int64_t *inputs,
                             const char *reads, const int64_t *outputs,
                             unsigned marks) {
  regal_builder *builder;
  regal_graph *graph;
  uint32_t join = 0;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (; inputs[join] >= 0; join++) {
    regal_builder_add_op(builder, (char[]){(char)('a' + join), 0}, 1, 0, 0,
                         NULL);
    regal_builder_add_output(builder, join, inputs[join], false);
  }
  regal_builder_add_op(builder, "join", 1, 0, 0, NULL);
  regal_builder_add_control(builder, 0, join);
  for (const char *c = reads; *c; c++)
    regal_builder_add_input(builder, join, (uint32_t)(*c - 'a'), 0);
  for (uint32_t port = 0; outputs[port] >= 0; port++) {
    regal_builder_add_output(builder, join, outputs[port], false);
    if (marks >> port & 1)
      regal_builder_set_may_reuse(builder, join, port);
  }
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}

static void expect_join(regal_context *context, const int64_t *inputs,
                        const char *reads, const int64_t *outputs,
                        unsigned marks, int64_t peak) {
  regal_graph *graph = one_join(context, inputs, reads, outputs, marks);
  expect_peaks(context, graph, "00000", peak, 0);
  expect_peaks(context, graph, "11111", 0, peak);
  regal_graph_free(graph);
}
#define LIST(...)                                                              \
  (const int64_t[]) {                                                          \
    __VA_ARGS__, -1                                                            \
  }

static void test_outputs_compete(void **state) {
  regal_context *c = *state;
  expect_join(c, LIST(100), "a", LIST(60, 50), 0, 210);
  expect_join(c, LIST(100), "a", LIST(60, 50), 1, 150);
  expect_join(c, LIST(100), "a", LIST(60, 50), 2, 160);
  expect_join(c, LIST(100), "a", LIST(60, 50), 3, 150); /* the first port */
  expect_join(c, LIST(55), "a", LIST(60, 50), 3, 115);  /* the one that fits */
  expect_join(c, LIST(100), "a", LIST(0, 50), 3, 100);
}

static void test_inputs_are_taken_in_their_order(void **state) {
  regal_context *c = *state;
  expect_join(c, LIST(40, 100), "ab", LIST(30, 60), 3, 140);
  /* 30 takes over b's 100, and a's 40 are too few for 60. */
  expect_join(c, LIST(40, 100), "ba", LIST(30, 60), 3, 200);
  expect_join(c, LIST(40, 100), "ba", LIST(60, 30), 3, 140);
  expect_join(c, LIST(40, 100), "bab", LIST(30, 60), 3, 200);
  expect_join(c, LIST(9, 9, 9), "cab", LIST(9, 9, 9), 5, 36);
  expect_join(c, LIST(9, 9), "ba", LIST(9, 9, 9), 7, 27);
}

static void test_on_both_devices(void **state) {
  /* b comes from device 0 and dies on device 1, where it is received. */
  regal_graph *graph = one_join(*state, LIST(40, 100), "ab", LIST(30, 60), 3);
  expect_peaks(*state, graph, "101", 100, 140);
  regal_graph_free(graph);
}

/* -- Parameters ------------------------------------------------------------ */

static void test_held_once_by_each_device(void **state) {
  const toy_op ops[] = {{.parameters = "0"},
                        {.parameters = "0112"},
                        {.parameters = "24"},
                        {.parameters = "24"}};
  PEAKS(*state, ops, "0000", 10111, 0);
  PEAKS(*state, ops, "1111", 0, 10111);
  PEAKS(*state, ops, "0011", 111, 10100);
  PEAKS(*state, ops, "0110", 10101, 10111);
  PEAKS(*state, ops, "0101", 10101, 10111);
  PEAKS(*state, ops, "1000", 10111, 1);
}

static void test_beside_all_else(void **state) {
  const toy_op ops[] = {
      {.bytes = 20, .resident = 1000, .parameters = "0"},
      {.bytes = 30, .reads = "a", .temporary = 3000, .parameters = "0"}};
  PEAKS(*state, ops, "00", 4051, 0);
  PEAKS(*state, ops, "01", 1021, 3051);
}

/* What the fast code has to count for each placement, and what not. */
static void test_shared_and_not(void **state) {
  const toy_op ops[] = {{.parameters = "0", .resident = 7},
                        {.parameters = "04"},
                        {.parameters = "15"},
                        {.parameters = "15", .resident = 3}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_groups(machine, graph, "-bab");
  regal_problem *problem = toy_problem(*state, graph, machine, REGAL_MEMORY);
  static const int64_t resident[] = {7, 10000, 0, 3};
  assert_memory_equal(problem->resident_bytes, resident, sizeof resident);
  assert_int_equal(problem->shared,
                   3); /* 0: a, b. 1 and 5: c, d in b's group */
  static const int64_t shared[] = {1, 10, 100000};
  static const uint32_t begin[] = {0, 2, 4, 6}, reader[] = {0, 1, 2, 1, 2, 1};
  assert_memory_equal(problem->shared_bytes, shared, sizeof shared);
  assert_memory_equal(problem->reader_begin, begin, sizeof begin);
  assert_memory_equal(problem->reader, reader, sizeof reader);
  assert_null(problem->reuses);
  regal_cost cost = simulated(*state, problem, "0101");
  assert_int_equal(cost.peak_bytes[0], 8 + 100010);
  assert_int_equal(cost.peak_bytes[1], 10003 + 100011);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_readers_in_one_group(void **state) {
  const toy_op ops[] = {
      {.resident = 7}, {.parameters = "12"}, {.parameters = "12"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = toy_machine(*state, 2);
  toy_groups(machine, graph, "-aa");
  regal_problem *problem = toy_problem(*state, graph, machine, REGAL_MEMORY);
  static const int64_t resident[] = {7, 110, 0};
  assert_int_equal(problem->shared, 0);
  assert_memory_equal(problem->resident_bytes, resident, sizeof resident);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- The flags ------------------------------------------------------------- */

static void test_ops_that_can_reuse(void **state) {
  const toy_op ops[] = {{.bytes = 10, .may_reuse = true},
                        {.bytes = 10, .reads = "a", .may_reuse = true},
                        {.bytes = 11, .reads = "b", .may_reuse = true},
                        {.bytes = 0, .reads = "c", .may_reuse = true},
                        {.bytes = 1, .reads = "d", .may_reuse = true},
                        {.bytes = 1, .reads = "c"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  assert_int_equal(graph->reusing_tensors, 5);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 2), REGAL_MEMORY);
  static const uint8_t reuses[] = {0, 1, 0, 0, 0, 0};
  assert_memory_equal(problem->reuses, reuses, sizeof reuses);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_memory_runs_out(void **state) {
  (void)state;
  const toy_op ops[] = {{.bytes = 10, .parameters = "01"},
                        {.bytes = 10,
                         .reads = "a",
                         .waits = "a",
                         .may_reuse = true,
                         .parameters = "01"}};
  size_t failures = 0;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_problem *problem = NULL;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_graph *graph = TOY_GRAPH(context, ops);
    regal_machine *machine = toy_machine(context, 2);
    machine->control_transfers = true;
    memory.fail_at = memory.allocations + n;
    regal_status status =
        regal_problem_bind(context, graph, machine, REGAL_MEMORY, &problem);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    failures += memory.failed;
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
  }
  assert_int_equal(failures, 23);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_written_over_its_input),
      TOY_TEST(test_after_the_step_nothing_differs),
      TOY_TEST(test_a_smaller_input_is_left_alone),
      TOY_TEST(test_two_small_inputs_do_not_add_up),
      TOY_TEST(test_an_input_with_a_later_reader),
      TOY_TEST(test_a_final_input_stays),
      TOY_TEST(test_a_received_copy_is_reused),
      TOY_TEST(test_a_transfer_out_is_a_use),
      TOY_TEST(test_no_bytes),
      TOY_TEST(test_outputs_compete),
      TOY_TEST(test_inputs_are_taken_in_their_order),
      TOY_TEST(test_on_both_devices),
      TOY_TEST(test_held_once_by_each_device),
      TOY_TEST(test_beside_all_else),
      TOY_TEST(test_shared_and_not),
      TOY_TEST(test_readers_in_one_group),
      TOY_TEST(test_ops_that_can_reuse),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("reuse", tests, NULL, NULL);
}
