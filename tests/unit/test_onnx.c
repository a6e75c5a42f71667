/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the nodes and values of an ONNX model. */
#include "support/onnx_model.h"

#include "format/onnx/onnx.h"
#include "format/onnx_shapes/shapes.h"
#include "support/failing_allocator.h"

static int setup(void **state) {
  return regal_context_create((regal_context **)state, NULL);
}

static int teardown(void **state) {
  assert_int_equal(regal_bytes_in_use(*state), 0);
  regal_context_free(*state);
  return 0;
}

/* The parameters of an op, in bytes. */
static int64_t parameter_bytes(const regal_graph *graph, const char *name) {
  uint32_t op = loaded_op(graph, name);
  int64_t sum = 0;
  for (uint32_t i = graph->parameter_begin[op];
       i < graph->parameter_begin[op + 1]; i++)
    sum += graph->parameter_bytes[graph->parameter[i]];
  return sum;
}

/* x -> Conv(w, b) -> Relu -> Add(relu, conv) -> y */
static onnx_model small_network(void) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "1,3,8,8");
  onnx_initializer(&model, "w", FLOAT, "16,3,3,3");
  onnx_initializer(&model, "b", FLOAT, "16");
  onnx_node(&model, "Conv", "conv", "x,w,b", "c", NULL);
  onnx_node(&model, "Relu", "", "c", "r", NULL);
  onnx_node(&model, "Add", "add", "r,c", "y", NULL);
  onnx_shape(&model, "c", FLOAT, "1,16,6,6");
  onnx_shape(&model, "r", FLOAT, "1,16,6,6");
  onnx_shape(&model, "y", FLOAT, "1,16,6,6");
  onnx_output(&model, "y");
  return model;
}

static void test_network(void **state) {
  onnx_model model = small_network();
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->ops, 4);
  assert_int_equal(graph->file_nodes, 4);
  assert_int_equal(loaded_bytes(graph, "inputs", 0), 3 * 64 * 4);
  assert_int_equal(graph->run_ns[loaded_op(graph, "inputs")], 0);
  assert_int_equal(graph->id[loaded_op(graph, "inputs")], 3);
  assert_int_equal(graph->id[loaded_op(graph, "conv")], 0);
  assert_true(loaded_reads(graph, "conv", "inputs", 0));
  assert_int_equal(loaded_bytes(graph, "conv", 0), 16 * 36 * 4);
  assert_true(loaded_reads(graph, "r", "conv", 0)); /* named by its output */
  assert_int_equal(loaded_inputs(graph, "add"), 2);
  assert_int_equal(parameter_bytes(graph, "conv"), (16 * 27 + 16) * 4);
  assert_int_equal(graph->parameters, 2);
  assert_false(loaded_final(graph, "conv", 0));
  assert_true(loaded_final(graph, "add", 0));
  assert_false(graph->may_reuse[loaded_tensor(graph, "conv", 0)]);
  assert_true(graph->may_reuse[loaded_tensor(graph, "r", 0)]);
  assert_true(graph->may_reuse[loaded_tensor(graph, "add", 0)]);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "run times of ops by the roofline of \"h200\"");
  /* 2 * 576 * 27 + 576 (bias) + 576 (Relu) + 576 (Add) */
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "3.283e-05 GFLOP in all (a multiplication and an "
                     "addition are two)");
  loaded_expect_notes(graph, 3);
  regal_graph_free(graph);
}

/* Nodes that come before those whose outputs they read; ids are their places
 * in the file all the same. */
