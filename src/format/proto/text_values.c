/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the text format: numbers in all their forms (decimal, octal,
 * hexadecimal, nan, 1.5f), booleans, enums by name or number, and strings with
 * their escapes, of which neighbours are one.
 */
#include "format/proto/text_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/plain.h"
#include "base/utf8.h"

/* 99 for what is no digit in any base. */
static int digit_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z')
    return c - 'A' + 10;
  return 99;
}

static bool is_word(const regal_token *token, const char *word) {
  return token->kind == REGAL_TOKEN_NAME && token->size == strlen(word) &&
         !strncasecmp(token->text, word, token->size);
}

/* -- Integers -------------------------------------------------------------- */

/* Decimal, hexadecimal (0x) or octal (0). False when it is no integer; what
 * does not fit is UINT64_MAX, which no type takes. */
static bool parse_magnitude(const regal_token *token, uint64_t *value) {
  const char *at = token->text, *end = at + token->size;
  int base = 10;
  if (token->kind != REGAL_TOKEN_NUMBER)
    return false;
  if (token->size > 1 && at[0] == '0') {
    base = at[1] == 'x' || at[1] == 'X' ? 16 : 8;
    at += base == 16 ? 2 : 1;
  }
  if (at == end)
    return false;
  bool fits = true;
  for (*value = 0; at < end; at++) {
    int digit = digit_value(*at);
    if (digit >= base)
      return false;
    fits = fits && !__builtin_mul_overflow(*value, (uint64_t)base, value) &&
           !__builtin_add_overflow(*value, (uint64_t)digit, value);
  }
  if (!fits)
    *value = UINT64_MAX;
  return true;
}

static regal_status read_integer(regal_text_reader *reader, int64_t least,
                                 int64_t most, const char *what,
                                 int64_t *value) {
  regal_lexer *lexer = &reader->lexer;
  bool negative;
  uint64_t magnitude;
  REGAL_TRY(regal_lexer_accept(lexer, '-', &negative));
  if (!parse_magnitude(&lexer->token, &magnitude))
    return regal_lexer_expected(lexer, "%s", what);
  uint64_t limit = negative ? (uint64_t)0 - (uint64_t)least : (uint64_t)most;
  if (magnitude > limit)
    return regal_lexer_expected(
        lexer, "an integer from %" PRId64 " to %" PRId64, least, most);
  *value = negative ? (int64_t)((uint64_t)0 - magnitude) : (int64_t)magnitude;
  return regal_lexer_next(lexer);
}

/* -- Floats ---------------------------------------------------------------- */

static size_t count_digits(const char *text) {
  return strspn(text, "0123456789");
}

/* digits [. digits] [e digits] [f]; the length without the f, 0 if it is not
 * of that form. By hand, for strtod takes more and depends on the locale. */
static size_t float_length(const char *text) {
  size_t whole = count_digits(text), at = whole, fraction = 0;
  if (text[at] == '.')
    at += 1 + (fraction = count_digits(text + at + 1));
  if (!whole && !fraction)
    return 0;
  if (text[at] == 'e' || text[at] == 'E') {
    size_t sign = text[at + 1] == '+' || text[at + 1] == '-';
    size_t digits = count_digits(text + at + 1 + sign);
    if (!digits)
      return 0;
    at += 1 + sign + digits;
  }
  bool suffix = text[at] == 'f' || text[at] == 'F';
  return text[at + suffix] ? 0 : at;
}

static bool parse_float(const regal_token *token, double *value) {
  char text[512];
  uint64_t magnitude;
  if (is_word(token, "inf") || is_word(token, "infinity")) {
    *value = HUGE_VAL;
    return true;
  }
  if (is_word(token, "nan")) {
    *value = (double)NAN;
    return true;
  }
  if (token->kind != REGAL_TOKEN_NUMBER || token->size >= sizeof text)
    return false;
  memcpy(text, token->text, token->size);
  text[token->size] = 0;
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex && parse_magnitude(token, &magnitude)) {
    *value = (double)magnitude;
    return true;
  }
  size_t length = float_length(text);
  text[length] = 0;
  *value = regal_read_real(text, NULL);
  return length > 0;
}

