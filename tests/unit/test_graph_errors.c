/* SPDX-License-Identifier: Apache-2.0 */
/* Every message of the builder, compared whole. */
#include "support/graph_sketch.h"

/* -- Errors ---------------------------------------------------------------- */

static void locate(const void *state, uint32_t id, char *text,
                   size_t capacity) {
  snprintf(text, capacity, "%s:%u", (const char *)state, id + 1);
}

static void assert_failed(regal_context *context, regal_status status,
                          regal_status expected, const char *message) {
  assert_string_equal(regal_error(context), message);
  assert_int_equal(status, expected);
}

static void test_errors_while_adding(void **state) {
  regal_context *context = *state;
  regal_builder *b;
  regal_builder_create(context, &b);
  const int64_t huge = INT64_C(1) << 61;
  const regal_status bad = REGAL_BAD_INPUT;
  uint32_t id = 99;
  assert_failed(context, regal_builder_add_op(b, "x", -5, 0, 0, &id), bad,
                "op \"x\": run time -5 is negative");
  assert_failed(context, regal_builder_add_op(b, "x", 0, -6, 0, &id), bad,
                "op \"x\": temporary memory -6 is negative");
  assert_failed(context, regal_builder_add_op(b, "x", 0, 0, -7, &id), bad,
                "op \"x\": resident memory -7 is negative");
  assert_failed(context, regal_builder_add_op(b, NULL, 0, 0, 0, &id),
                REGAL_MISUSE, "op 0 has no name: the pointer is NULL");
  assert_failed(context, regal_builder_add_output(b, 0, 1, false), REGAL_MISUSE,
                "output of op 0, but only 0 ops were added");
  assert_int_equal(id, 99);
  assert_int_equal(regal_builder_add_op(b, "y", huge, huge, 1, &id), REGAL_OK);
  assert_int_equal(id, 0);
  assert_failed(context, regal_builder_add_op(b, "x", huge, 0, 0, NULL), bad,
                "op \"x\": with its run time of 2305843009213693952 the "
                "graph's total is beyond 2^62");
  assert_failed(context, regal_builder_add_op(b, "x", 0, huge, 0, NULL), bad,
                "op \"x\": with its temporary memory of 2305843009213693952 "
                "the graph's total is beyond 2^62");
  assert_failed(context, regal_builder_add_op(b, "x", 0, 0, INT64_MAX, NULL),
                bad,
                "op \"x\": with its resident memory of 9223372036854775807 "
                "the graph's total is beyond 2^62");
  assert_failed(context, regal_builder_add_output(b, 0, -1, false), bad,
                "op \"y\": output size -1 is negative");
  assert_failed(context, regal_builder_add_output(b, 0, huge - 1, false), bad,
                "op \"y\": with its output size of 2305843009213693951 the "
                "graph's total is beyond 2^62");
  assert_int_equal(regal_builder_add_output(b, 0, huge - 2, false), REGAL_OK);
  assert_failed(context, regal_builder_add_output(b, 0, 1, false), bad,
                "op \"y\": with its output size of 1 the graph's total is "
                "beyond 2^62");

  /* What failed left no trace. */
  regal_graph *graph;
  assert_int_equal(regal_builder_finish(b, &graph), REGAL_OK);
  assert_int_equal(graph->ops, 1);
  assert_int_equal(graph->tensors, 1);
  assert_true(graph->work_ns == huge && graph->tensor_bytes == huge - 2);
  regal_graph_free(graph);
}

static void assert_finish_fails(regal_builder *builder, regal_status expected,
                                const char *message) {
  regal_context *context = builder->context;
  regal_graph *graph = (regal_graph *)&context;
  regal_status status = regal_builder_finish(builder, &graph);
  assert_failed(context, status, expected, message);
  assert_ptr_equal(graph, &context); /* untouched */
}

static regal_builder *three_ops(regal_context *context, const char *file) {
  regal_builder *builder;
  regal_builder_create(context, &builder);
  assert_int_equal(add_sketch(builder, "abc", "a>b"), REGAL_OK);
  if (file)
    regal_builder_set_locator(builder, locate, file);
  return builder;
}

static void assert_input_fails(regal_context *context, const char *file,
                               uint32_t consumer, uint32_t producer,
                               uint32_t port, const char *message) {
  regal_builder *builder = three_ops(context, file);
  assert_int_equal(regal_builder_add_input(builder, consumer, producer, port),
                   REGAL_OK);
  assert_finish_fails(builder, REGAL_BAD_INPUT, message);
}

static void assert_control_fails(regal_context *context, const char *file,
                                 uint32_t before, uint32_t after,
                                 const char *message) {
  regal_builder *builder = three_ops(context, file);
  assert_int_equal(regal_builder_add_control(builder, before, after), REGAL_OK);
  assert_finish_fails(builder, REGAL_BAD_INPUT, message);
}

