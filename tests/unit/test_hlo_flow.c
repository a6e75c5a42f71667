/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of instructions: views, values in place, asynchronous pairs,
 * sizes and times, in small modules as text. */
#include "support/loaded_graph.h"

static int setup(void **state) {
  return regal_context_create((regal_context **)state, NULL);
}

static int teardown(void **state) {
  assert_int_equal(regal_bytes_in_use(*state), 0);
  regal_context_free(*state);
  return 0;
}

#define MODULE "HloModule m, is_scheduled=true\n"
#define ENTRY(lines) MODULE "ENTRY main {\n" lines "}\n"
#define P "p = f32[8]{0} parameter(0)\n"

static bool may_reuse(const regal_graph *graph, const char *name) {
  return graph->may_reuse[loaded_tensor(graph, name, 0)];
}

static uint32_t outputs(const regal_graph *graph, const char *name) {
  uint32_t op = loaded_op(graph, name);
  return graph->output_begin[op + 1] - graph->output_begin[op];
}

/* -- Views and values ------------------------------------------------------ */

static void nested_tuples(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(P "a = f32[8]{0} negate(p)\n"
                           "b = f32[4]{0} slice(p), slice={[0:4]}\n"
                           "u = (f32[4]{0}, f32[8]{0}) tuple(b, a)\n"
                           "t = (f32[8]{0}, (f32[4]{0}, f32[8]{0})) "
                           "tuple(a, u)\n"
                           "v = (f32[4]{0}, /*index=1*/f32[8]{0}) "
                           "get-tuple-element(t), index=1\n"
                           "w = f32[4]{0} get-tuple-element(v), index=0\n"
                           "x = f32[2,2]{1,0} bitcast(w)\n"
                           "ROOT c = f32[2,2]{1,0} copy(x)\n"),
                   NULL);
  assert_int_equal(graph->ops, 3);
  assert_true(loaded_reads(graph, "c", "b", 0));
  assert_int_equal(loaded_inputs(graph, "c"), 1);
  assert_int_equal(graph->id[loaded_op(graph, "c")], 8);
  loaded_expect_note(graph, REGAL_NOTE_JOINED,
                     "5 views (tuple, get-tuple-element, bitcast) with the "
                     "original value");
  regal_graph_free(graph);
}

static void unknown_opcodes_are_named(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(P "a = f32[8]{0} frobnicate(p)\nROOT b = f32[8]{0} "
                           "negate(a)\n"),
                   NULL);
  assert_int_equal(graph->ops, 2);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "1 instruction of unknown opcode, counted as op with "
                     "outputs of its own: \"a\" (frobnicate)");
  regal_graph_free(graph);
}

static void parameters_and_constants(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(P "q = f32[100]{0} parameter(1)\n"
                           "k = f32[8]{0} constant({1, 2, 3, 4,\n 5, 6, 7, 8})"
                           ", metadata={op_name=\"a{b\"}\n"
                           "a = f32[8]{0} add(p, k)\n"
                           "ROOT b = f32[8]{0} add(a, k)\n"),
                   NULL);
  assert_int_equal(graph->ops, 2);
  assert_int_equal(graph->parameters, 2); /* q is not read */
  assert_int_equal(graph->total_resident_bytes, 64);
  assert_int_equal(graph->parameter_begin[2] - graph->parameter_begin[1], 1);
  regal_graph_free(graph);
}

/* -- In place -------------------------------------------------------------- */

#define UPDATE                                                                 \
  P "i = s32[] parameter(1)\nr = f32[1]{0} parameter(2)\n"                     \
    "a = f32[8]{0} negate(p)\n"

