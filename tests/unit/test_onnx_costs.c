/* SPDX-License-Identifier: Apache-2.0 */
/* Run times of ONNX ops: FLOPs, rooflines, bodies, measured times. */
#include "support/onnx_model.h"

#include "format/onnx/ops.h"
#include "support/files.h"

/* A device on which a FLOP takes 1 ns, a byte and a launch next to nothing. */
#define FLOPS_ONLY                                                             \
  "{\"regal_rooflines\": 1, \"devices\": [{\"name\": \"unit\",\n"              \
  " \"flops_per_s\": {\"fp32\": 1e9}, \"bytes_per_s\": 1e24,\n"                \
  " \"launch_ns\": 0}]}\n"

static int setup(void **state) {
  if (files_enter(state))
    return -1;
  files_write_text("unit.json", FLOPS_ONLY);
  return regal_context_create((regal_context **)state, NULL);
}

static int teardown(void **state) {
  assert_int_equal(regal_bytes_in_use(*state), 0);
  regal_context_free(*state);
  return files_leave(state);
}

/* -- FLOPs ----------------------------------------------------------------- */

/* Loads the model and gives the run time of op "n", in FLOPs. */
static int64_t flops_of(regal_context *context, const onnx_model *model) {
  regal_options options =
      loaded_options(context, "roofline", "unit.json", NULL);
  regal_graph *graph = onnx_loaded(context, model, &options);
  int64_t flops = graph->run_ns[loaded_op(graph, "n")];
  for (size_t i = 0; i < regal_graph_note_count(graph); i++)
    if (regal_graph_note(graph, i).kind == REGAL_NOTE_WARNING)
      fail_msg("%s", regal_graph_note(graph, i).text);
  regal_graph_free(graph);
  return flops;
}

/* Inputs a, b, ... by their shapes, with ';' between them; the first is a
 * tensor, the others are constants. An empty one is left out. */
static int64_t flops(regal_context *context, const char *type,
                     const char *shapes, const char *output,
                     const onnx_bytes *attributes) {
  onnx_model model = {0};
  char names[64] = "", shape[128];
  for (char name = 'a'; shapes; name++) {
    size_t length = strcspn(shapes, ";");
    snprintf(shape, sizeof shape, "%.*s", (int)length, shapes);
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%.*s",
             name == 'a' ? "" : ",", length > 0, &name);
    if (name == 'a')
      onnx_input(&model, "a", FLOAT, shape);
    else if (length)
      onnx_initializer(&model, (char[]){name, 0}, FLOAT, shape);
    shapes = shapes[length] ? shapes + length + 1 : NULL;
  }
  onnx_node(&model, type, "n", names, "out", attributes);
  onnx_shape(&model, "out", FLOAT, output);
  onnx_output(&model, "out");
  return flops_of(context, &model);
}

static onnx_bytes with_int(const char *name, int64_t value) {
  onnx_bytes attributes = {0};
  onnx_attribute_int(&attributes, name, value);
  return attributes;
}

static onnx_bytes with_ints(const char *name, const char *values) {
  onnx_bytes attributes = {0};
  onnx_attribute_ints(&attributes, name, values);
  return attributes;
}

static void test_products(void **state) {
  regal_context *c = *state;
  /* 64 outputs at 56 x 56, each from 32 inputs by 3 x 3 */
  assert_int_equal(flops(c, "Conv", "2,32,58,58;64,32,3,3", "2,64,56,56", NULL),
                   2 * (2 * 64 * 56 * 56) * (32 * 9));
  assert_int_equal(
      flops(c, "Conv", "1,32,58,58;64,4,3,3;64", "1,64,56,56", NULL),
      2 * (64 * 56 * 56) * (4 * 9) + 64 * 56 * 56); /* groups, a bias */
  assert_int_equal(flops(c, "Conv", "1,8,10;4,8,3", "1,4,8", NULL),
                   2 * 4 * 8 * 8 * 3); /* one dimension */
  assert_int_equal(
      flops(c, "ConvTranspose", "1,16,7,7;16,8,2,2", "1,8,14,14", NULL),
      2 * (16 * 49) * (8 * 4));
  assert_int_equal(flops(c, "Gemm", "5,7;7,3;3", "5,3", NULL),
                   2 * 5 * 7 * 3 + 15);
  onnx_bytes turned = with_int("transA", 1);
  assert_int_equal(flops(c, "Gemm", "7,5;7,3", "5,3", &turned), 2 * 5 * 7 * 3);
  assert_int_equal(flops(c, "MatMul", "2,4,5,7;7,3", "2,4,5,3", NULL),
                   2 * (2 * 4 * 5 * 3) * 7); /* broadcast */
  assert_int_equal(flops(c, "MatMul", "7;7", "", NULL), 2 * 7);
  assert_int_equal(
      flops(c, "com.microsoft:FusedMatMul", "7,5;7,3", "5,3", &turned),
      2 * 5 * 7 * 3);
  assert_int_equal(flops(c, "QLinearConv", "1,8,10;;;4,8,3", "1,4,8", NULL),
                   2 * 4 * 8 * 8 * 3);
}

