/* SPDX-License-Identifier: Apache-2.0 */
/* Which outputs of a CostGraphDef may be written over an input. */
#include <stdio.h>

#include "support/graph_sketch.h"
#include "support/loaded_graph.h"

static bool reuses(const regal_graph *graph, const char *name, uint32_t port) {
  return graph->may_reuse[loaded_tensor(graph, name, port)];
}

/* -- Aliases --------------------------------------------------------------- */

/* What each op's output says of its alias is in the op's name. */
static const char aliases[] =
    "node { name: 'a' output_info { size: 8 } }"
    "node { name: 'unset' id: 1 input_info { preceding_node: 0 }"
    "       output_info { size: 4 } }"
    "node { name: 'none' id: 2 input_info { preceding_node: 0 }"
    "       output_info { size: 8 alias_input_port: -1 } }"
    "node { name: 'second' id: 3 input_info { preceding_node: 0 }"
    "       input_info { preceding_node: 1 }"
    "       output_info { size: 2 alias_input_port: 1 }"
    "       output_info { size: 1 alias_input_port: -1 } }"
    "node { name: 'far' id: 4 input_info { preceding_node: 0 }"
    "       output_info { size: 8 alias_input_port: 1 } }"
    "node { name: 'empty' id: 5 input_info { preceding_node: 0 }"
    "       output_info { size: 0 alias_input_port: 0 } }";

static void test_aliases_may_be_reused(void **state) {
  regal_options options = loaded_options(*state, "aliases", "reuse", NULL);
  regal_graph *graph = loaded_graph(*state, aliases, &options);
  assert_false(reuses(graph, "a", 0)); /* has no input */
  assert_true(reuses(graph, "unset", 0));
  assert_false(reuses(graph, "none", 0));
  assert_true(reuses(graph, "second", 0));
  assert_false(reuses(graph, "second", 1));
  assert_false(reuses(graph, "far", 0));
  assert_false(reuses(graph, "empty", 0));
  assert_int_equal(graph->reusing_tensors, 2);
  /* Nothing else changes: sizes, edges. */
  assert_int_equal(loaded_bytes(graph, "unset", 0), 4);
  assert_true(loaded_reads(graph, "second", "unset", 0));
  assert_int_equal(graph->controls, 0);
  loaded_expect_notes(graph, 1);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "2 outputs may be written over an input no longer needed: "
                     "6 bytes");
  regal_graph_free(graph);
}

static void test_no_marks_by_default(void **state) {
  static const char *const choices[] = {"ignore", "share"};
  for (int i = 0; i < 2; i++) {
    regal_options options = loaded_options(*state, "aliases", choices[i], NULL);
    regal_graph *graph = loaded_graph(*state, aliases, &options);
    assert_int_equal(graph->reusing_tensors, 0);
    regal_graph_free(graph);
  }
}

/* Our own field counts with every choice, and is no assumption. */
static void test_marks_of_the_file(void **state) {
  static const char *const choices[] = {"ignore", "share", "reuse", "xla"};
  static const char text[] =
      "node { name: 'a' output_info { size: 8 alias_input_port: -1 } }"
      "node { name: 'b' id: 1 input_info { preceding_node: 0 }"
      "       output_info { size: 8 alias_input_port: -1"
      "                     regal_may_reuse: true } }";
  for (int i = 0; i < 4; i++) {
    regal_options options = loaded_options(*state, "aliases", choices[i], NULL);
    regal_graph *graph = loaded_graph(*state, text, &options);
    assert_false(reuses(graph, "a", 0));
    assert_true(reuses(graph, "b", 0));
    loaded_expect_notes(graph, 0);
    regal_graph_free(graph);
  }
}

static void test_choices(void **state) {
  regal_options options;
  regal_options_init(&options);
  assert_int_equal(regal_options_set(*state, &options, "aliases", "true"),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "--aliases: \"true\" is not one of ignore, share, reuse, "
                      "xla");
}

/* -- Names of XLA's instructions ------------------------------------------- */