static void test_errors_of_edges(void **state) {
  regal_context *c = *state;
  assert_input_fails(c, NULL, 3, 0, 0,
                     "an input is for op 3, but the number of ops is 3");
  assert_input_fails(c, NULL, 1, 7, 0,
                     "op \"b\" reads from op 7, but the number of ops is 3");
  assert_input_fails(c, "m.pb", 1, 7, 0,
                     "m.pb:2: op \"b\" reads from op 7, but the number of ops "
                     "is 3");
  assert_input_fails(c, NULL, 2, 2, 0, "op \"c\" reads its own output 0");
  assert_input_fails(c, "m.pb", 2, 1, 5,
                     "m.pb:3: op \"c\" reads output 5 of op \"b\", which has "
                     "1 output");
  assert_control_fails(c, NULL, 0, UINT32_MAX,
                       "a control edge is for op 4294967295, but the number "
                       "of ops is 3");
  assert_control_fails(c, "m.pb", 3, 0,
                       "m.pb:1: op \"a\" waits for op 3, but the number of "
                       "ops is 3");
  assert_control_fails(c, NULL, 1, 1, "op \"b\" waits for itself");
}

static void test_errors_of_parameters(void **state) {
  regal_context *context = *state;
  regal_builder *b = three_ops(context, "m.pb");
  const int64_t most = (INT64_C(1) << 56) - 1; /* 64 of them stay below 2^62 */
  uint32_t parameter = 99;
  assert_failed(context, regal_builder_add_parameter(b, -3, &parameter),
                REGAL_BAD_INPUT, "parameter 0: size -3 is negative");
  assert_failed(context, regal_builder_add_parameter(b, most + 1, &parameter),
                REGAL_BAD_INPUT,
                "parameter 0: with its size of 72057594037927936 on each of "
                "64 devices the graph's total is beyond 2^62");
  assert_int_equal(parameter, 99);
  assert_int_equal(regal_builder_add_parameter(b, most, &parameter), REGAL_OK);
  assert_int_equal(parameter, 0);
  assert_failed(context, regal_builder_add_parameter(b, 1, NULL),
                REGAL_BAD_INPUT,
                "parameter 1: with its size of 1 on each of 64 devices the "
                "graph's total is beyond 2^62");
  assert_failed(context, regal_builder_add_output(b, 2, 61, false),
                REGAL_BAD_INPUT,
                "m.pb:3: op \"c\": with its output size of 61 the graph's "
                "total is beyond 2^62");
  regal_builder_add_parameter_use(b, 2, 1);
  assert_finish_fails(b, REGAL_BAD_INPUT,
                      "m.pb:3: op \"c\" reads parameter 1, but the number of "
                      "parameters is 1");
  b = three_ops(context, "m.pb");
  regal_builder_add_parameter(b, 1, NULL);
  regal_builder_add_parameter_use(b, 3, 0);
  assert_finish_fails(b, REGAL_BAD_INPUT,
                      "a parameter is read by op 3, but the number of ops is "
                      "3");
}

static void test_errors_of_marks(void **state) {
  regal_builder *b = three_ops(*state, "m.pb");
  regal_builder_set_may_reuse(b, 1, 1);
  assert_finish_fails(b, REGAL_BAD_INPUT,
                      "m.pb:2: output 1 of op \"b\" may reuse an input, but "
                      "the op has 1 output");
  b = three_ops(*state, NULL);
  regal_builder_set_may_reuse(b, UINT32_MAX, 0);
  assert_finish_fails(b, REGAL_BAD_INPUT,
                      "an output that may reuse an input is of op 4294967295, "
                      "but the number of ops is 3");
}

static void test_errors_of_whole_graphs(void **state) {
  regal_context *context = *state;
  regal_builder *builder;
  regal_builder_create(context, &builder);
  assert_finish_fails(builder, REGAL_BAD_INPUT, "the graph has no ops");

  builder = three_ops(context, "m.pb");
  regal_builder_set_next_id(builder, 1);
  regal_builder_add_op(builder, "d", 0, 0, 0, NULL);
  assert_finish_fails(builder, REGAL_MISUSE,
                      "m.pb:4: ops \"b\" and \"d\" have the same position 1");

  builder = three_ops(context, "m.pb");
  assert_failed(context, regal_builder_add_op(builder, "d", -1, 0, 0, NULL),
                REGAL_BAD_INPUT, "m.pb:4: op \"d\": run time -1 is negative");
  assert_failed(context, regal_builder_finish(builder, NULL), REGAL_MISUSE,
                "finish needs somewhere to put the graph");
}

static void test_null_is_misuse(void **state) {
  regal_graph *graph;
  assert_int_equal(regal_builder_create(NULL, NULL), REGAL_MISUSE);
  assert_int_equal(regal_builder_create(*state, NULL), REGAL_MISUSE);
  assert_int_equal(regal_builder_add_op(NULL, "", 0, 0, 0, NULL), REGAL_MISUSE);
  assert_int_equal(regal_builder_add_output(NULL, 0, 0, 0), REGAL_MISUSE);
  assert_int_equal(regal_builder_add_input(NULL, 0, 0, 0), REGAL_MISUSE);
  assert_int_equal(regal_builder_add_control(NULL, 0, 0), REGAL_MISUSE);
  assert_int_equal(regal_builder_add_parameter(NULL, 0, NULL), REGAL_MISUSE);
  assert_int_equal(regal_builder_add_parameter_use(NULL, 0, 0), REGAL_MISUSE);
  assert_int_equal(regal_builder_set_may_reuse(NULL, 0, 0), REGAL_MISUSE);
  assert_int_equal(regal_builder_finish(NULL, &graph), REGAL_MISUSE);
  regal_builder_free(NULL);
  regal_graph_free(NULL);
}

