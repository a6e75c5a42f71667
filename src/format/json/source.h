/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a JSON document: what is checked in it before yajl reads it, and
 * messages that point into it.
 */
#ifndef REGAL_FORMAT_JSON_SOURCE_H
#define REGAL_FORMAT_JSON_SOURCE_H

#include "base/context.h"

typedef struct regal_json_source {
  regal_context *context;
  const char *name; /* of the file, for messages */
  const char *begin, *end;
} regal_json_source;

static inline bool regal_json_is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Fails with "NAME:LINE:COLUMN: PROBLEM". */
regal_status regal_json_fail_at(const regal_json_source *source,
                                const char *where, const char *problem);
/* Fails with "NAME:LINE:COLUMN: found ..., expected ...". */
regal_status regal_json_fail_expected(const regal_json_source *source,
                                      const char *where, const char *expected);

/* Refuses what yajl lets pass and is no text: bytes that are not UTF-8, control
 * characters, \u0000, half a surrogate pair. `longest` becomes a bound on the
 * bytes of any token, the quotes of a string not counted. */
regal_status regal_json_check_text(const regal_json_source *source,
                                   size_t *longest);

#endif
