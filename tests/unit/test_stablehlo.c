/* SPDX-License-Identifier: Apache-2.0 */
/* Text of StableHLO: real output of JAX (tests/graphs/stablehlo), each thing
 * that the reader knows by itself, and what is wrong with texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/stablehlo/stablehlo.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/loaded_graph.h"

static regal_context *context;

/* One FLOP takes 1 ns, bytes and launches nothing. */
#define ROOFLINE                                                               \
  "{\"regal_rooflines\": 1, \"devices\": [{\"name\": \"mine\", "               \
  "\"flops_per_s\": {\"fp32\": 1e9}, \"bytes_per_s\": 1e24, "                  \
  "\"launch_ns\": 0}]}"

static int set_up(void **state) {
  if (files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK)
    return -1;
  files_write_text("mine.json", ROOFLINE);
  return 0;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

static regal_graph *loaded(const char *text) {
  regal_options options =
      loaded_options(context, "roofline", "mine.json", NULL);
  return loaded_graph(context, text, &options);
}

static int64_t time_of(const regal_graph *graph, const char *name) {
  return graph->run_ns[loaded_op(graph, name)];
}

/* -- What JAX prints ------------------------------------------------------- */

typedef struct sample {
  const char *file;
  uint32_t ops, tensors;
  double xla_flops, most_off; /* what lowered.cost_analysis() says */
} sample;

static void check_sample(const sample *sample) {
  char path[512];
  regal_graph *graph;
  regal_options options =
      loaded_options(context, "roofline", "mine.json", NULL);
  snprintf(path, sizeof path, REGAL_TEST_DATA "/graphs/stablehlo/%s.mlir",
           sample->file);
  if (regal_graph_load(context, path, &options, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  double ratio = (double)graph->work_ns / sample->xla_flops;
  print_message("%s: %.3f of XLA's FLOPs\n", sample->file, ratio);
  assert_int_equal(graph->ops, sample->ops);
  assert_int_equal(graph->tensors, sample->tensors);
  assert_true(ratio > 1 / sample->most_off && ratio < sample->most_off);
  regal_graph_free(graph);
}

/* XLA leaves the padding out of a convolution, and counts loops and what they
 * call otherwise: of the last file only ops and tensors are pinned. */
static void test_samples(void **state) {
  (void)state;
  static const sample samples[] = {
      {"mlp_step", 85, 85, 85509, 1.01},
      {"transformer_step", 328, 326, 3168679, 1.02},
      {"cnn_step", 76, 76, 2366181, 1.2},
      {"control_flow", 90, 96, 1, 1e9},
  };
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
    check_sample(&samples[i]);
}

/* -- Each thing ------------------------------------------------------------ */

#define MAIN(arguments, body) "func.func @main(" arguments ") {\n" body "\n}\n"

/* A product of 2 * 4 * 8 * 16 FLOPs, in both forms. */
static void test_products(void **state) {
  (void)state;
  regal_graph *graph = loaded(MAIN(
      "%a: tensor<4x16xf32>, %b: tensor<16x8xf32>",
      "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], "
      "precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x8xf32>) "
      "-> tensor<4x8xf32>\n"
      "%1 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = "
      "#stablehlo.dot<lhs_contracting_dimensions = [1], "
      "rhs_contracting_dimensions = [0]>}> : (tensor<4x16xf32>, "
      "tensor<16x8xf32>) -> tensor<4x8xf32> loc(\"a(\")\n"
      "%2 = stablehlo.add %0, %1 : tensor<4x8xf32> loc(#loc3)\n"
      "return %2 : tensor<4x8xf32>"));
  assert_int_equal(time_of(graph, "%0"), 2 * 4 * 8 * 16);
  assert_int_equal(time_of(graph, "%1"), 2 * 4 * 8 * 16);
  assert_int_equal(time_of(graph, "%2"), 4 * 8);
  assert_int_equal(loaded_bytes(graph, "%2", 0), 4 * 8 * 4);
  assert_true(loaded_final(graph, "%2", 0));
  assert_true(loaded_reads(graph, "%2", "%0", 0));
  regal_graph_free(graph);
}

/* 2 FLOPs for each element of the result, channel and element of the window:
 * features are the kernel's last dimension. */
static void test_convolution(void **state) {
  (void)state;
  regal_graph *graph = loaded(MAIN(
      "%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x16xf32>",
      "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, "
      "o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} "
      "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
      "(tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>\n"
      "return %0 : tensor<1x8x8x16xf32>"));
  assert_int_equal(time_of(graph, "%0"), 2 * 8 * 8 * 16 * (3 * 3 * 3));
  regal_graph_free(graph);
}

#define BOTH                                                                   \
  "func.func private @both(%x: tensor<4xf32> {a = {b = 1}}) -> "               \
  "(tensor<4xf32>, tensor<4xf32>) {\n"                                         \
  "%0 = stablehlo.negate %x : tensor<4xf32>\n"                                 \
  "%1 = stablehlo.abs %0 : tensor<4xf32>\n"                                    \
  "return %0, %1 : tensor<4xf32>, tensor<4xf32>\n}\n"

/* A function in the place of its calls; several results. */
static void test_calls(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      "#loc = loc(unknown)\nmodule @m attributes {a = "
      "1 : i32} {\n" MAIN(
          "%a: tensor<4xf32>",
          "%0:2 = call @both(%a) : (tensor<4xf32>) -> (tensor<4xf32>, "
          "tensor<4xf32>)\n"
          "%1, %2 = func.call @both(%0#1) : (tensor<4xf32>) -> (tensor<4xf32>, "
          "tensor<4xf32>)\n"
          "return %2, %0#0 : tensor<4xf32>, tensor<4xf32>") BOTH "} loc(#loc)\n"
                                                                 "#loc1 = "
                                                                 "loc(\"x\")");
  assert_int_equal(graph->ops, 4);
  assert_true(loaded_reads(graph, "%0/%1", "%0/%0", 0));
  assert_true(loaded_reads(graph, "%1/%0", "%0/%1", 0));
  assert_true(loaded_final(graph, "%1/%1", 0));
  assert_true(loaded_final(graph, "%0/%0", 0));
  assert_false(loaded_final(graph, "%1/%0", 0));
  regal_graph_free(graph);
}

#define COUNTS_TO_5(counter)                                                   \
  "%n = stablehlo.constant dense<5> : tensor<i32>\n"                           \
  "%2 = stablehlo.compare LT, " counter ", %n, SIGNED : (tensor<i32>, "        \
  "tensor<i32>) -> tensor<i1>\nstablehlo.return %2 : tensor<i1>\n"

/* A loop of JAX: it counts to 5, and its body reads a value from outside. Three
 * element-wise ops of 4, 1 and 1 elements, five times. */
static void test_loop(void **state) {
  (void)state;
  regal_graph *graph = loaded(MAIN(
      "%a: tensor<4xf32>",
      "%c = stablehlo.constant dense<0> : tensor<i32>\n"
      "%0 = stablehlo.abs %a : tensor<4xf32>\n"
      "%1:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<4xf32>\n"
      "cond {\n" COUNTS_TO_5(
          "%i") "} do {\n"
                "%one = stablehlo.constant dense<1> : tensor<i32>\n"
                "%2 = stablehlo.add %i, %one : tensor<i32>\n"
                "%3 = stablehlo.add %x, %0 : tensor<4xf32>\n"
                "stablehlo.return %2, %3 : tensor<i32>, tensor<4xf32>\n}\n"
                "return %1#1 : tensor<4xf32>"));
  assert_int_equal(time_of(graph, "%1"), 5 * (4 + 1 + 1));
  assert_true(loaded_reads(graph, "%1", "%0", 0));
  assert_int_equal(regal_graph_note(graph, 1).kind, REGAL_NOTE_JOINED);
  regal_graph_free(graph);
}

/* The condition looks at a part of a tuple that is none of the loop's values:
 * nobody knows how often it runs. */
static void test_loop_of_unknown_length(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      MAIN("%t: tuple<tensor<i32>, tensor<i32>>",
           "%c = stablehlo.constant dense<0> : tensor<i32>\n"
           "%1 = stablehlo.while(%i = %c) : tensor<i32>\ncond {\n"
           "%k = stablehlo.get_tuple_element %t[0] : (tuple<tensor<i32>, "
           "tensor<i32>>) -> tensor<i32>\n" COUNTS_TO_5(
               "%k") "} do {\n"
                     "%2 = stablehlo.negate %i : tensor<i32>\n"
                     "stablehlo.return %2 : tensor<i32>\n}\nreturn %1 : "
                     "tensor<i32>"));
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "1 loop of unknown length counted as one round");
  regal_graph_free(graph);
}