static regal_status read_float(regal_text_reader *reader, float *member) {
  regal_lexer *lexer = &reader->lexer;
  bool negative;
  double value;
  REGAL_TRY(regal_lexer_accept(lexer, '-', &negative));
  if (!parse_float(&lexer->token, &value))
    return regal_lexer_expected(lexer, "a number");
  *member = (float)(negative ? -value : value);
  return regal_lexer_next(lexer);
}

/* -- Strings -------------------------------------------------------------- */

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

/* Takes a string, and those that follow it, for they are one. */
static regal_status take_strings(regal_lexer *lexer, regal_arena *arena,
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

static regal_status read_string(regal_text_reader *reader, char **member) {
  regal_lexer begin = reader->lexer;
  size_t size = 0;
  REGAL_TRY(take_strings(&reader->lexer, reader->arena, member, &size));
  size_t valid = regal_utf8_valid(*member, size);
  if (valid == size)
    return REGAL_OK;
  return regal_lexer_fail(&begin, begin.token.text,
                          (*member)[valid] ? "a string that is not UTF-8"
                                           : "a string with a zero byte",
                          "text");
}

/* -- Booleans and enums ---------------------------------------------------- */

static regal_status read_bool(regal_text_reader *reader,
                              protobuf_c_boolean *member) {
  regal_lexer *lexer = &reader->lexer;
  const regal_token *token = &lexer->token;
  uint64_t number;
  static const char *const words[2][3] = {{"false", "False", "f"},
                                          {"true", "True", "t"}};
  for (int value = 0; value < 2; value++)
    for (int i = 0; i < 3; i++)
      if (token->kind == REGAL_TOKEN_NAME &&
          token->size == strlen(words[value][i]) &&
          !memcmp(token->text, words[value][i], token->size)) {
        *member = value;
        return regal_lexer_next(lexer);
      }
  if (!parse_magnitude(token, &number) || number > 1)
    return regal_lexer_expected(lexer, "true or false");
  *member = (protobuf_c_boolean)number;
  return regal_lexer_next(lexer);
}

/* A name that the schema does not know counts as the enum's zero: files of a
 * later version must load. */
static regal_status read_enum(regal_text_reader *reader,
                              const ProtobufCEnumDescriptor *type,
                              int *member) {
  regal_lexer *lexer = &reader->lexer;
  char name[64];
  int64_t number;
  if (lexer->token.kind != REGAL_TOKEN_NAME) {
    REGAL_TRY(read_integer(reader, INT32_MIN, INT32_MAX,
                           "the name or number of an enum value", &number));
    *member = (int)number;
    return REGAL_OK;
  }
  *member = 0;
  if (lexer->token.size < sizeof name) {
    memcpy(name, lexer->token.text, lexer->token.size);
    name[lexer->token.size] = 0;
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value_by_name(type, name);
    if (value)
      *member = value->value;
  }
  return regal_lexer_next(lexer);
}

/* -- A field --------------------------------------------------------------- */

regal_status regal_text_read_scalar(regal_text_reader *reader,
                                    const ProtobufCFieldDescriptor *field,
                                    void *member) {
  int64_t number = 0;
  switch (field->type) {
  case PROTOBUF_C_TYPE_INT32:
    REGAL_TRY(
        read_integer(reader, INT32_MIN, INT32_MAX, "an integer", &number));
    *(int32_t *)member = (int32_t)number;
    return REGAL_OK;
  case PROTOBUF_C_TYPE_INT64:
    return read_integer(reader, INT64_MIN, INT64_MAX, "an integer", member);
  case PROTOBUF_C_TYPE_BOOL:
    return read_bool(reader, member);
  case PROTOBUF_C_TYPE_ENUM:
    return read_enum(reader, field->descriptor, member);
  case PROTOBUF_C_TYPE_FLOAT:
    return read_float(reader, member);
  case PROTOBUF_C_TYPE_STRING:
    return read_string(reader, member);
  default:
    return regal_fail(reader->lexer.context, REGAL_INTERNAL,
                      "field %s has a type that the text reader lacks",
                      field->name);
  }
}
