/* SPDX-License-Identifier: Apache-2.0 */
/* What memory limits and parameters force: transfers, work for the devices that
 * have room, and the proof that nothing fits. */
#include <string.h>

#include "cost/bound/bound.h"
#include "support/failing_allocator.h"
#include "support/toy_graph.h"

/* Overlapped; a byte takes a nanosecond. */
static regal_machine *machine_of(regal_context *context, uint32_t devices,
                                 int64_t limit) {
  regal_machine *machine = toy_machine(context, devices);
  machine->overlapped = true;
  for (uint32_t a = 0; a < devices; a++) {
    machine->memory_limit[a] = limit;
    for (uint32_t b = 0; b < devices; b++)
      machine->bandwidth[a][b] = 1000000000;
  }
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

static const char *shortage_on(regal_context *context, const regal_graph *graph,
                               regal_machine *machine) {
  static char text[400];
  regal_problem *problem = toy_problem(context, graph, machine, REGAL_RUNTIME);
  assert_int_equal(
      regal_bound_shortage(context, problem, false, text, sizeof text),
      REGAL_OK);
  regal_problem_free(problem);
  return text;
}

/* -- Transfers ------------------------------------------------------------- */

/* A chain of four ops whose parameters have 10, 100, 10 and 1000 bytes. */
static const toy_op chain[] = {
    {.run_ns = 50, .bytes = 7, .parameters = "1"},
    {.run_ns = 50, .bytes = 5, .reads = "a", .parameters = "2"},
    {.run_ns = 50, .bytes = 6, .reads = "b", .parameters = "1"},
    {.run_ns = 50, .bytes = 1, .reads = "c", .parameters = "3"}};

static void test_a_path_that_does_not_fit(void **state) {
  regal_graph *graph = TOY_GRAPH(*state, chain);
  /* all: 1110 and the 12 bytes of b */
  assert_int_equal(bound_on(*state, graph, machine_of(*state, 2, 1122)), 200);
  /* the smallest tensor of the chain */
  assert_int_equal(bound_on(*state, graph, machine_of(*state, 2, 1121)), 205);
  /* d with neither b nor c */
  assert_int_equal(bound_on(*state, graph, machine_of(*state, 2, 1015)), 206);
  regal_graph_free(graph);
}

static void test_two_parts_of_a_path(void **state) {
  const toy_op ops[] = {
      {.run_ns = 50, .bytes = 7, .resident = 60},
      {.run_ns = 50, .bytes = 5, .reads = "a", .resident = 60},
      {.run_ns = 50, .bytes = 9, .reads = "b", .resident = 60},
      {.run_ns = 50, .bytes = 6, .reads = "c", .resident = 60},
      {.run_ns = 50, .bytes = 1, .reads = "d", .resident = 60}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  /* two on a device: of each three in a row, one transfer at least */
  assert_int_equal(bound_on(*state, graph, machine_of(*state, 3, 150)),
                   250 + 5 + 6);
  /* one */
  assert_int_equal(bound_on(*state, graph, machine_of(*state, 5, 100)),
                   250 + 7 + 5 + 9 + 6);
  regal_graph_free(graph);
}

static void test_a_group_brings_its_bytes(void **state) {
  const toy_op ops[] = {{.run_ns = 50, .bytes = 7},
                        {.run_ns = 50, .bytes = 5, .reads = "a"},
                        {.run_ns = 50, .resident = 60},
                        {.run_ns = 50, .resident = 60}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = machine_of(*state, 2, 100);
  toy_groups(machine, graph, "abab");
  assert_int_equal(bound_on(*state, graph, machine), 50 + 7 + 50 + 0);
  regal_graph_free(graph);
}

/* -- Work ------------------------------------------------------------------ */

static void test_a_small_device_cannot_help(void **state) {
  toy_op ops[10];
  for (size_t i = 0; i < 10; i++)
    ops[i] = (toy_op){.run_ns = 30, .resident = 100};
  regal_graph *graph = toy_graph(*state, ops, 10);
  assert_int_equal(bound_on(*state, graph, machine_of(*state, 2, 600)), 150);
  regal_machine *machine = machine_of(*state, 2, 1000);
  machine->memory_limit[1] = 200;
  assert_int_equal(bound_on(*state, graph, machine), 240);
  /* three times as fast, but with room for two: the other does eight */
  machine = machine_of(*state, 2, 1000);
  machine->memory_limit[1] = 200;
  machine->speed[1] = 3;
  int64_t bound = bound_on(*state, graph, machine);
  assert_true(bound >= 239 && bound <= 240);
  regal_graph_free(graph);
}

static void test_readers_of_what_fits(void **state) {
  /* The device with 150 bytes runs the readers of the 100, not of the 1000. */
  const toy_op ops[] = {{.run_ns = 10, .parameters = "2"},
                        {.run_ns = 20, .parameters = "2"},
                        {.run_ns = 40, .parameters = "3"},
                        {.run_ns = 50, .parameters = "23"},
                        {.run_ns = 3}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = machine_of(*state, 2, 2000);
  machine->memory_limit[1] = 150;
  int64_t bound = bound_on(*state, graph, machine);
  assert_true(bound > 80 && bound <= 90); /* 123 over two devices is 62 */
  regal_graph_free(graph);
}

/* -- Peaks ----------------------------------------------------------------- */

static void test_parts_that_share_a_device(void **state) {
  const toy_op ops[] = {
      {.run_ns = 1, .resident = 60}, {.run_ns = 1, .resident = 50},
      {.run_ns = 1, .resident = 40}, {.run_ns = 1, .resident = 30},
      {.run_ns = 1, .resident = 29}, {.run_ns = 1, .resident = 1}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_problem *problem =
      toy_problem(*state, graph, toy_machine(*state, 4), REGAL_MEMORY);
  int64_t bound;
  /* two of the five largest, at least: 210 / 4 is 53 */
  assert_int_equal(regal_bound_memory(*state, problem, &bound), REGAL_OK);
  assert_int_equal(bound, 60);
  regal_problem_free(problem);
  problem = toy_problem(*state, graph, toy_machine(*state, 3), REGAL_MEMORY);
  assert_int_equal(regal_bound_memory(*state, problem, &bound), REGAL_OK);
  assert_int_equal(bound, 70); /* 40 and 30; 210 / 3 */
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* -- Nothing fits ---------------------------------------------------------- */

static void test_an_op_that_fits_nowhere(void **state) {
  regal_graph *graph = TOY_GRAPH(*state, chain);
  assert_string_equal(shortage_on(*state, graph, machine_of(*state, 2, 1010)),
                      "");
  assert_string_equal(
      shortage_on(*state, graph, machine_of(*state, 2, 1006)),
      "op \"d\" (id 3) needs 1007 B on its device while it runs, the limit of "
      "device 0 is 1006 B");
  regal_machine *machine = machine_of(*state, 2, 1006);
  machine->memory_limit[1] = REGAL_UNLIMITED;
  assert_string_equal(shortage_on(*state, graph, machine), "");
  regal_graph_free(graph);
}

static void test_pins_that_do_not_fit(void **state) {
  const toy_op ops[] = {{.run_ns = 1, .bytes = 50, .is_final = true},
                        {.run_ns = 1, .bytes = 50, .is_final = true},
                        {.run_ns = 1, .bytes = 9}};
  const int64_t no = REGAL_NEVER, times[] = {1, no, 1, no, 1, 1};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  regal_machine *machine = machine_of(*state, 2, 99);
  toy_times(machine, graph, times);
  assert_string_equal(
      shortage_on(*state, graph, machine),
      "ops that can run only on device 0 hold 100 B there, its limit is 99 B");
  machine = machine_of(*state, 2, 99);
  assert_string_equal(shortage_on(*state, graph, machine), "");
  regal_graph_free(graph);
}

static void test_more_than_all_devices_have(void **state) {
  const toy_op ops[] = {{.run_ns = 1, .resident = 50},
                        {.run_ns = 1, .resident = 40},
                        {.run_ns = 1, .bytes = 30, .is_final = true}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  assert_string_equal(
      shortage_on(*state, graph, machine_of(*state, 2, 59)),
      "parameters, resident bytes and results take at least 120 B, the limits "
      "of all devices together are 118 B");
  /* 40 and 30 share a device */
  assert_string_equal(
      shortage_on(*state, graph, machine_of(*state, 2, 65)),
      "some device must hold 70 B of parameters and resident bytes, the "
      "largest limit is 65 B");
  regal_machine *machine = machine_of(*state, 3, 35);
  machine->memory_limit[0] = 80;
  assert_string_equal(
      shortage_on(*state, graph, machine),
      "parameters and resident bytes in parts of more than 35 B each take 90 "
      "B, the devices with room for one have 80 B");
  assert_string_equal(shortage_on(*state, graph, machine_of(*state, 2, 70)),
                      "");
  assert_string_equal(shortage_on(*state, graph, toy_machine(*state, 2)), "");
  regal_graph_free(graph);
}

static void test_more_than_is_alive_at_one_time(void **state) {
  /* While d runs, three others wait for g. */
  const toy_op ops[] = {{.run_ns = 1, .bytes = 10},
                        {.run_ns = 1, .bytes = 10, .reads = "a"},
                        {.run_ns = 1, .bytes = 10, .reads = "b"},
                        {.run_ns = 1, .bytes = 10, .reads = "c"},
                        {.run_ns = 1, .reads = "ad"},
                        {.run_ns = 1, .reads = "bc", .waits = "d"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  assert_string_equal(shortage_on(*state, graph, machine_of(*state, 1, 39)),
                      "parameters and the tensors that are alive at one time "
                      "take at least 40 B, the limits of all devices together "
                      "are 39 B");
  assert_string_equal(shortage_on(*state, graph, machine_of(*state, 2, 39)),
                      "");
  regal_graph_free(graph);
}

static void test_memory_runs_out(void **state) {
  (void)state;
  unsigned failures = 0;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    char text[400];
    int64_t bound;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_graph *graph = TOY_GRAPH(context, chain);
    regal_problem *problem = toy_problem(
        context, graph, machine_of(context, 2, 1015), REGAL_RUNTIME);
    size_t held = memory.blocks;
    memory.fail_at = memory.allocations + n;
    regal_status status = regal_bound_runtime(context, problem, &bound);
    if (status == REGAL_OK)
      status = regal_bound_shortage(context, problem, false, text, sizeof text);
    assert_int_equal(memory.blocks, held);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    failures += memory.failed;
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
    if (!memory.failed)
      break;
  }
  assert_true(failures > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(test_a_path_that_does_not_fit),
      TOY_TEST(test_two_parts_of_a_path),
      TOY_TEST(test_a_group_brings_its_bytes),
      TOY_TEST(test_a_small_device_cannot_help),
      TOY_TEST(test_readers_of_what_fits),
      TOY_TEST(test_parts_that_share_a_device),
      TOY_TEST(test_an_op_that_fits_nowhere),
      TOY_TEST(test_pins_that_do_not_fit),
      TOY_TEST(test_more_than_all_devices_have),
      TOY_TEST(test_more_than_is_alive_at_one_time),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests_name("bound_shortage", tests, NULL, NULL);
}
