/* SPDX-License-Identifier: Apache-2.0 */
/* How a CostGraphDef becomes a graph: the readings that files of TensorFlow
 * need, each on a graph small enough to be seen through.
 */
#include "support/graph_sketch.h"
#include "support/loaded_graph.h"

/* One partition each; ids start again, and so do names. */
static void test_ids_are_those_of_the_partition(void **state) {
  static const char text[] =
      "node { name: '_SOURCE' }"
      "node { name: 'a' id: 1 output_info { size: 4 alias_input_port: -1 } }"
      "node { name: 'b' id: 2 input_info { preceding_node: 1 } }"
      "node { name: '_SOURCE' id: 5 }"
      "node { name: 'c' id: 1 output_info { size: 4 alias_input_port: -1 } }"
      "node { name: 'd' id: 2 input_info { preceding_node: 1 }"
      "  control_input: 5 }"
      "node { name: 'e' id: 0 output_info { size: 4 alias_input_port: -1 } }"
      "node { name: 'f' id: 0 }"
      "node { name: 'g' id: -7 output_info { size: 4 alias_input_port: -1 } }"
      "node { name: 'h' id: 2147483647 control_input: 0"
      "  input_info { preceding_node: -7 } }";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_true(loaded_reads(graph, "b", "a", 0));
  assert_true(loaded_reads(graph, "d", "c", 0));
  assert_true(loaded_waits(graph, "d", "_SOURCE")); /* the merged one */
  assert_true(loaded_reads(graph, "h", "g", 0));
  assert_true(loaded_waits(graph, "h", "f"));
  assert_int_equal(graph->ops, 9);
  assert_int_equal(graph->file_nodes, 10);
  assert_int_equal(graph->id[loaded_op(graph, "h")], 9);
  loaded_expect_note(graph, REGAL_NOTE_JOINED,
                     "3 partitions: 0 pairs of _Send and _Recv joined, 1 "
                     "_SOURCE or _SINK node merged");
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "3 parts have no data edge between them: no _Send and "
                     "_Recv match by name");
  regal_graph_free(graph);
}

static void test_sorted_topologically(void **state) {
  static const char text[] =
      "node { name: 'd' id: 0 input_info { preceding_node: 3 } }"
      "node { name: 'b' id: 1 output_info { alias_input_port: -1 } }"
      "node { name: 'c' id: 2 control_input: 0 }"
      "node { name: 'a' id: 3 input_info { preceding_node: 1 }"
      "  output_info { alias_input_port: -1 } }";
  static const char *const order[] = {"b", "a", "d", "c"};
  static const uint32_t ids[] = {1, 3, 0, 2};
  regal_graph *graph = loaded_graph(*state, text, NULL);
  for (uint32_t op = 0; op < 4; op++) {
    assert_string_equal(regal_graph_name(graph, op), order[op]);
    assert_int_equal(graph->id[op], ids[op]);
  }
  loaded_expect_notes(graph, 0);
  regal_graph_free(graph);
}

static void test_edges_count_once(void **state) {
  static const char text[] =
      "node { name: '_SOURCE' }"
      "node { name: '_SINK' id: 1 control_input: [0, 0, 3] }"
      "node { name: 'a' id: 2 output_info { size: 4 alias_input_port: -1 }"
      "  output_info { size: 8 alias_input_port: -1 } }"
      "node { name: 'b' id: 3"
      "  input_info { preceding_node: 2 preceding_port: 1 }"
      "  input_info { preceding_node: 2 }"
      "  input_info { preceding_node: 2 preceding_port: 1 } }";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_int_equal(loaded_inputs(graph, "b"), 2);
  assert_true(loaded_reads(graph, "b", "a", 0));
  assert_true(loaded_reads(graph, "b", "a", 1));
  assert_int_equal(graph->controls, 2);
  assert_true(loaded_waits(graph, "_SINK", "_SOURCE"));
  assert_true(loaded_waits(graph, "_SINK", "b"));
  regal_graph_free(graph);
}

static const char while_loop[] =
    "node { name: 'enter' output_info { size: 4 } }"
    "node { name: 'merge' id: 1 input_info { preceding_node: 0 }"
    "  input_info { preceding_node: 3 } output_info { size: 4 } }"
    "node { name: 'body' id: 2 input_info { preceding_node: 1 }"
    "  output_info { size: 4 } }"
    "node { name: 'while/next_iteration/_12' id: 3"
    "  input_info { preceding_node: 2 } output_info { size: 4 } }"
    "node { name: 'x/NextIteration_1' id: 4 output_info { size: 4 } }"
    "node { name: 'y' id: 5 input_info { preceding_node: 4 }"
    "  control_input: 4 }";