static void test_einsum(void **state) {
  static const struct {
    const char *equation, *shapes, *output;
    int64_t flops;
  } cases[] = {
      {"bhqd,bhkd->bhqk", "2,3,5,7;2,3,11,7", "2,3,5,11", 2 * 6 * 5 * 7 * 11},
      {"...ij, ...jk -> ...ik", "4,2,3;4,3,5", "4,2,5", 2 * 4 * 2 * 3 * 5},
      {"ij->ji", "3,4", "4,3", 12},
      {"i,j", "3;4", "3,4", 24}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    onnx_bytes attributes = {0};
    onnx_attribute_text(&attributes, "equation", cases[i].equation);
    assert_int_equal(
        flops(*state, "Einsum", cases[i].shapes, cases[i].output, &attributes),
        cases[i].flops);
  }
}

static void test_windows(void **state) {
  onnx_bytes kernel = with_ints("kernel_shape", "3,2");
  onnx_bytes size = with_int("size", 5);
  assert_int_equal(flops(*state, "MaxPool", "1,4,8,8", "1,4,4,4", &kernel),
                   64 * 6);
  assert_int_equal(flops(*state, "AveragePool", "1,4,8,8", "1,4,4,4", &kernel),
                   64 * 6);
  assert_int_equal(
      flops(*state, "GlobalAveragePool", "1,4,8,8", "1,4,1,1", NULL), 256);
  assert_int_equal(flops(*state, "LRN", "1,4,8,8", "1,4,8,8", &size),
                   256 * (2 * 5 + 4));
}

static void test_elements(void **state) {
  regal_context *c = *state;
  assert_int_equal(flops(c, "Relu", "3,4", "3,4", NULL), 12);
  assert_int_equal(flops(c, "Add", "3,1;4", "3,4", NULL), 12);
  assert_int_equal(flops(c, "Sum", "12;12;12", "12", NULL), 24);
  assert_int_equal(flops(c, "Softmax", "3,4", "3,4", NULL), 60);
  assert_int_equal(
      flops(c, "BatchNormalization", "1,4,3;4;4;4;4", "1,4,3", NULL), 24);
  assert_int_equal(flops(c, "LayerNormalization", "3,4;4;4", "3,4", NULL), 96);
  assert_int_equal(flops(c, "ReduceMean", "3,4", "3,1", NULL), 12);
  /* nothing but bytes, which take next to no time, rounded up */
  assert_int_equal(flops(c, "Transpose", "3,4", "4,3", NULL), 1);
}

static void test_recurrent(void **state) {
  /* 5 steps, batch 2, 8 inputs, 4 hidden; gates 4, 3 and 1 */
  assert_int_equal(
      flops(*state, "LSTM", "5,2,8;1,16,8;1,16,4", "5,1,2,4", NULL),
      10 * (2 * (16 * 8 + 16 * 4) + 4 * 16));
  assert_int_equal(flops(*state, "GRU", "5,2,8;2,12,8;2,12,4", "5,2,2,4", NULL),
                   10 * (2 * (2 * 12 * 8 + 2 * 12 * 4) + 4 * 2 * 12));
  assert_int_equal(flops(*state, "RNN", "5,2,8;1,4,8;1,4,4", "5,1,2,4", NULL),
                   10 * (2 * (4 * 8 + 4 * 4) + 4 * 4));
}