/* Both forms of the index into a tuple. */
static void test_parts(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      MAIN("%a: tensor<4xf32>, %b: tensor<2xf32>",
           "%0 = stablehlo.abs %a : tensor<4xf32>\n"
           "%1 = stablehlo.abs %b : tensor<2xf32>\n"
           "%2 = stablehlo.tuple %0, %1 : tuple<tensor<4xf32>, "
           "tensor<2xf32>>\n"
           "%3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<4xf32>, "
           "tensor<2xf32>>) -> tensor<2xf32>\n"
           "%4 = \"stablehlo.get_tuple_element\"(%2) <{index = 0 : i32}> : "
           "(tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<4xf32>\n"
           "%5 = stablehlo.negate %3 : tensor<2xf32>\n"
           "%6 = stablehlo.negate %4 : tensor<4xf32>\n"
           "return %5, %6 : tensor<2xf32>, tensor<4xf32>"));
  assert_int_equal(graph->ops, 4);
  assert_true(loaded_reads(graph, "%5", "%1", 0));
  assert_true(loaded_reads(graph, "%6", "%0", 0));
  regal_graph_free(graph);
}

/* The longer branch counts; both read values from outside, one of them from
 * outside the branch around it. */
static void test_branches(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      MAIN("%a: tensor<4xf32>, %p: tensor<i32>",
           "%0 = stablehlo.abs %a : tensor<4xf32>\n"
           "%1 = \"stablehlo.case\"(%p) ({\n"
           "  %2 = \"stablehlo.case\"(%p) ({\n"
           "    %3 = stablehlo.negate %0 : tensor<4xf32>\n"
           "    %4 = stablehlo.negate %3 : tensor<4xf32>\n"
           "    stablehlo.return %4 : tensor<4xf32>\n"
           "  }) : (tensor<i32>) -> tensor<4xf32>\n"
           "  stablehlo.return %2 : tensor<4xf32>\n}, {\n"
           "  stablehlo.return %a : tensor<4xf32>\n}) : (tensor<i32>) -> "
           "tensor<4xf32>\n"
           "%5:2 = stablehlo.optimization_barrier %1, %0 : tensor<4xf32>, "
           "tensor<4xf32>\n"
           "return %5#0 : tensor<4xf32>"));
  assert_int_equal(time_of(graph, "%1"), 8);
  assert_true(loaded_reads(graph, "%1", "%0", 0));
  regal_graph_free(graph);
}

