/* Every malformed graph under tests/parse fails with the message beside it.
 *
 * The files' names are their defects. With REGAL_REFRESH set in the environment
 * the messages are written anew, to be reviewed as a diff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/files.h"

#include <dirent.h>

#define FEWEST_FILES 95 /* a folder that was not found would test nothing */

static bool is_graph(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (!strcmp(dot, ".pb") || !strcmp(dot, ".pbtxt"));
}

static void message_path(const char *name, char *path, size_t capacity) {
  snprintf(path, capacity, "%.*s.message", (int)(strrchr(name, '.') - name),
           name);
}

/* Loads a file of the folder, which must fail and leave nothing behind. */
static void load_malformed(const char *name, char *message, size_t capacity) {
  regal_context *context;
  regal_graph *graph = NULL;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  assert_int_equal(regal_graph_load(context, name, NULL, &graph),
                   REGAL_BAD_INPUT);
  assert_null(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  snprintf(message, capacity, "%s", regal_error(context));
  regal_context_free(context);
}

static bool has_expected_message(const char *name) {
  char message[1100], path[512];
  load_malformed(name, message, sizeof message);
  message_path(name, path, sizeof path);
  strcat(message, "\n");
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
    if (!is_graph(entry->d_name))
      continue;
    tried++;
    wrong += !has_expected_message(entry->d_name);
  }
  closedir(folder);
  assert_int_equal(wrong, 0);
  assert_true(tried >= FEWEST_FILES);
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

/* A failure on the way to the message leaves nothing behind either. */
static void test_no_memory_in_errors(void **state) {
  (void)state;
  static const char *const names[] = {"cycle.pb", "cycle_of_while_loop.pbtxt",
                                      "duplicate_id_in_text.pbtxt"};
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
      cmocka_unit_test(test_directory),
      cmocka_unit_test(test_memory_in_proportion),
      cmocka_unit_test(test_no_memory_in_errors),
  };
  if (chdir(REGAL_TEST_DATA "/parse"))
    return 1;
  return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
