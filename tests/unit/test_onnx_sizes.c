/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of an ONNX model's tensors: given by --shape, unknown, or assumed. */
#include "support/onnx_model.h"

#include "cost/model/problem.h"
#include "format/onnx_shapes/shapes.h"
#include "support/failing_allocator.h"

#define ADVICE                                                                 \
  "infer shapes with 'python -m onnxruntime.tools.symbolic_shape_infer "       \
  "--auto_merge --input t --output shaped.onnx'; or go on with "               \
  "--assume-unknown-bytes N"

static int setup(void **state) {
  return regal_context_create((regal_context **)state, NULL);
}

static int teardown(void **state) {
  assert_int_equal(regal_bytes_in_use(*state), 0);
  regal_context_free(*state);
  return 0;
}

/* x -> Foo -> y1 -> ... -> Foo -> y{length}; the first `known` outputs have a
 * shape, and nobody can infer the others. Tensors: length + 1. */
static onnx_model chain(int length, int known) {
  onnx_model model = {0};
  char name[2][16] = {"x", ""};
  onnx_input(&model, "x", FLOAT, "4");
  for (int i = 1; i <= length; i++) {
    char *from = name[!(i % 2)], *to = name[i % 2];
    snprintf(to, sizeof name[0], "y%d", i);
    onnx_node(&model, "my.ops:Foo", to, from, to, NULL);
    if (i <= known)
      onnx_shape(&model, to, FLOAT, "4");
  }
  onnx_output(&model, name[length % 2]);
  return model;
}

/* -- --shape --------------------------------------------------------------- */

static onnx_model picture(const char *dims) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, dims);
  onnx_input(&model, "mask", FLOAT, "batch,2");
  onnx_node(&model, "Relu", "relu", "x", "y", NULL);
  onnx_node(&model, "Relu", "other", "mask", "z", NULL);
  onnx_output(&model, "y");
  onnx_output(&model, "z");
  return model;
}

static void expect_bytes(regal_context *context, const char *dims,
                         const regal_options *options, int64_t x_bytes,
                         int64_t mask_bytes) {
  onnx_model model = picture(dims);
  regal_graph *graph = onnx_loaded(context, &model, options);
  assert_int_equal(loaded_bytes(graph, "inputs", 0), x_bytes);
  assert_int_equal(loaded_bytes(graph, "relu", 0), x_bytes);
  assert_int_equal(loaded_bytes(graph, "other", 0), mask_bytes);
  regal_graph_free(graph);
}

static void test_shape(void **state) {
  if (!regal_onnx_known_opset())
    skip();
  regal_options both =
      loaded_options(*state, "shape", "x=8,3,4,5,mask=8,2", NULL);
  regal_options apart =
      loaded_options(*state, "shape", "x=8,3,4,5", "shape", "mask=8,2", NULL);
  expect_bytes(*state, "batch,3,?,?", &both, 8 * 3 * 4 * 5 * 4, 8 * 2 * 4);
  expect_bytes(*state, "batch,3,-1,5", &apart, 8 * 3 * 4 * 5 * 4, 8 * 2 * 4);
  /* A shape where the model has none, and a scalar. */
  expect_bytes(*state, NULL, &both, 8 * 3 * 4 * 5 * 4, 8 * 2 * 4);
  regal_options scalar = loaded_options(*state, "shape", "x=", NULL);
  expect_bytes(*state, NULL, &scalar, 4, 8);
}

/* A name in one input sets the other's dimension, as --dim does. */
static void test_shape_sets_names(void **state) {
  if (!regal_onnx_known_opset())
    skip();
  regal_options options = loaded_options(*state, "shape", "x=8,3,4,5", NULL);
  expect_bytes(*state, "batch,3,?,?", &options, 8 * 3 * 4 * 5 * 4, 8 * 2 * 4);
  options =
      loaded_options(*state, "shape", "x=8,3,4,5", "dim", "batch=8", NULL);
  expect_bytes(*state, "batch,3,?,?", &options, 8 * 3 * 4 * 5 * 4, 8 * 2 * 4);
}

/* A value whose dimensions are all called the same. */
static void add_value(onnx_model *model, unsigned field, const char *name,
                      const char *dimension, int rank) {
  onnx_bytes shape = {0}, dim = {0}, tensor = {0}, any = {0}, value = {0};
  onnx_text(&dim, 2, dimension);
  for (int i = 0; i < rank; i++)
    onnx_message(&shape, 1, &dim);
  onnx_number(&tensor, 1, FLOAT);
  onnx_message(&tensor, 2, &shape);
  onnx_message(&any, 1, &tensor);
  onnx_text(&value, 1, name);
  onnx_message(&value, 2, &any);
  onnx_message(&model->graph, field, &value);
}

