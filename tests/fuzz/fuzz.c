/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_file_open(fuzz_file *file, const void *bytes, size_t size) {
  file->descriptor = memfd_create("fuzz", 0);
  FUZZ_CHECK(file->descriptor >= 0);
  FUZZ_CHECK(write(file->descriptor, bytes, size) == (ssize_t)size);
  snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->descriptor);
}

void fuzz_file_close(fuzz_file *file) {
  close(file->descriptor);
}

void fuzz_check_status(const regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  FUZZ_CHECK(status == REGAL_BAD_INPUT || status == REGAL_INVALID_PLAN);
  FUZZ_CHECK(regal_error(context)[0] != 0);
  FUZZ_CHECK(!strchr(regal_error(context), '\n'));
}

void fuzz_close(regal_context *context) {
  FUZZ_CHECK(regal_bytes_in_use(context) == 0);
  regal_context_free(context);
}