static void test_nodes_in_any_order(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "1,3,8,8");
  onnx_initializer(&model, "w", FLOAT, "16,3,3,3");
  onnx_node(&model, "Add", "add", "r,c", "y", NULL);
  onnx_node(&model, "Relu", "relu", "c", "r", NULL);
  onnx_node(&model, "Conv", "conv", "x,w", "c", NULL);
  onnx_output(&model, "y");
  if (!regal_onnx_known_opset()) {
    onnx_shape(&model, "c", FLOAT, "1,16,6,6");
    onnx_shape(&model, "r", FLOAT, "1,16,6,6");
    onnx_shape(&model, "y", FLOAT, "1,16,6,6");
  }
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->ops, 4);
  assert_int_equal(graph->id[loaded_op(graph, "add")], 0);
  assert_int_equal(graph->id[loaded_op(graph, "relu")], 1);
  assert_int_equal(graph->id[loaded_op(graph, "conv")], 2);
  assert_true(loaded_reads(graph, "relu", "conv", 0));
  assert_int_equal(loaded_inputs(graph, "add"), 2);
  assert_int_equal(loaded_bytes(graph, "conv", 0), 16 * 36 * 4);
  assert_int_equal(loaded_bytes(graph, "add", 0), 16 * 36 * 4);
  regal_graph_free(graph);
}

static void test_shared_parameter(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "2,8");
  onnx_initializer(&model, "w", FLOAT, "8,8");
  onnx_node(&model, "MatMul", "a", "x,w", "y", NULL);
  onnx_node(&model, "MatMul", "b", "y,w", "z", NULL);
  onnx_shape(&model, "y", FLOAT, "2,8");
  onnx_shape(&model, "z", FLOAT, "2,8");
  onnx_output(&model, "z");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->parameters, 1);
  assert_int_equal(parameter_bytes(graph, "a"), 256);
  assert_int_equal(parameter_bytes(graph, "b"), 256);
  regal_graph_free(graph);
}

/* Before version 4 initializers are among the inputs too. */
static void test_initializer_is_input(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "w", FLOAT, "4");
  onnx_input(&model, "x", FLOAT, "4");
  onnx_initializer(&model, "w", FLOAT, "4");
  onnx_node(&model, "Mul", "mul", "x,w", "y", NULL);
  onnx_shape(&model, "y", FLOAT, "4");
  onnx_output(&model, "y");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->tensors, 2);
  assert_true(loaded_reads(graph, "mul", "inputs", 0));
  assert_int_equal(parameter_bytes(graph, "mul"), 16);
  regal_graph_free(graph);
}

/* Constants, what follows from them, and shapes that are known. */
static void test_folding(void **state) {
  onnx_model model = {0};
  onnx_bytes ints = {0};
  onnx_input(&model, "x", FLOAT, "4,6");
  onnx_initializer(&model, "table", FLOAT, "100");
  onnx_attribute_ints(&ints, "value_ints", "3,8");
  onnx_node(&model, "Constant", "k", "", "k", &ints);
  onnx_node(&model, "Neg", "neg", "table", "n", NULL);
  onnx_node(&model, "Shape", "shape", "x", "s", NULL);
  onnx_node(&model, "Mul", "mul", "s,k", "t", NULL);
  onnx_node(&model, "Foo", "foo", "x,t,n", "y", NULL);
  onnx_shape(&model, "n", FLOAT, "100");
  onnx_shape(&model, "t", INT64, "2");
  onnx_shape(&model, "y", FLOAT, "24");
  onnx_output(&model, "y");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->ops, 2);
  assert_int_equal(graph->file_nodes, 6);
  assert_int_equal(graph->id[loaded_op(graph, "foo")], 4);
  assert_int_equal(graph->parameters, 2); /* t and n, not k and table */
  assert_int_equal(parameter_bytes(graph, "foo"), 2 * 8 + 400);
  loaded_expect_note(graph, REGAL_NOTE_DROPPED,
                     "4 nodes known before the model runs: constants, shapes "
                     "and what follows from them");
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "1 op of unknown type, its run time guessed by its "
                     "bytes: \"Foo\"");
  loaded_expect_notes(graph, 5);
  regal_graph_free(graph);
}

/* What is random is no constant, though it reads nothing. */
static void test_random(void **state) {
  onnx_model model = {0};
  onnx_node(&model, "RandomNormal", "random", "", "x", NULL);
  onnx_node(&model, "Exp", "exp", "x", "y", NULL);
  onnx_shape(&model, "x", FLOAT, "4");
  onnx_shape(&model, "y", FLOAT, "4");
  onnx_output(&model, "y");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->ops, 2); /* no inputs, no op for them */
  assert_true(loaded_reads(graph, "exp", "random", 0));
  regal_graph_free(graph);
}