/* As some exporters write it: two dimensions that have nothing in common. */
static void test_question_marks(void **state) {
  onnx_model model = {0};
  add_value(&model, 11, "x", "?", 2);
  onnx_node(&model, "Relu", "relu", "x", "y", NULL);
  onnx_shape(&model, "y", FLOAT, "2,3");
  onnx_output(&model, "y");
  regal_options options = loaded_options(*state, "shape", "x=2,3", NULL);
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(loaded_bytes(graph, "inputs", 0), 24);
  regal_graph_free(graph);
  options = loaded_options(*state, "dim", "?=2", NULL);
  onnx_expect_error(*state, &model, &options,
                    "t: --dim: the model has no dimension \"?\"; it has none "
                    "with a name; use --shape x=N,N");
}

/* The size of y, whose dimension is the expression; -1: unknown. */
static int64_t compute(regal_context *context, const char *expression) {
  onnx_model model = {0};
  regal_graph *graph = NULL;
  onnx_input(&model, "x", FLOAT, "n,a.b");
  onnx_input(&model, "w", FLOAT, "other");
  onnx_node(&model, "my.ops:Foo", "foo", "x,w", "y", NULL);
  add_value(&model, 13, "y", expression, 1);
  onnx_output(&model, "y");
  onnx_bytes bytes = onnx_written(&model);
  regal_options options = loaded_options(context, "dim", "n=7,a.b=12", NULL);
  if (regal_graph_load_bytes(context, "t", bytes.bytes, bytes.size, &options,
                             &graph) != REGAL_OK)
    return -1;
  int64_t size = loaded_bytes(graph, "foo", 0) / 4;
  regal_graph_free(graph);
  return size;
}

/* As onnxruntime's symbolic inference writes them. */
static void test_expressions(void **state) {
  static const struct {
    const char *expression;
    int64_t size;
  } cases[] = {
      {"n*a.b", 84},
      {"n + a.b", 19},
      {"a.b - n", 5},
      {"-n + a.b", 5},
      {"2*n - 1", 13},
      {"n**2", 49},
      {"floor(n/2 - 1/2) + 1", 4},
      {"floor(floor(n/2 - 1/2)/2) + 1", 2},
      {"floor(-n/2) + 5", 1},
      {"ceiling(n/2)", 4},
      {"ceiling(-n/2) + 5", 2},
      {"Max(1, n, a.b)", 12},
      {"Min(n, a.b)", 7},
      {"Mod(a.b, n)", 5},
      {"(n + 1)*(a.b - 2)/4", 20},
      {"n*(a.b + 1)/(2*n) - 1/2", 6},
      /* No sizes: */
      {"n/2", -1},
      {"n - a.b", -1},
      {"n/0", -1},
      {"n/(n - 7)", -1},
      {"Mod(n, 0)", -1},
      {"n*other", -1}, /* counts as 1, which says nothing */
      {"n*missing", -1},
      {"n*", -1},
      {"n n", -1},
      {"(n", -1},
      {"n)", -1},
      {"floor(n, n)", -1},
      {"Max(n)", -1},
      {"n**n**n", -1},
      {"n**-1", -1},
      {"99999999999999999999", -1},
      {"9223372036854775807*n", -1},
      {"9223372036854775807 + n", -1},
      {"1/9223372036854775807 + 1/9223372036854775806", -1},
      {"9223372036854775807", -1},
  };
  if (!regal_onnx_known_opset())
    skip();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (compute(*state, cases[i].expression) != cases[i].size)
      fail_msg("%s is %lld", cases[i].expression,
               (long long)compute(*state, cases[i].expression));
}

static void test_deep_expressions(void **state) {
  char expression[2048];
  if (!regal_onnx_known_opset())
    skip();
  for (int depth = 10; depth <= 1000; depth *= 100) {
    memset(expression, '(', (size_t)depth);
    expression[depth] = 'n';
    memset(expression + depth + 1, ')', (size_t)depth);
    expression[2 * depth + 1] = 0;
    assert_int_equal(compute(*state, expression), depth == 10 ? 7 : -1);
    memset(expression, '-', (size_t)depth);
    assert_int_equal(compute(*state, expression), -1);
  }
}

