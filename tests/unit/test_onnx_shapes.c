/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's shape inference behind regal_onnx_infer_shapes, on the small models
 * that tests/onnx/make_shape_models.py writes. Where the component is not built
 * the message that says so is tested. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/parallel/threads.h"
#include "format/onnx_shapes/shapes.h"
#include "onnx.pb-c.h"
#include "support/failing_allocator.h"

typedef RegalOnnx__ModelProto model_proto;

/* A model with its shapes, and what came of inferring them. */
typedef struct inferred_model {
  regal_context *context;
  regal_status status;
  regal_text bytes;
  model_proto *model;
} inferred_model;

static inferred_model infer_bytes(const void *bytes, size_t size) {
  inferred_model made = {0};
  assert_int_equal(regal_context_create(&made.context, NULL), REGAL_OK);
  regal_text_init(&made.bytes, made.context);
  regal_onnx_budget budget = {REGAL_ONNX_SECONDS, 0};
  made.status = regal_onnx_infer_shapes(made.context, "m.onnx", bytes, size,
                                        &budget, &made.bytes);
  if (made.status == REGAL_OK) {
    made.model = regal_onnx__model_proto__unpack(
        NULL, made.bytes.size, (const uint8_t *)made.bytes.bytes);
    assert_non_null(made.model);
  }
  return made;
}

static void read_model(regal_context *context, const char *name,
                       regal_text *file) {
  char path[512];
  snprintf(path, sizeof path, "%s/onnx/shapes/%s.onnx", REGAL_TEST_DATA, name);
  assert_int_equal(regal_read_file(context, path, file), REGAL_OK);
}

static inferred_model infer(const char *name) {
  regal_context *context;
  regal_text file;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  read_model(context, name, &file);
  inferred_model made = infer_bytes(file.bytes, file.size);
  regal_text_free(&file);
  regal_context_free(context);
  return made;
}

static void free_model(inferred_model *made) {
  if (made->model)
    regal_onnx__model_proto__free_unpacked(made->model, NULL);
  regal_text_free(&made->bytes);
  regal_context_free(made->context);
}

static const RegalOnnx__TypeProto *find_type(const model_proto *model,
                                             const char *name) {
  const RegalOnnx__GraphProto *graph = model->graph;
  for (size_t i = 0; i < graph->n_value_info; i++)
    if (!strcmp(graph->value_info[i]->name, name))
      return graph->value_info[i]->type;
  for (size_t i = 0; i < graph->n_output; i++)
    if (!strcmp(graph->output[i]->name, name))
      return graph->output[i]->type;
  return NULL;
}

/* "2x3xn", "scalar", or "none" where no shape is known. */
static void shape_text(const model_proto *model, const char *name, char *text,
                       size_t capacity) {
  const RegalOnnx__TypeProto *type = find_type(model, name);
  snprintf(text, capacity, "none");
  if (!type || type->value_case != REGAL_ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
      !type->tensor_type->shape)
    return;
  const RegalOnnx__TensorShapeProto *shape = type->tensor_type->shape;
  snprintf(text, capacity, "scalar");
  size_t used = 0;
  for (size_t i = 0; i < shape->n_dim; i++) {
    const char *cross = i ? "x" : "";
    const RegalOnnx__TensorShapeProto__Dimension *dim = shape->dim[i];
    if (dim->value_case ==
        REGAL_ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
      used += (size_t)snprintf(text + used, capacity - used, "%s%lld", cross,
                               (long long)dim->dim_value);
    else
      used += (size_t)snprintf(text + used, capacity - used, "%s%s", cross,
                               dim->dim_param ? dim->dim_param : "?");
  }
}

static void check_shape(const inferred_model *made, const char *name,
                        const char *expected) {
  char text[256];
  shape_text(made->model, name, text, sizeof text);
  if (strcmp(text, expected))
    fail_msg("%s is %s instead of %s", name, text, expected);
}

static void check_refused(inferred_model made, const char *message) {
  assert_int_equal(made.status, REGAL_BAD_INPUT);
  assert_string_equal(regal_error(made.context), message);
  assert_int_equal(made.bytes.size, 0);
  free_model(&made);
}

static void test_absent(void **state) {
  (void)state;
  if (regal_onnx_known_opset())
    skip();
  assert_int_equal(regal_onnx_known_opset(), 0);
  check_refused(
      infer("chain"),
      "m.onnx: the model lacks shapes, and this regal was built without ONNX's "
      "shape inference: install libonnx-dev and g++ and build it again, or add "
      "the shapes in Python with onnx.shape_inference.infer_shapes_path");
}

static void test_known_opset(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  assert_in_range(regal_onnx_known_opset(), 17, 99);
}

static void test_computed_sizes(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("chain");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "conv", "7x2x8x8");
  check_shape(&made, "shape", "4");
  check_shape(&made, "matrix", "28x32");
  check_shape(&made, "y", "28x5");
  free_model(&made);
}

