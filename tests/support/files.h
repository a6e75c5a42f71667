/* SPDX-License-Identifier: Apache-2.0 */
/* Files for tests: a folder of their own, written and read in one call. */
#ifndef REGAL_TESTS_FILES_H
#define REGAL_TESTS_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char files_folder[] = "/tmp/regal-test-XXXXXX";

/* Makes an empty folder and goes there, so that messages have short paths. */
static inline int files_enter(void **state) {
  (void)state;
  return mkdtemp(files_folder) && !chdir(files_folder) ? 0 : -1;
}

/* Removes the folder with all that is in it. */
static inline int files_leave(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", files_folder);
  return chdir("/") || system(command);
}

static inline void files_write(const char *path, const void *bytes,
                               size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
    abort();
}

static inline void files_write_text(const char *path, const char *text) {
  files_write(path, text, strlen(text));
}

/* The whole file, zero-terminated, to be freed; NULL when there is none. */
static inline char *files_read(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  size_t size = 0, capacity = 1 << 20;
  char *bytes = calloc(capacity, 1);
  while (bytes && !feof(file)) {
    size += fread(bytes + size, 1, capacity - size - 1, file);
    if (size + 1 == capacity)
      abort();
  }
  fclose(file);
  return bytes;
}

#endif
