/* SPDX-License-Identifier: Apache-2.0 */
/* --costs with a trace of torch.profiler: which event is which op, times of the
 * host and of kernels, and what is said about traces that are no good. The
 * traces in tests/graphs/traces were made by PyTorch 2.11 on a CPU, from the
 * model "Branches" of python/tests/test_torch.py; those of a GPU are written
 * here after Kineto's format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/costs/trace.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/loaded_graph.h"

static regal_context *context;

static int set_up(void **state) {
  return files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

static int64_t time_of(const regal_graph *graph, const char *name) {
  return graph->run_ns[loaded_op(graph, name)];
}

/* -- Real traces ----------------------------------------------------------- */

#define TRACES REGAL_TEST_DATA "/graphs/traces/"

static regal_graph *sample(const char *path, const char *trace) {
  regal_options options = loaded_options(context, "costs", trace, NULL);
  regal_graph *graph;
  if (regal_graph_load(context, path, &options, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

/* Three runs. Expected are the medians of the events' durations, which
 * `jq '.traceEvents[] | select(.name == "aten::conv2d") | .dur'` shows. */
static void test_inference(void **state) {
  (void)state;
  regal_graph *graph =
      sample(TRACES "branches.graph.json", TRACES "branches.json");
  assert_int_equal(time_of(graph, "0:conv2d"), 111829);
  assert_int_equal(time_of(graph, "1:_native_batch_norm_legit_no_training"),
                   28597);
  assert_int_equal(time_of(graph, "7:relu_2"), 3914);
  assert_int_equal(time_of(graph, "12:linear"), 34570);
  loaded_expect_notes(graph, 1);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "run times of 13 of 13 ops as measured in " TRACES
                     "branches.json: calls on the host, the median of 3 runs");
  regal_graph_free(graph);
}

/* Forward, backward and a step of SGD, whose aten::add_ must not count; gzip.
 * The graph's loss has two ops more than that of the run. */
static void test_training(void **state) {
  (void)state;
  regal_graph *graph = sample(TRACES "branches_train.graph.json",
                              TRACES "branches_train.json.gz");
  assert_int_equal(time_of(graph, "36:add_2"), 1934);
  assert_int_equal(time_of(graph, "37:native_batch_norm_backward"), 17019);
  assert_int_equal(time_of(graph, "38:convolution_backward_3"), 91863);
  loaded_expect_notes(graph, 2);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     TRACES "branches_train.json.gz has no time of 2 ops: "
                            "\"16:stack\", \"17:sum_1\"; they keep their own");
  regal_graph_free(graph);
}

/* -- Traces of a test ------------------------------------------------------ */

#define GRAPH                                                                  \
  "{\"regal_graph\": 1, \"ops\": ["                                            \
  "{\"name\": \"0:mm\", \"run_ns\": 1, \"outputs\": [64]},"                    \
  "{\"name\": \"1:relu\", \"run_ns\": 1, \"outputs\": [64],"                   \
  " \"inputs\": [\"0:mm\"]},"                                                  \
  "{\"name\": \"2:mm_1\", \"run_ns\": 1, \"outputs\": [32],"                   \
  " \"inputs\": [\"1:relu\"]},"                                                \
  "{\"name\": \"3:triton_poi_fused_7\", \"run_ns\": 1, \"outputs\": [32],"     \
  " \"inputs\": [\"2:mm_1\"]}]}"

#define EVENTS(list) "{\"traceEvents\": [\n" list "\n]}"
#define EVENT(category, name, thread, start, duration, arguments)              \
  "{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name               \
  "\", \"pid\": 7, \"tid\": " #thread ", \"ts\": " #start                      \
  ", \"dur\": " #duration ", \"args\": {" arguments "}}"
#define OP(name, start, duration, arguments)                                   \
  EVENT("cpu_op", name, 7, start, duration, arguments)
#define SHAPE(dims) "\"Input Dims\": [" dims "], \"Input type\": [\"float\"]"

static regal_status load(const char *trace, regal_graph **graph) {
  regal_options options = loaded_options(context, "costs", "t.json", NULL);
  files_write_text("t.json", trace);
  return regal_graph_load_bytes(context, "g", GRAPH, strlen(GRAPH), &options,
                                graph);
}

static regal_graph *loaded(const char *trace) {
  regal_graph *graph;
  if (load(trace, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

/* Of the calls after relu it is the one that reads 64 bytes; by order alone it
 * would be the first. */
static void test_sizes_decide(void **state) {
  (void)state;
  regal_graph *graph =
      loaded(EVENTS(OP("aten::relu_", 10, 3, SHAPE("[4, 4]")) "," OP(
          "aten::mm", 20, 5, SHAPE("[2, 2]")) "," OP("aten::mm", 30, 7,
                                                     SHAPE("[4, 4]"))));
  assert_int_equal(time_of(graph, "1:relu"), 3000);
  assert_int_equal(time_of(graph, "2:mm_1"), 7000);
  regal_graph_free(graph);
}

/* In order, over and over; what an op calls is part of it; the lower of two. */
static void test_order_decides(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      EVENTS(OP("aten::mm", 0, 9, "") "," OP("aten::mm", 1, 1, "") "," OP(
          "aten::relu", 10, 3,
          "") "," OP("aten::mm", 20, 5,
                     "") "," OP("aten::mm", 30, 7,
                                "") "," OP("aten::relu", 40, 5,
                                           "") "," OP("aten::mm", 50, 6.5,
                                                      "")));
  assert_int_equal(time_of(graph, "0:mm"), 7000);
  assert_int_equal(time_of(graph, "1:relu"), 3000);
  assert_int_equal(time_of(graph, "2:mm_1"), 5000);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "t.json has no shapes (record_shapes=True): ops were "
                     "matched by their names and order alone");
  regal_graph_free(graph);
}

#define KERNEL(duration, arguments)                                            \
  EVENT("kernel", "gemm<128>", 0, 900, duration, arguments)
#define LAUNCH(start, arguments)                                               \
  EVENT("cuda_runtime", "cudaLaunchKernel", 7, start, 1, arguments)

/* Kernels belong to the op inside which they were launched, whatever their own
 * time; an external id serves where there is no launch. The last op was called
 * from another thread, and launches twice. */
static void test_kernels(void **state) {
  (void)state;
  regal_graph *graph =
      loaded(EVENTS(OP(
          "aten::mm", 0, 9, "\"External id\": 1") "," LAUNCH(2,
                                                             "\"Exter"
                                                             "nal "
                                                             "id\": "
                                                             "1, "
                                                             "\"corre"
                                                             "lation"
                                                             "\": 11") "," KERNEL(100.5, "\"External id\": 1, \"correlation\": 11") "," OP("ate"
                                                                                                                                           "n::"
                                                                                                                                           "rel"
                                                                                                                                           "u",
                                                                                                                                           10, 5, "\"External id\": 2") "," OP("aten::clamp_min", 11, 3, "\"External id\": 3") "," KERNEL(20, "\"External id\": 3, \"correlation\": 12") "," OP("aten::mm", 20, 5, "\"External id\": 4") "," EVENT("cpu_op",
                                                                                                                                                                                                                                                                                                                                                   "triton_poi_fused_7", 8, 21, 9, "") "," EVENT("cuda_driver",
                                                                                                                                                                                                                                                                                                                                                                                                 "cuLaunchKernel", 8,
                                                                                                                                                                                                                                                                                                                                                                                                 22,
                                                                                                                                                                                                                                                                                                                                                                                                 1, "\"correlation\": 13") "," EVENT("cuda_driver",
                                                                                                                                                                                                                                                                                                                                                                                                                                     "cuLaunchKernel",
                                                                                                                                                                                                                                                                                                                                                                                                                                     8, 24, 1, "\"correlation\": 14") "," KERNEL(3, "\"correlation\": 13") "," KERNEL(4,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "\"correlation\": 14") "," KERNEL(500,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "\"correlation\": 99") ",{\"ph\": \"s\", \"id\": 11, \"cat\": \"ac2g\", \"name\": \"ac2g\"}"));
  assert_int_equal(time_of(graph, "0:mm"), 100500);
  assert_int_equal(time_of(graph, "1:relu"), 20000);
  assert_int_equal(time_of(graph, "3:triton_poi_fused_7"), 7000);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "run times of 3 of 4 ops as measured in t.json: kernels "
                     "on the device, the time of 1 run");
  loaded_expect_note(
      graph, REGAL_NOTE_WARNING,
      "t.json has no time of 1 op: \"2:mm_1\"; it keeps its own");
  regal_graph_free(graph);
}

static void test_errors(void **state) {
  (void)state;
  static const struct {
    const char *trace, *message;
  } cases[] = {
      {"{}",
       "t.json:1: found JSON without \"traceEvents\", expected a trace of "
       "torch.profiler, or a CSV of name,microseconds"},
      {"[{}]", "t.json:1: found JSON without \"traceEvents\", expected a trace "
               "of torch.profiler, or a CSV of name,microseconds"},
      {"{\"traceEvents\": 3}",
       "t.json:1: traceEvents: found 3, expected a list"},
      {"{\"traceEvents\": [3]}",
       "t.json:1: traceEvents[0]: found 3, expected an object"},
      {"{\"traceEvents\": [", "t.json:1:18: the file ends, expected the end of "
                              "the list that begins on line 1"},
      {EVENTS(""), "t.json: no op of the graph has a time in the trace: the "
                   "graph has \"0:mm\", \"1:relu\", \"2:mm_1\", "
                   "\"3:triton_poi_fused_7\"; the trace has no ops"},
      {EVENTS(OP("aten::addmm", 1, 2, "") "," OP("aten::tanh_", 3, 2, "")),
       "t.json: no op of the graph has a time in the trace: the graph has "
       "\"0:mm\", \"1:relu\", \"2:mm_1\", \"3:triton_poi_fused_7\"; the trace "
       "has \"addmm\", \"tanh\""},
      {EVENTS(OP("aten::mm", 1, 2, "") "," KERNEL(5, "\"correlation\": 3")),
       "t.json: no op of the graph has a time in the trace (its ops launched "
       "no kernels): the graph has \"0:mm\", \"1:relu\", \"2:mm_1\", "
       "\"3:triton_poi_fused_7\"; the trace has \"mm\""},
      {EVENTS("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\"}"),
       "t.json:2: traceEvents[0] \"a\": the event has no \"ts\""},
      {EVENTS(OP("aten::mm", 1, -2, "")),
       "t.json:2: traceEvents[0] \"aten::mm\": dur: found -2, expected a "
       "number "
       "of microseconds"},
      {EVENTS(OP("aten::mm", 9e15, 9e15, "")),
       "t.json:2: traceEvents[0] \"aten::mm\": the event ends beyond 2^63 ns"},
      {EVENTS(OP("aten::mm", 1, 2, "\"Input Dims\": [[-4]]")),
       "t.json:2: traceEvents[0] \"aten::mm\": args: Input Dims[0][0]: found "
       "-4, expected a whole number, at least 0"},
      {EVENTS(OP("aten::mm", 1, 2, "\"Input Dims\": [7]")),
       "t.json:2: traceEvents[0] \"aten::mm\": args: Input Dims[0]: found 7, "
       "expected a list"},
      {EVENTS(OP("aten::mm", 1, 2, "\"External id\": \"x\"")),
       "t.json:2: traceEvents[0] \"aten::mm\": args: External id: found \"x\", "
       "expected a number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_graph *graph = NULL;
    assert_int_equal(load(cases[i].trace, &graph), REGAL_BAD_INPUT);
    assert_string_equal(regal_error(context), cases[i].message);
    assert_null(graph);
  }
}

/* Sizes that overflow are of no use, and no error. */
static void test_hostile_sizes(void **state) {
  (void)state;
  regal_graph *graph = loaded(
      EVENTS(OP("aten::mm", 1, 2,
                SHAPE("[9223372036854775807, 9], "
                      "[[9223372036854775807]]")) "," OP("aten::relu", 5, 1,
                                                         SHAPE("[461168601"
                                                               "8427387904"
                                                               "]"))));
  assert_int_equal(time_of(graph, "0:mm"), 2000);
  assert_int_equal(time_of(graph, "1:relu"), 1000);
  regal_graph_free(graph);
}

/* -- Names ----------------------------------------------------------------- */

static void expect_name(const char *name, bool numbered, const char *expected) {
  char plain[REGAL_TRACE_NAME];
  regal_trace_plain_name(name, numbered, plain);
  assert_string_equal(plain, expected);
}

static void test_names(void **state) {
  (void)state;
  expect_name("aten::relu_", true, "relu");
  expect_name("12:relu__3", false, "relu");
  expect_name("12:relu_3", true, "relu_3");
  expect_name("sum_1", false, "sum");
  expect_name("_1", false, "_1");
  expect_name("_", false, "_");
  expect_name("", false, "");
  expect_name("7::x", false, "x");
  expect_name("aten::native_batch_norm", true, "batch_norm");
  expect_name("4:_native_batch_norm_legit_functional_2", false, "batch_norm");
  char longest[400];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = 0;
  char plain[REGAL_TRACE_NAME];
  regal_trace_plain_name(longest, true, plain);
  assert_int_equal(strlen(plain), REGAL_TRACE_NAME - 1);
}

/* -- Memory ---------------------------------------------------------------- */

static regal_status load_with_trace(regal_context *context, const void *state) {
  regal_options options = loaded_options(context, "costs", "t.json", NULL);
  regal_graph *graph = NULL;
  (void)state;
  regal_status status = regal_graph_load_bytes(context, "t", GRAPH,
                                               strlen(GRAPH), &options, &graph);
  regal_graph_free(graph);
  return status;
}

static void test_every_allocation_may_fail(void **state) {
  (void)state;
  files_write_text("t.json",
                   EVENTS(OP("aten::mm", 0, 9, SHAPE("[4, 4]")) "," LAUNCH(
                       2, "\"correlation\": 11") "," KERNEL(100, "\"correlation"
                                                                 "\": 11")));
  fail_each_allocation(load_with_trace, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inference),
      cmocka_unit_test(test_training),
      cmocka_unit_test(test_sizes_decide),
      cmocka_unit_test(test_order_decides),
      cmocka_unit_test(test_kernels),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_hostile_sizes),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("costs_trace", tests, set_up, tear_down);
}
