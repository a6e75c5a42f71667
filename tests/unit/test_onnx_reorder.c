/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX models with their nodes in the order of a plan, by their bytes. */
#include "support/onnx_model.h"

#include "base/text.h"
#include "format/onnx/onnx.h"
#include "format/proto/wire.h"
#include "support/failing_allocator.h"

static int setup(void **state) {
  return regal_context_create((regal_context **)state, NULL);
}

static int teardown(void **state) {
  assert_int_equal(regal_bytes_in_use(*state), 0);
  regal_context_free(*state);
  return 0;
}

/* x -> a, b (both of x); v is a view of b; k a constant; c of a and k; d of v
 */
enum { A, B, VIEW, CONSTANT, C, D, NODES };

static onnx_model two_branches(void) {
  static const char shape[] = "4,8";
  onnx_model model = {0};
  onnx_bytes value = {0};
  onnx_attribute_int(&value, "value_int", 3);
  onnx_input(&model, "x", FLOAT, shape);
  onnx_node(&model, "Relu", "a", "x", "ya", NULL);
  onnx_node(&model, "Neg", "b", "x", "yb", NULL);
  onnx_node(&model, "Identity", "v", "yb", "yv", NULL);
  onnx_node(&model, "Constant", "k", "", "yk", &value);
  onnx_node(&model, "Mul", "c", "ya,yk", "yc", NULL);
  onnx_node(&model, "Exp", "d", "yv", "yd", NULL);
  static const char *const shaped[] = {"ya", "yb", "yv", "yc", "yd"};
  for (size_t i = 0; i < 5; i++)
    onnx_shape(&model, shaped[i], FLOAT, shape);
  onnx_output(&model, "yc");
  onnx_output(&model, "yd");
  return model;
}

/* The steps name ids; NODES is the op of the inputs. */
static regal_status reorder(regal_context *context, const void *bytes,
                            size_t size, const uint32_t *by_step,
                            uint32_t steps, regal_text *out) {
  regal_onnx_place places[NODES + 1];
  for (uint32_t i = 0; i <= NODES; i++)
    places[i] = (regal_onnx_place){REGAL_NONE, 0};
  for (uint32_t i = 0; i < steps; i++)
    if (by_step[i] != REGAL_NONE)
      places[by_step[i]] = (regal_onnx_place){i, by_step[i] % 2};
  regal_onnx_order order = {places, by_step, NODES + 1, steps};
  regal_text_init(out, context);
  return regal_onnx_reorder(context, "m.onnx", bytes, size, &order, out);
}

static regal_onnx_model *unpack(regal_arena *arena, const regal_text *bytes) {
  ProtobufCMessage *message;
  assert_int_equal(regal_wire_unpack(arena, "t", bytes->bytes, bytes->size,
                                     &regal_onnx__model_proto__descriptor, 4096,
                                     &message),
                   REGAL_OK);
  return (regal_onnx_model *)message;
}

static void expect_order(regal_context *context, const regal_text *bytes,
                         const char *expected) {
  char names[64] = "";
  regal_arena arena;
  regal_arena_init(&arena, context);
  regal_onnx_model *model = unpack(&arena, bytes);
  for (size_t i = 0; i < model->graph->n_node; i++)
    strcat(names, model->graph->node[i]->name);
  assert_string_equal(names, expected);
  regal_arena_free(&arena);
}

static size_t count(const regal_text *bytes, const char *word) {
  size_t found = 0, length = strlen(word);
  for (size_t i = 0; i + length <= bytes->size; i++)
    found += !memcmp(bytes->bytes + i, word, length);
  return found;
}

/* -- Tests ----------------------------------------------------------------- */

static const uint32_t second_first[] = {NODES, B, REGAL_NONE, D, A, C};

static void test_order(void **state) {
  onnx_model model = two_branches();
  onnx_bytes bytes = onnx_written(&model);
  regal_text out;
  assert_int_equal(
      reorder(*state, bytes.bytes, bytes.size, second_first, 6, &out),
      REGAL_OK);
  /* the view goes before d, the constant before c */
  expect_order(*state, &out, "bvdakc");
  assert_int_equal(count(&out, "regal.step"), 4);
  assert_int_equal(count(&out, "regal.device"), 4);
  regal_text_free(&out);
}

