/* SPDX-License-Identifier: Apache-2.0 */
/* Every malformed graph under tests/parse fails with the message beside it. */
#include "support/defects.h"

#define FEWEST_FILES 95

static void test_every_defect_has_its_message(void **state) {
  (void)state;
  assert_true(defects_check(".", ".pb", ".pbtxt", defects_try_graph) >=
              FEWEST_FILES);
}

static void test_directory(void **state) {
  (void)state;
  regal_context *context;
  regal_graph *graph;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  assert_int_equal(regal_graph_load(context, ".", NULL, &graph), REGAL_IO);
  assert_string_equal(regal_error(context),
                      ".: is a directory, expected a file");
  assert_int_equal(regal_graph_load(context, "none.pb", NULL, &graph),
                   REGAL_IO);
  assert_string_equal(regal_error(context),
                      "none.pb: No such file or directory");
  regal_context_free(context);
}

/* A lie about a length must not make the reader ask for memory. */
static void test_memory_in_proportion(void **state) {
  (void)state;
  regal_context *context;
  regal_graph *graph;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  regal_graph_load(context, "length_2gib_lie.pb", NULL, &graph);
  assert_true(regal_bytes_peak(context) < 1024);
  regal_context_free(context);
}

static void test_no_memory_in_errors(void **state) {
  (void)state;
  defects_without_memory("cycle.pb");
  defects_without_memory("cycle_of_while_loop.pbtxt");
  defects_without_memory("duplicate_id_in_text.pbtxt");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_defect_has_its_message),
      cmocka_unit_test(test_directory),
      cmocka_unit_test(test_memory_in_proportion),
      cmocka_unit_test(test_no_memory_in_errors),
  };
  if (chdir(REGAL_TEST_DATA "/parse"))
    return 1;
  return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
