/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier against costs computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/plan_bench.h"

/* -- The paper's example --------------------------------------------------- */

static void test_paper_example(void **state) {
  /* The paper's table: what is in memory on (dev1, dev2) at each step. */
  static const int64_t in_memory[][2] = {{A | B, 0}, {A | B, B}, {A | C, B},
                                         {C, B | D}, {C | E, D}, {E | D, D},
                                         {D | E, 0}};
  static const int64_t left[][2] = {{A | B, 0}, {A, B},     {C, B}, {C, D},
                                    {E, D},     {D | E, 0}, {0, 0}};
  bench *b = *state;
  make_paper_graph(b);
  expect_runtime(b, paper_plan, COUNT(paper_plan), 40);
  int64_t during[2] = {0, 0}, after[2] = {0, 0};
  for (uint32_t i = 0; i < COUNT(paper_plan); i++) {
    /* A device that a step does not touch holds what it held before. */
    memcpy(during, after, sizeof during);
    for (int side = 0; side < 2; side++) {
      uint32_t device = side ? paper_plan[i].to : paper_plan[i].device;
      during[device] = b->timeline.during_bytes[i][side];
      after[device] = b->timeline.after_bytes[i][side];
    }
    assert_memory_equal(during, in_memory[i], sizeof during);
    assert_memory_equal(after, left[i], sizeof after);
  }
  assert_int_equal(b->cost.peak_bytes[0], D + E);
  assert_int_equal(b->cost.peak_bytes[1], B + D);
  assert_int_equal(b->cost.max_peak_bytes, D + E);
  assert_int_equal(b->cost.excess_bytes, 0);
  assert_int_equal(b->timeline.peak_step[0], 5);
  assert_int_equal(b->timeline.peak_step[1], 3);
}

static void test_paper_example_times(void **state) {
  static const int64_t starts[] = {0, 10, 10, 10, 20, 30, 30};
  static const int64_t ends[] = {10, 10, 20, 20, 30, 30, 40};
  bench *b = *state;
  make_paper_graph(b);
  expect_runtime(b, paper_plan, COUNT(paper_plan), 40);
  assert_memory_equal(b->timeline.start_ns, starts, sizeof starts);
  assert_memory_equal(b->timeline.end_ns, ends, sizeof ends);
  assert_int_equal(b->timeline.busy_ns[0], 40);
  assert_int_equal(b->timeline.busy_ns[1], 10);
}

/* -- Run time -------------------------------------------------------------- */

/* a (10 ns) makes 100 bytes for b (20 ns) and c (30 ns); d (40 ns) reads what b
 * makes, 7 bytes. */
static void make_timed_graph(bench *b) {
  for (int op = 0; op < 4; op++)
    add_op(b, (char[]){(char)('a' + op), 0}, 10 * op + 10, 0, 0);
  add_output(b, 0, 100);
  add_output(b, 1, 7);
  add_input(b, 1, 0, 0);
  add_input(b, 2, 0, 0);
  add_input(b, 3, 1, 0);
  finish(b);
}

static const regal_step timed_plan[] = {RUN(0, 0), SEND(0, 0, 0, 1), RUN(2, 1),
                                        RUN(1, 0), SEND(1, 0, 0, 1), RUN(3, 1)};

static void set_links(regal_machine *machine, int64_t latency,
                      int64_t bandwidth) {
  for (uint32_t a = 0; a < machine->devices; a++)
    for (uint32_t b = 0; b < machine->devices; b++) {
      machine->latency_ns[a][b] = latency;
      machine->bandwidth[a][b] = bandwidth;
    }
}

static void test_blocking(void **state) {
  static const int64_t starts[] = {0, 10, 49, 49, 79, 87};
  static const int64_t ends[] = {10, 49, 79, 69, 87, 127};
  bench *b = *state;
  make_timed_graph(b);
  /* a 0-10, send, c 10-40, b 10-30, send at 40, d 40-80. */
  expect_runtime(b, timed_plan, COUNT(timed_plan), 80);
  /* Latency 5: a 0-10, send 10-15, c 15-45, b 15-35, send 45-50, d 50-90. */
  set_links(&b->machine, 5, 0);
  expect_runtime(b, timed_plan, COUNT(timed_plan), 90);
  /* 3 bytes / ns: 100 bytes take 34 ns, 7 bytes 3: a 0-10, send 10-49, c 49-79,
   * b 49-69, send 79-87, d 87-127. */
  set_links(&b->machine, 5, 3000000000);
  expect_runtime(b, timed_plan, COUNT(timed_plan), 127);
  assert_memory_equal(b->timeline.start_ns, starts, sizeof starts);
  assert_memory_equal(b->timeline.end_ns, ends, sizeof ends);
}

