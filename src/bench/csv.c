/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a line of CSV (RFC 4180, without newlines in fields). */
#include "bench/bench.h"

#include <string.h>

/* Removes the quotes of a field in place; NULL if the last one is missing.
 * Returns what follows the field. */
static char *unquote(char *field) {
  char *to = field;
  for (char *from = field + 1; *from; from++) {
    if (*from == '"' && from[1] != '"') {
      *to = 0;
      return from + 1;
    }
    from += *from == '"';
    *to++ = *from;
  }
  return NULL;
}

char *regal_csv_next(char **line) {
  char *field = *line, *end;
  if (!field)
    return NULL;
  if (*field == '"') {
    end = unquote(field);
    if (!end || (*end && *end != ','))
      return *line = NULL;
  } else {
    end = field + strcspn(field, ",");
  }
  *line = *end ? end + 1 : NULL;
  *end = 0;
  return field;
}

void regal_csv_put(regal_text *text, const char *field) {
  if (!strpbrk(field, ",\"")) {
    regal_text_append(text, field, strlen(field));
    return;
  }
  regal_text_append(text, "\"", 1);
  for (; *field; field++)
    regal_text_append(text, *field == '"' ? "\"\"" : field,
                      *field == '"' ? 2 : 1);
  regal_text_append(text, "\"", 1);
}
