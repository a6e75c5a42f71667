/* SPDX-License-Identifier: Apache-2.0 */
/* One call at a time writes a table: the end of one would take away the rows of
 * the other. It happens when a command is given again while an interrupted one,
 * or its ranks, are still ending.
 *
 * The lock is on the file that the path leads to, and saving a table replaces
 * that file. So a lock counts only if the file is still the one of its path.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"

static bool is_replaced(int file, const char *path) {
  struct stat opened, present;
  return fstat(file, &opened) || stat(path, &present) ||
         opened.st_ino != present.st_ino || opened.st_dev != present.st_dev;
}

/* Only another lock counts: some file systems have none. */
static regal_status lock(regal_context *context, const char *path, int file) {
  if (!flock(file, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
    return REGAL_OK;
  return regal_fail(context, REGAL_IO, "%s: another call is writing to it",
                    path);
}

/* Of a pipe neither rows can be read nor the file replaced. */
static regal_status check_kind(regal_context *context, const char *path) {
  struct stat info;
  if (stat(path, &info) || S_ISREG(info.st_mode))
    return REGAL_OK;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s: found a pipe or a device, expected a file for the "
                    "table",
                    path);
}

static regal_status open_stream(regal_context *context, const char *path,
                                int file, FILE **stream) {
  *stream = fdopen(file, "a");
  return *stream ? REGAL_OK : regal_fail_system(context, path);
}

regal_status regal_bench_lock(regal_context *context, const char *path,
                              FILE **locked) {
  regal_status status = check_kind(context, path);
  *locked = NULL;
  while (status == REGAL_OK && !*locked) {
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0)
      return errno == ENOENT ? REGAL_OK : regal_fail_system(context, path);
    status = lock(context, path, file);
    if (status == REGAL_OK && !is_replaced(file, path))
      status = open_stream(context, path, file, locked);
    if (!*locked)
      close(file);
  }
  return status;
}