/* Regions of reductions are passed over; types of all kinds have their size. */
static void test_types(void **state) {
  (void)state;
  regal_graph *graph = loaded(MAIN(
      "%a: tensor<4x2xf32>, %b: tensor<f32>",
      "%0 = stablehlo.convert %a : (tensor<4x2xf32>) -> tensor<4x2xbf16>\n"
      "%1 = stablehlo.convert %a : (tensor<4x2xf32>) -> "
      "tensor<4x2xcomplex<f64>>\n"
      "%2 = stablehlo.convert %a : (tensor<4x2xf32>) -> tensor<4x2xui8>\n"
      "%3 = stablehlo.convert %a : (tensor<4x2xf32>) -> tensor<4x2xf8E4M3FN>\n"
      "%4 = \"stablehlo.reduce\"(%a, %b) <{dimensions = array<i64: 1>}> ({\n"
      "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
      "  %z = stablehlo.add %x, %y : tensor<f32>\n"
      "  stablehlo.return %z : tensor<f32>\n"
      "}) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>\n"
      "%5:2 = stablehlo.reduce(%a init: %b), (%a init: %b) across dimensions = "
      "[1] : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>) -> "
      "(tensor<4xf32>, tensor<4xi64>)\n"
      "  reducer(%x: tensor<f32>) (%y: tensor<f32>) {\n  }\n"
      "return %0, %1, %2, %3, %4, %5#1 : tensor<4x2xbf16>, "
      "tensor<4x2xcomplex<f64>>, tensor<4x2xui8>, tensor<4x2xf8E4M3FN>, "
      "tensor<4xf32>, tensor<4xi64>"));
  assert_int_equal(loaded_bytes(graph, "%0", 0), 16);
  assert_int_equal(loaded_bytes(graph, "%1", 0), 128);
  assert_int_equal(loaded_bytes(graph, "%2", 0), 8);
  assert_int_equal(loaded_bytes(graph, "%3", 0), 8);
  assert_int_equal(loaded_bytes(graph, "%4", 0), 16);
  assert_int_equal(loaded_bytes(graph, "%5", 1), 32);
  regal_graph_free(graph);
}

