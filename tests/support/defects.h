/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of malformed files, one for each defect and named by it, with the
 * whole message that each gives beside it (NAME.message). With REGAL_REFRESH
 * set in the environment the messages are written anew, to be reviewed as a
 * diff.
 */
#ifndef REGAL_TESTS_DEFECTS_H
#define REGAL_TESTS_DEFECTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>

#include "base/context.h"
#include "support/failing_allocator.h"
#include "support/files.h"

/* Reads `path` and returns the message of its failure, or "" if there is
 * none. */
typedef const char *(*defects_try_fn)(const char *path);

/* Loads a graph, which must fail and leave nothing behind. */
static inline const char *defects_try_graph(const char *path) {
  static char message[REGAL_MESSAGE_CAPACITY];
  regal_context *context;
  regal_graph *graph = NULL;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  if (regal_graph_load(context, path, NULL, &graph) != REGAL_BAD_INPUT)
    fail_msg("%s: %s", path, regal_error(context));
  assert_null(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  snprintf(message, sizeof message, "%s", regal_error(context));
  regal_context_free(context);
  return message;
}

static inline bool defects_has_message(const char *name,
                                       defects_try_fn attempt) {
  char message[REGAL_MESSAGE_CAPACITY + 1], path[512];
  snprintf(message, sizeof message, "%s\n", attempt(name));
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

/* Tries every file of the folder that ends in `ending` or `other` (or NULL):
 * each must give its message. Goes to the folder, so that messages have bare
 * names. Returns the number of files, for a folder without any would test
 * nothing. */
static inline size_t defects_check(const char *folder, const char *ending,
                                   const char *other, defects_try_fn attempt) {
  size_t tried = 0, wrong = 0;
  assert_int_equal(chdir(folder), 0);
  DIR *directory = opendir(".");
  assert_non_null(directory);
  for (struct dirent *entry; (entry = readdir(directory));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || (strcmp(dot, ending) && (!other || strcmp(dot, other))))
      continue;
    tried++;
    wrong += !defects_has_message(entry->d_name, attempt);
  }
  closedir(directory);
  assert_int_equal(wrong, 0);
  return tried;
}

/* A failure on the way to the message of a graph leaves nothing behind
 * either. */
static inline void defects_without_memory(const char *path) {
  for (size_t n = 2;; n++) { /* 1 is the context itself */
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_graph *graph;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status = regal_graph_load(context, path, NULL, &graph);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_BAD_INPUT);
    if (!memory.failed)
      break;
  }
}

#endif