static void test_loops(void **state) {
  regal_graph *graph;
  assert_int_equal(regal_graph_load_bytes(*state, "t", while_loop,
                                          strlen(while_loop), NULL, &graph),
                   REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(*state),
      "t:1: cycle: \"merge\" -> \"body\" -> \"while/next_iteration/_12\" -> "
      "\"merge\"; a while loop? --loops cut drops its back edges");
  regal_options cut = loaded_options(*state, "loops", "cut", NULL);
  graph = loaded_graph(*state, while_loop, &cut);
  assert_int_equal(graph->ops, 6);
  assert_int_equal(loaded_inputs(graph, "merge"), 1);
  assert_true(loaded_reads(graph, "merge", "enter", 0));
  assert_int_equal(loaded_inputs(graph, "y"), 0);
  assert_true(loaded_waits(graph, "y", "x/NextIteration_1"));
  loaded_expect_notes(graph, 2);
  loaded_expect_note(graph, REGAL_NOTE_DROPPED,
                     "2 data edges that left NextIteration nodes");
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "the bodies of while loops count once: the file does not "
                     "say how often they run");
  regal_graph_free(graph);
}

/* Cutting does not help against any other cycle. */
static void test_other_cycles_stay(void **state) {
  static const char text[] = "node { name: 'NextIteration' control_input: 1 }"
                             "node { name: 'b' id: 1 control_input: 2 }"
                             "node { name: 'c' id: 2 control_input: 1 }";
  regal_options cut = loaded_options(*state, "loops", "cut", NULL);
  regal_graph *graph;
  assert_int_equal(
      regal_graph_load_bytes(*state, "t", text, strlen(text), &cut, &graph),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "t:1: cycle: \"b\" -> \"c\" -> \"b\"");
}

#define SHAPE(type, dims)                                                      \
  "output_info { alias_input_port: -1 dtype: " type " shape { " dims " } }"

static void test_sizes(void **state) {
  static const char text[] =
      "node { name: 'unknown'"
      "  output_info { size: -1 alias_input_port: -1"
      "    shape { unknown_rank: true } }"
      "  output_info { size: -7 alias_input_port: -1 dtype: DT_FLOAT"
      "    shape { dim { size: 2 } } } }"
      "node { name: 'feed' id: 1 "
      /* 0 to 8: */
      SHAPE("DT_FLOAT", "dim { size: 2 } dim { size: 3 }") SHAPE(
          "DT_FLOAT", "") SHAPE("DT_DOUBLE_REF", "dim { size: 5 }")
          SHAPE("DT_FLOAT", "dim { size: 2 } dim { size: -1 }") SHAPE(
              "DT_FLOAT", "unknown_rank: true") SHAPE("DT_STRING",
                                                      "dim { size: 2 }")
              SHAPE("DT_INVALID", "dim { size: 2 }") SHAPE(
                  "DT_FLOAT",
                  "dim { size: 0 } dim { size: 9223372036854775807 }")
                  SHAPE("999",
                        "dim { size: 2 }") " output_info { alias_input_port: "
                                           "-1 dtype: DT_FLOAT }"
                                           " output_info { size: 3 "
                                           "alias_input_port: -1 dtype: "
                                           "DT_FLOAT shape {} }"
                                           "}"
                                           "node { name: 'persistent' id: 2 "
                                           "persistent_memory_size: 8 " SHAPE(
                                               "DT_FLOAT",
                                               "dim { size: 2 }") "}";
  static const int64_t feed[] = {24, 4, 40, 0, 0, 0, 0, 0, 0, 0, 3};
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_int_equal(loaded_bytes(graph, "unknown", 0), 0);
  assert_int_equal(loaded_bytes(graph, "unknown", 1), 0);
  for (uint32_t port = 0; port < sizeof feed / sizeof *feed; port++)
    assert_int_equal(loaded_bytes(graph, "feed", port), feed[port]);
  assert_int_equal(loaded_bytes(graph, "persistent", 0), 0);
  loaded_expect_notes(graph, 2);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "2 outputs of negative size, never measured: counted as 0 "
                     "bytes");
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "3 outputs of size 0 counted by shape and type: 68 bytes");
  regal_graph_free(graph);
}