static void test_attention(void **state) {
  onnx_bytes heads = with_int("q_num_heads", 4);
  onnx_bytes num_heads = with_int("num_heads", 4);
  /* batch 2, 5 queries, 7 keys, 4 heads of 8 */
  int64_t core = 2 * (2 * 4 * 5 * 8) * 7 * 2 + 5 * (2 * 4 * 5 * 7);
  assert_int_equal(
      flops(*state, "Attention", "2,4,5,8;2,4,7,8;2,4,7,8", "2,4,5,8", NULL),
      core);
  assert_int_equal(
      flops(*state, "Attention", "2,5,32;2,7,32;2,7,32", "2,5,32", &heads),
      core);
  assert_int_equal(flops(*state, "Attention",
                         "2,4,5,8;2,4,4,8;2,4,4,8;;2,4,3,8;2,4,3,8", "2,4,5,8",
                         NULL),
                   core); /* three of the keys cached */
  assert_int_equal(flops(*state, "com.microsoft:MultiHeadAttention",
                         "2,5,32;2,7,32;2,7,32", "2,5,32", &num_heads),
                   core);
  /* queries, keys and values together: 5 keys */
  assert_int_equal(flops(*state, "com.microsoft:MultiHeadAttention",
                         "2,5,4,3,8", "2,5,32", &num_heads),
                   core / 7 * 5);
  /* with the projection of 16 inputs to 3 * 32 */
  assert_int_equal(flops(*state, "com.microsoft:Attention", "2,5,16;16,96;96",
                         "2,5,32", &num_heads),
                   2 * (2 * 5 * 16) * 96 + core / 7 * 5);
}

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < regal_onnx_op_type_count(); i++) {
    const regal_onnx_op_type *row = regal_onnx_op_type_at(i);
    assert_non_null(row->flops);
    if (i && strcmp(regal_onnx_op_type_at(i - 1)->name, row->name) >= 0)
      fail_msg("row \"%s\" is out of order", row->name);
  }
  regal_onnx_node node = REGAL_ONNX__NODE_PROTO__INIT;
  node.op_type = "Conv";
  assert_non_null(regal_onnx_op_type_of(&node));
  node.domain = "ai.onnx";
  assert_non_null(regal_onnx_op_type_of(&node));
  node.domain = "com.microsoft";
  assert_non_null(regal_onnx_op_type_of(&node));
  node.domain = "my.ops";
  assert_null(regal_onnx_op_type_of(&node));
}

/* -- Time ------------------------------------------------------------------ */

/* Every row can be found again by its name, and the numbers are as documented:
 * launch + max(flops / rate, bytes / bandwidth), rounded up. */
static void test_roofline(void **state) {
  regal_roofline roofline;
  int64_t ns;
  assert_int_equal(regal_roofline_load(*state, "H200", &roofline), REGAL_OK);
  assert_string_equal(roofline.name, "h200");
  assert_true(
      regal_roofline_time(&roofline, REGAL_NUMBER_FP32, 66.9e6, 1, &ns));
  assert_int_equal(ns, roofline.launch_ns + 1000);
  assert_true(regal_roofline_time(&roofline, REGAL_NUMBER_FP16, 1, 4.8e6, &ns));
  assert_int_equal(ns, roofline.launch_ns + 1000);
  assert_true(regal_roofline_time(&roofline, REGAL_NUMBER_INT8, 1, 1, &ns));
  assert_int_equal(ns, roofline.launch_ns + 1);
  assert_false(regal_roofline_time(&roofline, REGAL_NUMBER_FP64, 1e30, 1, &ns));
  static const char *const names[] = {"h100", "b200", "a100", "t4", "cpu-core"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_int_equal(regal_roofline_load(*state, names[i], &roofline),
                     REGAL_OK);
    assert_string_equal(roofline.name, names[i]);
  }
}

/* The public call agrees with the reader, and says what is wrong. */
static void test_roofline_ns(void **state) {
  int64_t ns = 0;
  assert_int_equal(regal_roofline_ns(*state, "unit.json", "fp32", 42, 0, &ns),
                   REGAL_OK);
  assert_int_equal(ns, 42);
  assert_int_equal(regal_roofline_ns(*state, "h200", "fp128", 1, 1, &ns),
                   REGAL_BAD_INPUT);
  assert_non_null(strstr(regal_error(*state), "'fp128' is no kind of number"));
  assert_int_equal(regal_roofline_ns(*state, "h200", "fp32", -1, 1, &ns),
                   REGAL_BAD_INPUT);
  assert_int_equal(regal_roofline_ns(*state, "unit.json", "fp32", 1e30, 0, &ns),
                   REGAL_BAD_INPUT);
  assert_int_equal(regal_roofline_ns(*state, "potato", "fp32", 1, 1, &ns),
                   REGAL_IO);
  assert_int_equal(regal_roofline_ns(*state, NULL, "fp32", 1, 1, &ns),
                   REGAL_MISUSE);
  assert_int_equal(ns, 42);
}