/* A result may be written over an argument that the caller gives away. */
static void test_donation(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      MAIN("%a: tensor<4xf32> {x = {y = [1]}, tf.aliasing_output = 0 : i32}",
           "%0 = stablehlo.abs %a : tensor<4xf32>\n"
           "return %0 : tensor<4xf32>"));
  loaded_expect_note(graph, REGAL_NOTE_JOINED,
                     "1 result with the memory of a donated parameter");
  regal_graph_free(graph);
}

#define MANUAL(values, arguments)                                              \
  "sdy.manual_computation(" values ") in_shardings=[<@m, [{\"x\"}, {}]>] "     \
  "out_shardings=[<@m, [{}]>] manual_axes={\"x\"} (" arguments ")"

/* What shard_map leaves runs in its place, on the parts of one device. The
 * second body has names of the first, and reads a value around it. */
static void test_manual_computation(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      "#loc1 = loc(\"x\")\nmodule @m {\n"
      "sdy.mesh @m = <[\"x\"=2]> {a = {axes = []}} loc(#loc)\n" MAIN(
          "%a: tensor<8xf32>",
          "%0:2 = " MANUAL(
              "%a, %a",
              "%b: tensor<4xf32> loc(\"b\"), "
              "%c: tensor<2xf32>") " {\n"
                                   "%1 = stablehlo.abs %b : tensor<4xf32>\n"
                                   "sdy.return %1, %c : tensor<4xf32>, "
                                   "tensor<2xf32> loc(#loc1)\n"
                                   "} : (tensor<8xf32>, tensor<8xf32>) -> "
                                   "(tensor<8xf32>, "
                                   "tensor<16xf32>) loc(#loc)\n"
                                   "%2 = " MANUAL(
                                       "%0#0",
                                       "%d: tensor<4xf32>") " {\n"
                                                            "%1 = "
                                                            "stablehlo.add "
                                                            "%d, %0#0 : "
                                                            "tensor<4xf32>"
                                                            "\n"
                                                            "sdy.return %1 "
                                                            ": "
                                                            "tensor<4xf32>"
                                                            "\n"
                                                            "} : "
                                                            "(tensor<8xf32>"
                                                            ") -> "
                                                            "tensor<8xf32>"
                                                            "\n"
                                                            "return %2, "
                                                            "%0#1 : "
                                                            "tensor<8xf32>,"
                                                            " tensor<"
                                                            "16xf32>") "} "
                                                                       "loc"
                                                                       "(#"
                                                                       "loc"
                                                                       ")\n"
                                                                       "#lo"
                                                                       "c "
                                                                       "= "
                                                                       "loc"
                                                                       "(un"
                                                                       "kno"
                                                                       "wn)"
                                                                       "\n");
  assert_int_equal(graph->ops, 8);
  assert_int_equal(loaded_bytes(graph, "%b", 0), 16);
  assert_int_equal(loaded_bytes(graph, "%0#0", 0), 32);
  assert_int_equal(loaded_bytes(graph, "%0#1", 0), 64);
  assert_true(loaded_reads(graph, "%0#1", "%c", 0));
  assert_true(loaded_reads(graph, "%d", "%0#0", 0));
  assert_true(loaded_final(graph, "%2", 0));
  assert_true(loaded_final(graph, "%0#1", 0));
  assert_false(loaded_final(graph, "%0#0", 0));
  regal_graph_free(graph);
}

