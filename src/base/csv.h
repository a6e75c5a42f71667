/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of comma-separated values, by one set of rules for all files that people
 * and spreadsheets write (RFC 4180): a field that has a comma, a quote or a
 * newline is in quotes, with its quotes doubled; lines end in LF or CRLF, the
 * last one may end with the file; empty lines are no rows.
 *
 * Rows are read in place: fields are texts inside of the bytes, which stay the
 * caller's.
 */
#ifndef REGAL_BASE_CSV_H
#define REGAL_BASE_CSV_H

#include "base/text.h"

#define REGAL_MOST_CSV_FIELDS 256 /* in a row */

typedef struct regal_csv {
  regal_context *context;
  const char *name; /* of the file, for messages */
  char *at, *end;   /* what is not read yet */
  uint32_t line;    /* where that begins */
  uint32_t row;     /* the line where the present row began */
  size_t count;     /* of its fields */
  char *fields[REGAL_MOST_CSV_FIELDS];
} regal_csv;

/* To read `size` bytes, which begin with line `line` and are followed by a
 * zero. */
void regal_csv_open(regal_csv *csv, regal_context *context, const char *name,
                    uint32_t line, char *bytes, size_t size);
/* Reads the next row; at the end its `count` is 0. */
regal_status regal_csv_next(regal_csv *csv);
/* Whether the row is line 1, and these two fields. */
bool regal_csv_is_head(const regal_csv *csv, const char *first,
                       const char *second);
/* Fails as REGAL_BAD_INPUT with "name:line: " and the text. */
regal_status regal_csv_fail(const regal_csv *csv, const char *format, ...)
    REGAL_FORMAT(2, 3);

#endif