static void test_every_type_has_its_size(void **state) {
  static const struct {
    const char *type;
    int64_t bytes;
  } types[] = {{"DT_FLOAT", 4},
               {"DT_DOUBLE", 8},
               {"DT_INT32", 4},
               {"DT_UINT8", 1},
               {"DT_INT16", 2},
               {"DT_INT8", 1},
               {"DT_STRING", 0},
               {"DT_COMPLEX64", 8},
               {"DT_INT64", 8},
               {"DT_BOOL", 1},
               {"DT_QINT8", 1},
               {"DT_QUINT8", 1},
               {"DT_QINT32", 4},
               {"DT_BFLOAT16", 2},
               {"DT_QINT16", 2},
               {"DT_QUINT16", 2},
               {"DT_UINT16", 2},
               {"DT_COMPLEX128", 16},
               {"DT_HALF", 2},
               {"DT_RESOURCE", 0},
               {"DT_VARIANT", 0},
               {"DT_UINT32", 4},
               {"DT_UINT64", 8},
               {"DT_FLOAT8_E5M2", 1},
               {"DT_FLOAT8_E4M3FN", 1},
               {"DT_INT4", 1},
               {"DT_UINT64_REF", 8},
               {"DT_HALF_REF", 2},
               {"DT_STRING_REF", 0},
               {"100", 0},
               {"-1", 0},
               {"2147483647", 0},
               {"-2147483648", 0}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "node { output_info { alias_input_port: -1 dtype: %s shape {} } }",
             types[i].type);
    regal_graph *graph = loaded_graph(*state, text, NULL);
    assert_int_equal(graph->bytes[0], types[i].bytes);
    regal_graph_free(graph);
  }
}

static void test_constants_are_resident_only(void **state) {
  static const char text[] =
      "node { name: 'constant' persistent_memory_size: 8"
      "  output_info { size: 8 alias_input_port: -1 shape {} }"
      "  output_info { size: 4 alias_input_port: -1 shape {} } }"
      "node { name: 'no shape' id: 1 persistent_memory_size: 8"
      "  output_info { size: 8 alias_input_port: -1 } }"
      "node { name: 'has inputs' id: 2 persistent_memory_size: 8"
      "  input_info { preceding_node: 0 }"
      "  output_info { size: 8 alias_input_port: -1 shape {} } }"
      "node { name: 'no output' id: 3 persistent_memory_size: 5 }";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_int_equal(loaded_bytes(graph, "constant", 0), 0);
  assert_int_equal(loaded_bytes(graph, "constant", 1), 4);
  assert_int_equal(loaded_bytes(graph, "no shape", 0), 8);
  assert_int_equal(loaded_bytes(graph, "has inputs", 0), 8);
  assert_int_equal(graph->total_resident_bytes, 29);
  loaded_expect_notes(graph, 1);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "1 output of constants or variables counted only as "
                     "resident: 8 bytes");
  regal_graph_free(graph);
}

#define OUT(size) "output_info { size: " size " alias_input_port: -1 }"
#define IN(node) "input_info { preceding_node: " node " }"