/* -- Errors ---------------------------------------------------------------- */

#define ABS(value, type) "%0 = stablehlo.abs " value " : " type "\n"
#define RETURN "return %0 : tensor<4xf32>"

static void test_errors(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"module {", "t:1: column 9: found the end of the file, expected '}', "
                   "which closes the module"},
      {"module {\n}", "t:2: there is no function @main"},
      {"module { }\n}", "t:2: column 1: found '}', expected func.func"},
      {"\"builtin.module\"() ({", "t:1: column 1: found 'builtin.module', "
                                  "expected a function in MLIR's own form, "
                                  "not the generic one"},
      {"func.func main", "t:1: column 11: found 'main', expected the name of a "
                         "function"},
      {MAIN("%a: tensor<4xf32>", "return %b : tensor<4xf32>"),
       "t:2: column 8: there is no value %b"},
      {MAIN("%a: tensor<4xf32>", ABS("%a", "tensor<4xf32>")),
       "t:2: what begins here has no return"},
      {MAIN("%a: tensor<4xf32>", RETURN "\n" RETURN),
       "t:2: column 8: there is no value %0"},
      {MAIN("%a: tensor<4xf32>",
            ABS("%a", "tensor<4xf32>") ABS("%a", "tensor<4xf32>")),
       "t:3: a second value \"%0\""},
      {MAIN("%a: tensor<4xf32>", ABS("%a", "tensor<4xf33>") RETURN),
       "t:2: column 25: element type \"f33\" is not known"},
      {MAIN("%a: tensor<?x4xf32>", ""),
       "t:1: column 21: the type has a dimension that is not known: '?'"},
      {MAIN("%a: tensor<99999999999999999999xf32>", ""),
       "t:1: column 21: the type has a dimension beyond 2^63"},
      {MAIN("%a: tensor<4xf32", ""), "t:1: column 21: the type is not closed"},
      {MAIN("%a: tensor<4611686018427387904x4xf32>",
            "%0 = stablehlo.abs %a : tensor<4611686018427387904x4xf32>\n"
            "return %0 : tensor<4611686018427387904x4xf32>"),
       "t:1: instruction \"%a\": the size of its shape is beyond 2^62 bytes"},
      {MAIN("%a: tensor<4xf32>", "%0 = linalg.abs %a : tensor<4xf32>"),
       "t:2: column 6: found 'linalg.abs', expected an op of StableHLO"},
      {MAIN("%a: tensor<4xf32>", "%0 = stablehlo.abs %a\n}"),
       "t:3: column 1: found '}', expected ':' and the types of the op"},
      {MAIN("%a: tensor<4xf32>", "%0 = stablehlo.abs %a \"x : y"),
       "t:2: a string that is not closed"},
      {MAIN("%a: tensor<4xf32>", "%0 = stablehlo.abs(%a : tensor<4xf32>"),
       "t:4: column 1: found the end of the file, expected ':' and the types "
       "of the op"},
      {MAIN("%a: tensor<4xf32>",
            "%0:2 = stablehlo.abs %a : tensor<4xf32>\n" RETURN),
       "t:2: 2 results of an op with 1 type"},
      {MAIN("%a: tensor<4xf32>",
            "%0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n" RETURN),
       "t:2: instruction \"%0\": there is no function \"@f\""},
      {MAIN("%a: tensor<4xf32>",
            "%0 = call @main(%a) : (tensor<4xf32>) -> tensor<4xf32>\n" RETURN),
       "t:2: instruction \"%0\": calls computation \"@main\", which calls "
       "itself"},
      {MAIN("%a: tensor<4xf32>",
            "%0 = call @both(%a) : (tensor<4xf32>) -> tensor<4xf32>\n" RETURN)
           BOTH,
       "t:2: instruction \"%0\": its shape has 1 value, but the result of its "
       "computation has 2"},
      {BOTH BOTH, "t:6: a second function \"@both\""},
      {MAIN("%a: tensor<4xf32>",
            "%0 = stablehlo.while(%x = %a) : tensor<4xf32>\n" RETURN),
       "t:2: a loop with 0 regions and 1 value"},
      {MAIN("%p: tensor<i1>",
            "%0 = \"stablehlo.while\"() ({\nstablehlo.return %p : "
            "tensor<i1>\n}, "
            "{\nstablehlo.return\n}) : () -> tensor<4xf32>\n" RETURN),
       "t:2: a loop with 2 regions and 0 values"},
      {MAIN("%a: tensor<4xf32>", "%0 = stablehlo.optimization_barrier : "
                                 "tensor<4xf32>, tensor<4xf32>"),
       "t:2: a barrier without values"},
      {MAIN("%a: tensor<4xf32>", "%0 = stablehlo.parameter : tensor<4xf32>"),
       "t:2: column 6: found 'stablehlo.parameter', expected an op of "
       "StableHLO"},
      {MAIN("%a: tensor<4xf32>",
            "%0:4294967297 = stablehlo.abs %a : tensor<4xf32>\n" RETURN),
       "t:2: column 4: found '4294967297', expected a number of results"},
      {MAIN("%a: tensor<4xf32>", "return %a#4294967296 : tensor<4xf32>"),
       "t:2: \"%a#4294967296\": there are 1 results"},
      {MAIN("%a: tensor<4xf32>", "return %a#x : tensor<4xf32>"),
       "t:2: \"%a#x\": there are 1 results"},
      {MAIN("%a: tensor<4xf32>", RETURN " loc"),
       "t:2: column 8: there is no value %0"},
      {MAIN("%a: tensor<4xf32>",
            "%0 = " MANUAL("%a", "%b: tensor<2xf32>, %c: tensor<2xf32>")),
       "t:2: a body with more arguments than its 1 value"},
      {MAIN("%a: tensor<4xf32>",
            "%0 = " MANUAL(
                "%a", "%b: tensor<2xf32>") " {\nsdy.return %b, %b : "
                                           "tensor<2xf32>, tensor<2xf32>\n} : "
                                           "(tensor<4xf32>) -> tensor<4xf32>"),
       "t:2: a body that returns 2 values, 1 type"},
      {MAIN("%a: tensor<4xf32>", "%0 = sdy.manual_computation(%a) axes={}]"),
       "t:2: column 40: found ']', expected '(' and the arguments of the body"},
      {MAIN("%a: tensor<4xf32>", "%0 = " MANUAL("%a", "%b: tensor<2xf32> %c")),
       "t:2: column 130: found '%c', expected ',' or ')'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_graph *graph = NULL;
    assert_true(regal_stablehlo_detect(cases[i].text, strlen(cases[i].text)));
    assert_int_equal(regal_graph_load_bytes(context, "t", cases[i].text,
                                            strlen(cases[i].text), NULL,
                                            &graph),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(context), cases[i].message);
    assert_null(graph);
  }
}

