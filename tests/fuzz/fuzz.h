/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share.
 *
 * A target is one file with one LLVMFuzzerTestOneInput. With libFuzzer it is
 * fuzzed; with replay.c, a plain main, it runs over its committed corpus in the
 * ordinary tests. Targets state what must hold with FUZZ_CHECK, which aborts.
 */
#ifndef REGAL_TESTS_FUZZ_H
#define REGAL_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "regal.h"

#define FUZZ_CHECK(condition)                                                  \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      abort();                                                                 \
    }                                                                          \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A file in memory with these bytes; `path` is a name under which it can be
 * opened until fuzz_file_close. */
typedef struct fuzz_file {
  int descriptor;
  char path[64];
} fuzz_file;

void fuzz_file_open(fuzz_file *file, const void *bytes, size_t size);
void fuzz_file_close(fuzz_file *file);

/* The status must be one that bad input may cause, with a message of one line;
 * out of memory is for allocations that fail, and none does here. */
void fuzz_check_status(const regal_context *context, regal_status status);
/* Frees the context, which must hold nothing any more. */
void fuzz_close(regal_context *context);

#endif