static void test_variables(void **state) {
  static const char text[] = "node { name: 'w' " OUT(
      "200") "}"
             "node { name: 'v' id: 1 " OUT(
                 "200") "}"
                        "node { name: 'enter' id: 2 " IN(
                            "0") "  output_info { size: 200 alias_input_port: "
                                 "0 } }"
                                 "node { name: 'a/ReadVariableOp' id: 3 " IN("2") OUT(
                                     "64") "}"
                                           "node { name: 'a/ReadVariableOp_1' "
                                           "id: 4 " IN("0") OUT(
                                               "64") "}"
                                                     "node { name: "
                                                     "'ReadVariableOp' id: "
                                                     "5 " IN("1") OUT(
                                                         "16") "}"
                                                               "node { name: "
                                                               "'ReadVariableOp"
                                                               "_x' id: 6 " IN("1") OUT(
                                                                   "16") "}"
                                                                         "node "
                                                                         "{ "
                                                                         "name:"
                                                                         " '"
                                                                         "ReadV"
                                                                         "ariab"
                                                                         "leOp/"
                                                                         "resou"
                                                                         "rce' "
                                                                         "id: "
                                                                         "7"
                                                                         " " IN("1") OUT(
                                                                             "1"
                                                                             "6") "}"
                                                                                  "node { name: 'b/ReadVariableOp' id: 8 " OUT(
                                                                                      "16") "}";
  regal_options resident =
      loaded_options(*state, "variables", "resident", NULL);
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_int_equal(loaded_bytes(graph, "a/ReadVariableOp", 0), 64);
  assert_int_equal(graph->total_resident_bytes, 0);
  regal_graph_free(graph);
  graph = loaded_graph(*state, text, &resident);
  static const struct {
    const char *name;
    int64_t bytes, resident;
  } reads[] = {{"a/ReadVariableOp", 0, 64},        {"a/ReadVariableOp_1", 0, 0},
               {"ReadVariableOp", 0, 16},          {"ReadVariableOp_x", 16, 0},
               {"ReadVariableOp/resource", 16, 0}, {"b/ReadVariableOp", 16, 0}};
  for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
    uint32_t op = loaded_op(graph, reads[i].name);
    assert_int_equal(loaded_bytes(graph, reads[i].name, 0), reads[i].bytes);
    assert_int_equal(graph->resident_bytes[op], reads[i].resident);
  }
  loaded_expect_notes(graph, 1);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "3 outputs of ReadVariableOp resident, once for each of 2 "
                     "handles: 80 bytes");
  regal_graph_free(graph);
}

/* a -> b (in place) -> c (in place) -> reader; b is read by other, too. */
static const char alias_chain[] = "node { name: 'a' " OUT("8") OUT(
    "8") "}"
         "node { name: 'b' id: 1"
         "  input_info { preceding_node: 0 }"
         "  input_info { preceding_node: 0 preceding_port: 1 }"
         "  output_info { size: 8 alias_input_port: 1 } }"
         "node { name: 'c' id: 2 " IN(
             "1") "output_info { size: 8 } }"
                  "node { name: 'reader' id: 3 " IN(
                      "2") "}"
                           "node { name: 'other' id: 4 " IN(
                               "1") "}"
                                    "node { name: 'source' id: 5 output_info { "
                                    "size: 8 } }"
                                    "node { name: 'far' id: 6 " IN(
                                        "0") "  output_info { size: 8 "
                                             "alias_input_port: 1 } }"
                                             "node { name: 'result' id: 7 "
                                             "is_final: true " IN(
                                                 "2") "  output_info { size: 4 "
                                                      "alias_input_port: 0 } }";

static void test_aliases_are_ignored_by_default(void **state) {
  regal_graph *graph = loaded_graph(*state, alias_chain, NULL);
  assert_int_equal(loaded_bytes(graph, "c", 0), 8);
  assert_true(loaded_reads(graph, "reader", "c", 0));
  assert_int_equal(graph->controls, 0);
  assert_false(loaded_final(graph, "a", 1));
  loaded_expect_notes(graph, 0);
  regal_graph_free(graph);
}

static void test_aliases_share_memory(void **state) {
  regal_options aliases = loaded_options(*state, "aliases", "share", NULL);
  regal_graph *graph = loaded_graph(*state, alias_chain, &aliases);
  assert_int_equal(loaded_bytes(graph, "a", 1), 8);
  assert_int_equal(loaded_bytes(graph, "b", 0), 0);
  assert_int_equal(loaded_bytes(graph, "c", 0), 0);
  assert_int_equal(loaded_bytes(graph, "source", 0), 8); /* has no input 0 */
  assert_int_equal(loaded_bytes(graph, "far", 0), 8);    /* nor this input 1 */
  assert_true(loaded_reads(graph, "c", "a", 1));
  assert_true(loaded_waits(graph, "c", "b"));
  assert_true(loaded_reads(graph, "reader", "a", 1));
  assert_true(loaded_waits(graph, "reader", "c"));
  assert_false(loaded_waits(graph, "reader", "b"));
  assert_true(loaded_reads(graph, "other", "a", 1));
  assert_true(loaded_waits(graph, "other", "b"));
  assert_true(loaded_final(graph, "a", 1));
  assert_false(loaded_final(graph, "a", 0));
  assert_int_equal(graph->controls, 4);
  loaded_expect_notes(graph, 1);
  loaded_expect_note(
      graph, REGAL_NOTE_JOINED,
      "3 outputs with the memory of the input that they alias: 20 bytes");
  regal_graph_free(graph);
}

