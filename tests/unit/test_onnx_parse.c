/* Every malformed model under tests/onnx fails with the message beside it.
 *
 * tests/onnx/make.py writes the models; their names are their defects. With
 * REGAL_REFRESH set in the environment the messages are written anew, to be
 * reviewed as a diff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/files.h"

#include <dirent.h>

#define FEWEST_FILES 30 /* a folder that was not found would test nothing */

static bool is_model(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && !strcmp(dot, ".onnx");
}

static bool has_expected_message(const char *name) {
  char message[1100], path[512];
  regal_context *context;
  regal_graph *graph = NULL;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  if (regal_graph_load(context, name, NULL, &graph) != REGAL_BAD_INPUT)
    fail_msg("%s: %s", name, regal_error(context));
  assert_null(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  snprintf(message, sizeof message, "%s\n", regal_error(context));
  regal_context_free(context);
  snprintf(path, sizeof path, "%.*s.message", (int)(strrchr(name, '.') - name),
           name);
  if (getenv("REGAL_REFRESH"))
    files_write_text(path, message);
  char *expected = files_read(path);
  bool same = expected && !strcmp(message, expected);
  if (!same)
    print_error("%s\n  gave     %s  expected %s", name, message,
                expected ? expected : "a file with its message\n");
  free(expected);
  return same;
}

static void test_every_defect_has_its_message(void **state) {
  (void)state;
  size_t tried = 0, wrong = 0;
  DIR *folder = opendir(".");
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!is_model(entry->d_name))
      continue;
    tried++;
    wrong += !has_expected_message(entry->d_name);
  }
  closedir(folder);
  assert_int_equal(wrong, 0);
  assert_true(tried >= FEWEST_FILES);
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

/* A failure on the way to the message leaves nothing behind either. */
static void test_no_memory_in_errors(void **state) {
  (void)state;
  static const char *const names[] = {
      "body_input_unknown.onnx", "only_constants.onnx", "total_too_large.onnx"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (size_t n = 2;; n++) { /* 1 is the context itself */
      failing_allocator memory = {.fail_at = n};
      regal_allocator allocator = failing_allocator_of(&memory);
      regal_context *context;
      regal_graph *graph;
      assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
      regal_status status = regal_graph_load(context, names[i], NULL, &graph);
      regal_context_free(context);
      assert_int_equal(memory.blocks, 0);
      assert_int_equal(status,
                       memory.failed ? REGAL_NO_MEMORY : REGAL_BAD_INPUT);
      if (!memory.failed)
        break;
    }
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