/* Reads what it writes, but Gather only what it returns of its table. */
static void test_bytes(void **state) {
  files_write_text("bytes.json",
                   "{\"regal_rooflines\": 1, \"devices\": [{\"name\": \"b\",\n"
                   " \"flops_per_s\": {\"fp32\": 1e24},\n"
                   " \"bytes_per_s\": 1e9, \"launch_ns\": 7}]}\n");
  regal_options options =
      loaded_options(*state, "roofline", "bytes.json", NULL);
  onnx_model model = {0};
  onnx_input(&model, "i", INT64, "3");
  onnx_initializer(&model, "table", FLOAT, "1000,2");
  onnx_node(&model, "Gather", "gather", "table,i", "g", NULL);
  onnx_node(&model, "Concat", "concat", "g,g", "c", NULL);
  onnx_shape(&model, "g", FLOAT, "3,2");
  onnx_shape(&model, "c", FLOAT, "6,2");
  onnx_output(&model, "c");
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(graph->run_ns[loaded_op(graph, "gather")], 7 + 24 + 24 + 24);
  assert_int_equal(graph->run_ns[loaded_op(graph, "concat")], 7 + 48 + 48);
  regal_graph_free(graph);
}

/* The rate is that of the type. */
static void test_rates(void **state) {
  static const int types[] = {DOUBLE, FLOAT, FLOAT16, 16, INT8, INT64};
  static const int64_t expected[] = {64, 32, 16, 12, 8, 32};
  files_write_text("rates.json",
                   "{\"regal_rooflines\": 1, \"devices\": [{\"name\": \"r\",\n"
                   " \"flops_per_s\": {\"fp64\": 0.5e9, \"fp32\": 1e9,\n"
                   "  \"fp16\": 2e9, \"bf16\": 2.75e9, \"int8\": 4e9},\n"
                   " \"bytes_per_s\": 1e24, \"launch_ns\": 0}]}\n");
  regal_options options =
      loaded_options(*state, "roofline", "rates.json", NULL);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    onnx_model model = {0};
    onnx_input(&model, "x", types[i], "32");
    onnx_node(&model, "Abs", "n", "x", "y", NULL);
    onnx_shape(&model, "y", types[i], "32");
    onnx_output(&model, "y");
    regal_graph *graph = onnx_loaded(*state, &model, &options);
    assert_int_equal(graph->run_ns[loaded_op(graph, "n")], expected[i]);
    regal_graph_free(graph);
  }
}

static void test_roofline_errors(void **state) {
#define HEAD "{\"regal_rooflines\": 1, \"devices\": ["
#define DEVICE                                                                 \
  "{\"name\": \"x\", \"flops_per_s\": {\"fp32\": 1}, \"bytes_per_s\": 1, "     \
  "\"launch_ns\": 0}"
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"[]", "r:1: found a list, expected an object"},
      {"{}", "r:1: not a roofline file: it has no \"regal_rooflines\""},
      {"{\"regal_rooflines\": 1}",
       "r:1: not a roofline file: it has no \"devices\""},
      {HEAD "]}", "r:1: devices: found 0 devices, expected 1"},
      {HEAD DEVICE ",\n" DEVICE "]}",
       "r:1: devices: found 2 devices, expected 1"},
      {HEAD "7]}", "r:1: devices[0]: found 7, expected an object"},
      {HEAD "{\"name\": \"x\"}]}",
       "r:1: devices[0] \"x\": a device needs \"flops_per_s\""},
      {HEAD "{\"name\": \"\", \"flops_per_s\": {\"fp32\": 1},\n"
            "\"bytes_per_s\": 1, \"launch_ns\": 0}]}",
       "r:1: devices[0] \"\": name: the name needs 1 to 63 characters"},
      {HEAD "{\"name\": \"x\", \"flops_per_s\":\n {\"fp16\": 1}, "
            "\"bytes_per_s\": 1, \"launch_ns\": 0}]}",
       "r:2: devices[0] \"x\": flops_per_s: there is no \"fp32\""},
  };
  regal_roofline roofline;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    files_write_text("r", cases[i].text);
    assert_int_equal(regal_roofline_load(*state, "r", &roofline),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(*state), cases[i].message);
  }
  assert_int_equal(regal_roofline_load(*state, "h300", &roofline), REGAL_IO);
  assert_string_equal(
      regal_error(*state),
      "--roofline: no device \"h300\" is built in (there are h200, h100, b200, "
      "a100, t4, cpu-core), and as a file it cannot be read");
}