static void test_views(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "2,6");
  onnx_scalar(&model, "axis", 0);
  onnx_initializer(&model, "shape", INT64, "2");
  onnx_node(&model, "Relu", "relu", "x", "r", NULL);
  onnx_node(&model, "Reshape", "reshape", "r,shape", "v", NULL);
  onnx_node(&model, "Unsqueeze", "unsqueeze", "v,axis", "u", NULL);
  onnx_node(&model, "Dropout", "dropout", "u", "d,mask", NULL);
  onnx_node(&model, "Exp", "exp", "d", "e", NULL);
  onnx_node(&model, "Identity", "identity", "r", "same", NULL);
  onnx_shape(&model, "r", FLOAT, "2,6");
  onnx_shape(&model, "v", FLOAT, "3,4");
  onnx_shape(&model, "u", FLOAT, "1,3,4");
  onnx_shape(&model, "d", FLOAT, "1,3,4");
  onnx_shape(&model, "e", FLOAT, "1,3,4");
  onnx_shape(&model, "same", FLOAT, "2,6");
  onnx_output(&model, "e");
  onnx_output(&model, "same");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->ops, 3);
  assert_true(loaded_reads(graph, "exp", "relu", 0));
  assert_true(loaded_final(graph, "relu", 0)); /* seen as "same" */
  assert_true(loaded_final(graph, "exp", 0));
  assert_int_equal(graph->parameters, 0);
  loaded_expect_note(
      graph, REGAL_NOTE_JOINED,
      "4 views (Reshape, Identity, ...) with the original tensor");
  regal_graph_free(graph);
}

/* A Reshape to a shape that is computed waits for it: it stays. */
static void test_view_of_computed_shape(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "2,6");
  onnx_input(&model, "shape", INT64, "2");
  onnx_node(&model, "Reshape", "reshape", "x,shape", "v", NULL);
  onnx_shape(&model, "v", FLOAT, "3,4");
  onnx_output(&model, "v");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(graph->ops, 2);
  assert_true(loaded_reads(graph, "reshape", "inputs", 1));
  regal_graph_free(graph);
}

static void test_training_dropout(void **state) {
  for (int64_t training = 0; training < 2; training++) {
    onnx_model model = {0};
    onnx_input(&model, "x", FLOAT, "4");
    onnx_scalar(&model, "mode", training);
    onnx_node(&model, "Dropout", "dropout", "x,,mode", "y", NULL);
    onnx_node(&model, "Relu", "relu", "y", "z", NULL);
    onnx_shape(&model, "y", FLOAT, "4");
    onnx_shape(&model, "z", FLOAT, "4");
    onnx_output(&model, "z");
    regal_graph *graph = onnx_loaded(*state, &model, NULL);
    assert_int_equal(loaded_has(graph, "dropout"), training);
    regal_graph_free(graph);
  }
}

/* Outputs that are left out have no port. */
static void test_optional_values(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "5,2,8");
  onnx_initializer(&model, "w", FLOAT, "1,16,8");
  onnx_initializer(&model, "r", FLOAT, "1,16,4");
  onnx_node(&model, "LSTM", "lstm", "x,w,r,,", ",h,c", NULL);
  onnx_node(&model, "Exp", "exp", "c", "y", NULL);
  onnx_shape(&model, "h", FLOAT, "1,2,4");
  onnx_shape(&model, "c", FLOAT, "1,2,4");
  onnx_shape(&model, "y", FLOAT, "1,2,4");
  onnx_output(&model, "y");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(loaded_inputs(graph, "lstm"), 1);
  assert_true(loaded_reads(graph, "exp", "lstm", 1));
  assert_int_equal(parameter_bytes(graph, "lstm"), (128 + 64) * 4);
  regal_graph_free(graph);
}

