/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, quantities with units, and files that are whole or absent.
 */
#ifndef REGAL_BASE_TEXT_H
#define REGAL_BASE_TEXT_H

#include <limits.h>

#include "base/context.h"

/* In ASCII, whatever the locale. */
static inline bool regal_is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Digits only, at least one. */
static inline bool regal_is_number(const char *text) {
  const char *at = text;
  while (regal_is_digit(*at))
    at++;
  return at > text && !*at;
}

/* What a noun ends with: "1 op", "2 ops". */
static inline const char *regal_plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

/* A growing byte buffer. After a failed append `failed` stays set, so that a
 * writer may append freely and check once, at the end. */
typedef struct regal_text {
  regal_context *context;
  char *bytes; /* zero-terminated once anything was appended */
  size_t size, capacity;
  bool failed;
} regal_text;

void regal_text_init(regal_text *text, regal_context *context);
void regal_text_free(regal_text *text);
void regal_text_append(regal_text *text, const void *bytes, size_t size);
void regal_text_format(regal_text *text, const char *format, ...)
    REGAL_FORMAT(2, 3);
/* Removes the byte order mark that some editors and spreadsheets write before
 * UTF-8. */
void regal_text_drop_mark(regal_text *text);
/* Appends `value` as a JSON string with its quotes; bytes that are not UTF-8
 * become U+FFFD. */
void regal_text_json(regal_text *text, const char *value);
/* Appends `value` as a field of CSV, in quotes where it needs them. */
void regal_text_csv(regal_text *text, const char *value);
/* Writes the text to `path` whole (a temporary file beside it, then renamed)
 * or not at all; "-" is stdout. Symbolic links are followed. A path that exists
 * and is no regular file (a fifo, /dev/null) is written to directly. Fails as
 * REGAL_NO_MEMORY if text->failed. */
regal_status regal_text_save(regal_context *context, const regal_text *text,
                             const char *path);

/* The path of a temporary file in the same folder, which begins with (most of)
 * the file's name: names of 255 bytes have one too. REGAL_BESIDE: how much
 * longer than the path it can be, with the zero. */
#define REGAL_BESIDE 48
void regal_name_beside(const char *path, int attempt, char *name,
                       size_t capacity);
/* The path at the end of symbolic links, whether a file is there or not; `path`
 * itself where that cannot be said. */
const char *regal_follow_links(const char *path, char target[PATH_MAX]);

/* Whether there is a pipe or a device at the path: what is read of it may be
 * waited for, and is there only once. */
bool regal_may_block(const char *path);
/* Reads a whole file ("-" is stdin) into `text`, which needs no init and holds
 * nothing on failure; the caller frees it. gzip and zstd are inflated, by their
 * magic number, and a byte order mark is dropped. What has more bytes than
 * regal_max_input, or inflates to more than 1000 times its size + 4 MiB (a
 * decompression bomb), is an error, found before more than that is in memory.
 */
regal_status regal_read_file(regal_context *context, const char *path,
                             regal_text *text);
/* The same, but compressed bytes stay as they are, and "-" is a name. */
regal_status regal_read_raw_file(regal_context *context, const char *path,
                                 regal_text *text);
/* Files that belong to the input which is being read, such as those that the
 * index of an archive names: regal_read_file asks context->side_files before it
 * opens a path. `read` is called with the number that `claims` gave, and fills
 * `text` as regal_read_file does. */
typedef struct regal_side_files {
  bool (*claims)(const struct regal_side_files *files, const char *path,
                 size_t *number);
  regal_status (*read)(const struct regal_side_files *files,
                       regal_context *context, size_t number, regal_text *text);
} regal_side_files;
/* The same for a file that is open, as it is: nothing is inflated, and `text`
 * must be empty. The caller frees it, also on failure. `name` is for messages.
 */
regal_status regal_read_open_file(regal_context *context, const char *name,
                                  int file, regal_text *text);
/* Fails because an input is larger than regal_max_input; `what` is what it
 * does: "is larger than". */
regal_status regal_fail_max_input(regal_context *context, const char *name,
                                  const char *what);
/* Fails as REGAL_IO with "name: " and what errno means. */
regal_status regal_fail_system(regal_context *context, const char *name);
/* Like regal_read_file for bytes that are in memory; plain ones are copied. */
regal_status regal_inflate(regal_context *context, const char *name,
                           const void *bytes, size_t size, regal_text *text);
/* Whether the bytes begin with the magic number of gzip or zstd. */
bool regal_is_compressed(const void *bytes, size_t size);

/* -- Quantities: quantity.c ------------------------------------------------ */

/* What a quantity measures, and so which units it may have. */
typedef enum regal_measure {
  REGAL_MEASURE_BYTES,  /* 1000, 16G, 16GB, 16GiB */
  REGAL_MEASURE_RATE,   /* bytes per second: 25GB/s, 25G, 200Gbit/s */
  REGAL_MEASURE_TIME,   /* 250ns, 10us, 1.5ms; nanoseconds */
  REGAL_MEASURE_SECONDS /* the same, but a bare number is in seconds */
} regal_measure;

typedef enum regal_unit_found {
  REGAL_UNIT_WRONG, /* no such quantity, or it does not fit */
  REGAL_UNIT_BITS,  /* may be bits or bytes: 25Gb */
  REGAL_UNIT_BARE,  /* a number without unit: bytes, ns, or seconds */
  REGAL_UNIT_GIVEN
} regal_unit_found;

/* Reads a quantity by exact arithmetic into bytes or nanoseconds; from
 * REGAL_UNIT_BARE on `value` is set. What is left below one byte or
 * nanosecond is rounded to nearest, but "0.5" and "0.5ns" are rejected. */
regal_unit_found regal_read_quantity(regal_measure measure, const char *text,
                                     int64_t *value);
/* A whole number, also as 1e6, 2.5e5 or 2.0; not 1.5, 1e-3, or what does not
 * fit. */
bool regal_parse_whole(const char *text, int64_t *number);
/* A number of bytes, with or without unit. */
bool regal_parse_bytes(const char *text, int64_t *bytes);
/* A time with its unit; 0 needs none. */
bool regal_parse_duration(const char *text, int64_t *ns);

/* "1.23 ms", "512.0 MiB": for people. */
typedef struct regal_shown {
  char text[32];
} regal_shown;

regal_shown regal_show_duration(int64_t ns);
regal_shown regal_show_bytes(int64_t bytes);
/* What somebody chose, as that was written: "80 GB", "16 GiB", "10 us"; what is
 * no short number in any unit is shown like the others. */
regal_shown regal_show_given_bytes(int64_t bytes);
regal_shown regal_show_given_duration(int64_t ns);
/* Whether regal_show_given_bytes uses powers of 1000 for it. */
bool regal_is_decimal(int64_t bytes);
/* With the powers that `given` is shown with, to be compared with it. */
regal_shown regal_show_bytes_like(int64_t given, int64_t bytes);
/* Writes the shortest decimal number that reads back as `value`. */
void regal_print_real(char *text, size_t capacity, double value);

#endif
