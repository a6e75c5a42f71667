/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of the text format: escapes, and neighbours that are one. */
#include "format/proto/text_lexer.h"

#include <string.h>

#include "base/utf8.h"

static int digit_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 16;
}

/* Reads up to `most` digits; returns how many there were. */
static unsigned read_digits(const char *at, const char *end, unsigned base,
                            unsigned most, uint32_t *value) {
  unsigned count = 0;
  *value = 0;
  while (count < most && at + count < end && digit_value(at[count]) < (int)base)
    *value = *value * base + (uint32_t)digit_value(at[count++]);
  return count;
}

/* The second half of a surrogate pair, "\uDC00" .. "\uDFFF", if it follows. */
static unsigned read_low_half(const char *at, const char *end,
                              uint32_t *point) {
  uint32_t low;
  if (end - at < 6 || at[0] != '\\' || at[1] != 'u' ||
      read_digits(at + 2, end, 16, 4, &low) != 4 || low < 0xDC00 ||
      low > 0xDFFF)
    return 0;
  *point = 0x10000 + ((*point - 0xD800) << 10) + (low - 0xDC00);
  return 6;
}

/* \uXXXX and \UXXXXXXXX; `at` stands behind the 'u'. */
static regal_status take_unicode(const regal_lexer *lexer, const char **at,
                                 const char *end, char **out) {
  const char *begin = *at - 2;
  unsigned digits = (*at)[-1] == 'u' ? 4 : 8;
  uint32_t point;
  if (read_digits(*at, end, 16, digits, &point) != digits)
    return regal_lexer_fail(lexer, begin, "an escape that is cut short",
                            digits == 4 ? "four hexadecimal digits after \\u"
                                        : "eight hexadecimal digits after \\U");
  *at += digits;
  if (point >= 0xD800 && point < 0xDC00)
    *at += read_low_half(*at, end, &point);
  if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
    return regal_lexer_fail(lexer, begin, "an escape that is no character",
                            "a Unicode code point");
  *out += regal_utf8_encode(point, *out);
  return REGAL_OK;
}

static regal_status take_escape(const regal_lexer *lexer, const char **at,
                                const char *end, char **out) {
  static const char plain[] = "abfnrtv\\'\"?";
  static const char meaning[] = "\a\b\f\n\r\t\v\\'\"?";
  const char *begin = *at - 1;
  char c = *(*at)++;
  const char *found = strchr(plain, c);
  uint32_t value;
  if (c && found) {
    *(*out)++ = meaning[found - plain];
    return REGAL_OK;
  }
  if (c == 'u' || c == 'U')
    return take_unicode(lexer, at, end, out);
  bool hex = c == 'x' || c == 'X';
  const char *digits = hex ? *at : *at - 1;
  unsigned count = read_digits(digits, end, hex ? 16 : 8, hex ? 2 : 3, &value);
  if (!count)
    return regal_lexer_fail(lexer, begin, "an unknown escape",
                            hex ? "hexadecimal digits after \\x"
                                : "one of \\a \\b \\f \\n \\r \\t \\v \\\\ "
                                  "\\' \\\" \\? \\x \\u \\U or octal digits");
  if (value > 0xFF)
    return regal_lexer_fail(lexer, begin, "an escape beyond a byte",
                            "at most \\377");
  *at = digits + count;
  *(*out)++ = (char)value;
  return REGAL_OK;
}

/* Resolves the string that is the next token; no escape is shorter than what it
 * stands for, so the token's size is room enough. */
static regal_status unescape(const regal_lexer *lexer, char *out,
                             size_t *size) {
  const char *at = lexer->token.text + 1;
  const char *end = lexer->token.text + lexer->token.size - 1;
  char *begin = out;
  while (at < end) {
    if (*at != '\\')
      *out++ = *at++;
    else {
      at++;
      REGAL_TRY(take_escape(lexer, &at, end, &out));
    }
  }
  *size = (size_t)(out - begin);
  return REGAL_OK;
}

/* Appends the next token to a string in the arena. */
static regal_status append_string(regal_lexer *lexer, regal_arena *arena,
                                  char **text, size_t *size, size_t *room) {
  size_t needed = *size + lexer->token.size, more;
  if (needed > *room) {
    char *grown = regal_arena_alloc(arena, needed * (*text ? 2 : 1), 1);
    if (!grown)
      return regal_fail_memory(lexer->context);
    if (*size)
      memcpy(grown, *text, *size);
    *room = needed * (*text ? 2 : 1);
    *text = grown;
  }
  REGAL_TRY(unescape(lexer, *text + *size, &more));
  *size += more;
  (*text)[*size] = 0;
  return regal_lexer_next(lexer);
}

regal_status regal_lexer_string(regal_lexer *lexer, regal_arena *arena,
                                char **text, size_t *size) {
  size_t room = 0;
  if (lexer->token.kind != REGAL_TOKEN_STRING)
    return regal_lexer_expected(lexer, "a string in quotes");
  *text = NULL;
  *size = 0;
  do
    REGAL_TRY(append_string(lexer, arena, text, size, &room));
  while (lexer->token.kind == REGAL_TOKEN_STRING);
  return REGAL_OK;
}
