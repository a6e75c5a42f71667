/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule of a plan broken once, with the whole message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/plan_bench.h"

/* -- Rules ----------------------------------------------------------------- */

/* b reads a:0, c waits for a; a:1 is not read; d is alone. */
static void make_small_graph(bench *b) {
  add_ops(b, 4);
  add_output(b, 0, 8);
  add_output(b, 0, 8);
  add_input(b, 1, 0, 0);
  add_control(b, 0, 2);
  finish(b);
}

#define EXPECT_BROKEN(message, ...)                                            \
  do {                                                                         \
    static const regal_step steps[] = {__VA_ARGS__};                           \
    expect_broken(*state, steps, COUNT(steps), message);                       \
  } while (0)

static void test_names_out_of_range(void **state) {
  make_small_graph(*state);
  EXPECT_BROKEN("step 1: there is no op 4: the graph has 4", RUN(0, 0),
                RUN(4, 0));
  EXPECT_BROKEN("step 1: there is no device 2: the machine has 2", RUN(0, 0),
                RUN(1, 2));
  EXPECT_BROKEN("step 1: there is no device 65535: the machine has 2",
                RUN(0, 0), SEND(0, 0, 0, 65535));
  EXPECT_BROKEN("step 1: op \"a\" (id 0) has no output 2: it has 2", RUN(0, 0),
                SEND(0, 2, 0, 1));
  EXPECT_BROKEN("step 1: op \"a\" (id 0) has no output -2: it has 2", RUN(0, 0),
                SEND(0, -2, 0, 1));
  EXPECT_BROKEN("step 0: op \"a\" (id 0) runs on device 0, but the step also "
                "names device 1",
                SEND(0, REGAL_RUN, 0, 1));
}

static void test_runs_once(void **state) {
  make_small_graph(*state);
  EXPECT_BROKEN("step 2: op \"a\" (id 0) runs twice: it ran at step 0",
                RUN(0, 0), RUN(1, 0), RUN(0, 1));
  EXPECT_BROKEN("step 2: the plan ends, but 2 of 4 ops never ran; the first "
                "is \"b\" (id 1)",
                RUN(0, 0), RUN(2, 0));
  expect_broken(*state, NULL, 0,
                "step 0: the plan ends, but 4 of 4 ops never ran; the first is "
                "\"a\" (id 0)");
}

static void test_input_missing(void **state) {
  make_small_graph(*state);
  EXPECT_BROKEN("step 1: op \"b\" (id 1) runs on device 1 before its input "
                "\"a\":0 (id 0) is there: it is never sent there",
                RUN(0, 0), RUN(1, 1), RUN(2, 0), RUN(3, 0));
  EXPECT_BROKEN("step 1: op \"b\" (id 1) runs on device 1 before its input "
                "\"a\":0 (id 0) is there: it is sent later, at step 2",
                RUN(0, 0), RUN(1, 1), SEND(0, 0, 0, 1), RUN(2, 0), RUN(3, 0));
  EXPECT_BROKEN("step 0: op \"b\" (id 1) runs on device 1 before its input "
                "\"a\":0 (id 0) is there: its producer runs later, at step 1",
                RUN(1, 1), RUN(0, 0), SEND(0, 0, 0, 1), RUN(2, 0), RUN(3, 0));
  EXPECT_BROKEN("step 0: op \"b\" (id 1) runs on device 0 before its input "
                "\"a\":0 (id 0) is there: its producer runs later, at step 1",
                RUN(1, 0), RUN(0, 0), RUN(2, 0), RUN(3, 0));
}

static void test_control_broken(void **state) {
  make_small_graph(*state);
  EXPECT_BROKEN("step 0: op \"c\" (id 2) must run after op \"a\" (id 0) (a "
                "control edge), which runs at step 1",
                RUN(2, 1), RUN(0, 0), RUN(1, 0), RUN(3, 0));
  EXPECT_BROKEN("step 1: a control transfer from op \"a\" (id 0), but with "
                "control = wait there are none",
                RUN(0, 0), SEND(0, -1, 0, 1), RUN(2, 1), RUN(1, 0), RUN(3, 0));
}

static void test_transfer_not_needed(void **state) {
  make_small_graph(*state);
  EXPECT_BROKEN("step 1: \"a\":0 (id 0) is sent to device 1, where no op reads "
                "it",
                RUN(0, 0), SEND(0, 0, 0, 1), RUN(1, 0), RUN(2, 1), RUN(3, 1));
  EXPECT_BROKEN("step 1: \"a\":1 (id 0) is sent to device 1, where no op reads "
                "it",
                RUN(0, 0), SEND(0, 1, 0, 1), SEND(0, 0, 0, 1), RUN(1, 1),
                RUN(2, 1), RUN(3, 1));
  EXPECT_BROKEN("step 1: \"a\":0 (id 0) is sent to device 0, where it is made",
                RUN(0, 0), SEND(0, 0, 0, 0), RUN(1, 0), RUN(2, 0), RUN(3, 0));
  EXPECT_BROKEN("step 3: \"a\":0 (id 0) is sent to device 1 twice: it was sent "
                "at step 1",
                RUN(0, 0), SEND(0, 0, 0, 1), RUN(1, 1), SEND(0, 0, 0, 1),
                RUN(2, 0), RUN(3, 0));
  EXPECT_BROKEN("step 1: device 1 sends \"a\":0 (id 0), which is made on "
                "device 0",
                RUN(0, 0), SEND(0, 0, 1, 0), RUN(1, 0), RUN(2, 0), RUN(3, 0));
  EXPECT_BROKEN("step 0: \"a\":0 (id 0) is sent before it is made: its "
                "producer runs at step 1",
                SEND(0, 0, 0, 1), RUN(0, 0), RUN(1, 1), RUN(2, 0), RUN(3, 0));
}

