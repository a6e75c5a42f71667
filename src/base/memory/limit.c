/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of memory.
 *
 * A context counts its bytes (context.c), also those of its worker threads, and
 * refuses to allocate beyond a limit. Linux hands out more memory than there
 * is: without a limit of our own, a run that asks for too much is killed late,
 * and other programs may be killed with it. What grows with settings rather
 * than with the graph is computed beforehand, so that the message can name
 * these settings (regal_memory_check). */
#include "base/memory/limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static uint64_t physical(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

/* A file with one number; "max", which is none, or no file: no limit. */
static uint64_t limit_in(const char *path) {
  char text[32], *end;
  FILE *file = fopen(path, "re");
  if (!file)
    return UINT64_MAX;
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  uint64_t bytes = strtoull(text, &end, 10);
  return end > text && bytes ? bytes : UINT64_MAX;
}

static uint64_t limit_of(int resource) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  return limit.rlim_cur;
}

uint64_t regal_memory_here(void) {
  uint64_t bytes = physical();
  bytes = least(bytes, limit_in("/sys/fs/cgroup/memory.max"));
  bytes = least(bytes, limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  bytes = least(bytes, limit_of(RLIMIT_AS));
  return least(bytes, limit_of(RLIMIT_DATA));
}

size_t regal_memory_limit(regal_context *context,
                          const regal_options *options) {
  size_t before = context->bytes_limit;
  uint64_t bytes = options->max_memory > 0 ? (uint64_t)options->max_memory
                                           : regal_memory_here() / 4 * 3;
  context->bytes_limit = (size_t)least(bytes, SIZE_MAX);
  return before;
}

void regal_memory_restore(regal_context *context, size_t limit) {
  context->bytes_limit = limit;
}

regal_status regal_memory_check(regal_context *context, const char *what,
                                uint64_t bytes) {
  const regal_context *root = regal_context_root(context);
  size_t limit = root->bytes_limit;
  /* The root's count changes while workers run, and their outcome must not
   * depend on it: a worker has the whole limit here. Allocations are checked
   * one by one in any case. */
  size_t used = context == root ? root->bytes_in_use : 0;
  uint64_t left = limit > used ? limit - used : 0;
  if (!limit || bytes <= left)
    return REGAL_OK;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s need %s of memory, expected at most %s (--max-memory)",
                    what,
                    regal_show_bytes((int64_t)least(bytes, INT64_MAX)).text,
                    regal_show_bytes((int64_t)least(limit, INT64_MAX)).text);
}
