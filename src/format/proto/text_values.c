/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the text format: numbers, booleans, enums and strings. */
#include "format/proto/text_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

static bool is_word(const regal_token *token, const char *word) {
  return token->kind == REGAL_TOKEN_NAME && token->size == strlen(word) &&
         !strncasecmp(token->text, word, token->size);
}

/* -- Integers -------------------------------------------------------------- */

static int digit_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z')
    return c - 'A' + 10;
  return 99;
}

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
  *value = strtod(text, NULL);
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

/* -- The rest -------------------------------------------------------------- */

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

static regal_status read_string(regal_text_reader *reader, char **member) {
  regal_lexer begin = reader->lexer;
  size_t size;
  REGAL_TRY(regal_lexer_string(&reader->lexer, reader->arena, member, &size));
  size_t valid = regal_utf8_valid(*member, size);
  if (valid == size)
    return REGAL_OK;
  return regal_lexer_fail(&begin, begin.token.text,
                          (*member)[valid] ? "a string that is not UTF-8"
                                           : "a string with a zero byte",
                          "text");
}

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