/* -- Bodies ---------------------------------------------------------------- */

/* t = Neg(outer); u = Mul(t, w) */
static onnx_model make_body(const char *dims) {
  onnx_model body = {0};
  onnx_initializer(&body, "w", FLOAT, dims);
  onnx_node(&body, "Neg", "neg", "outer", "t", NULL);
  onnx_node(&body, "Mul", "mul", "t,w", "u", NULL);
  onnx_shape(&body, "t", FLOAT, dims);
  onnx_shape(&body, "u", FLOAT, dims);
  onnx_output(&body, "u");
  return body;
}

static onnx_model around(const char *type, const char *inputs,
                         const onnx_bytes *attributes) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "9,10");
  onnx_input(&model, "condition", BOOL, "");
  onnx_scalar(&model, "trips", 6);
  onnx_node(&model, "Relu", "relu", "x", "outer", NULL);
  onnx_node(&model, type, "n", inputs, "y", attributes);
  onnx_shape(&model, "outer", FLOAT, "9,10");
  onnx_shape(&model, "y", FLOAT, "9,10");
  onnx_output(&model, "y");
  return model;
}

static void test_if(void **state) {
  onnx_model one = make_body("9,10"), other = {0};
  onnx_bytes attributes = {0};
  onnx_output(&other, "outer"); /* a branch without nodes */
  onnx_attribute_graph(&attributes, "then_branch", &one);
  onnx_attribute_graph(&attributes, "else_branch", &other);
  onnx_model model = around("If", "condition", &attributes);
  assert_int_equal(flops_of(*state, &model), 180);
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->ops, 3);
  assert_true(loaded_reads(graph, "n", "inputs", 1));
  assert_true(loaded_reads(graph, "n", "relu", 0));
  uint32_t op = loaded_op(graph, "n");
  assert_int_equal(graph->parameter_begin[op + 1] - graph->parameter_begin[op],
                   1);
  assert_int_equal(graph->temporary_bytes[op], 2 * 360); /* t and u */
  regal_graph_free(graph);
}

static void test_loop(void **state) {
  onnx_model body = make_body("9,10");
  onnx_bytes attributes = {0};
  onnx_attribute_graph(&attributes, "body", &body);
  onnx_model model = around("Loop", "trips,", &attributes);
  assert_int_equal(flops_of(*state, &model), 6 * 180);
  model = around("Loop", ",condition", &attributes);
  assert_int_equal(flops_of(*state, &model), 180);
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "1 loop of unknown length counted as one round: \"n\"");
  regal_graph_free(graph);
}

static void test_scan(void **state) {
  onnx_model body = make_body("10");
  onnx_bytes attributes = {0};
  onnx_attribute_graph(&attributes, "body", &body);
  onnx_attribute_int(&attributes, "num_scan_inputs", 1);
  onnx_model model = around("Scan", "condition,x", &attributes);
  assert_int_equal(flops_of(*state, &model), 9 * (10 + 10));
}

/* A body inside a body reads from the outermost graph. */
static void test_nested_bodies(void **state) {
  onnx_model innermost = make_body("9,10"), middle = {0};
  onnx_bytes inner = {0}, outer = {0};
  onnx_attribute_graph(&inner, "body", &innermost);
  onnx_node(&middle, "Loop", "inner", "trips,", "v", &inner);
  onnx_shape(&middle, "v", FLOAT, "9,10");
  onnx_output(&middle, "v");
  onnx_attribute_graph(&outer, "body", &middle);
  onnx_model model = around("Loop", "trips,", &outer);
  assert_int_equal(flops_of(*state, &model), 36 * 180);
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_true(loaded_reads(graph, "n", "relu", 0));
  regal_graph_free(graph);
}

/* -- Measured times -------------------------------------------------------- */

