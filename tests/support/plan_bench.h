/* SPDX-License-Identifier: Apache-2.0 */
/* A graph, a machine and a verified plan on the bench: what tests of single
 * plans share. Include after cmocka.h. */
#ifndef REGAL_TESTS_PLAN_BENCH_H
#define REGAL_TESTS_PLAN_BENCH_H

#include <stdlib.h>
#include <string.h>

#include "cost/verify/verify.h"
#include "support/random_cases.h"

#define RUN(op, device)                                                        \
  { op, REGAL_RUN, device, device }
#define SEND(op, port, from, to)                                               \
  { op, port, from, to }
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* What a test works on; made anew for each. */
typedef struct bench {
  regal_context *context;
  regal_builder *builder;
  regal_graph *graph;
  regal_machine machine;
  regal_cost cost;
  regal_timeline timeline;
} bench;

static inline int set_up(void **state) {
  bench *b = calloc(1, sizeof *b);
  assert_non_null(b);
  assert_int_equal(regal_context_create(&b->context, NULL), REGAL_OK);
  assert_int_equal(regal_builder_create(b->context, &b->builder), REGAL_OK);
  regal_test_plain_machine(&b->machine, 2);
  b->timeline.context = b->context;
  *state = b;
  return 0;
}

static inline int tear_down(void **state) {
  bench *b = *state;
  regal_timeline_free(&b->timeline);
  regal_builder_free(b->builder);
  regal_graph_free(b->graph);
  assert_int_equal(regal_bytes_in_use(b->context), 0);
  regal_context_free(b->context);
  free(b);
  return 0;
}

static inline void add_op(bench *b, const char *name, int64_t run_ns,
                          int64_t temporary, int64_t resident) {
  uint32_t id;
  assert_int_equal(
      regal_builder_add_op(b->builder, name, run_ns, temporary, resident, &id),
      REGAL_OK);
}

/* Ops "a", "b", ... of 10 ns each. */
static inline void add_ops(bench *b, int count) {
  for (int op = 0; op < count; op++)
    add_op(b, (char[]){(char)('a' + op), 0}, 10, 0, 0);
}

static inline void add_output(bench *b, uint32_t op, int64_t bytes) {
  assert_int_equal(regal_builder_add_output(b->builder, op, bytes, false),
                   REGAL_OK);
}

static inline void add_final(bench *b, uint32_t op, int64_t bytes) {
  assert_int_equal(regal_builder_add_output(b->builder, op, bytes, true),
                   REGAL_OK);
}

static inline void add_input(bench *b, uint32_t op, uint32_t from,
                             uint32_t port) {
  assert_int_equal(regal_builder_add_input(b->builder, op, from, port),
                   REGAL_OK);
}

static inline void add_control(bench *b, uint32_t before, uint32_t after) {
  assert_int_equal(regal_builder_add_control(b->builder, before, after),
                   REGAL_OK);
}

static inline void finish(bench *b) {
  regal_builder *builder = b->builder;
  b->builder = NULL;
  assert_int_equal(regal_builder_finish(builder, &b->graph), REGAL_OK);
}

static inline regal_status verify(bench *b, const regal_step *steps,
                                  uint32_t count) {
  regal_plan plan = {b->context, count, (regal_step *)steps};
  regal_timeline_free(&b->timeline);
  return regal_verify_plan(b->context, b->graph, &b->machine, &plan, &b->cost,
                           &b->timeline);
}

static inline void expect_runtime(bench *b, const regal_step *steps,
                                  uint32_t count, int64_t runtime) {
  assert_string_equal(verify(b, steps, count) ? regal_error(b->context) : "",
                      "");
  assert_int_equal(b->cost.runtime_ns, runtime);
}

/* The rule that is broken, and outputs untouched. */
static inline void expect_broken(bench *b, const regal_step *steps,
                                 uint32_t count, const char *message) {
  regal_plan plan = {b->context, count, (regal_step *)steps};
  regal_cost cost, before;
  regal_timeline timeline, timeline_before;
  memset(&before, 0x5a, sizeof before);
  memset(&timeline_before, 0x5a, sizeof timeline_before);
  memcpy(&cost, &before, sizeof cost);
  memcpy(&timeline, &timeline_before, sizeof timeline);
  size_t held = regal_bytes_in_use(b->context);
  assert_int_equal(regal_verify_plan(b->context, b->graph, &b->machine, &plan,
                                     &cost, &timeline),
                   REGAL_INVALID_PLAN);
  assert_string_equal(regal_error(b->context), message);
  assert_memory_equal(&cost, &before, sizeof cost);
  assert_memory_equal(&timeline, &timeline_before, sizeof timeline);
  assert_int_equal(regal_bytes_in_use(b->context), held);
}

/* -- The paper's example, its appendix "Placement and scheduling example" -- */

/* Tensors A to E, sizes 1, 2, 4, 8, 16, so that a number of bytes says which
 * of them are in memory. Op 3 is on the second device. */
enum { A = 1, B = 2, C = 4, D = 8, E = 16 };

static const regal_step paper_plan[] = {
    RUN(0, 0), SEND(0, 1, 0, 1), RUN(1, 0), RUN(2, 1),
    RUN(3, 0), SEND(2, 0, 1, 0), RUN(4, 0)};

static inline void make_paper_graph(bench *b) {
  for (int op = 1; op <= 5; op++)
    add_op(b, (char[]){(char)('0' + op), 0}, 10, 0, 0);
  add_output(b, 0, A);
  add_output(b, 0, B);
  add_output(b, 1, C);
  add_output(b, 2, D);
  add_output(b, 3, E);
  add_input(b, 1, 0, 0);
  add_input(b, 2, 0, 1);
  add_input(b, 3, 1, 0);
  add_input(b, 4, 2, 0);
  add_input(b, 4, 3, 0);
  finish(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