static void test_types(void **state) {
  static const struct {
    int type;
    int64_t bytes;
  } cases[] = {{FLOAT, 12},  {2, 3},   {INT8, 3}, {4, 6},   {5, 6},
               {6, 12},      {7, 24},  {8, 48},   {9, 3},   {FLOAT16, 6},
               {DOUBLE, 24}, {12, 12}, {13, 24},  {14, 24}, {15, 48},
               {16, 6},      {17, 3},  {20, 3},   {21, 2},  {22, 2},
               {23, 2},      {24, 3},  {25, 1},   {26, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    onnx_model model = {0};
    onnx_input(&model, "x", cases[i].type, "3");
    onnx_node(&model, "Foo", "foo", "x", "y", NULL);
    onnx_shape(&model, "y", FLOAT, "");
    onnx_output(&model, "y");
    regal_graph *graph = onnx_loaded(*state, &model, NULL);
    assert_int_equal(loaded_bytes(graph, "inputs", 0), cases[i].bytes);
    assert_int_equal(loaded_bytes(graph, "foo", 0), 4);
    regal_graph_free(graph);
  }
}

/* -- Dimensions ------------------------------------------------------------ */

static onnx_model symbolic_model(void) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "batch,seq,4");
  onnx_node(&model, "Relu", "relu", "x", "y", NULL);
  onnx_shape(&model, "y", FLOAT, "batch,seq,4");
  onnx_output(&model, "y");
  return model;
}

static void test_dims(void **state) {
  onnx_model model = symbolic_model();
  regal_options options =
      loaded_options(*state, "dim", "batch=8,seq=128", NULL);
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(loaded_bytes(graph, "relu", 0), 8 * 128 * 4 * 4);
  loaded_expect_notes(graph, 3);
  regal_graph_free(graph);
  options = loaded_options(*state, "dim", "batch=8", NULL);
  graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(loaded_bytes(graph, "relu", 0), 8 * 4 * 4);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "dimension \"seq\" counted as 1: set it with --dim");
  loaded_expect_notes(graph, 4);
  regal_graph_free(graph);
}

static void test_dims_without_name(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "?,-1,4");
  onnx_node(&model, "Relu", "relu", "x", "y", NULL);
  onnx_shape(&model, "y", FLOAT, "1,1,4");
  onnx_output(&model, "y");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(loaded_bytes(graph, "inputs", 0), 16);
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "2 dimensions of inputs with neither number nor name "
                     "counted as 1: set them with --shape x=N,N,4");
  regal_graph_free(graph);
}

static void test_dim_errors(void **state) {
  static const struct {
    const char *dim, *message;
  } cases[] = {
      {"batch", "--dim: \"batch\" is not NAME=SIZE, such as batch=8"},
      {"=8", "--dim: \"=8\" is not NAME=SIZE, such as batch=8"},
      {"batch=", "--dim: \"batch=\" is not NAME=SIZE, such as batch=8"},
      {"batch=8x", "--dim: \"batch=8x\" is not NAME=SIZE, such as batch=8"},
      {"batch=-8", "--dim: \"batch=-8\" is not NAME=SIZE, such as batch=8"},
      {"batch=8,,", "--dim: \"\" is not NAME=SIZE, such as batch=8"},
      {"batch=0", "--dim: the size in \"batch=0\" is not within 1 and 2^40"},
      {"batch=99999999999999999999", "--dim: the size in "
                                     "\"batch=99999999999999999999\" is not "
                                     "within 1 and 2^40"},
      {"batch=8,batch=9", "--dim: \"batch\" is there twice"},
      {"bath=8", "t: --dim: the model has no dimension \"bath\"; it has "
                 "\"batch\", \"seq\""}};
  onnx_model model = symbolic_model();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_options options = loaded_options(*state, "dim", cases[i].dim, NULL);
    onnx_expect_error(*state, &model, &options, cases[i].message);
  }
  model = small_network();
  regal_options options = loaded_options(*state, "dim", "batch=8", NULL);
  onnx_expect_error(*state, &model, &options,
                    "t: --dim: the model has no dimension \"batch\"; it has "
                    "none with a name");
}

/* -- Inference ------------------------------------------------------------- */

