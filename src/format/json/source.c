/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of JSON text that go beyond yajl's.
 *
 * yajl takes overlong UTF-8, takes vertical tabs and form feeds as space, and
 * decodes half of a surrogate pair to a question mark. All of this can be seen
 * without parsing: outside of strings a backslash is an error in any case.
 */
#include "format/json/source.h"

#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"

regal_status regal_json_fail_at(const regal_json_source *source,
                                const char *where, const char *problem) {
  unsigned long long line = 1;
  const char *line_begin = source->begin;
  for (const char *at = source->begin; at < where; at++) {
    if (*at == '\n') {
      line++;
      line_begin = at + 1;
    }
  }
  return regal_fail(source->context, REGAL_BAD_INPUT, "%s:%llu:%lld: %s",
                    source->name, line, (long long)(where - line_begin) + 1,
                    problem);
}

regal_status regal_json_fail_expected(const regal_json_source *source,
                                      const char *where, const char *expected) {
  char problem[128];
  if (where == source->end)
    snprintf(problem, sizeof problem, "the file ends, expected %s", expected);
  else if (*where > 32 && *where < 127)
    snprintf(problem, sizeof problem, "found '%c', expected %s", *where,
             expected);
  else
    snprintf(problem, sizeof problem, "found byte 0x%02x, expected %s",
             (unsigned char)*where, expected);
  return regal_json_fail_at(source, where, problem);
}

/* The number in "\uXXXX" at `at`, -1 when that is not what is there. */
static long code_unit(const char *at, const char *end) {
  char digits[5] = {0};
  if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
    return -1;
  memcpy(digits, at + 2, 4);
  if (strspn(digits, "0123456789abcdefABCDEF") != 4)
    return -1;
  return strtol(digits, NULL, 16);
}

/* Moves `at` from a backslash to the last byte of its escape. One that is
 * malformed is left to yajl. */
static regal_status check_escape(const regal_json_source *source,
                                 const char **at) {
  const char *escape = *at;
  long unit = code_unit(escape, source->end);
  if (unit == 0)
    return regal_json_fail_at(source, escape,
                              "a string may not contain \\u0000");
  if (unit >= 0xD800 && unit <= 0xDFFF) {
    long low = unit < 0xDC00 ? code_unit(escape + 6, source->end) : -1;
    if (low < 0xDC00 || low > 0xDFFF)
      return regal_json_fail_at(source, escape, "half of a surrogate pair");
    *at = escape + 11;
  } else if (source->end - escape > 1) {
    *at = escape + 1;
  }
  return REGAL_OK;
}

/* A token ends at a quote or control character at the latest. */
regal_status regal_json_check_text(const regal_json_source *source,
                                   size_t *longest) {
  size_t size = (size_t)(source->end - source->begin);
  size_t valid = regal_utf8_valid(source->begin, size);
  if (valid != size)
    return regal_json_fail_expected(source, source->begin + valid,
                                    "UTF-8 text");
  size_t length = 0; /* since the last quote or control character */
  *longest = 0;
  for (const char *at = source->begin; at < source->end; at++) {
    const char *first = at;
    if (*at == '\\')
      REGAL_TRY(check_escape(source, &at));
    else if ((unsigned char)*at < 32 && !regal_json_is_space(*at))
      return regal_json_fail_expected(source, at, "JSON");
    bool ends = *first == '"' || (unsigned char)*first < 32;
    length = ends ? 0 : length + (size_t)(at - first) + 1;
    if (length > *longest)
      *longest = length;
  }
  return REGAL_OK;
}
