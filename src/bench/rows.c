/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table of runs. One list of columns writes and reads them. */
#include "bench/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/plain.h"

typedef enum column_kind { TEXT, COUNT, AMOUNT, SECONDS } column_kind;

typedef struct column {
  const char *name;
  column_kind kind;
  size_t offset;
} column;

#define COLUMN(field, kind)                                                    \
  { #field, kind, offsetof(regal_bench_row, field) }

static const column columns[] = {
    COLUMN(build, TEXT),          COLUMN(settings, TEXT),
    COLUMN(input, TEXT),          COLUMN(dataset, TEXT),
    COLUMN(graph, TEXT),          COLUMN(copy, COUNT),
    COLUMN(ops, COUNT),           COLUMN(objective, TEXT),
    COLUMN(method, TEXT),         COLUMN(budget, TEXT),
    COLUMN(seed, COUNT),          COLUMN(cost, AMOUNT),
    COLUMN(excess_bytes, AMOUNT), COLUMN(runtime_ns, AMOUNT),
    COLUMN(peak_bytes, AMOUNT),   COLUMN(bound, AMOUNT),
    COLUMN(evaluations, COUNT),   COLUMN(seconds, SECONDS),
};
#define COLUMNS (sizeof columns / sizeof *columns)

void regal_bench_put_head(regal_text *text) {
  for (size_t i = 0; i < COLUMNS; i++)
    regal_text_format(text, "%s%s", i ? "," : "", columns[i].name);
  regal_text_format(text, "\n");
}

static void put_field(regal_text *text, const column *c,
                      const regal_bench_row *row) {
  const void *at = (const char *)row + c->offset;
  switch (c->kind) {
  case TEXT:
    regal_text_csv(text, *(const char *const *)at);
    break;
  case COUNT:
    regal_text_format(text, "%" PRIu64, *(const uint64_t *)at);
    break;
  case AMOUNT:
    regal_text_format(text, "%" PRId64, *(const int64_t *)at);
    break;
  case SECONDS:
    regal_text_format(text, "%.6f", *(const double *)at);
    break;
  }
}

void regal_bench_put_row(regal_text *text, const regal_bench_row *row) {
  for (size_t i = 0; i < COLUMNS; i++) {
    if (i)
      regal_text_append(text, ",", 1);
    put_field(text, &columns[i], row);
  }
  regal_text_append(text, "\n", 1);
}

static bool read_count(const char *field, uint64_t most, void *value) {
  char *end;
  errno = 0;
  uint64_t read = strtoull(field, &end, 10);
  if (!regal_is_digit(*field) || *end || errno || read > most)
    return false;
  memcpy(value, &read, sizeof read);
  return true;
}

static bool read_seconds(const char *field, double *value) {
  char *end;
  *value = regal_read_real(field, &end);
  return regal_is_digit(*field) && !*end && *value < 1e12;
}

static bool read_field(char *field, const column *c, regal_bench_row *row) {
  void *at = (char *)row + c->offset;
  switch (c->kind) {
  case TEXT:
    memcpy(at, &field, sizeof field);
    return true;
  case COUNT:
    return read_count(field, UINT64_MAX, at);
  case AMOUNT:
    return read_count(field, INT64_MAX, at);
  case SECONDS:
    return read_seconds(field, at);
  }
  return false;
}

regal_status regal_bench_read_row(regal_context *context, const char *path,
                                  unsigned number, char *line,
                                  regal_bench_row *row) {
  regal_csv csv;
  regal_csv_open(&csv, context, path, number, line, strlen(line));
  REGAL_TRY(regal_csv_next(&csv));
  if (csv.count != COLUMNS)
    return regal_csv_fail(&csv, "found %zu fields, expected %zu", csv.count,
                          COLUMNS);
  for (size_t i = 0; i < COLUMNS; i++)
    if (!read_field(csv.fields[i], &columns[i], row))
      return regal_csv_fail(&csv,
                            "found \"%s\" in column %s, expected a number",
                            csv.fields[i], columns[i].name);
  return REGAL_OK;
}

/* -- Lines ----------------------------------------------------------------- */

static regal_status check_head(regal_context *context, const char *path,
                               regal_bench_lines *lines) {
  regal_text head;
  regal_text_init(&head, context);
  regal_bench_put_head(&head);
  bool equal = !head.failed && lines->text.size >= head.size &&
               !memcmp(lines->text.bytes, head.bytes, head.size);
  size_t size = head.size;
  bool failed = head.failed;
  regal_text_free(&head);
  if (failed)
    return regal_fail_memory(context);
  if (!equal)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: not a table of regal bench", path);
  lines->at = lines->text.bytes + size;
  lines->number = 1;
  return REGAL_OK;
}

regal_status regal_bench_open_lines(regal_context *context, const char *path,
                                    bool required, regal_bench_lines *lines) {
  *lines = (regal_bench_lines){.number = 0};
  regal_text_init(&lines->text, context);
  if (!required && access(path, F_OK))
    return REGAL_OK;
  REGAL_TRY(regal_read_file(context, path, &lines->text));
  if (!required && !lines->text.size)
    return REGAL_OK;
  regal_status status = check_head(context, path, lines);
  if (status != REGAL_OK)
    regal_bench_close_lines(lines);
  return status;
}

char *regal_bench_next_line(regal_bench_lines *lines) {
  char *line = lines->at;
  if (!line)
    return NULL;
  /* not strchr: what follows a zero in a damaged file must not get lost */
  size_t left = lines->text.size - (size_t)(line - lines->text.bytes);
  char *end = memchr(line, '\n', left);
  if (!end)
    return NULL;
  *end = 0;
  lines->at = end + 1;
  lines->number++;
  return line;
}

void regal_bench_close_lines(regal_bench_lines *lines) {
  regal_text_free(&lines->text);
}