static void test_control_transfers_broken(void **state) {
  static const regal_step good[] = {RUN(0, 0), SEND(0, -1, 0, 1), RUN(2, 1),
                                    RUN(1, 0), RUN(3, 0)};
  bench *b = *state;
  b->machine.control_transfers = true;
  make_small_graph(b);
  expect_runtime(b, good, COUNT(good), 30);
  EXPECT_BROKEN("step 1: op \"c\" (id 2) runs on device 1 before it knows of "
                "the end of \"a\" (id 0): it is never sent there",
                RUN(0, 0), RUN(2, 1), RUN(1, 0), RUN(3, 0));
  EXPECT_BROKEN("step 1: op \"c\" (id 2) runs on device 1 before it knows of "
                "the end of \"a\" (id 0): it is sent later, at step 2",
                RUN(0, 0), RUN(2, 1), SEND(0, -1, 0, 1), RUN(1, 0), RUN(3, 0));
  EXPECT_BROKEN("step 0: op \"c\" (id 2) runs on device 0 before it knows of "
                "the end of \"a\" (id 0): its producer runs later, at step 1",
                RUN(2, 0), RUN(0, 0), RUN(1, 0), RUN(3, 0));
  EXPECT_BROKEN("step 1: the end of \"a\" (id 0) is sent to device 1, where no "
                "op waits for it",
                RUN(0, 0), SEND(0, -1, 0, 1), RUN(2, 0), RUN(1, 0), RUN(3, 1));
  EXPECT_BROKEN("step 0: the end of \"a\" (id 0) is sent before it is made: "
                "its producer runs at step 1",
                SEND(0, -1, 0, 1), RUN(0, 0), RUN(2, 1), RUN(1, 0), RUN(3, 0));
  EXPECT_BROKEN("step 2: the end of \"a\" (id 0) is sent to device 1 twice: it "
                "was sent at step 1",
                RUN(0, 0), SEND(0, -1, 0, 1), SEND(0, -1, 0, 1), RUN(2, 1),
                RUN(1, 0), RUN(3, 0));
}

static void test_op_cannot_run_there(void **state) {
  static const regal_step good[] = {RUN(0, 0), RUN(1, 0), RUN(2, 0), RUN(3, 1)};
  uint32_t timed_op[] = {1};
  int64_t timed_ns[] = {5, REGAL_NEVER};
  bench *b = *state;
  make_small_graph(b);
  b->machine.timed_ops = 1;
  b->machine.timed_op = timed_op;
  b->machine.timed_ns = timed_ns;
  expect_runtime(b, good, COUNT(good), 25);
  EXPECT_BROKEN("step 2: op \"b\" (id 1) cannot run on device 1", RUN(0, 0),
                SEND(0, 0, 0, 1), RUN(1, 1), RUN(2, 0), RUN(3, 0));
}

static void test_pin_elsewhere(void **state) {
  static const regal_step good[] = {RUN(0, 0), RUN(1, 0), RUN(2, 1), RUN(3, 0)};
  uint32_t pin[] = {REGAL_NONE, 0, 1, REGAL_NONE};
  bench *b = *state;
  make_small_graph(b);
  b->machine.pin = pin;
  expect_runtime(b, good, COUNT(good), 30);
  EXPECT_BROKEN("step 2: op \"c\" (id 2) runs on device 0, but it is pinned to "
                "device 1",
                RUN(0, 0), RUN(1, 0), RUN(2, 0), RUN(3, 0));
}

static void test_group_split(void **state) {
  static const regal_step good[] = {RUN(0, 0), RUN(1, 0), RUN(2, 1), RUN(3, 0)};
  uint32_t group[] = {REGAL_NONE, 3, REGAL_NONE, 3};
  bench *b = *state;
  make_small_graph(b);
  b->machine.group = group;
  expect_runtime(b, good, COUNT(good), 30);
  EXPECT_BROKEN("step 3: op \"d\" (id 3) runs on device 1, but op \"b\" (id 1) "
                "of the same group runs on device 0",
                RUN(0, 0), RUN(1, 0), RUN(2, 0), RUN(3, 1));
  group[0] = 4;
  assert_int_equal(verify(b, good, COUNT(good)), REGAL_MISUSE);
  assert_string_equal(regal_error(b->context),
                      "machine: group 4 is not below the number of ops");
}

/* Messages stay one line and whole whatever an op is called. */
static void test_strange_names(void **state) {
  static const regal_step twice[] = {RUN(0, 0), RUN(0, 0)};
  char name[1000], expected[400];
  bench *b = *state;
  memset(name, 'x', sizeof name);
  name[999] = 0;
  add_op(b, name, 1, 0, 0);
  add_op(b, "two\nlines", 1, 0, 0);
  finish(b);
  snprintf(expected, sizeof expected,
           "step 1: op \"%.200s\" (id 0) runs twice: it ran at step 0", name);
  expect_broken(b, twice, 2, expected);
  expect_broken(b, twice, 1,
                "step 1: the plan ends, but 1 of 2 ops never ran; the first is "
                "\"two?lines\" (id 1)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_names_out_of_range),  TEST(test_runs_once),
      TEST(test_input_missing),       TEST(test_control_broken),
      TEST(test_transfer_not_needed), TEST(test_control_transfers_broken),
      TEST(test_op_cannot_run_there), TEST(test_pin_elsewhere),
      TEST(test_group_split),         TEST(test_strange_names),
  };
  return cmocka_run_group_tests_name("verify_rules", tests, NULL, NULL);
}