static void test_larger_aliases_are_noticed(void **state) {
  static const char text[] = "node { name: 'a' " OUT(
      "8") "}"
           "node { name: 'b' id: 1 " IN(
               "0") "output_info { size: 9 } }"
                    "node { name: 'c' id: 2 " IN(
                        "0") "output_info { size: 8 } }"
                             "node { name: 'd' id: 3 " OUT(
                                 "-1") "}"
                                       "node { name: 'e' id: 4 " IN(
                                           "3") "output_info { size: 8 } }";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "1 output larger than the input that they alias: sizes "
                     "were probably not tracked when this file was made");
  loaded_expect_notes(graph, 2);
  regal_graph_free(graph);
}

static void test_results(void **state) {
  static const char text[] = "node { name: 'a' is_final: true " OUT("1") OUT(
      "2") "}"
           "node { name: 'b' id: 1 " OUT("1") OUT(
               "2") "}"
                    "node { name: '_retval_b_0_0' id: 2"
                    "  input_info { preceding_node: 1 preceding_port: 1 } " OUT(
                        "9") "}"
                             "node { name: 'x/_retval_b' id: 3 " IN("1") "}";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_true(loaded_final(graph, "a", 0));
  assert_true(loaded_final(graph, "a", 1));
  assert_false(loaded_final(graph, "b", 0));
  assert_true(loaded_final(graph, "b", 1));
  assert_false(loaded_final(graph, "_retval_b_0_0", 0));
  loaded_expect_notes(graph, 1);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "1 tensor final, because _retval_ nodes read them");
  regal_graph_free(graph);
}

/* Two devices; b's result comes back to the first. Between processes names end
 * in _S and a number, inside one in /_ and a number. */
static const char partitions[] =
    "node { name: '_SOURCE' compute_cost: 1 }"
    "node { name: '_SINK' id: 1 control_input: [0, 0, 3, 5] }"
    "node { name: 'a' id: 2 control_input: 0 " OUT(
        "100") "}"
               "node { name: 'a/_4' id: 3 is_final: true " IN(
                   "2") "}"
                        "node { name: 'b_S8' id: 4 control_input: 0 " OUT(
                            "-1") "}"
                                  "node { name: '_retval_b' id: 5 " IN(
                                      "4") "}"
                                           "node { name: 'late' id: 6 "
                                           "control_input: 4 }"
                                           "node { name: '_SOURCE' "
                                           "compute_cost: 2 }"
                                           "node { name: '_SINK' id: 1 "
                                           "control_input: [0, 3, 5] }"
                                           "node { name: 'a/_5' id: 2 "
                                           "control_input: [0, 6] " OUT(
                                               "-1") "}"
                                                     "node { name: 'b' id: "
                                                     "3 " IN("2") OUT(
                                                         "50") "}"
                                                               "node { name: "
                                                               "'b_S7' id: 4 "
                                                               "is_final: "
                                                               "true " IN(
                                                                   "3") "}"
                                                                        "node "
                                                                        "{ "
                                                                        "name: "
                                                                        "'a/"
                                                                        "_6' "
                                                                        "id: 5 "
                                                                        "contro"
                                                                        "l_"
                                                                        "input:"
                                                                        " 0"
                                                                        " " OUT(
                                                                            "7") "}"
                                                                                 "node { name: 'gate' id: 6 control_input: 0 }";

static void test_partitions_are_joined(void **state) {
  regal_graph *graph = loaded_graph(*state, partitions, NULL);
  assert_int_equal(graph->file_nodes, 14);
  assert_int_equal(graph->ops, 10);
  assert_false(loaded_has(graph, "a/_5"));
  assert_false(loaded_has(graph, "b_S8"));
  assert_true(loaded_has(graph, "a/_6")); /* its _Send would be a/_5 */
  assert_true(loaded_reads(graph, "b", "a", 0));
  assert_true(loaded_waits(graph, "b", "gate"));
  assert_true(loaded_waits(graph, "b", "_SOURCE"));
  assert_true(loaded_reads(graph, "a/_4", "a", 0));
  assert_true(loaded_reads(graph, "_retval_b", "b", 0));
  assert_true(loaded_final(graph, "b", 0));
  assert_true(loaded_waits(graph, "late", "b_S7"));
  assert_true(loaded_waits(graph, "_SINK", "b"));
  assert_true(loaded_waits(graph, "_SINK", "a/_6"));
  assert_true(loaded_waits(graph, "_SINK", "a/_4"));
  assert_int_equal(graph->run_ns[loaded_op(graph, "_SOURCE")], 3000);
  loaded_expect_notes(graph, 3);
  loaded_expect_note(graph, REGAL_NOTE_JOINED,
                     "2 partitions: 2 pairs of _Send and _Recv joined, 2 "
                     "_SOURCE or _SINK nodes merged");
  regal_graph_free(graph);
}