static void updates_wait_for_readers(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(UPDATE "b = f32[8]{0} tanh(a)\n"
                                "u = f32[8]{0} dynamic-update-slice(a, r, i)\n"
                                "ROOT c = f32[8]{0} add(u, b)\n"),
                   NULL);
  assert_int_equal(outputs(graph, "u"), 0);
  assert_true(loaded_waits(graph, "u", "b"));
  assert_true(loaded_waits(graph, "c", "u"));
  assert_true(loaded_reads(graph, "c", "a", 0));
  assert_string_equal(
      regal_graph_label(graph, &graph->group, loaded_op(graph, "u")), "a");
  regal_graph_free(graph);
}

/* A module before copy insertion: the operand is read again, or is a parameter
 * that is not donated. */
static void updates_elsewhere(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(UPDATE "u = f32[8]{0} dynamic-update-slice(a, r, i)\n"
                                "v = f32[8]{0} dynamic-update-slice(p, r, i)\n"
                                "ROOT c = f32[8]{0} add(u, a)\n"),
                   NULL);
  assert_int_equal(loaded_bytes(graph, "u", 0), 32);
  assert_int_equal(loaded_bytes(graph, "v", 0), 32);
  regal_graph_free(graph);
}

static void declared_aliases(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(P "a = f32[8]{0} negate(p)\nb = f32[8]{0} tanh(p)\n"
                           "c = (f32[8]{0}, f32[4]{0}) custom-call(b, a), "
                           "custom_call_target=\"f\", "
                           "output_to_operand_aliasing={{0}: (1, {})}\n"
                           "d = f32[8]{0} get-tuple-element(c), index=0\n"
                           "ROOT e = f32[8]{0} negate(d)\n"),
                   NULL);
  assert_int_equal(outputs(graph, "c"), 1);
  assert_int_equal(loaded_bytes(graph, "c", 0), 16);
  assert_true(loaded_reads(graph, "e", "a", 0));
  assert_true(loaded_waits(graph, "e", "c"));
  regal_graph_free(graph);
}

/* Two results swap the memory of their parameters. */
static void donated_parameters(void **state) {
  regal_graph *graph = loaded_graph(
      *state,
      "HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, "
      "may-alias), {1}: (1, {0}, must-alias) }\nENTRY main {\n" P
      "q = (f32[4]{0}, f32[2]{0}) parameter(1)\n"
      "r = f32[4]{0} get-tuple-element(q), index=0\n"
      "s = f32[2]{0} get-tuple-element(q), index=1\n"
      "a = f32[8]{0} concatenate(p, s), dimensions={0}\n"
      "b = f32[8]{0} custom-call(a)\n"
      "c = f32[4]{0} custom-call(r, p)\n"
      "ROOT t = (f32[8]{0}, f32[4]{0}) tuple(b, c)\n}\n",
      NULL);
  assert_int_equal(graph->ops, 5);
  assert_int_equal(loaded_op(graph, "p"), 0);
  assert_int_equal(loaded_op(graph, "q"), 1);
  assert_int_equal(loaded_bytes(graph, "q", 0), 16);
  assert_int_equal(graph->total_resident_bytes, 8); /* s */
  assert_true(loaded_waits(graph, "a", "q"));       /* all are there first */
  assert_false(loaded_waits(graph, "b", "c"));      /* c reads p after b */
  assert_true(loaded_final(graph, "b", 0));
  regal_graph_free(graph);
}