static void test_inference(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "1,3,8,8");
  onnx_initializer(&model, "w", FLOAT, "16,3,3,3");
  onnx_node(&model, "Conv", "conv", "x,w", "c", NULL);
  onnx_node(&model, "com.microsoft:FastGelu", "gelu", "c", "g", NULL);
  onnx_node(&model, "GlobalAveragePool", "pool", "g", "y", NULL);
  onnx_output(&model, "y");
  if (!regal_onnx_known_opset()) {
    onnx_expect_error(*state, &model, NULL,
                      "t: 3 tensors have no shape, the first is \"c\"; this "
                      "regal was built without ONNX's shape inference: add "
                      "shapes with onnx.shape_inference.infer_shapes, or "
                      "build regal with libonnx");
    return;
  }
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(loaded_bytes(graph, "conv", 0), 16 * 36 * 4);
  assert_int_equal(loaded_bytes(graph, "gelu", 0), 16 * 36 * 4);
  assert_int_equal(loaded_bytes(graph, "pool", 0), 16 * 4); /* second turn */
  loaded_expect_notes(graph, 3);
  regal_graph_free(graph);
}

/* Simple shapes need no library. */
static void test_own_inference(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT16, "4,1,8");
  onnx_input(&model, "y", FLOAT16, "3,1");
  onnx_node(&model, "com.microsoft:BiasGelu", "gelu", "x,y", "g", NULL);
  onnx_node(&model, "com.microsoft:SkipLayerNormalization", "norm", "g,x", "n",
            NULL);
  onnx_output(&model, "n");
  regal_graph *graph = onnx_loaded(*state, &model, NULL);
  assert_int_equal(loaded_bytes(graph, "gelu", 0), 4 * 3 * 8 * 2);
  assert_int_equal(loaded_bytes(graph, "norm", 0), 4 * 3 * 8 * 2);
  regal_graph_free(graph);
}

/* What nobody can infer is said. */
static void test_missing_shape(void **state) {
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "4");
  onnx_node(&model, "my.ops:Foo", "foo", "x", "y", NULL);
  onnx_node(&model, "Relu", "relu", "y", "z", NULL);
  onnx_output(&model, "z");
  if (!regal_onnx_known_opset())
    return;
  regal_options options =
      loaded_options(*state, "assume-unknown-bytes", "0", NULL);
  regal_graph *graph = onnx_loaded(*state, &model, &options);
  assert_int_equal(loaded_bytes(graph, "foo", 0), 0);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "1 op of unknown type, its run time guessed by its "
                     "bytes: \"Foo\"");
  loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                     "2 tensors without a shape, counted as 0 B each: \"y\", "
                     "\"z\"");
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "1 op whose run time is guessed, for a shape is missing: "
                     "\"relu\"");
  regal_graph_free(graph);
}

/* -- The rest -------------------------------------------------------------- */

/* Weights are not held: a file of a megabyte needs little beside itself. */
static void test_contents_are_dropped(void **state) {
  enum { CONTENT = (1 << 20) - 16384 }; /* a text's room is a power of 2 */
  onnx_bytes tensor = {0}, outer = {0};
  onnx_model model = small_network();
  onnx_bytes bytes = onnx_written(&model);
  static char file[CONTENT + 16384];
  onnx_number(&tensor, 1, CONTENT / 4);
  onnx_number(&tensor, 2, FLOAT);
  onnx_text(&tensor, 8, "big");
  onnx_varint(&tensor, 9 << 3 | 2);
  onnx_varint(&tensor, CONTENT);
  /* Behind the model a second part of its graph: the initializer. */
  size_t inside = 1 + 3; /* its tag and length */
  onnx_varint(&outer, 7 << 3 | 2);
  onnx_varint(&outer, inside + tensor.size + CONTENT);
  onnx_varint(&outer, 5 << 3 | 2);
  onnx_varint(&outer, tensor.size + CONTENT);
  size_t size = 0;
  memcpy(file, bytes.bytes, bytes.size);
  size += bytes.size;
  memcpy(file + size, outer.bytes, outer.size);
  size += outer.size;
  memcpy(file + size, tensor.bytes, tensor.size);
  size += tensor.size + CONTENT;
  regal_context *context;
  regal_graph *graph;
  (void)state;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  if (regal_graph_load_bytes(context, "t", file, size, NULL, &graph))
    fail_msg("%s", regal_error(context));
  assert_int_equal(graph->ops, 4);
  assert_true(regal_bytes_peak(context) < size + 100000);
  regal_graph_free(graph);
  regal_context_free(context);
}