/* The sender cannot go on before the receiver has joined. */
static void test_blocking_stops_the_sender(void **state) {
  static const regal_step plan[] = {RUN(2, 1), RUN(0, 0), SEND(0, 0, 0, 1),
                                    RUN(1, 1), RUN(3, 0)};
  bench *b = *state;
  for (int op = 0; op < 4; op++)
    add_op(b, (char[]){(char)('a' + op), 0}, 10 * op + 10, 0, 0);
  add_output(b, 0, 100);
  add_input(b, 1, 0, 0);
  finish(b);
  /* c 0-30, a 0-10, send at 30, b 30-50, d 30-70. */
  expect_runtime(b, plan, COUNT(plan), 70);
  /* Overlapped: a 0-10, send at 10, b 30-50, d 10-50. */
  b->machine.overlapped = true;
  expect_runtime(b, plan, COUNT(plan), 50);
}

static void test_overlapped(void **state) {
  static const int64_t starts[] = {0, 10, 49, 10, 49, 79};
  static const int64_t ends[] = {10, 49, 79, 30, 57, 119};
  bench *b = *state;
  b->machine.overlapped = true;
  make_timed_graph(b);
  /* a 0-10, send, c 10-40, b 10-30, send at 30, d 40-80. */
  expect_runtime(b, timed_plan, COUNT(timed_plan), 80);
  /* a 0-10, send 10-49, c 49-79, b 10-30, send waits for the link 49-57,
   * d 79-119. */
  set_links(&b->machine, 5, 3000000000);
  expect_runtime(b, timed_plan, COUNT(timed_plan), 119);
  assert_memory_equal(b->timeline.start_ns, starts, sizeof starts);
  assert_memory_equal(b->timeline.end_ns, ends, sizeof ends);
  assert_int_equal(b->timeline.busy_ns[0], 30);
  assert_int_equal(b->timeline.busy_ns[1], 70);
}

/* Each direction and each pair is a link of its own. */
static void test_per_pair(void **state) {
  static const regal_step plan[] = {
      RUN(0, 0),        RUN(1, 1), SEND(0, 0, 0, 1), SEND(0, 0, 0, 2),
      SEND(1, 0, 1, 0), RUN(2, 1), RUN(3, 2),        RUN(4, 0)};
  static const int64_t blocking_ends[] = {10, 10, 13, 63, 75, 85, 73, 85};
  static const int64_t overlapped_ends[] = {10, 10, 13, 60, 22, 23, 70, 32};
  bench *b = *state;
  b->machine.devices = 3;
  add_ops(b, 5);
  add_output(b, 0, 10);
  add_output(b, 1, 10);
  add_input(b, 2, 0, 0);
  add_input(b, 3, 0, 0);
  add_input(b, 4, 1, 0);
  finish(b);
  b->machine.latency_ns[0][1] = 3;
  b->machine.latency_ns[0][2] = 50;
  b->machine.latency_ns[1][0] = 7;
  b->machine.bandwidth[1][0] = 2000000000;
  expect_runtime(b, plan, COUNT(plan), 85);
  assert_memory_equal(b->timeline.end_ns, blocking_ends, sizeof blocking_ends);
  b->machine.overlapped = true;
  expect_runtime(b, plan, COUNT(plan), 70);
  assert_memory_equal(b->timeline.end_ns, overlapped_ends,
                      sizeof overlapped_ends);
}

static void test_speeds_and_own_times(void **state) {
  uint32_t timed_op[] = {1, 3};
  int64_t timed_ns[] = {1, 2, 3, 4};
  bench *b = *state;
  make_timed_graph(b);
  b->machine.speed[1] = 4;
  /* c takes 7.5, rounded to 8, d 10: a 0-10, c 10-18, b 10-30, d 30-40. */
  expect_runtime(b, timed_plan, COUNT(timed_plan), 40);
  assert_int_equal(b->timeline.busy_ns[1], 18);
  /* b takes 1 on device 0 and d takes 4 on device 1, whatever the speeds. */
  b->machine.timed_ops = 2;
  b->machine.timed_op = timed_op;
  b->machine.timed_ns = timed_ns;
  expect_runtime(b, timed_plan, COUNT(timed_plan), 22);
  b->machine.speed[0] = 0.5;
  expect_runtime(b, timed_plan, COUNT(timed_plan), 32);
}