/* Bodies in bodies end before the stack does. */
static void test_manual_nesting(void **state) {
  (void)state;
  char text[16000] = "func.func @main() {\n";
  regal_graph *graph = NULL;
  size_t at = strlen(text);
  for (int i = 0; i < 100; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s",
                           MANUAL("", "") " {\n");
  assert_int_equal(regal_graph_load_bytes(context, "t", text, at, NULL, &graph),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "t:66: regions nest more than 64 deep");
}

/* Functions that each call the next one twice: a text of a few lines that would
 * be 2^40 ops. Those at the bottom are put in place, the others stay calls. */
static void test_doubling(void **state) {
  (void)state;
  char text[16000];
  size_t at = 0;
  at += (size_t)snprintf(
      text, sizeof text,
      "func.func @main(%%a: tensor<4xf32>) {\n%%0 = call @f0(%%a) : "
      "(tensor<4xf32>) -> tensor<4xf32>\nreturn %%0 : tensor<4xf32>\n}\n");
  for (int i = 0; i < 40; i++)
    at += (size_t)snprintf(
        text + at, sizeof text - at,
        "func.func @f%d(%%a: tensor<4xf32>) {\n"
        "%%0 = call @f%d(%%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "%%1 = call @f%d(%%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "return %%1 : tensor<4xf32>\n}\n",
        i, i + 1, i + 1);
  snprintf(text + at, sizeof text - at,
           "func.func @f40(%%a: tensor<4xf32>) {\n"
           "%%0 = stablehlo.abs %%a : tensor<4xf32>\n"
           "return %%0 : tensor<4xf32>\n}\n");
  regal_graph *graph = loaded(text);
  assert_true(graph->ops < 1u << 18);
  assert_int_equal(graph->work_ns, (INT64_C(1) << 40) * 4);
  regal_graph_free(graph);
}

static void test_depth(void **state) {
  (void)state;
  static char text[20000];
  size_t at = (size_t)snprintf(text, sizeof text,
                               "func.func @main(%%p: tensor<i32>) {\n");
  for (int i = 0; i < 100; i++)
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "%%%d = \"stablehlo.case\"(%%p) ({\n", i);
  regal_graph *graph;
  assert_int_equal(regal_graph_load_bytes(context, "t", text, at, NULL, &graph),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "t:66: regions nest more than 64 deep");
}