/* A number goes through a product, a name does not: this is why numbers have to
 * be put in before inference. */
static void test_names_get_lost(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("chain_with_name");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "conv", "batch_sizex2x8x8");
  char text[256];
  shape_text(made.model, "y", text, sizeof text);
  assert_null(strstr(text, "batch_size"));
  free_model(&made);
}

/* Computed sizes are followed in models of older opsets, too. */
static void test_older_ops(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("older");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "matrix", "7x192");
  check_shape(&made, "right", "7x128");
  check_shape(&made, "sum", "7");
  check_shape(&made, "y", "7x64");
  assert_int_equal(made.model->opset_import[0]->version, 11);
  assert_int_equal(made.model->graph->n_initializer, 2);
  free_model(&made);
  made = infer("much_older");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "wide", "7x3x8x10");
  check_shape(&made, "y", "7x240");
  free_model(&made);
}

/* What cannot be read as newer ops is inferred as what it is. */
static void test_older_ops_only(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("older_with_resize");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "large", "1x2x6x8");
  free_model(&made);
  made = infer("older_contradiction");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "7x8x8");
  check_shape(&made, "same", "7x3x8x8");
  free_model(&made);
}

/* libonnx 1.12 by itself would infer a scalar for "mean" and "some": no shape
 * is better than a wrong one. */
static void test_newer_ops(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("newer");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "mean", "2x6");
  check_shape(&made, "all", "1x1x1");
  check_shape(&made, "gelu", "2x4x6");
  check_shape(&made, "norm", "2x4x6");
  check_shape(&made, "cast", "2x4x6");
  check_shape(&made, "left", "2x2x6");
  check_shape(&made, "after", "2x2x6");
  if (regal_onnx_known_opset() == 17) {
    check_shape(&made, "uneven", "none");
    check_shape(&made, "some", "none");
  }
  assert_string_equal(made.model->graph->node[3]->op_type, "Gelu");
  assert_int_equal(made.model->opset_import[0]->version, 21);
  free_model(&made);
}

static void test_newer_type(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("newer_type");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "2x3");
  check_shape(&made, "z", "2x3");
  free_model(&made);
}

static void check_type(const inferred_model *made, const char *name,
                       int expected) {
  check_shape(made, name, strchr("ry", *name) ? "3x2" : "2x3");
  assert_int_equal(find_type(made->model, name)->tensor_type->elem_type,
                   expected);
}

/* The types are those of zero points and scales. */
static void test_quantised(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("quantised");
  assert_int_equal(made.status, REGAL_OK);
  check_type(&made, "q", REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT4);
  check_type(&made, "d", REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16);
  check_type(&made, "r", REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__INT16);
  check_type(&made, "y", REGAL_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16);
  free_model(&made);
}

static void test_listed_axes(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("listed_axes");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "3");
  free_model(&made);
}

static void test_left_out_zero(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("left_out_zero");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "1x24");
  free_model(&made);
}

static void test_domains(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("domains");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "5");
  check_shape(&made, "z", "none");
  free_model(&made);
}

/* The library has no shapes for maps; it goes on with the rest. */
static void test_maps(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("zip_map");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "label", "3");
  check_shape(&made, "maps", "none");
  free_model(&made);
}

static void test_refused(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  check_refused(infer_bytes("\x3a\xff", 2),
                "m.onnx: shape inference: this is no ONNX model (a protobuf "
                "ModelProto)");
  if (regal_onnx_known_opset() != 17) /* libonnx 1.17 passes over it */
    return;
  check_refused(
      infer("contradiction"),
      "m.onnx: shape inference: [ShapeInferenceError] (op_type:Relu): "
      "[ShapeInferenceError] Inferred shape and existing shape differ "
      "in dimension 1: (3) vs (4)");
}

/* -- What a process of its own is for -------------------------------------- */

static void test_functions_refused(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  check_refused(infer("endless_function"),
                "m.onnx: shape inference: function Self calls itself");
  check_refused(infer("many_functions"),
                "m.onnx: shape inference: the functions of the model, inlined, "
                "have more than 1000000 nodes");
}

/* Sizes that cannot be followed are given up, not the model. */
static void test_memory_limit(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  inferred_model made = infer("doubling");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "c26", "67108864");
  free_model(&made);
  made = infer("reshape_by_doubling");
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "none");
  free_model(&made);
}

/* There is no second attempt: the budget is spent. */
static void test_time_limit(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  regal_context *context;
  regal_text file, inferred;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  read_model(context, "slow_functions", &file);
  regal_text_init(&inferred, context);
  regal_onnx_budget budget = {0.25, 0};
  double began = regal_seconds();
  for (int i = 0; i < 2; i++) {
    assert_int_equal(regal_onnx_infer_shapes(context, "m.onnx", file.bytes,
                                             file.size, &budget, &inferred),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(context),
                        "m.onnx: ONNX's shape inference did not end within "
                        "0.25 s; a model that carries all its shapes needs "
                        "none");
  }
  assert_true(regal_seconds() - began < 0.8);
  regal_text_free(&inferred);
  regal_text_free(&file);
  regal_context_free(context);
}