/* A file in no order that ONNX accepts becomes one that is. */
static void test_file_in_any_order(void **state) {
  static const char shape[] = "4,8";
  onnx_model model = {0};
  onnx_input(&model, "x", FLOAT, shape);
  static const char *const read[] = {"y2", "y3", "y4", "y5", "y6", "x"};
  static const char *const made[] = {"y1", "y2", "y3", "y4", "y5", "y6"};
  static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  for (size_t i = 0; i < NODES; i++)
    onnx_node(&model, "Relu", names[i], read[i], made[i], NULL);
  onnx_output(&model, "y1");
  onnx_bytes bytes = onnx_written(&model);
  static const uint32_t backwards[] = {NODES, 5, 4, 3, 2, 1, 0};
  regal_text out;
  assert_int_equal(reorder(*state, bytes.bytes, bytes.size, backwards, 7, &out),
                   REGAL_OK);
  expect_order(*state, &out, "fedcba");
  regal_text_free(&out);
}

/* What was written before is replaced; everything else stays. */
static void test_twice(void **state) {
  static const uint32_t first_first[] = {NODES, A, C, B, D};
  onnx_model model = two_branches();
  onnx_bytes bytes = onnx_written(&model);
  regal_text once, twice;
  reorder(*state, bytes.bytes, bytes.size, first_first, 5, &once);
  expect_order(*state, &once, "akcbvd");
  uint32_t same[] = {NODES, 0, 2, 3, 5}; /* a c b d in their new places */
  assert_int_equal(reorder(*state, once.bytes, once.size, same, 5, &twice),
                   REGAL_OK);
  expect_order(*state, &twice, "akcbvd");
  assert_int_equal(count(&twice, "regal.step"), 4);
  assert_int_equal(twice.size, once.size);
  regal_text_free(&once);
  regal_text_free(&twice);
}

/* A node whose body reads a value comes after it. */
static void test_bodies(void **state) {
  onnx_model model = {0}, body = {0};
  onnx_bytes attributes = {0};
  onnx_input(&model, "x", FLOAT, "4");
  onnx_input(&model, "t", BOOL, "");
  onnx_node(&model, "Neg", "a", "x", "ya", NULL);
  onnx_node(&model, "Exp", "b", "x", "yb", NULL);
  onnx_node(&model, "Abs", "c", "x", "yc", NULL);
  onnx_node(&body, "Sqrt", "inner", "yb", "yi", NULL);
  onnx_output(&body, "yi");
  onnx_attribute_graph(&attributes, "then_branch", &body);
  onnx_attribute_graph(&attributes, "else_branch", &body);
  onnx_node(&model, "If", "i", "t", "y", &attributes);
  onnx_node(&model, "Neg", "e", "x", "ye", NULL);
  onnx_node(&model, "Neg", "f", "x", "yf", NULL);
  onnx_output(&model, "y");
  onnx_bytes bytes = onnx_written(&model);
  regal_text out;
  static const uint32_t steps[] = {5, 3, 2, 1, 0, 4};
  assert_int_equal(reorder(*state, bytes.bytes, bytes.size, steps, 6, &out),
                   REGAL_OK);
  expect_order(*state, &out, "fbicae");
  regal_text_free(&out);
}

static void test_refused(void **state) {
  onnx_model model = two_branches();
  onnx_node(&model, "Neg", "z", "x", "yz", NULL);
  onnx_node(&model, "Neg", "y", "x", "yy", NULL);
  onnx_bytes bytes = onnx_written(&model);
  regal_text out;
  assert_int_equal(
      reorder(*state, bytes.bytes, bytes.size, second_first, 6, &out),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "m.onnx: the plan is not for this model: it has 8 nodes");
  regal_text_free(&out);
  assert_int_equal(reorder(*state, "{}", 2, second_first, 6, &out),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "m.onnx: only a graph that was read from an ONNX model "
                      "can be written as one");
  regal_text_free(&out);
}

static void test_failing_allocations(void **state) {
  (void)state;
  onnx_model model = two_branches();
  onnx_bytes bytes = onnx_written(&model);
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *on;
    regal_text out = {0};
    regal_status status = regal_context_create(&on, &allocator);
    if (status == REGAL_OK) {
      status = reorder(on, bytes.bytes, bytes.size, second_first, 6, &out);
      if (out.failed)
        status = REGAL_NO_MEMORY;
      regal_text_free(&out);
      regal_context_free(on);
    }
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

#define TEST(function)                                                         \
  cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_order),   TEST(test_file_in_any_order),
      TEST(test_twice),   TEST(test_bodies),
      TEST(test_refused), TEST(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("onnx_reorder", tests, NULL, NULL);
}