/* The second part passes on what it receives, unread. */
static void test_partitions_in_a_chain(void **state) {
  static const char text[] =
      "node { name: '_SOURCE' }"
      "node { name: 'a' id: 1 " OUT(
          "100") "}"
                 "node { name: 'a/_0' id: 2 " IN(
                     "1") "}"
                          "node { name: '_SOURCE' }"
                          "node { name: 'wait1' id: 3 }"
                          "node { name: 'a/_1' id: 1 control_input: 3 " OUT(
                              "-1") "}"
                                    "node { name: 'a/_2' id: 2 " IN(
                                        "1") "}"
                                             "node { name: '_SOURCE' }"
                                             "node { name: 'wait2' id: 3 }"
                                             "node { name: 'a/_3' id: 1 "
                                             "control_input: 3 " OUT(
                                                 "-1") "}"
                                                       "node { name: 'end' id: "
                                                       "2 " IN("1") "}";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_int_equal(graph->ops, 7);
  assert_true(loaded_reads(graph, "end", "a", 0));
  assert_true(loaded_waits(graph, "end", "wait1"));
  assert_true(loaded_waits(graph, "end", "wait2"));
  assert_true(loaded_reads(graph, "a/_2", "a", 0));
  assert_true(loaded_waits(graph, "a/_2", "wait1"));
  loaded_expect_notes(graph, 2);
  regal_graph_free(graph);
}

/* No pairs are sought inside one partition, and neither end is required. */
static void test_one_partition_is_left_alone(void **state) {
  static const char text[] = "node { name: 'x/_1' id: 4 " IN(
      "5") "}"
           "node { name: '_SOURCE' id: 3 }"
           "node { name: 'x/_2' id: 5 " OUT("4") "}";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  assert_int_equal(graph->ops, 3);
  assert_true(loaded_reads(graph, "x/_1", "x/_2", 0));
  loaded_expect_notes(graph, 0);
  regal_graph_free(graph);
}

static void test_costs(void **state) {
  static const char text[] =
      "node { name: 'a' compute_cost: 7 temporary_memory_size: 11"
      "  compute_time: 1 memory_time: 2 inaccurate: true"
      "  host_temp_memory_size: 3 device_temp_memory_size: 4"
      "  device_persistent_memory_size: 5 device: '/gpu:0' }"
      "node { name: 'b' id: 1 compute_cost: 7 regal_run_ns: 7123 }"
      "cost { cost: 1.5 dimension: 'time' }";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  uint32_t a = loaded_op(graph, "a");
  assert_int_equal(graph->run_ns[a], 7000);
  assert_int_equal(graph->temporary_bytes[a], 11);
  assert_int_equal(graph->resident_bytes[a], 0);
  assert_int_equal(graph->run_ns[loaded_op(graph, "b")], 7123);
  loaded_expect_notes(graph, 0);
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_ids_are_those_of_the_partition),
      CONTEXT_TEST(test_sorted_topologically),
      CONTEXT_TEST(test_edges_count_once),
      CONTEXT_TEST(test_loops),
      CONTEXT_TEST(test_other_cycles_stay),
      CONTEXT_TEST(test_sizes),
      CONTEXT_TEST(test_every_type_has_its_size),
      CONTEXT_TEST(test_constants_are_resident_only),
      CONTEXT_TEST(test_variables),
      CONTEXT_TEST(test_aliases_are_ignored_by_default),
      CONTEXT_TEST(test_aliases_share_memory),
      CONTEXT_TEST(test_larger_aliases_are_noticed),
      CONTEXT_TEST(test_results),
      CONTEXT_TEST(test_partitions_are_joined),
      CONTEXT_TEST(test_partitions_in_a_chain),
      CONTEXT_TEST(test_one_partition_is_left_alone),
      CONTEXT_TEST(test_costs),
  };
  return cmocka_run_group_tests_name("cost graph", tests, NULL, NULL);
}
