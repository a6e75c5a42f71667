/* SPDX-License-Identifier: Apache-2.0 */
/* Every malformed model under tests/onnx fails with the message beside it.
 * tests/onnx/make.py writes the models. */
#include "support/defects.h"

#define FEWEST_FILES 30

static void test_every_defect_has_its_message(void **state) {
  (void)state;
  assert_true(defects_check(".", ".onnx", NULL, defects_try_graph) >=
              FEWEST_FILES);
}

/* A lie about a length must not make the reader ask for memory. */
static void test_memory_in_proportion(void **state) {
  (void)state;
  regal_context *context;
  regal_graph *graph;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  regal_graph_load(context, "length_lie.onnx", NULL, &graph);
  /* The built-in rooflines are parsed before. */
  assert_true(regal_bytes_peak(context) < 100000);
  regal_context_free(context);
}

static void test_no_memory_in_errors(void **state) {
  (void)state;
  defects_without_memory("body_input_unknown.onnx");
  defects_without_memory("only_constants.onnx");
  defects_without_memory("total_too_large.onnx");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_defect_has_its_message),
      cmocka_unit_test(test_memory_in_proportion),
      cmocka_unit_test(test_no_memory_in_errors),
  };
  if (chdir(REGAL_TEST_DATA "/onnx"))
    return 1;
  return cmocka_run_group_tests_name("onnx_parse", tests, NULL, NULL);
}
