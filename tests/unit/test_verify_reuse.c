/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier against memory computed by hand: outputs that are written over
 * an input, and parameters that several ops read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/plan_bench.h"

static void may_reuse(bench *b, uint32_t op, uint32_t port) {
  assert_int_equal(regal_builder_set_may_reuse(b->builder, op, port), REGAL_OK);
}

static void add_reusing(bench *b, uint32_t op, uint32_t port, int64_t bytes) {
  add_output(b, op, bytes);
  may_reuse(b, op, port);
}

/* Memory of the step's own device during and after each step. */
static void expect_bytes(bench *b, const regal_step *steps, uint32_t count,
                         const int64_t (*memory)[2]) {
  assert_string_equal(verify(b, steps, count) ? regal_error(b->context) : "",
                      "");
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(b->timeline.during_bytes[i][0], memory[i][0]);
    assert_int_equal(b->timeline.after_bytes[i][0], memory[i][1]);
  }
}

static void expect_reused(bench *b, const uint32_t *reused, size_t size) {
  assert_int_equal(size, b->graph->tensors * sizeof *reused);
  assert_memory_equal(b->timeline.reused, reused, size);
}

#define EXPECT_REUSED(...)                                                     \
  expect_reused(b, (const uint32_t[]){__VA_ARGS__},                            \
                sizeof(const uint32_t[]){__VA_ARGS__})

/* -- Outputs over inputs --------------------------------------------------- */

/* a makes 100 bytes; b, c and d read the one before and make 100, 60 and 80. */
static void make_chain(bench *b) {
  static const int64_t bytes[] = {100, 100, 60, 80};
  add_ops(b, 4);
  for (uint32_t op = 0; op < 4; op++) {
    add_output(b, op, bytes[op]);
    if (op)
      add_input(b, op, op - 1, 0);
  }
}

static const regal_step chain_plan[] = {RUN(0, 0), RUN(1, 0), RUN(2, 0),
                                        RUN(3, 0)};

static void test_chain(void **state) {
  static const int64_t memory[][2] = {
      {100, 100}, {100, 100}, {100, 60}, {140, 0}};
  bench *b = *state;
  make_chain(b);
  for (uint32_t op = 0; op < 4; op++)
    may_reuse(b, op, 0);
  finish(b);
  expect_bytes(b, chain_plan, COUNT(chain_plan), memory);
  /* a has no input; d does not fit into the 60 bytes of c. */
  EXPECT_REUSED(REGAL_NONE, 0, 1, REGAL_NONE);
  assert_int_equal(b->cost.peak_bytes[0], 140);
  assert_int_equal(b->timeline.peak_step[0], 3);
  assert_int_equal(b->cost.runtime_ns, 40);
}

static void test_only_what_is_marked(void **state) {
  static const int64_t without[][2] = {
      {100, 100}, {200, 100}, {160, 60}, {140, 0}};
  static const int64_t with_c[][2] = {
      {100, 100}, {200, 100}, {100, 60}, {140, 0}};
  bench *b = *state;
  make_chain(b);
  finish(b);
  expect_bytes(b, chain_plan, COUNT(chain_plan), without);
  EXPECT_REUSED(REGAL_NONE, REGAL_NONE, REGAL_NONE, REGAL_NONE);
  b->graph->may_reuse[2] = 1;
  expect_bytes(b, chain_plan, COUNT(chain_plan), with_c);
  EXPECT_REUSED(REGAL_NONE, REGAL_NONE, 1, REGAL_NONE);
}

