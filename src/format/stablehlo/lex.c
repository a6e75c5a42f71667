/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of MLIR's text. */
#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "base/text.h"
#include "format/stablehlo/stablehlo.h"

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         regal_is_digit(c) || c == '_' || c == '.' || c == '$';
}

static void skip_space(regal_mlir *m) {
  for (; m->at < m->end; m->at++) {
    if (*m->at == '/' && m->end - m->at > 1 && m->at[1] == '/')
      while (m->at + 1 < m->end && m->at[1] != '\n')
        m->at++;
    else if (*m->at == '\n')
      m->line++, m->line_begin = m->at + 1;
    else if (*m->at != ' ' && *m->at != '\t' && *m->at != '\r')
      return;
  }
}

/* Word characters, and those in `more`. */
static size_t count_word(const regal_mlir *m, const char *from,
                         const char *more) {
  const char *at = from;
  while (at < m->end && (is_word(*at) || (*at && strchr(more, *at))))
    at++;
  return (size_t)(at - from);
}

static regal_status read_string(regal_mlir *m) {
  const char *from = ++m->at;
  while (m->at < m->end && *m->at != '"' && *m->at != '\n')
    m->at += *m->at == '\\' && m->end - m->at > 1 ? 2 : 1;
  m->token.kind = REGAL_MLIR_STRING;
  m->token.text = from;
  m->token.length = (size_t)(m->at - from);
  if (m->at >= m->end || *m->at != '"')
    return regal_mlir_fail_at(m, m->token.line, "a string that is not closed");
  m->at++;
  return REGAL_OK;
}

static void take(regal_mlir *m, regal_mlir_kind kind, size_t length) {
  m->token.kind = kind;
  m->token.text = m->at;
  m->token.length = length;
  m->at += length;
}

regal_status regal_mlir_next(regal_mlir *m) {
  skip_space(m);
  m->token.line = m->line;
  m->token.column = (uint32_t)(m->at - m->line_begin) + 1;
  if (m->at >= m->end) {
    take(m, REGAL_MLIR_END, 0);
    return REGAL_OK;
  }
  char c = *m->at;
  if (c == '"')
    return read_string(m);
  if (c == '%')
    take(m, REGAL_MLIR_VALUE, 1 + count_word(m, m->at + 1, "-#"));
  else if (c == '#')
    take(m, REGAL_MLIR_ALIAS, 1 + count_word(m, m->at + 1, "-"));
  else if (c == '@' && m->end - m->at > 1 && m->at[1] == '"') {
    m->at++;
    REGAL_TRY(read_string(m));
    m->token.kind = REGAL_MLIR_SYMBOL;
  } else if (c == '@')
    take(m, REGAL_MLIR_SYMBOL, 1 + count_word(m, m->at + 1, "-"));
  else if (c == '^')
    take(m, REGAL_MLIR_LABEL, 1 + count_word(m, m->at + 1, "-"));
  else if (c == '-' && m->end - m->at > 1 && m->at[1] == '>')
    take(m, REGAL_MLIR_ARROW, 2);
  else if (regal_is_digit(c))
    take(m, REGAL_MLIR_NUMBER, count_word(m, m->at, ""));
  else if (is_word(c))
    take(m, REGAL_MLIR_WORD, count_word(m, m->at, ""));
  else
    take(m, REGAL_MLIR_MARK, 1);
  return REGAL_OK;
}

bool regal_mlir_is_mark(const regal_mlir *m, char mark) {
  return m->token.kind == REGAL_MLIR_MARK && *m->token.text == mark;
}

bool regal_mlir_is_word(const regal_mlir *m, const char *word) {
  return m->token.kind == REGAL_MLIR_WORD && m->token.length == strlen(word) &&
         !memcmp(m->token.text, word, m->token.length);
}

/* A zero in the file is none of them, though strchr finds it in any text. */
static bool is_one_of(const regal_mlir *m, const char *marks) {
  return m->token.kind == REGAL_MLIR_MARK && *m->token.text &&
         strchr(marks, *m->token.text);
}

bool regal_mlir_is_opening(const regal_mlir *m) {
  return is_one_of(m, "([{<");
}

bool regal_mlir_is_closing(const regal_mlir *m) {
  return is_one_of(m, ")]}>");
}

bool regal_mlir_read_count(const char *digits, size_t length, uint32_t *count) {
  uint64_t read = 0;
  for (size_t i = 0; i < length && read <= UINT32_MAX; i++) {
    if (!regal_is_digit(digits[i]))
      return false;
    read = 10 * read + (uint64_t)(digits[i] - '0');
  }
  *count = (uint32_t)read;
  return length && read <= UINT32_MAX;
}

/* -- Messages -------------------------------------------------------------- */

regal_status regal_mlir_fail_at(const regal_mlir *m, uint32_t line,
                                const char *format, ...) {
  char message[REGAL_MESSAGE_CAPACITY / 2];
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(message, sizeof message, format, arguments);
  va_end(arguments);
  for (char *c = message; *c; c++)
    if ((unsigned char)*c < 32 || *c == 127)
      *c = '?';
  return regal_fail(m->module->context, REGAL_BAD_INPUT, "%s:%u: %s",
                    m->module->path, line, message);
}

regal_status regal_mlir_fail(const regal_mlir *m, const char *expected) {
  char found[80] = "the end of the file";
  int length = m->token.length > 40 ? 40 : (int)m->token.length;
  if (m->token.kind != REGAL_MLIR_END)
    snprintf(found, sizeof found, "'%.*s'", length, m->token.text);
  return regal_mlir_fail_at(m, m->token.line,
                            "column %u: found %s, expected %s", m->token.column,
                            found, expected);
}

/* -- What every part needs ------------------------------------------------- */

regal_status regal_mlir_expect(regal_mlir *m, char mark) {
  if (!regal_mlir_is_mark(m, mark))
    return regal_mlir_fail(m, (char[]){'\'', mark, '\'', 0});
  return regal_mlir_next(m);
}

/* Brackets of all kinds nest alike; an arrow is no bracket. */
regal_status regal_mlir_skip(regal_mlir *m) {
  uint32_t line = m->token.line;
  for (size_t depth = 0;;) {
    if (m->token.kind == REGAL_MLIR_END)
      return regal_mlir_fail_at(m, line, "a bracket that is not closed");
    depth += regal_mlir_is_opening(m);
    depth -= regal_mlir_is_closing(m) && depth;
    REGAL_TRY(regal_mlir_next(m));
    if (!depth)
      return REGAL_OK;
  }
}

regal_status regal_mlir_skip_location(regal_mlir *m) {
  if (!regal_mlir_is_word(m, "loc"))
    return REGAL_OK;
  REGAL_TRY(regal_mlir_next(m));
  return regal_mlir_is_mark(m, '(') ? regal_mlir_skip(m)
                                    : regal_mlir_fail(m, "'('");
}

const char *regal_mlir_keep(regal_mlir *m, const char *text, size_t length) {
  char *kept = regal_arena_alloc(&m->module->arena, length + 1, 1);
  return kept ? memcpy(kept, text, length) : NULL;
}

bool regal_mlir_room(regal_mlir *m, void **array, uint32_t count,
                     uint32_t *capacity, size_t size) {
  if (count < *capacity)
    return true;
  uint32_t more = *capacity ? 2 * *capacity : 4;
  void *made = regal_arena_alloc(&m->module->arena, more, size);
  if (!made || more <= *capacity)
    return false;
  if (count)
    memcpy(made, *array, count * size);
  *array = made;
  *capacity = more;
  return true;
}