/* The children of a process; 0: as many as there are, if fewer. */
static void find_children(pid_t parent, pid_t children[2]) {
  char path[64], text[256] = "", *at = text;
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent,
           (long)parent);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  for (int i = 0; i < 2; i++)
    children[i] = (pid_t)strtol(at, &at, 10);
}

/* Stands for a crash of the library: ends every inference of the parent. */
static _Noreturn void break_inferences(void) {
  for (;;) {
    pid_t children[2];
    find_children(getppid(), children);
    for (int i = 0; i < 2; i++)
      if (children[i] && children[i] != getpid())
        kill(children[i], SIGKILL);
    usleep(5000);
  }
}

static void test_crash(void **state) {
  (void)state;
  if (!regal_onnx_known_opset() || access("/proc/self/task", R_OK) != 0)
    skip();
  pid_t breaker = fork();
  if (breaker == 0)
    break_inferences();
  check_refused(infer("slow_functions"),
                "m.onnx: ONNX's shape inference (libonnx) crashed on this "
                "model; a model that carries all its shapes needs none");
  kill(breaker, SIGKILL);
  waitpid(breaker, NULL, 0);
}

/* A parent that is killed leaves nothing behind. */
static void test_dies_with_parent(void **state) {
  (void)state;
  if (!regal_onnx_known_opset() || access("/proc/self/task", R_OK) != 0)
    skip();
  assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  pid_t parent = fork(), children[2] = {0}, inference;
  if (parent == 0) {
    infer("slow_functions");
    _exit(0);
  }
  while (!children[0]) {
    usleep(1000);
    find_children(parent, children);
  }
  inference = children[0];
  usleep(50000);
  kill(parent, SIGKILL);
  waitpid(parent, NULL, 0);
  int status = 0;
  assert_int_equal(waitpid(inference, &status, 0), inference);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_children_ignored(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  signal(SIGCHLD, SIG_IGN);
  inferred_model made = infer("left_out_zero");
  signal(SIGCHLD, SIG_DFL);
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "1x24");
  free_model(&made);
}

static pid_t holder;

/* As another thread's fork() at the worst moment: a process that has the pipe,
 * and stays. */
static void fork_before(void) {
  if (holder)
    return;
  holder = _Fork();
  if (holder)
    return;
  for (;;)
    pause();
}

static void test_somebody_else_holds_the_pipe(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  assert_int_equal(pthread_atfork(fork_before, NULL, NULL), 0);
  inferred_model made = infer("left_out_zero");
  kill(holder, SIGKILL);
  waitpid(holder, NULL, 0);
  assert_int_equal(made.status, REGAL_OK);
  check_shape(&made, "y", "1x24");
  free_model(&made);
}

static void test_stop(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  regal_context *context;
  regal_text inferred;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  regal_text_init(&inferred, context);
  regal_stop_request(context);
  regal_onnx_budget budget = {REGAL_ONNX_SECONDS, 0};
  assert_int_equal(
      regal_onnx_infer_shapes(context, "m.onnx", "", 0, &budget, &inferred),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "m.onnx: stopped while its shapes were inferred");
  regal_text_free(&inferred);
  regal_context_free(context);
}

static void test_failing_allocations(void **state) {
  (void)state;
  if (!regal_onnx_known_opset())
    skip();
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_text file, inferred;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    memory.fail_at = 0;
    read_model(context, "chain", &file);
    memory.fail_at = memory.allocations + n - 1;
    regal_text_init(&inferred, context);
    regal_onnx_budget budget = {REGAL_ONNX_SECONDS, 0};
    regal_status status = regal_onnx_infer_shapes(
        context, "m.onnx", file.bytes, file.size, &budget, &inferred);
    regal_text_free(&inferred);
    regal_text_free(&file);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_absent),
      cmocka_unit_test(test_known_opset),
      cmocka_unit_test(test_computed_sizes),
      cmocka_unit_test(test_names_get_lost),
      cmocka_unit_test(test_older_ops),
      cmocka_unit_test(test_older_ops_only),
      cmocka_unit_test(test_newer_ops),
      cmocka_unit_test(test_newer_type),
      cmocka_unit_test(test_quantised),
      cmocka_unit_test(test_listed_axes),
      cmocka_unit_test(test_left_out_zero),
      cmocka_unit_test(test_domains),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_functions_refused),
      cmocka_unit_test(test_memory_limit),
      cmocka_unit_test(test_time_limit),
      cmocka_unit_test(test_crash),
      cmocka_unit_test(test_dies_with_parent),
      cmocka_unit_test(test_maps),
      cmocka_unit_test(test_children_ignored),
      cmocka_unit_test(test_somebody_else_holds_the_pipe),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("onnx_shapes", tests, NULL, NULL);
}