/* Of two readers the second may write over the tensor, whichever that is. */
static void test_the_last_reader(void **state) {
  static const regal_step forward[] = {RUN(0, 0), RUN(1, 0), RUN(2, 0)};
  static const regal_step backward[] = {RUN(0, 0), RUN(2, 0), RUN(1, 0)};
  static const int64_t memory[][2] = {{8, 8}, {16, 16}, {16, 16}};
  bench *b = *state;
  add_ops(b, 3);
  add_output(b, 0, 8);
  for (uint32_t op = 1; op <= 2; op++) {
    add_final(b, op, 8);
    may_reuse(b, op, 0);
    add_input(b, op, 0, 0);
  }
  finish(b);
  expect_bytes(b, forward, COUNT(forward), memory);
  EXPECT_REUSED(REGAL_NONE, REGAL_NONE, 0);
  expect_bytes(b, backward, COUNT(backward), memory);
  EXPECT_REUSED(REGAL_NONE, 0, REGAL_NONE);
}

/* A transfer out is a use: what is still to be sent cannot be written over. */
static void test_still_to_be_sent(void **state) {
  static const regal_step early[] = {RUN(0, 0), SEND(0, 0, 0, 1), RUN(1, 0),
                                     RUN(2, 1)};
  static const regal_step late[] = {RUN(0, 0), RUN(1, 0), SEND(0, 0, 0, 1),
                                    RUN(2, 1)};
  static const int64_t memory_early[][2] = {{8, 8}, {8, 8}, {8, 0}, {8, 0}};
  static const int64_t memory_late[][2] = {{8, 8}, {12, 8}, {8, 0}, {8, 0}};
  bench *b = *state;
  add_ops(b, 3);
  add_output(b, 0, 8);
  add_input(b, 1, 0, 0);
  add_input(b, 2, 0, 0);
  add_reusing(b, 1, 0, 4);
  add_reusing(b, 2, 0, 4);
  finish(b);
  /* Both devices write over their own copy of the tensor. */
  expect_bytes(b, early, COUNT(early), memory_early);
  EXPECT_REUSED(REGAL_NONE, 0, 0);
  assert_int_equal(b->cost.peak_bytes[0], 8);
  assert_int_equal(b->cost.peak_bytes[1], 8);
  expect_bytes(b, late, COUNT(late), memory_late);
  EXPECT_REUSED(REGAL_NONE, REGAL_NONE, 0);
  assert_int_equal(b->cost.peak_bytes[0], 12);
  assert_int_equal(b->cost.peak_bytes[1], 8);
}

/* A final tensor lives where it was made; its copy elsewhere dies as usual. */
static void test_final_input(void **state) {
  static const regal_step at_home[] = {RUN(0, 0), RUN(1, 0)};
  static const regal_step abroad[] = {RUN(0, 0), SEND(0, 0, 0, 1), RUN(1, 1)};
  static const int64_t memory_at_home[][2] = {{8, 8}, {16, 8}};
  static const int64_t memory_abroad[][2] = {{8, 8}, {8, 8}, {8, 0}};
  bench *b = *state;
  add_ops(b, 2);
  add_final(b, 0, 8);
  add_input(b, 1, 0, 0);
  add_reusing(b, 1, 0, 8);
  finish(b);
  expect_bytes(b, at_home, COUNT(at_home), memory_at_home);
  EXPECT_REUSED(REGAL_NONE, REGAL_NONE);
  expect_bytes(b, abroad, COUNT(abroad), memory_abroad);
  EXPECT_REUSED(REGAL_NONE, 0);
}

/* x, y and z make 50, 100 and 100 bytes, which "op" reads in the order x, y, z;
 * z has another reader, which comes later. */
static void make_three_inputs(bench *b) {
  static const int64_t bytes[] = {50, 100, 100};
  for (uint32_t op = 0; op < 3; op++) {
    add_op(b, (char[]){(char)('x' + op), 0}, 10, 0, 0);
    add_output(b, op, bytes[op]);
  }
  add_op(b, "op", 10, 7, 0);
  add_op(b, "later", 10, 0, 0);
  for (uint32_t op = 0; op < 3; op++)
    add_input(b, 3, op, 0);
  add_input(b, 4, 2, 0);
}

static const regal_step three_plan[] = {RUN(0, 0), RUN(1, 0), RUN(2, 0),
                                        RUN(3, 0), RUN(4, 0)};