static regal_status load_text(regal_context *context, const void *text) {
  regal_graph *graph = NULL;
  regal_status status =
      regal_graph_load_bytes(context, "t", text, strlen(text), NULL, &graph);
  regal_graph_free(graph);
  return status;
}

static void test_every_allocation_may_fail(void **state) {
  (void)state;
  static const char text[] =
      MAIN("%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %p: tensor<i32>",
           "%0:2 = call @both(%a) : (tensor<4xf32>) -> (tensor<4xf32>, "
           "tensor<4xf32>)\n"
           "%1 = \"stablehlo.case\"(%p) ({\n"
           "  stablehlo.return %0#0 : tensor<4xf32>\n}) : (tensor<i32>) -> "
           "tensor<4xf32>\n"
           "%2 = " MANUAL(
               "%1", "%b: tensor<2xf32>") " {\n"
                                          "  sdy.return %b : tensor<2xf32>\n} "
                                          ": (tensor<4xf32>) -> "
                                          "tensor<4xf32>\n"
                                          "return %2 : tensor<4xf32>") BOTH;
  fail_each_allocation(load_text, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_convolution),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_loop),
      cmocka_unit_test(test_loop_of_unknown_length),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_branches),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_donation),
      cmocka_unit_test(test_manual_computation),
      cmocka_unit_test(test_manual_nesting),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_doubling),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("stablehlo", tests, set_up, tear_down);
}
