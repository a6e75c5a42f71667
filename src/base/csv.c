/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of comma-separated values. A field is cut where it ends, which
 * also ends its text with a zero; quotes are taken off by moving what they
 * enclose to the front. */
#include "base/csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"

void regal_csv_open(regal_csv *csv, regal_context *context, const char *name,
                    uint32_t line, char *bytes, size_t size) {
  csv->context = context;
  csv->name = name;
  csv->at = bytes;
  csv->end = bytes + size;
  csv->line = csv->row = line;
  csv->count = 0;
}

regal_status regal_csv_fail(const regal_csv *csv, const char *format, ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(what, sizeof what, format, arguments);
  va_end(arguments);
  return regal_fail(csv->context, REGAL_BAD_INPUT, "%s:%" PRIu32 ": %s",
                    csv->name, csv->row, what);
}

/* The length of the newline that is next: 0 if there is none. A carriage return
 * at the very end is one, too. */
static size_t newline_length(const regal_csv *csv) {
  const char *at = csv->at;
  if (at == csv->end)
    return 0;
  if (*at == '\n')
    return 1;
  if (*at != '\r')
    return 0;
  return at + 1 == csv->end ? 1 : at[1] == '\n' ? 2 : 0;
}

static bool at_field_end(const regal_csv *csv) {
  return csv->at == csv->end || *csv->at == ',' || newline_length(csv);
}

/* Reads a field whose opening quote is behind csv->at. */
static regal_status read_quoted(regal_csv *csv, char **field_end) {
  char *to = csv->at;
  for (;; csv->at++) {
    if (csv->at == csv->end)
      return regal_csv_fail(csv, "found a field that begins with a quote, "
                                 "expected one at its end, too");
    if (*csv->at == '"' && *++csv->at != '"')
      break;
    csv->line += *csv->at == '\n';
    *to++ = *csv->at;
  }
  *field_end = to;
  if (at_field_end(csv))
    return REGAL_OK;
  return regal_csv_fail(csv, "found text behind a closing quote, expected a "
                             "comma or the end of the line");
}

static regal_status read_plain(regal_csv *csv, char **field_end) {
  for (; !at_field_end(csv); csv->at++)
    if (*csv->at == '"')
      return regal_csv_fail(csv, "found a quote inside of a field, expected "
                                 "the field in quotes and it doubled");
  *field_end = csv->at;
  return REGAL_OK;
}

/* Reads one field and what ends it; `*more` says whether that is a comma. */
static regal_status read_field(regal_csv *csv, bool *more) {
  bool quoted = *csv->at == '"';
  char *field = csv->at += quoted, *field_end = field;
  if (csv->count == REGAL_MOST_CSV_FIELDS)
    return regal_csv_fail(csv, "found more than %d fields",
                          REGAL_MOST_CSV_FIELDS);
  REGAL_TRY(quoted ? read_quoted(csv, &field_end)
                   : read_plain(csv, &field_end));
  if (memchr(field, 0, (size_t)(field_end - field)))
    return regal_csv_fail(csv, "found a zero byte, expected text");
  size_t newline = newline_length(csv);
  *more = csv->at < csv->end && !newline;
  csv->at += newline + *more;
  csv->line += newline > 0;
  *field_end = 0; /* where a separator was read */
  csv->fields[csv->count++] = field;
  return REGAL_OK;
}

regal_status regal_csv_next(regal_csv *csv) {
  for (size_t empty; (empty = newline_length(csv)); csv->line++)
    csv->at += empty;
  csv->row = csv->line;
  csv->count = 0;
  for (bool more = csv->at < csv->end; more;)
    REGAL_TRY(read_field(csv, &more));
  return REGAL_OK;
}

bool regal_csv_is_head(const regal_csv *csv, const char *first,
                       const char *second) {
  return csv->row == 1 && csv->count == 2 && !strcmp(csv->fields[0], first) &&
         !strcmp(csv->fields[1], second);
}