static void test_control_edges_take_no_time(void **state) {
  static const regal_step plan[] = {RUN(0, 0), RUN(1, 1), RUN(2, 0)};
  static const regal_step sent[] = {RUN(0, 0), SEND(0, -1, 0, 1), RUN(1, 1),
                                    RUN(2, 0)};
  static const regal_step late[] = {RUN(0, 0), RUN(2, 0), SEND(0, -1, 0, 1),
                                    RUN(1, 1)};
  bench *b = *state;
  add_op(b, "a", 10, 0, 0);
  add_op(b, "b", 20, 0, 0);
  add_op(b, "c", 25, 0, 0);
  add_output(b, 0, 1 << 20);
  add_control(b, 0, 1);
  finish(b);
  set_links(&b->machine, 1000, 1);
  for (int overlapped = 0; overlapped < 2; overlapped++) {
    b->machine.overlapped = overlapped;
    b->machine.control_transfers = false;
    expect_runtime(b, plan, COUNT(plan), 35);
    assert_int_equal(b->timeline.start_ns[1], 10);
    b->machine.control_transfers = true;
    expect_runtime(b, sent, COUNT(sent), 35);
    assert_int_equal(b->timeline.start_ns[1], 10);
    assert_int_equal(b->timeline.end_ns[1], 10);
    assert_int_equal(b->cost.peak_bytes[1], 0);
    /* Blocking, device 0 joins only after c: b 35-55. */
    expect_runtime(b, late, COUNT(late), overlapped ? 35 : 55);
  }
}

/* A control transfer takes its turn on the link. */
static void test_control_transfer_on_a_busy_link(void **state) {
  static const regal_step plan[] = {RUN(0, 0), SEND(0, 0, 0, 1),
                                    SEND(0, -1, 0, 1), RUN(1, 1), RUN(2, 1)};
  static const regal_step swapped[] = {RUN(0, 0), SEND(0, -1, 0, 1),
                                       SEND(0, 0, 0, 1), RUN(1, 1), RUN(2, 1)};
  bench *b = *state;
  add_op(b, "a", 10, 0, 0);
  add_op(b, "b", 20, 0, 0);
  add_op(b, "c", 20, 0, 0);
  add_output(b, 0, 100);
  add_control(b, 0, 1);
  add_input(b, 2, 0, 0);
  finish(b);
  set_links(&b->machine, 50, 0);
  b->machine.overlapped = true;
  b->machine.control_transfers = true;
  /* The tensor 10-60, then the control transfer, b 60-80, c 80-100. */
  expect_runtime(b, plan, COUNT(plan), 100);
  /* The control transfer at 10, b 10-30, the tensor 10-60, c 60-80. */
  expect_runtime(b, swapped, COUNT(swapped), 80);
}

static void test_time_overflows(void **state) {
  static const regal_step plan[] = {RUN(0, 0), SEND(0, 0, 0, 1), RUN(1, 1)};
  bench *b = *state;
  add_ops(b, 2);
  add_output(b, 0, INT64_MAX / 2);
  add_input(b, 1, 0, 0);
  finish(b);
  set_links(&b->machine, 0, 1);
  assert_int_equal(verify(b, plan, COUNT(plan)), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "step 1: it ends later than 64 bits can count in "
                      "nanoseconds");
}

/* -- Memory ---------------------------------------------------------------- */