static void outputs_that_may_be_in_place(void **state) {
  regal_graph *graph = loaded_graph(
      *state,
      MODULE "add8 {\nx = f32[8,8]{1,0} parameter(0)\n"
             "y = f32[8,8]{1,0} parameter(1)\n"
             "z = f32[8,8]{1,0} dot(x, x), lhs_contracting_dims={1}\n"
             "ROOT w = f32[8,8]{1,0} add(z, y)\n}\n"
             "two {\nx = f32[8,8]{1,0} parameter(0)\n"
             "y = f32[8,8]{1,0} parameter(1)\n"
             "t = f32[8,8]{1,0} transpose(x), dimensions={1,0}\n"
             "ROOT w = f32[8,8]{1,0} add(t, y)\n}\n"
             "ENTRY main {\np = f32[8,8]{1,0} parameter(0)\n"
             "a = f32[8,8]{1,0} custom-call(p)\n"
             "b = f32[8,8]{1,0} custom-call(p)\n"
             "unary = f32[8,8]{1,0} tanh(a)\n"
             "other = f32[8,8]{0,1} tanh(a)\n"
             "copied = f32[8,8]{1,0} copy(a)\n"
             "moved = f32[8,8]{1,0} transpose(a), dimensions={1,0}\n"
             "kept = f32[8,8]{1,0} tanh(p)\n"
             "output = f32[8,8]{1,0} fusion(b, a), kind=kOutput, calls=add8\n"
             "loop = f32[8,8]{1,0} fusion(b, a), kind=kLoop, calls=two\n"
             "custom = f32[8,8]{1,0} fusion(b, a), kind=kCustom, calls=two\n"
             "bad = f32[8,8]{1,0} fusion(b, p), kind=kLoop, calls=two\n"
             "sorted = f32[8,8]{1,0} sort(b), dimensions={0}\n"
             "t = (f32[8,8]{1,0}) tuple(a)\n"
             "g = f32[8,8]{1,0} get-tuple-element(t), index=0\n"
             "viewed = f32[8,8]{1,0} tanh(g)\n"
             "ROOT all = pred[] custom-call(unary, other, copied, moved, kept, "
             "output, loop, custom, bad, sorted, viewed)\n}\n",
      NULL);
  assert_true(may_reuse(graph, "unary"));
  assert_false(may_reuse(graph, "other"));
  assert_false(may_reuse(graph, "copied"));
  assert_false(may_reuse(graph, "moved"));
  assert_false(may_reuse(graph, "kept")); /* a parameter stays as it is */
  assert_true(may_reuse(graph, "output"));
  assert_true(may_reuse(graph, "loop"));
  assert_true(may_reuse(graph, "custom"));
  assert_false(may_reuse(graph, "bad"));
  assert_false(may_reuse(graph, "sorted")); /* b has other readers */
  assert_false(may_reuse(graph, "viewed")); /* not read directly */
  /* What it may be written over comes first. */
  uint32_t loop = loaded_op(graph, "loop");
  assert_int_equal(graph->input[graph->input_begin[loop]],
                   loaded_tensor(graph, "a", 0));
  regal_graph_free(graph);
}

/* -- Calls ----------------------------------------------------------------- */

#define LOOP                                                                   \
  MODULE                                                                       \
  "body {\ns = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)\n"                   \
  "i = s32[] get-tuple-element(s), index=0\n"                                  \
  "x = f32[8]{0} get-tuple-element(s), index=1\n"                              \
  "w = f32[8]{0} get-tuple-element(s), index=2\n"                              \
  "one = s32[] constant(1)\n"                                                  \
  "j = s32[] add(i, one)\n"                                                    \
  "a = f32[8]{0} multiply(x, w)\n"                                             \
  "b = f32[8]{0} custom-call(a)\n"                                             \
  "ROOT r = (s32[], f32[8]{0}, f32[8]{0}) tuple(j, b, w)\n}\n"                 \
  "until {\ns = (s32[], f32[8]{0}, f32[8]{0}) parameter(0)\n"                  \
  "ROOT c = pred[] constant(true)\n}\n"                                        \
  "ENTRY main {\nn = s32[] parameter(0)\np = f32[8]{0} parameter(1)\n"         \
  "i = s32[] copy(n)\nx = f32[8]{0} copy(p)\n"                                 \
  "s = (s32[], f32[8]{0}, f32[8]{0}) tuple(i, x, p)\n"                         \
  "l = (s32[], f32[8]{0}, f32[8]{0}) while(s), condition=until, body=body"