/* An op of this name with inputs of 8 and 4 bytes and an output of `bytes`. */
static bool marked_in_xla(regal_context *context, const char *name, int bytes) {
  char text[1024];
  regal_options options = loaded_options(context, "aliases", "xla", NULL);
  snprintf(text, sizeof text,
           "node { name: 'a' output_info { size: 8 alias_input_port: -1 }"
           "                 output_info { size: 4 alias_input_port: -1 } }"
           "node { name: '%s' id: 1 input_info { preceding_node: 0 }"
           "       input_info { preceding_node: 0 preceding_port: 1 }"
           "       output_info { size: %d alias_input_port: -1 } }",
           name, bytes);
  regal_graph *graph = loaded_graph(context, text, &options);
  bool marked = graph->may_reuse[graph->tensors - 1];
  assert_int_equal(graph->reusing_tensors, marked);
  regal_graph_free(graph);
  return marked;
}

static void test_elementwise_names(void **state) {
  static const char *const names[] = {"add",
                                      "add.12",
                                      "tanh.3.clone",
                                      "multiply.clone.4.clone.1",
                                      "wrapped_exponential",
                                      "wrapped_shift-right-logical.7",
                                      "add_add_fusion",
                                      "multiply_add_fusion.15",
                                      "broadcast_divide_fusion.clone",
                                      "compare_select_fusion",
                                      "scatter.1",
                                      "wrapped_scatter",
                                      "dynamic-update-slice.9"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!marked_in_xla(*state, names[i], 8))
      fail_msg("%s: not marked", names[i]);
}

static void test_other_names(void **state) {
  static const char *const names[] = {"",
                                      "_",
                                      ".1",
                                      "fusion.3",
                                      "_fusion",
                                      "wrapped_",
                                      "dot.4",
                                      "ynn_fusion.2",
                                      "copy.8",
                                      "copy_add_fusion",
                                      "bitcast_add_fusion",
                                      "add_bitcast_fusion",
                                      "multiply_reduce_fusion.1",
                                      "transpose_copy_fusion",
                                      "wrapped_broadcast",
                                      "add_broadcast_fusion",
                                      "add_scatter_fusion",
                                      "add_add_fusion.7.result",
                                      "added",
                                      "wrapped_reduce-window",
                                      "add_any"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (marked_in_xla(*state, names[i], 8))
      fail_msg("%s: marked", names[i]);
}

/* Some input must have the output's size, whichever it is. */
static void test_sizes_must_agree(void **state) {
  assert_true(marked_in_xla(*state, "add", 8));
  assert_true(marked_in_xla(*state, "add", 4));
  assert_false(marked_in_xla(*state, "add", 6));
  assert_false(marked_in_xla(*state, "add", 12));
  assert_false(marked_in_xla(*state, "add", 0));
}

static void test_several_outputs_are_left_alone(void **state) {
  regal_options options = loaded_options(*state, "aliases", "xla", NULL);
  regal_graph *graph = loaded_graph(
      *state,
      "node { name: 'a' output_info { size: 8 alias_input_port: -1 } }"
      "node { name: 'add_add_fusion' id: 1 input_info { preceding_node: 0 }"
      "       output_info { size: 8 alias_input_port: -1 }"
      "       output_info { size: 8 alias_input_port: -1 } }",
      &options);
  assert_int_equal(graph->reusing_tensors, 0);
  loaded_expect_notes(graph, 0);
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_aliases_may_be_reused),
      CONTEXT_TEST(test_no_marks_by_default),
      CONTEXT_TEST(test_marks_of_the_file),
      CONTEXT_TEST(test_choices),
      CONTEXT_TEST(test_elementwise_names),
      CONTEXT_TEST(test_other_names),
      CONTEXT_TEST(test_sizes_must_agree),
      CONTEXT_TEST(test_several_outputs_are_left_alone),
  };
  return cmocka_run_group_tests_name("cost graph: reuse", tests, NULL, NULL);
}
