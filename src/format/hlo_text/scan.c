/* SPDX-License-Identifier: Apache-2.0 */
/* The scanner: words, numbers, brackets and comments, with lines for messages.
 */
#include <string.h>

#include "base/text.h"
#include "format/hlo_text/hlo_text.h"
#include "graph/builder.h"

#define SHOWN 24

/* "FILE:12:7: found 'x', expected a shape". */
regal_status regal_hlo_scan_fail(const regal_hlo_scanner *s,
                                 const char *expected) {
  char found[SHOWN + 1];
  size_t length = 0;
  const char *line = s->at;
  while (line > s->begin && line[-1] != '\n')
    line--;
  while (length < SHOWN && s->at + length < s->end && s->at[length] != '\n')
    length++;
  memcpy(found, s->at, length);
  found[length] = 0;
  return regal_fail(s->module->context, REGAL_BAD_INPUT,
                    "%s:%u:%zu: found %s, expected %s", s->module->path,
                    s->line, (size_t)(s->at - line) + 1,
                    s->at == s->end ? "the end of the file"
                    : length        ? regal_quote(found).text
                                    : "the end of the line",
                    expected);
}

void regal_hlo_pass(regal_hlo_scanner *s, const char *to) {
  for (; s->at < to; s->at++)
    s->line += *s->at == '\n';
}

/* The end of a comment that begins here, or NULL. */
static const char *comment_end(const regal_hlo_scanner *s) {
  if (s->end - s->at < 2 || s->at[0] != '/')
    return NULL;
  if (s->at[1] == '/') {
    const char *stop = memchr(s->at, '\n', (size_t)(s->end - s->at));
    return stop ? stop : s->end;
  }
  if (s->at[1] != '*')
    return NULL;
  for (const char *at = s->at + 2; at + 1 < s->end; at++)
    if (at[0] == '*' && at[1] == '/')
      return at + 2;
  return NULL;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

void regal_hlo_skip(regal_hlo_scanner *s) {
  while (s->at < s->end) {
    const char *end;
    if (is_blank(*s->at) || *s->at == '\n')
      regal_hlo_pass(s, s->at + 1);
    else if ((end = comment_end(s)))
      regal_hlo_pass(s, end);
    else
      break;
  }
}

bool regal_hlo_take(regal_hlo_scanner *s, const char *text) {
  size_t length = strlen(text);
  regal_hlo_skip(s);
  if ((size_t)(s->end - s->at) < length || memcmp(s->at, text, length) != 0)
    return false;
  s->at += length;
  return true;
}

regal_status regal_hlo_expect(regal_hlo_scanner *s, const char *text) {
  char expected[32];
  if (regal_hlo_take(s, text))
    return REGAL_OK;
  snprintf(expected, sizeof expected, "'%s'", text);
  return regal_hlo_scan_fail(s, expected);
}

/* -- Words ----------------------------------------------------------------- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         regal_is_digit(c) || c == '_' || c == '.' || c == '-';
}

regal_hlo_span regal_hlo_word(regal_hlo_scanner *s) {
  regal_hlo_skip(s);
  if (s->at < s->end && *s->at == '%')
    s->at++;
  regal_hlo_span word = {s->at, s->at};
  while (word.end < s->end && is_word(*word.end) &&
         !(*word.end == '-' && word.end + 1 < s->end && word.end[1] == '>'))
    word.end++;
  s->at = word.end;
  return word;
}

bool regal_hlo_is(regal_hlo_span span, const char *text) {
  size_t length = strlen(text);
  return (size_t)(span.end - span.begin) == length &&
         !memcmp(span.begin, text, length);
}

const char *regal_hlo_copy(regal_hlo_scanner *s, regal_hlo_span span) {
  size_t length = (size_t)(span.end - span.begin);
  char *copy = regal_arena_alloc(&s->module->arena, length + 1, 1);
  if (copy)
    memcpy(copy, span.begin, length);
  return copy;
}

regal_status regal_hlo_name(regal_hlo_scanner *s, const char **name) {
  regal_hlo_span word = regal_hlo_word(s);
  if (word.begin == word.end)
    return regal_hlo_scan_fail(s, "a name");
  *name = regal_hlo_copy(s, word);
  return *name ? REGAL_OK : regal_fail_memory(s->module->context);
}

/* -- Numbers --------------------------------------------------------------- */

regal_status regal_hlo_integer(regal_hlo_scanner *s, int64_t *number) {
  bool negative = regal_hlo_take(s, "-");
  int64_t value = 0;
  regal_hlo_skip(s);
  if (s->at == s->end || !regal_is_digit(*s->at))
    return regal_hlo_scan_fail(s, "a number");
  for (const char *at = s->at; at < s->end && regal_is_digit(*at); at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *at - '0', &value))
      return regal_hlo_scan_fail(s, "a number of at most 64 bits");
  while (s->at < s->end && regal_is_digit(*s->at))
    s->at++;
  *number = negative ? -value : value;
  return REGAL_OK;
}

static regal_status add_number(regal_hlo_scanner *s) {
  regal_context *context = s->module->context;
  int64_t number;
  REGAL_TRY(regal_hlo_integer(s, &number));
  if (!REGAL_RESERVE(context, s->number, s->numbers, s->number_capacity))
    return regal_fail_memory(context);
  s->number[s->numbers++] = number;
  return REGAL_OK;
}

regal_status regal_hlo_integers(regal_hlo_scanner *s, int64_t **list,
                                size_t *count) {
  s->numbers = 0;
  REGAL_TRY(regal_hlo_expect(s, "{"));
  if (!regal_hlo_take(s, "}")) {
    do
      REGAL_TRY(add_number(s));
    while (regal_hlo_take(s, ","));
    REGAL_TRY(regal_hlo_expect(s, "}"));
  }
  *list = regal_arena_alloc(&s->module->arena, s->numbers, sizeof **list);
  if (!*list)
    return regal_fail_memory(s->module->context);
  if (s->numbers)
    memcpy(*list, s->number, s->numbers * sizeof **list);
  *count = s->numbers;
  return REGAL_OK;
}

/* -- Values of attributes -------------------------------------------------- */

/* Behind a text in quotes that begins here. */
static const char *quoted_end(const regal_hlo_scanner *s, const char *at) {
  for (at++; at < s->end && *at != '"'; at++)
    if (*at == '\\')
      at++;
  return at < s->end ? at + 1 : s->end;
}

regal_status regal_hlo_value_span(regal_hlo_scanner *s, regal_hlo_span *value) {
  size_t depth = 0;
  const char *at = s->at;
  value->begin = at;
  for (; at < s->end; at++) {
    if (!depth && (*at == ',' || *at == '\n' || *at == ')' || *at == '}'))
      break;
    if (*at == '"')
      at = quoted_end(s, at) - 1;
    else if (*at == '{' || *at == '(' || *at == '[')
      depth++;
    else if (*at == '}' || *at == ')' || *at == ']')
      depth--;
  }
  if (depth)
    return regal_hlo_scan_fail(s, "brackets that are closed");
  regal_hlo_pass(s, at);
  while (at > value->begin && is_blank(at[-1]))
    at--;
  value->end = at;
  return REGAL_OK;
}