/* Ports choose in their order, each the first input that fits and is free. */
static void test_two_outputs(void **state) {
  static const int64_t memory[][2] = {
      {50, 50}, {150, 150}, {250, 250}, {257, 100}, {100, 0}};
  bench *b = *state;
  make_three_inputs(b);
  add_reusing(b, 3, 0, 50);
  add_reusing(b, 3, 1, 100);
  finish(b);
  expect_bytes(b, three_plan, COUNT(three_plan), memory);
  EXPECT_REUSED(REGAL_NONE, REGAL_NONE, REGAL_NONE, 0, 1);
  assert_int_equal(b->cost.max_peak_bytes, 257);
}

/* No output waits for a better fit: port 0 takes y, and nothing is left for
 * port 1, for x is too small and z does not die. Outputs without the mark and
 * outputs of 0 bytes take nothing. */
static void test_first_fit(void **state) {
  static const int64_t memory[][2] = {
      {50, 50}, {150, 150}, {250, 250}, {390, 100}, {100, 0}};
  bench *b = *state;
  make_three_inputs(b);
  add_output(b, 3, 30);
  add_reusing(b, 3, 1, 0);
  add_reusing(b, 3, 2, 51);
  add_reusing(b, 3, 3, 100);
  add_output(b, 3, 3);
  add_reusing(b, 3, 5, 20);
  finish(b);
  /* 250 + 30 + 100 + 3 + 7 temporary; 51 goes over y, 20 over x. */
  expect_bytes(b, three_plan, COUNT(three_plan), memory);
  EXPECT_REUSED(REGAL_NONE, REGAL_NONE, REGAL_NONE, REGAL_NONE, REGAL_NONE, 1,
                REGAL_NONE, REGAL_NONE, 0);
}

/* An input can be written over once, even when two outputs would fit in. */
static void test_taken_once(void **state) {
  static const regal_step plan[] = {RUN(0, 0), RUN(1, 0)};
  static const int64_t memory[][2] = {{100, 100}, {140, 80}};
  bench *b = *state;
  add_ops(b, 2);
  add_output(b, 0, 100);
  add_input(b, 1, 0, 0);
  for (uint32_t port = 0; port < 2; port++) {
    add_final(b, 1, 40);
    may_reuse(b, 1, port);
  }
  finish(b);
  expect_bytes(b, plan, COUNT(plan), memory);
  EXPECT_REUSED(REGAL_NONE, 0, REGAL_NONE);
}

/* A plan's memory limit counts what is left after reuse. */
static void test_limit(void **state) {
  bench *b = *state;
  make_chain(b);
  for (uint32_t op = 0; op < 4; op++)
    may_reuse(b, op, 0);
  finish(b);
  b->machine.memory_limit[0] = 130;
  expect_runtime(b, chain_plan, COUNT(chain_plan), 40);
  assert_int_equal(b->cost.excess_bytes, 10);
}

/* -- Parameters ------------------------------------------------------------ */

static uint32_t add_parameter(bench *b, int64_t bytes) {
  uint32_t parameter;
  assert_int_equal(regal_builder_add_parameter(b->builder, bytes, &parameter),
                   REGAL_OK);
  return parameter;
}

static void add_use(bench *b, uint32_t op, uint32_t parameter) {
  assert_int_equal(regal_builder_add_parameter_use(b->builder, op, parameter),
                   REGAL_OK);
}

/* a and b read p (1000 bytes), b and c read q (200); c has 30 resident bytes of
 * its own, d reads nothing. */
static void make_sharing_graph(bench *b) {
  add_op(b, "a", 10, 0, 0);
  add_op(b, "b", 10, 0, 0);
  add_op(b, "c", 10, 4, 30);
  add_op(b, "d", 10, 0, 0);
  uint32_t p = add_parameter(b, 1000), q = add_parameter(b, 200);
  add_use(b, 0, p);
  add_use(b, 1, p);
  add_use(b, 1, q);
  add_use(b, 2, q);
  add_output(b, 3, 5);
  finish(b);
}