static void test_shape_errors(void **state) {
#define FORM                                                                   \
  " is not INPUT=SIZE,..., such as x=1,3,48,192, with sizes from 1 to 2^40"
  static const struct {
    const char *shape, *message;
  } cases[] = {
      {"3", "--shape: \"3\"" FORM},
      {"=3", "--shape: \"=3\"" FORM},
      {"x=3,,4", "--shape: \"\"" FORM},
      {"x=0", "--shape: \"x=0\"" FORM},
      {"x=3,y", "--shape: \"y\"" FORM},
      {"x=3,4k", "--shape: \"4k\"" FORM},
      {"x=1,x=2", "--shape: input \"x\" is there twice"},
      {"w=1", "t: --shape: the model has no input \"w\"; it has \"x\", "
              "\"mask\""},
      {"x=1,3", "t: --shape: input \"x\" has 2 dimensions, expected 4"},
      {"x=1,4,1,1", "t: --shape: dimension 1 of input \"x\" is 4, but the "
                    "model says 3"},
      {"x=1,3,1,1,mask=2,2", "t: --shape: dimension 0 of input \"mask\" is 2, "
                             "but \"batch\" is elsewhere 1"},
  };
  onnx_model model = picture("batch,3,?,?");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_options options = loaded_options(*state, NULL);
    snprintf(options.shape, sizeof options.shape, "%s", cases[i].shape);
    onnx_expect_error(*state, &model, &options, cases[i].message);
  }
}

/* -- Unknown sizes --------------------------------------------------------- */

static void test_too_many_unknown(void **state) {
  if (!regal_onnx_known_opset())
    skip();
  onnx_model model = chain(5, 1);
  onnx_expect_error(*state, &model, NULL,
                    "t: 4 of 6 tensors have no known size: \"y2\", \"y3\", "
                    "\"y4\" and 1 more; " ADVICE);
  model = picture("batch,3,?,?");
  onnx_node(&model, "my.ops:Foo", "foo", "y", "w", NULL);
  onnx_expect_error(*state, &model, NULL,
                    "t: 1 of 5 tensors have no known size: \"w\"; give the "
                    "dimensions --dim batch=N --shape x=N,3,N,N; " ADVICE);
}

/* 19 known tensors, 1 unknown: just 5%. */
static regal_graph *load_few_unknown(regal_context *context) {
  onnx_model model = chain(19, 18);
  regal_graph *graph = onnx_loaded(context, &model, NULL);
  assert_int_equal(graph->unknown_tensors, 1);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "1 tensor without a shape, counted as 0 B: \"y19\"");
  regal_graph_free(graph);
  model = chain(20, 20);
  onnx_node(&model, "my.ops:Foo", "side", "y7", "s", NULL);
  onnx_node(&model, "Relu", "last", "s,y20", "z", NULL);
  onnx_shape(&model, "z", FLOAT, "4");
  onnx_output(&model, "z");
  return onnx_loaded(context, &model, NULL);
}

static void test_few_unknown(void **state) {
  regal_result *result = NULL;
  if (!regal_onnx_known_opset())
    skip();
  regal_graph *graph = load_few_unknown(*state);
  regal_options options = loaded_options(*state, "method", "single", NULL);
  assert_int_equal(regal_solve(*state, graph, &options, &result), REGAL_OK);
  assert_true(result->bound.runtime_ns > 0);
  regal_result_free(result);
  regal_graph_free(graph);
}

static void expect_refused(regal_context *context, regal_status status,
                           const char *message) {
  assert_int_equal(status, REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), message);
}

#define MOVED                                                                  \
  "1 tensor of unknown size would be moved between devices: "                  \
  "\"side\":0; " ADVICE

/* The search would cut there, for it seems to cost nothing. */
static void test_plan_moves_unknown(void **state) {
  regal_result *result = NULL;
  regal_problem *problem;
  if (!regal_onnx_known_opset())
    skip();
  regal_graph *graph = load_few_unknown(*state);
  regal_options options =
      loaded_options(*state, "pin", "side=0,last=1", "seed", "3", NULL);
  expect_refused(*state, regal_solve(*state, graph, &options, &result), MOVED);
  assert_null(result);
  /* A plan that was made elsewhere. */
  graph->unknown_tensors = 0;
  assert_int_equal(regal_problem_create(*state, graph, &options, &problem),
                   REGAL_OK);
  assert_int_equal(regal_optimize(*state, problem, &options, &result),
                   REGAL_OK);
  graph->unknown_tensors = 1;
  regal_result *evaluated = NULL;
  expect_refused(
      *state, regal_evaluate(*state, problem, result->plan, &evaluated), MOVED);
  assert_null(evaluated);
  regal_result_free(result);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

/* No file can say that a size is unknown, so none says that it is 0. */
static void test_unknown_is_not_written(void **state) {
  regal_graph *pipeline = NULL;
  if (!regal_onnx_known_opset())
    skip();
  regal_graph *graph = load_few_unknown(*state);
  expect_refused(
      *state, regal_graph_save(*state, graph, "-", REGAL_GRAPH_JSON),
      "1 tensor of unknown size cannot be written: \"side\":0; " ADVICE);
  regal_options options = loaded_options(*state, "microbatches", "2", NULL);
  expect_refused(*state,
                 regal_graph_pipeline(*state, graph, &options, &pipeline),
                 "1 tensor of unknown size cannot be repeated for "
                 "microbatches: \"side\":0; " ADVICE);
  regal_graph_free(graph);
}

/* -- Assumed sizes --------------------------------------------------------- */

static char *summary_of(regal_context *context, const regal_result *result) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  assert_int_equal(regal_report_summary(context, result, stream), REGAL_OK);
  fclose(stream);
  return text;
}