static void loops(void **state) {
  regal_graph *once = loaded_graph(
      *state, LOOP "\nROOT y = f32[8]{0} get-tuple-element(l), index=1\n}\n",
      NULL);
  regal_graph *often = loaded_graph(
      *state,
      LOOP ", backend_config={\"known_trip_count\":{\"n\":\"10\"}}\n"
           "ROOT y = f32[8]{0} get-tuple-element(l), index=1\n}\n",
      NULL);
  uint32_t op = loaded_op(once, "l");
  assert_int_equal(outputs(once, "l"), 0);
  assert_true(loaded_final(once, "x", 0));
  assert_false(loaded_final(once, "i", 0));
  /* `a`; `j` and `b` are written over the state, `w` passes through. */
  assert_int_equal(once->temporary_bytes[op], 32);
  assert_int_equal(once->total_resident_bytes, 32 + 4 + 4 + 1);
  assert_int_equal(often->run_ns[op], 10 * once->run_ns[op]);
  loaded_expect_note(once, REGAL_NOTE_ASSUMED,
                     "1 loop of unknown length counted as one round");
  regal_graph_free(once);
  regal_graph_free(often);
}

static void calls_need_what_their_values_need(void **state) {
  regal_graph *graph = loaded_graph(
      *state,
      MODULE "f {\nx = f32[8]{0} parameter(0)\n"
             "a = f32[100]{0} custom-call(x)\n"
             "b = f32[50]{0} custom-call(a)\n"
             "ROOT c = f32[8]{0} custom-call(b)\n}\n"
             "ENTRY main {\n" P "ROOT c = f32[8]{0} call(p), to_apply=f\n}\n",
      NULL);
  uint32_t op = loaded_op(graph, "c");
  assert_int_equal(graph->temporary_bytes[op], 600 - 32);
  assert_int_equal(loaded_bytes(graph, "c", 0), 32);
  assert_true(graph->run_ns[op] >= 3 * 3300);
  regal_graph_free(graph);
}

/* -- Order ----------------------------------------------------------------- */

/* What is copied stays until that is done, and readers wait for it. */
static void asynchronous_pairs(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(P "a = f32[8]{0} negate(p)\n"
                           "s = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(a)\n"
                           "b = f32[8]{0} tanh(p)\n"
                           "d = f32[8]{0} copy-done(s)\n"
                           "ROOT c = f32[8]{0} add(d, b)\n"),
                   NULL);
  assert_int_equal(outputs(graph, "s"), 1);
  assert_int_equal(loaded_bytes(graph, "s", 0), 32);
  assert_int_equal(outputs(graph, "d"), 0);
  assert_true(loaded_reads(graph, "d", "a", 0));
  assert_true(loaded_reads(graph, "c", "s", 0));
  assert_true(loaded_waits(graph, "c", "d"));
  assert_int_equal(graph->run_ns[loaded_op(graph, "d")], 0);
  regal_graph_free(graph);
}

static void updates_of_asynchronous_ops(void **state) {
  regal_graph *graph = loaded_graph(
      *state,
      MODULE "f {\nx = f32[8]{0} parameter(0)\n"
             "ROOT c = f32[4]{0} custom-call(x)\n}\n"
             "ENTRY main {\n" P
             "s = ((f32[8]{0}), f32[4]{0}, u32[]) async-start(p), calls=f\n"
             "u = ((f32[8]{0}), f32[4]{0}, u32[]) async-update(s)\n"
             "d = f32[4]{0} async-done(u)\n"
             "ROOT n = f32[4]{0} negate(d)\n}\n",
      NULL);
  assert_int_equal(graph->ops, 3);
  assert_int_equal(loaded_bytes(graph, "s", 0), 16);
  assert_true(loaded_reads(graph, "n", "s", 0));
  assert_true(loaded_waits(graph, "n", "d"));
  regal_graph_free(graph);
}