static void test_detection(void **state) {
  onnx_model model = small_network();
  onnx_bytes bytes = onnx_written(&model), turned = {0};
  (void)state;
  assert_true(regal_onnx_detect(bytes.bytes, bytes.size));
  assert_true(regal_onnx_detect(bytes.bytes, 2)); /* cut short */
  onnx_text(&turned, 2, "pytorch");
  onnx_text(&turned, 3, "2.1");
  onnx_number(&turned, 5, 1);
  onnx_message(&turned, 7, &model.graph);
  assert_true(regal_onnx_detect(turned.bytes, turned.size));
  assert_false(regal_onnx_detect(turned.bytes, turned.size - 1));
  static const char *const others[] = {
      "",
      "\n",
      "node { name: \"a\" }",
      "{\"regal_graph\": 1}",
      "# node",
      "\x0a\x03\x0a\x01\x61",                 /* a CostGraphDef's node */
      "\x12\x05\x0d\x01\x01\x01\x01\x0a\x00", /* a cost, then a node */
      "B",
      ":",
      "\"abc\"",
      " node {}",
      "(",
      "\x28\x01",
      "\xff\xff\xff\xff\xff"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(regal_onnx_detect(others[i], strlen(others[i])));
}

static regal_status load_model(regal_context *context, const void *model) {
  onnx_bytes bytes = onnx_written(model);
  regal_graph *graph = NULL;
  regal_status status = regal_graph_load_bytes(context, "t", bytes.bytes,
                                               bytes.size, NULL, &graph);
  regal_graph_free(graph);
  return status;
}

static void test_no_memory_to_infer(void **state) {
  (void)state;
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, "1,3,8,8");
  onnx_node(&model, "com.microsoft:FastGelu", "gelu", "x", "g", NULL);
  onnx_node(&model, "GlobalAveragePool", "pool", "g", "y", NULL);
  onnx_output(&model, "y");
  if (regal_onnx_known_opset())
    fail_each_allocation(load_model, &model);
}

static void test_no_memory(void **state) {
  (void)state;
  onnx_model model = small_network(), body = {0};
  onnx_bytes attributes = {0};
  onnx_node(&body, "Neg", "neg", "y", "n", NULL);
  onnx_shape(&body, "n", FLOAT, "1,16,6,6");
  onnx_output(&body, "n");
  onnx_attribute_graph(&attributes, "then_branch", &body);
  onnx_scalar(&model, "yes", 1);
  onnx_node(&model, "If", "if", "yes", "z", &attributes);
  onnx_shape(&model, "z", FLOAT, "1,16,6,6");
  onnx_input(&model, "i", FLOAT, "batch");
  fail_each_allocation(load_model, &model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_network),
      cmocka_unit_test(test_nodes_in_any_order),
      cmocka_unit_test(test_shared_parameter),
      cmocka_unit_test(test_initializer_is_input),
      cmocka_unit_test(test_folding),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_views),
      cmocka_unit_test(test_view_of_computed_shape),
      cmocka_unit_test(test_training_dropout),
      cmocka_unit_test(test_optional_values),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_dims),
      cmocka_unit_test(test_dims_without_name),
      cmocka_unit_test(test_dim_errors),
      cmocka_unit_test(test_inference),
      cmocka_unit_test(test_own_inference),
      cmocka_unit_test(test_missing_shape),
      cmocka_unit_test(test_contents_are_dropped),
      cmocka_unit_test(test_detection),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_no_memory_to_infer),
  };
  return cmocka_run_group_tests_name("onnx", tests, setup, teardown);
}