static void test_assumed(void **state) {
  regal_result *result = NULL;
  onnx_model model = chain(5, 1);
  regal_options options = loaded_options(*state, "assume-unknown-bytes", "1KiB",
                                         "evaluations", "500", NULL);
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(loaded_bytes(graph, "y1", 0), 16);
  assert_int_equal(loaded_bytes(graph, "y5", 0), 1024);
  assert_int_equal(graph->unknown_tensors, 0);
  assert_int_equal(graph->assumed_sizes, 4);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "4 tensors without a shape, counted as 1.0 KiB each: "
                     "\"y2\", \"y3\", \"y4\", \"y5\"");
  assert_int_equal(regal_solve(*state, graph, &options, &result), REGAL_OK);
  assert_int_equal(result->bound.runtime_ns, 0);
  assert_int_equal(result->bound.peak_bytes, 0);
  assert_int_not_equal(result->stop, REGAL_STOP_BOUND);
  assert_null(strchr(result->account, '%'));
  char *summary = summary_of(*state, result);
  assert_non_null(strstr(summary,
                         "quality     unknown: the sizes of 4 tensors are "
                         "assumed\n"));
  assert_null(strstr(summary, "lower bound"));
  free(summary);
  regal_result_free(result);
  regal_graph_free(graph);
}

/* 0 is a size like others, if the user says so. */
static void test_assumed_zero(void **state) {
  onnx_model model = chain(2, 0);
  regal_options options =
      loaded_options(*state, "assume-unknown-bytes", "0", NULL);
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(loaded_bytes(graph, "y2", 0), 0);
  assert_int_equal(graph->assumed_sizes, 2);
  regal_graph_free(graph);
}

/* Sizes that are known stay, and with them the bound. */
static void test_nothing_to_assume(void **state) {
  regal_result *result = NULL;
  onnx_model model = chain(3, 3);
  regal_options options =
      loaded_options(*state, "assume-unknown-bytes", "1KiB", NULL);
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(loaded_bytes(graph, "y3", 0), 16);
  assert_int_equal(regal_solve(*state, graph, &options, &result), REGAL_OK);
  assert_true(result->bound.runtime_ns > 0);
  regal_result_free(result);
  regal_graph_free(graph);
}

/* -- Values that are no tensors -------------------------------------------- */

static void test_maps(void **state) {
  regal_graph *graph;
  if (!regal_onnx_known_opset())
    skip();
  if (regal_graph_load(*state, REGAL_TEST_DATA "/onnx/shapes/zip_map.onnx",
                       NULL, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(*state));
  assert_int_equal(loaded_bytes(graph, "classify", 1), 36);
  assert_int_equal(loaded_bytes(graph, "normalize", 0), 36);
  assert_int_equal(graph->unknown_tensors, 1);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "1 sequence or map, counted as 0 B: \"maps\"");
  loaded_expect_notes(graph, 4);
  regal_graph_free(graph);
}

/* -- Memory ---------------------------------------------------------------- */

static void test_no_memory(void **state) {
  onnx_model model = chain(4, 0);
  onnx_bytes bytes = onnx_written(&model);
  (void)state;
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_graph *graph = NULL;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_options options = loaded_options(context, "shape", "x=4", NULL);
    regal_status status = regal_graph_load_bytes(context, "t", bytes.bytes,
                                                 bytes.size, &options, &graph);
    assert_null(graph);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shape),
      cmocka_unit_test(test_shape_sets_names),
      cmocka_unit_test(test_question_marks),
      cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_deep_expressions),
      cmocka_unit_test(test_shape_errors),
      cmocka_unit_test(test_too_many_unknown),
      cmocka_unit_test(test_few_unknown),
      cmocka_unit_test(test_plan_moves_unknown),
      cmocka_unit_test(test_unknown_is_not_written),
      cmocka_unit_test(test_assumed),
      cmocka_unit_test(test_assumed_zero),
      cmocka_unit_test(test_nothing_to_assume),
      cmocka_unit_test(test_maps),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests_name("onnx_sizes", tests, setup, teardown);
}