static void test_names_in_messages_stay_on_one_short_line(void **state) {
  regal_builder *builder;
  regal_builder_create(*state, &builder);
  assert_int_equal(regal_builder_add_op(builder, "a\n\tb\x7f", -1, 0, 0, NULL),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "op \"a??b?\": run time -1 is negative");
  char name[2001];
  memset(name, 'h', 1000);
  memset(name + 1000, 't', 1000);
  name[2000] = 0;
  regal_builder_add_op(builder, name, -1, 0, 0, NULL);
  char expected[200];
  snprintf(expected, sizeof expected,
           "op \"%.62s...%s\": run time -1 is "
           "negative",
           name, name + 2000 - 60);
  assert_string_equal(regal_error(*state), expected);
  regal_builder_free(builder);
}

/* -- Cycles ---------------------------------------------------------------- */

static void assert_cycle(regal_context *context, const char *names,
                         const char *edges, const char *message) {
  regal_builder *builder;
  regal_builder_create(context, &builder);
  assert_int_equal(add_sketch(builder, names, edges), REGAL_OK);
  regal_builder_set_locator(builder, locate, "model.pb");
  assert_finish_fails(builder, REGAL_BAD_INPUT, message);
}

static void test_cycles_are_named(void **state) {
  assert_cycle(*state, "ab", "a>b b>a",
               "model.pb:1: cycle: \"a\" -> \"b\" -> \"a\"");
  assert_cycle(*state, "xyz", "z:y y>z",
               "model.pb:2: cycle: \"y\" -> \"z\" -> \"y\"");
  /* Neither what leads to the cycle nor what follows it is named. */
  assert_cycle(*state, "abcdefg", "a>b b>e e>d d>c c>e c>f f>g a>g",
               "model.pb:3: cycle: \"c\" -> \"e\" -> \"d\" -> \"c\"");
  assert_cycle(*state, "abcdef", "a>b b>c c>d d>e e>f f>a",
               "model.pb:1: cycle: \"a\" -> \"b\" -> \"c\" -> \"d\" -> \"e\" "
               "-> \"f\" -> \"a\"");
  assert_cycle(*state, "abcdefgh", "a>b b>c c>d d>e e>f f>g g>h h>a",
               "model.pb:1: cycle: \"a\" -> \"b\" -> \"c\" -> ... 2 more ... "
               "-> \"f\" -> \"g\" -> \"h\" -> \"a\"");
}

static void test_while_loops_are_recognised(void **state) {
  static const char *const names[] = {"while/NextIteration_1",
                                      "while/next_iteration"};
  for (int i = 0; i < 2; i++) {
    regal_builder *builder;
    regal_builder_create(*state, &builder);
    regal_builder_add_op(builder, "merge", 0, 0, 0, NULL);
    regal_builder_add_op(builder, names[i], 0, 0, 0, NULL);
    regal_builder_add_control(builder, 0, 1);
    regal_builder_add_control(builder, 1, 0);
    char expected[200];
    snprintf(expected, sizeof expected,
             "cycle: \"merge\" -> \"%s\" -> \"merge\"; a while loop? --loops "
             "cut drops its back edges",
             names[i]);
    assert_finish_fails(builder, REGAL_BAD_INPUT, expected);
  }
}

static void test_a_cycle_of_many_long_names(void **state) {
  regal_builder *builder;
  regal_builder_create(*state, &builder);
  char name[301];
  memset(name, 'n', 300);
  name[300] = 0;
  for (uint32_t i = 0; i < 1000; i++) {
    regal_builder_add_op(builder, name, 0, 0, 0, NULL);
    regal_builder_add_control(builder, i, (i + 1) % 1000);
  }
  regal_graph *graph;
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_BAD_INPUT);
  assert_non_null(strstr(regal_error(*state), "\" -> ... 994 more ... -> \""));
  assert_string_equal(strrchr(regal_error(*state), 'n'), "n\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_errors_while_adding),
      CONTEXT_TEST(test_errors_of_edges),
      CONTEXT_TEST(test_errors_of_parameters),
      CONTEXT_TEST(test_errors_of_marks),
      CONTEXT_TEST(test_errors_of_whole_graphs),
      CONTEXT_TEST(test_null_is_misuse),
      CONTEXT_TEST(test_names_in_messages_stay_on_one_short_line),
      CONTEXT_TEST(test_cycles_are_named),
      CONTEXT_TEST(test_while_loops_are_recognised),
      CONTEXT_TEST(test_a_cycle_of_many_long_names),
  };
  return cmocka_run_group_tests_name("graph errors", tests, NULL, NULL);
}