static onnx_model three_ops(void) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "4");
  onnx_node(&model, "Abs", "a", "x", "y", NULL);
  onnx_node(&model, "Identity", "view", "y", "v", NULL);
  onnx_node(&model, "Abs", "b, \"2\"", "v", "z", NULL);
  onnx_node(&model, "Abs", "c", "z", "w", NULL);
  onnx_node(&model, "Abs", "twin", "w", "p", NULL);
  onnx_node(&model, "Abs", "twin", "p", "q", NULL);
  for (const char *name = "yvzwpq"; *name; name++)
    onnx_shape(&model, (char[]){*name, 0}, FLOAT, "4");
  onnx_output(&model, "q");
  return model;
}

static void test_measured(void **state) {
  onnx_model model = three_ops();
  regal_options options = loaded_options(*state, "costs", "costs.csv", NULL);
  files_write_text("costs.csv", "name,microseconds\r\n"
                                "a,12.5\r\n"
                                "\"b, \"\"2\"\"\", 1e3\n"
                                "\n"
                                "view,7\n");
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(graph->run_ns[loaded_op(graph, "a")], 12500);
  assert_int_equal(graph->run_ns[loaded_op(graph, "b, \"2\"")], 1000000);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "run times of 2 ops as measured in costs.csv");
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "run times of the other ops by the roofline of \"h200\"");
  regal_graph_free(graph);
}

static bool has_launches(const regal_graph *graph, const char *begin) {
  for (size_t i = 0; i < regal_graph_note_count(graph); i++)
    if (strstr(regal_graph_note(graph, i).text,
               " of the work, 3.30 us for each op: "))
      return !strncmp(regal_graph_note(graph, i).text, begin, strlen(begin));
  return false;
}

/* Ops that take nothing but a launch say nothing about the model. */
static void test_launches(void **state) {
  onnx_model model = three_ops();
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_true(has_launches(graph, "launches are 100%"));
  regal_graph_free(graph);
  /* Measured times have none: 3 launches of 3.3 us are left. */
  regal_options options = loaded_options(*state, "costs", "costs.csv", NULL);
  files_write_text("costs.csv", "a,4\n\"b, \"\"2\"\"\",5\n");
  graph = onnx_loaded(*state, &model, &options);
  assert_true(has_launches(graph, "launches are 52%"));
  regal_graph_free(graph);
  files_write_text("costs.csv", "a,5\n\"b, \"\"2\"\"\",5\n");
  graph = onnx_loaded(*state, &model, &options);
  assert_false(has_launches(graph, ""));
  regal_graph_free(graph);
}

static void test_measured_errors(void **state) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"a", "costs.csv:1: found 1 field, expected name,microseconds"},
      {"a,b,1", "costs.csv:1: found 3 fields, expected name,microseconds"},
      {"a,1\nd,2\n", "costs.csv:2: the model has no node \"d\""},
      {"twin,2\n", "costs.csv:1: the model has more than one node \"twin\""},
      {"a,1\na,2\n", "costs.csv:2: a second row for \"a\""},
      {"a,1\nname,microseconds\n",
       "costs.csv:2: found \"microseconds\", expected a number of "
       "microseconds"},
      {"a,fast\n",
       "costs.csv:1: found \"fast\", expected a number of microseconds"},
      {"a,-1\n",
       "costs.csv:1: found \"-1\", expected a number of microseconds"},
      {"a,\n", "costs.csv:1: found \"\", expected a number of microseconds"},
      {"a\"b,1\n",
       "costs.csv:1: found a quote inside of a field, expected the field in "
       "quotes and it doubled"},
  };
  onnx_model model = three_ops();
  regal_options options = loaded_options(*state, "costs", "costs.csv", NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    files_write_text("costs.csv", cases[i].text);
    onnx_expect_error(*state, &model, &options, cases[i].message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_einsum),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_recurrent),
      cmocka_unit_test(test_attention),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_roofline),
      cmocka_unit_test(test_roofline_ns),
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_roofline_errors),
      cmocka_unit_test(test_if),
      cmocka_unit_test(test_loop),
      cmocka_unit_test(test_scan),
      cmocka_unit_test(test_nested_bodies),
      cmocka_unit_test(test_measured),
      cmocka_unit_test(test_launches),
      cmocka_unit_test(test_measured_errors),
  };
  return cmocka_run_group_tests_name("onnx_costs", tests, setup, teardown);
}