static void expect_parameters(const bench *b, uint32_t device, uint32_t count,
                              int64_t bytes, int64_t peak) {
  assert_int_equal(b->timeline.parameters[device], count);
  assert_int_equal(b->timeline.parameter_bytes[device], bytes);
  assert_int_equal(b->cost.peak_bytes[device], peak);
}

/* They are there from the first step to the last. */
static void test_parameters_together(void **state) {
  static const regal_step plan[] = {RUN(3, 0), RUN(0, 0), RUN(1, 0), RUN(2, 0)};
  static const int64_t memory[][2] = {
      {1235, 1230}, {1230, 1230}, {1230, 1230}, {1234, 1230}};
  bench *b = *state;
  make_sharing_graph(b);
  expect_bytes(b, plan, COUNT(plan), memory);
  expect_parameters(b, 0, 2, 1200, 1235);
  expect_parameters(b, 1, 0, 0, 0);
  assert_int_equal(b->cost.max_peak_bytes, 1235);
}

/* Each device holds what its own ops read. */
static void test_parameters_apart(void **state) {
  static const regal_step plan[] = {RUN(0, 0), RUN(3, 1), RUN(1, 2), RUN(2, 2)};
  static const int64_t memory[][2] = {
      {1000, 1000}, {5, 0}, {1230, 1230}, {1234, 1230}};
  bench *b = *state;
  make_sharing_graph(b);
  b->machine.devices = 4;
  b->machine.memory_limit[0] = 999;
  b->machine.memory_limit[2] = 1200;
  expect_bytes(b, plan, COUNT(plan), memory);
  expect_parameters(b, 0, 1, 1000, 1000);
  expect_parameters(b, 1, 0, 0, 5);
  expect_parameters(b, 2, 2, 1200, 1234);
  expect_parameters(b, 3, 0, 0, 0);
  assert_int_equal(b->cost.excess_bytes, 1 + 34);
}

/* The last device has the highest bit of a word. */
static void test_parameters_on_device_63(void **state) {
  static const regal_step plan[] = {RUN(0, 63), RUN(3, 62), RUN(1, 63),
                                    RUN(2, 0)};
  bench *b = *state;
  make_sharing_graph(b);
  regal_test_plain_machine(&b->machine, 64);
  expect_runtime(b, plan, COUNT(plan), 20);
  expect_parameters(b, 0, 1, 200, 234);
  expect_parameters(b, 62, 0, 0, 5);
  expect_parameters(b, 63, 2, 1200, 1200);
}

static void test_parameter_that_nobody_reads(void **state) {
  static const regal_step plan[] = {RUN(0, 0)};
  bench *b = *state;
  add_ops(b, 1);
  add_parameter(b, 77);
  finish(b);
  expect_runtime(b, plan, COUNT(plan), 10);
  expect_parameters(b, 0, 0, 0, 0);
}

static void test_parameters_overflow(void **state) {
  static const regal_step together[] = {RUN(3, 0), RUN(0, 0), RUN(1, 0),
                                        RUN(2, 0)};
  bench *b = *state;
  make_sharing_graph(b);
  b->graph->parameter_bytes[1] = INT64_MAX - 999;
  assert_int_equal(verify(b, together, COUNT(together)), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "step 2: device 0 holds more bytes than 64 bits can "
                      "count");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_chain),
      TEST(test_only_what_is_marked),
      TEST(test_the_last_reader),
      TEST(test_still_to_be_sent),
      TEST(test_final_input),
      TEST(test_two_outputs),
      TEST(test_first_fit),
      TEST(test_taken_once),
      TEST(test_limit),
      TEST(test_parameters_together),
      TEST(test_parameters_apart),
      TEST(test_parameters_on_device_63),
      TEST(test_parameter_that_nobody_reads),
      TEST(test_parameters_overflow),
  };
  return cmocka_run_group_tests_name("verify: reuse", tests, NULL, NULL);
}