static void test_resident_and_temporary(void **state) {
  static const regal_step plan[] = {RUN(0, 0), RUN(1, 0), SEND(1, 0, 0, 1),
                                    RUN(2, 1)};
  static const int64_t during[][2] = {
      {1107, 1107}, {1027, 1027}, {1020, 520}, {523, 523}};
  static const int64_t after[][2] = {
      {1007, 1007}, {1020, 1020}, {1000, 520}, {500, 500}};
  bench *b = *state;
  add_op(b, "a", 1, 100, 1000);
  add_op(b, "b", 1, 0, 0);
  add_op(b, "c", 1, 3, 500);
  add_output(b, 0, 7);
  add_output(b, 1, 20);
  add_input(b, 1, 0, 0);
  add_input(b, 2, 1, 0);
  finish(b);
  b->machine.devices = 3;
  b->machine.memory_limit[0] = 1100;
  b->machine.memory_limit[1] = 523;
  expect_runtime(b, plan, COUNT(plan), 3);
  assert_memory_equal(b->timeline.during_bytes, during, sizeof during);
  assert_memory_equal(b->timeline.after_bytes, after, sizeof after);
  assert_int_equal(b->cost.peak_bytes[0], 1107);
  assert_int_equal(b->cost.peak_bytes[1], 523);
  assert_int_equal(b->cost.peak_bytes[2], 0);
  assert_int_equal(b->cost.max_peak_bytes, 1107);
  assert_int_equal(b->cost.excess_bytes, 7);
  assert_int_equal(b->timeline.peak_step[0], 0);
  assert_int_equal(b->timeline.peak_step[1], 3);
  assert_int_equal(b->timeline.peak_step[2], REGAL_NONE);
  b->machine.memory_limit[1] = 0;
  expect_runtime(b, plan, COUNT(plan), 3);
  assert_int_equal(b->cost.excess_bytes, 7 + 523);
}

/* Final tensors stay where they were made, and only there; a tensor that
 * nobody reads goes right after its step. */
static void test_final_and_unread(void **state) {
  static const regal_step plan[] = {RUN(0, 0), SEND(0, 0, 0, 1), RUN(1, 1),
                                    RUN(2, 1), RUN(3, 0)};
  static const int64_t during[][2] = {{7, 7}, {3, 1}, {9, 9}, {8, 8}, {3, 3}};
  static const int64_t after[][2] = {{3, 3}, {3, 1}, {8, 8}, {8, 8}, {3, 3}};
  bench *b = *state;
  add_ops(b, 4);
  add_final(b, 0, 1);
  add_final(b, 0, 2);
  add_output(b, 0, 4);
  add_final(b, 1, 8);
  add_input(b, 1, 0, 0);
  finish(b);
  expect_runtime(b, plan, COUNT(plan), 30);
  assert_memory_equal(b->timeline.during_bytes, during, sizeof during);
  assert_memory_equal(b->timeline.after_bytes, after, sizeof after);
  assert_int_equal(b->cost.peak_bytes[0], 7);
  assert_int_equal(b->cost.peak_bytes[1], 9);
}

static void test_bytes_overflow(void **state) {
  static const regal_step together[] = {RUN(0, 0), RUN(1, 0)};
  static const regal_step apart[] = {RUN(0, 0), RUN(1, 1)};
  bench *b = *state;
  add_op(b, "a", 1, 10, 0);
  add_op(b, "b", 1, 0, 0);
  finish(b);
  b->graph->resident_bytes[1] = INT64_MAX - 5;
  assert_int_equal(verify(b, together, COUNT(together)), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "step 0: device 0 holds more bytes than 64 bits can "
                      "count");
  b->machine.memory_limit[0] = b->machine.memory_limit[1] = 0;
  b->graph->resident_bytes[0] = INT64_MAX - 10;
  assert_int_equal(verify(b, apart, COUNT(apart)), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "the bytes beyond the memory limits are more than 64 "
                      "bits can count");
}

static void test_failing_allocations(void **state) {
  bench *b = *state;
  uint32_t group[] = {0, 1, 2, 3, 4};
  make_paper_graph(b);
  b->machine.group = group;
  regal_plan plan = {b->context, COUNT(paper_plan), (regal_step *)paper_plan};
  for (size_t n = 2;; n++) { /* the context itself is the first allocation */
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_timeline timeline = {.context = context};
    regal_status status = regal_verify_plan(context, b->graph, &b->machine,
                                            &plan, &b->cost, &timeline);
    regal_timeline_free(&timeline);
    assert_string_equal(regal_error(context), status ? "out of memory" : "");
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    if (!memory.failed) {
      assert_true(n > 7);
      break;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_paper_example),
      TEST(test_paper_example_times),
      TEST(test_blocking),
      TEST(test_blocking_stops_the_sender),
      TEST(test_overlapped),
      TEST(test_per_pair),
      TEST(test_speeds_and_own_times),
      TEST(test_control_edges_take_no_time),
      TEST(test_control_transfer_on_a_busy_link),
      TEST(test_time_overflows),
      TEST(test_resident_and_temporary),
      TEST(test_final_and_unread),
      TEST(test_bytes_overflow),
      TEST(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
