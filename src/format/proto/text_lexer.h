/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the protobuf text format, with the place where each stands. */
#ifndef REGAL_FORMAT_PROTO_TEXT_LEXER_H
#define REGAL_FORMAT_PROTO_TEXT_LEXER_H

#include "base/text.h"

typedef enum regal_token_kind {
  REGAL_TOKEN_END,
  REGAL_TOKEN_NAME,   /* letters, digits, '_' */
  REGAL_TOKEN_NUMBER, /* begins with a digit, or '.' and a digit */
  REGAL_TOKEN_STRING, /* with its quotes, escapes as they stand */
  REGAL_TOKEN_SYMBOL  /* one character */
} regal_token_kind;

typedef struct regal_token {
  regal_token_kind kind;
  const char *text;
  size_t size;
  uint32_t line, column; /* from 1; a column is a byte */
} regal_token;

typedef struct regal_lexer {
  regal_context *context;
  const char *name; /* of the file, in messages */
  const char *at, *end;
  const char *line_begin;
  uint32_t line;
  regal_token token; /* the one to be looked at next */
} regal_lexer;

/* Starts at the first token. */
regal_status regal_lexer_start(regal_lexer *lexer, regal_context *context,
                               const char *name, const void *bytes,
                               size_t size);
regal_status regal_lexer_next(regal_lexer *lexer);

/* Whether the next token is this symbol. */
bool regal_lexer_at(const regal_lexer *lexer, char symbol);
/* The same; if it is, moves behind it. */
regal_status regal_lexer_accept(regal_lexer *lexer, char symbol, bool *found);

/* "FILE:LINE:COLUMN: found TOKEN, expected WHAT" at the next token. */
regal_status regal_lexer_expected(const regal_lexer *lexer, const char *format,
                                  ...) REGAL_FORMAT(2, 3);
/* The same for a place inside the token: `found` is put in words. */
regal_status regal_lexer_fail(const regal_lexer *lexer, const char *at,
                              const char *found, const char *expected);

#endif
