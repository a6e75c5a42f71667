/* SPDX-License-Identifier: Apache-2.0 */
/* The lexer of the text format: one token ahead, comments and space skipped.
 * Bytes are classified by ASCII alone, whatever the locale.
 */
#include "format/proto/text_lexer.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"

static bool is_word(char c) {
  return regal_is_digit(c) || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* -- Messages -------------------------------------------------------------- */

/* A token in words; what cannot be printed becomes '?', and long ones are cut,
 * so that a message stays one short line. */
static void describe(const regal_token *token, char *text, size_t capacity) {
  enum { SHOWN = 40 };
  unsigned char c = token->size ? (unsigned char)*token->text : 0;
  if (token->kind == REGAL_TOKEN_END) {
    snprintf(text, capacity, "the end of the file");
    return;
  }
  if (token->kind == REGAL_TOKEN_SYMBOL && (c <= ' ' || c >= 0x7F)) {
    snprintf(text, capacity, "byte 0x%02x", c);
    return;
  }
  const char *quote = token->kind == REGAL_TOKEN_STRING ? "" : "'";
  int size = token->size > SHOWN ? SHOWN : (int)token->size;
  snprintf(text, capacity, "%s%.*s%s%s", quote, size, token->text,
           token->size > SHOWN ? "..." : "", quote);
  for (char *at = text; *at; at++)
    if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7F)
      *at = '?';
}

regal_status regal_lexer_fail(const regal_lexer *lexer, const char *at,
                              const char *found, const char *expected) {
  return regal_fail(
      lexer->context, REGAL_BAD_INPUT, "%s:%u:%zu: found %s, expected %s",
      lexer->name, lexer->token.line,
      lexer->token.column + (size_t)(at - lexer->token.text), found, expected);
}

regal_status regal_lexer_expected(const regal_lexer *lexer, const char *format,
                                  ...) {
  char found[64], expected[REGAL_MESSAGE_CAPACITY / 4];
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(expected, sizeof expected, format, arguments);
  va_end(arguments);
  describe(&lexer->token, found, sizeof found);
  return regal_lexer_fail(lexer, lexer->token.text, found, expected);
}

/* -- Tokens ---------------------------------------------------------------- */

static void skip_space(regal_lexer *lexer) {
  while (lexer->at < lexer->end) {
    if (*lexer->at == '#') {
      const char *line_end =
          memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
      lexer->at = line_end ? line_end : lexer->end;
    } else if (*lexer->at == '\n') {
      lexer->line_begin = ++lexer->at;
      lexer->line++;
    } else if (is_space(*lexer->at)) {
      lexer->at++;
    } else {
      return;
    }
  }
}

/* Numbers are taken loosely, up to the end of the word, and judged when their
 * type is known: so a message can show the whole of "12abc". */
static const char *end_of_number(const char *at, const char *end) {
  bool hex = end - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  while (at < end) {
    bool exponent = !hex && (*at == 'e' || *at == 'E');
    if (!is_word(*at) && *at != '.')
      break;
    at++;
    if (exponent && at < end && (*at == '+' || *at == '-'))
      at++;
  }
  return at;
}

static regal_status find_string_end(regal_lexer *lexer) {
  char quote = *lexer->at;
  const char *at = lexer->at + 1;
  for (; at < lexer->end && *at != '\n'; at++) {
    if (*at == quote) {
      lexer->token.kind = REGAL_TOKEN_STRING;
      lexer->at = at + 1;
      return REGAL_OK;
    }
    if (*at == '\\' && at + 1 < lexer->end && at[1] != '\n')
      at++;
  }
  return regal_lexer_fail(lexer, at,
                          at < lexer->end ? "the end of the line"
                                          : "the end of the file",
                          quote == '"' ? "the '\"' that ends the string"
                                       : "the \"'\" that ends the string");
}

regal_status regal_lexer_next(regal_lexer *lexer) {
  skip_space(lexer);
  regal_token *token = &lexer->token;
  const char *at = lexer->at, *end = lexer->end;
  *token = (regal_token){.kind = REGAL_TOKEN_END,
                         .text = at,
                         .line = lexer->line,
                         .column = (uint32_t)(at - lexer->line_begin + 1)};
  if (at == end)
    return REGAL_OK;
  if (regal_is_digit(*at) ||
      (*at == '.' && end - at > 1 && regal_is_digit(at[1]))) {
    token->kind = REGAL_TOKEN_NUMBER;
    lexer->at = end_of_number(at, end);
  } else if (is_word(*at)) {
    token->kind = REGAL_TOKEN_NAME;
    while (lexer->at < end && is_word(*lexer->at))
      lexer->at++;
  } else if (*at == '"' || *at == '\'') {
    REGAL_TRY(find_string_end(lexer));
  } else {
    token->kind = REGAL_TOKEN_SYMBOL;
    lexer->at++;
  }
  token->size = (size_t)(lexer->at - at);
  return REGAL_OK;
}

regal_status regal_lexer_start(regal_lexer *lexer, regal_context *context,
                               const char *name, const void *bytes,
                               size_t size) {
  *lexer = (regal_lexer){.context = context,
                         .name = name,
                         .at = bytes,
                         .end = (const char *)bytes + size,
                         .line_begin = bytes,
                         .line = 1};
  return regal_lexer_next(lexer);
}

bool regal_lexer_at(const regal_lexer *lexer, char symbol) {
  return lexer->token.kind == REGAL_TOKEN_SYMBOL &&
         *lexer->token.text == symbol;
}

regal_status regal_lexer_accept(regal_lexer *lexer, char symbol, bool *found) {
  *found = regal_lexer_at(lexer, symbol);
  return *found ? regal_lexer_next(lexer) : REGAL_OK;
}