static void barriers_and_predecessors(void **state) {
  regal_graph *graph =
      loaded_graph(*state,
                   ENTRY(P "a = f32[8]{0} negate(p)\nb = f32[8]{0} tanh(p)\n"
                           "t = (f32[8]{0}, f32[8]{0}) tuple(a, b)\n"
                           "o = (f32[8]{0}, f32[8]{0}) opt-barrier(t)\n"
                           "x = f32[8]{0} get-tuple-element(o), index=0\n"
                           "k = token[] after-all()\n"
                           "c = f32[8]{0} abs(x), control-predecessors={%k}\n"
                           "ROOT d = f32[8]{0} add(c, b)\n"),
                   NULL);
  assert_int_equal(outputs(graph, "o"), 0);
  assert_true(loaded_reads(graph, "o", "b", 0));
  assert_true(loaded_reads(graph, "c", "a", 0));
  assert_true(loaded_waits(graph, "c", "o"));
  assert_true(loaded_waits(graph, "c", "k"));
  assert_int_equal(graph->run_ns[loaded_op(graph, "k")], 0);
  regal_graph_free(graph);
}

/* -- Sizes and times ------------------------------------------------------- */

static int64_t bytes_of(regal_context *context, const char *shape) {
  char text[300];
  snprintf(text, sizeof text, ENTRY(P "ROOT a = %s custom-call(p)\n"), shape);
  regal_graph *graph = loaded_graph(context, text, NULL);
  int64_t bytes = loaded_bytes(graph, "a", 0);
  regal_graph_free(graph);
  return bytes;
}

static void sizes(void **state) {
  assert_int_equal(bytes_of(*state, "pred[]"), 1);
  assert_int_equal(bytes_of(*state, "bf16[3,5]{1,0}"), 30);
  assert_int_equal(bytes_of(*state, "c128[2]{0}"), 32);
  assert_int_equal(bytes_of(*state, "f8e4m3fn[7]{0}"), 7);
  assert_int_equal(bytes_of(*state, "s4[5]{0}"), 5);
  assert_int_equal(bytes_of(*state, "s4[5]{0:E(4)}"), 3);
  assert_int_equal(bytes_of(*state, "f32[<=6]{0}"), 24);
  assert_int_equal(bytes_of(*state, "f32[0,4]{1,0}"), 0);
  assert_int_equal(bytes_of(*state, "token[]"), 0);
  /* TPU: the minor dimensions are padded. */
  assert_int_equal(bytes_of(*state, "f32[3,5]{1,0:T(8,128)}"), 8 * 128 * 4);
  assert_int_equal(bytes_of(*state, "f32[3,5]{0,1:T(2,4)S(1)}"), 6 * 4 * 4);
  assert_int_equal(bytes_of(*state, "bf16[9,5]{1,0:T(8,128)(2,1)}"),
                   16 * 128 * 2);
  assert_int_equal(bytes_of(*state, "f32[]{:T(128)}"), 512);
}

static int64_t ns_of(regal_context *context, const char *lines) {
  char text[900];
  snprintf(text, sizeof text,
           MODULE "half {\nx = f32[1000000]{0} parameter(0)\n"
                  "i = s32[] parameter(1)\n"
                  "ROOT s = f32[10]{0} dynamic-slice(x, i), "
                  "dynamic_slice_sizes={10}\n}\n"
                  "ENTRY main {\n%s}\n",
           lines);
  regal_graph *graph = loaded_graph(context, text, NULL);
  int64_t ns = graph->run_ns[loaded_op(graph, "a")];
  regal_graph_free(graph);
  return ns;
}

