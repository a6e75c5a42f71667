/* SPDX-License-Identifier: Apache-2.0 */
/* Malformed modules of XLA (tests/hlo/make_defects.py), with their messages. */
#include "support/defects.h"

static void each_defect_has_its_message(void **state) {
  (void)state;
  assert_true(defects_check(REGAL_TEST_DATA "/hlo", ".hlo", ".hlopb",
                            defects_try_graph) >= 80);
}

static void defects_leave_nothing(void **state) {
  (void)state;
  assert_int_equal(chdir(REGAL_TEST_DATA "/hlo"), 0);
  defects_without_memory("recursion_of_two.hlo");
  defects_without_memory("operand_unknown.hlo");
  defects_without_memory("temporary_too_large.hlo");
  defects_without_memory("schedule_twice.hlopb");
  defects_without_memory("binary_recursion.hlopb");
}

static regal_status load_file(regal_context *context, const void *path) {
  regal_graph *graph = NULL;
  regal_status status = regal_graph_load(context, path, NULL, &graph);
  regal_graph_free(graph);
  return status;
}

/* A module that is read needs no memory after a failure either. */
static void modules_need_memory(void **state) {
  static const char *const files[] = {"good/scan.pb", "good/scan.txt",
                                      "good/update.hlo.pb"};
  (void)state;
  assert_int_equal(chdir(REGAL_TEST_DATA "/hlo"), 0);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    fail_each_allocation(load_file, files[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_defect_has_its_message),
      cmocka_unit_test(defects_leave_nothing),
      cmocka_unit_test(modules_need_memory),
  };
  return cmocka_run_group_tests_name("hlo_parse", tests, NULL, NULL);
}
