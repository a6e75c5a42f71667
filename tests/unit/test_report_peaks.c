/* SPDX-License-Identifier: Apache-2.0 */
/* What the explanation of a plan says about memory that is reused or shared.
 * (tests/unit/test_report.c has the rest of the explanation.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cost/model/problem.h"
#include "support/plan_bench.h"

/* The explanation from the first peak on. */
static void expect_peaks(bench *b, const regal_step *steps, uint32_t count,
                         const char *expected) {
  regal_plan plan = {b->context, count, (regal_step *)steps};
  regal_problem problem = {.graph = b->graph, .machine = &b->machine};
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  assert_int_equal(regal_report_explain(b->context, &problem, &plan, stream),
                   REGAL_OK);
  fclose(stream);
  const char *peaks = strstr(text, "peak of device 0");
  assert_non_null(peaks);
  assert_string_equal(peaks, expected);
  free(text);
}

/* a and b make 300 and 100 bytes; c reads both, needs 10 more while it runs,
 * and makes 300 and 50, which may be written over them, and 40, which may not.
 * a and c read a parameter of 100 bytes, c also one of 50. */
static void make_graph(bench *b) {
  uint32_t both, one;
  add_op(b, "a", 10, 0, 0);
  add_op(b, "b", 10, 0, 0);
  add_op(b, "c", 10, 10, 50);
  add_output(b, 0, 300);
  add_output(b, 1, 100);
  add_input(b, 2, 0, 0);
  add_input(b, 2, 1, 0);
  add_output(b, 2, 300);
  add_output(b, 2, 50);
  add_output(b, 2, 40);
  regal_builder_set_may_reuse(b->builder, 2, 0);
  regal_builder_set_may_reuse(b->builder, 2, 1);
  regal_builder_add_parameter(b->builder, 100, &both);
  regal_builder_add_parameter(b->builder, 50, &one);
  regal_builder_add_parameter_use(b->builder, 0, both);
  regal_builder_add_parameter_use(b->builder, 2, both);
  regal_builder_add_parameter_use(b->builder, 2, one);
  finish(b);
}

static void test_written_over(void **state) {
  static const regal_step plan[] = {RUN(0, 0), RUN(1, 0), RUN(2, 0)};
  make_graph(*state);
  expect_peaks(
      *state, plan, COUNT(plan),
      "peak of device 0: 650 B at step 2: op \"c\" (id 2) on "
      "device 0\n"
      "  50 B          7.7%  resident\n"
      "  150 B        23.1%  2 shared parameters\n"
      "  10 B          1.5%  temporary\n"
      "  300 B        46.2%  \"a\":0 (id 0), over which \"c\":0 (id 2) "
      "is written\n"
      "  100 B        15.4%  \"b\":0 (id 1), over which \"c\":1 (id 2) "
      "is written\n"
      "  40 B          6.2%  \"c\":2 (id 2)\n"
      "\n"
      "peak of device 1: not used\n");
}

/* Each device holds the parameter; at a transfer nothing is written over. */
static void test_parameter_on_two_devices(void **state) {
  static const regal_step plan[] = {RUN(0, 0), RUN(1, 1), SEND(0, 0, 0, 1),
                                    RUN(2, 1)};
  make_graph(*state);
  expect_peaks(
      *state, plan, COUNT(plan),
      "peak of device 0: 400 B at step 0: op \"a\" (id 0) on "
      "device 0\n"
      "  100 B        25.0%  1 shared parameter\n"
      "  300 B        75.0%  \"a\":0 (id 0)\n"
      "\n"
      "peak of device 1: 650 B at step 3: op \"c\" (id 2) on "
      "device 1\n"
      "  50 B          7.7%  resident\n"
      "  150 B        23.1%  2 shared parameters\n"
      "  10 B          1.5%  temporary\n"
      "  300 B        46.2%  \"a\":0 (id 0), over which \"c\":0 (id 2) "
      "is written\n"
      "  100 B        15.4%  \"b\":0 (id 1), over which \"c\":1 (id 2) "
      "is written\n"
      "  40 B          6.2%  \"c\":2 (id 2)\n");
}

/* What was once written over an input is an ordinary tensor from then on. */
static void test_peak_after_reuse(void **state) {
  static const regal_step plan[] = {RUN(0, 0), RUN(1, 0), RUN(2, 0)};
  bench *b = *state;
  add_ops(b, 3);
  for (uint32_t op = 0; op < 3; op++) {
    add_output(b, op, 100 + op);
    if (op)
      add_input(b, op, op - 1, 0);
  }
  add_output(b, 1, 8);
  add_input(b, 2, 1, 1);
  regal_builder_set_may_reuse(b->builder, 1, 1);
  finish(b);
  b->machine.devices = 1;
  expect_peaks(b, plan, COUNT(plan),
               "peak of device 0: 211 B at step 2: op \"c\" (id 2) on "
               "device 0\n"
               "  102 B        48.3%  \"c\":0 (id 2)\n"
               "  101 B        47.9%  \"b\":0 (id 1)\n"
               "  8 B           3.8%  \"b\":1 (id 1)\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_written_over),
      TEST(test_parameter_on_two_devices),
      TEST(test_peak_after_reuse),
  };
  return cmocka_run_group_tests_name("report: peaks", tests, NULL, NULL);
}