/* An H200: 66.9 TFLOP/s of fp32, 989.4 of bf16, 4.8 TB/s, 3300 ns a launch. */
static void times(void **state) {
  assert_int_equal(
      ns_of(*state, "p = f32[2000,4000]{1,0} parameter(0)\n"
                    "q = f32[4000,3000]{1,0} parameter(1)\n"
                    "ROOT a = f32[2000,3000]{1,0} dot(p, q), "
                    "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
      3300 + 717489); /* 48 GFLOP */
  assert_int_equal(
      ns_of(*state, "p = bf16[2000,4000]{1,0} parameter(0)\n"
                    "q = bf16[4000,3000]{1,0} parameter(1)\n"
                    "ROOT a = bf16[2000,3000]{1,0} dot(p, q), "
                    "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
      3300 + 48515);
  assert_int_equal(ns_of(*state,
                         "p = f32[8,64,64,32]{3,2,1,0} parameter(0)\n"
                         "q = f32[3,3,32,64]{3,2,1,0} parameter(1)\n"
                         "ROOT a = f32[8,64,64,64]{3,2,1,0} convolution(p, q), "
                         "window={size=3x3 pad=1_1x1_1}, "
                         "dim_labels=b01f_01io->b01f\n"),
                   3300 + 18057); /* 2 * 8 * 64 * 64 * 64 * (9 * 32) */
  assert_int_equal(ns_of(*state, "p = f32[1000000]{0} parameter(0)\n"
                                 "ROOT a = f32[1000000]{0} tanh(p)\n"),
                   3300 + 1667); /* 8 MB */
  assert_int_equal(ns_of(*state, "p = f32[1000000]{0} parameter(0)\n"
                                 "i = s32[] parameter(1)\n"
                                 "ROOT a = f32[10]{0} fusion(p, i), "
                                 "kind=kLoop, calls=half\n"),
                   3300 + 1); /* only the slice is read */
}

/* -- Texts ----------------------------------------------------------------- */

static void other_forms(void **state) {
  regal_graph *plain =
      loaded_graph(*state, ENTRY(P "ROOT n = f32[8]{0} negate(p)\n"), NULL);
  regal_graph *other = loaded_graph(
      *state,
      "// a comment\nHloModule m.1, is_scheduled=true, "
      "frontend_attributes={a=\"}\"}\n\nFileNames\n1 \"x.py\"\n\n"
      "ENTRY %main (p: f32[8], /*index=1*/q: (f32[], s32[])) -> f32[8] {\n"
      "  %p = f32[8]{0} parameter(0), sharding={replicated}\n"
      "  ROOT %n = f32[8]{0} negate(f32[8]{0} %p), metadata={op_name=\"a, "
      "b=\\\"c\\\"\" source_line=3}\n"
      "}, execution_thread=\"main\"\n"
      "%unused (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n",
      NULL);
  assert_int_equal(plain->checksum, other->checksum);
  regal_graph_free(plain);
  regal_graph_free(other);
}

/* Line ends of other systems, and a header that ends with the schedule. */
static void line_ends(void **state) {
  regal_graph *graph = loaded_graph(
      *state,
      "HloModule m, is_scheduled=true\r\n\r\nENTRY main {\r\n"
      "p = f32[8]{0} parameter(0)\r\n"
      "ROOT n = f32[8]{0} negate(p), metadata={op_name=\"a\"}\r\n}\r\n",
      NULL);
  assert_true(graph->has_schedule);
  assert_int_equal(graph->schedule_peak_bytes, 64);
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(nested_tuples, setup, teardown),
      cmocka_unit_test_setup_teardown(unknown_opcodes_are_named, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(parameters_and_constants, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(updates_wait_for_readers, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(updates_elsewhere, setup, teardown),
      cmocka_unit_test_setup_teardown(declared_aliases, setup, teardown),
      cmocka_unit_test_setup_teardown(donated_parameters, setup, teardown),
      cmocka_unit_test_setup_teardown(outputs_that_may_be_in_place, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(loops, setup, teardown),
      cmocka_unit_test_setup_teardown(calls_need_what_their_values_need, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(asynchronous_pairs, setup, teardown),
      cmocka_unit_test_setup_teardown(updates_of_asynchronous_ops, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(barriers_and_predecessors, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(sizes, setup, teardown),
      cmocka_unit_test_setup_teardown(times, setup, teardown),
      cmocka_unit_test_setup_teardown(other_forms, setup, teardown),
      cmocka_unit_test_setup_teardown(line_ends, setup, teardown),
  };
  return cmocka_run_group_tests_name("hlo_flow", tests, NULL, NULL);
}
