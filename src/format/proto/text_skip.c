/* SPDX-License-Identifier: Apache-2.0 */
/* Skipping what the schema does not know, by its structure alone. */
#include "format/proto/text_format.h"

static regal_status skip_message(regal_text_reader *reader);

/* A string, a name or a number, which may have a sign. */
static regal_status skip_scalar(regal_text_reader *reader) {
  regal_lexer *lexer = &reader->lexer;
  bool sign;
  if (lexer->token.kind == REGAL_TOKEN_STRING) {
    while (lexer->token.kind == REGAL_TOKEN_STRING)
      REGAL_TRY(regal_lexer_next(lexer));
    return REGAL_OK;
  }
  REGAL_TRY(regal_lexer_accept(lexer, '-', &sign));
  if (lexer->token.kind != REGAL_TOKEN_NAME &&
      lexer->token.kind != REGAL_TOKEN_NUMBER)
    return regal_lexer_expected(lexer, sign ? "a number" : "a value");
  return regal_lexer_next(lexer);
}

static bool at_message(const regal_text_reader *reader) {
  return regal_lexer_at(&reader->lexer, '{') ||
         regal_lexer_at(&reader->lexer, '<');
}

/* A list holds scalars or messages, but no lists. Behind the '['. */
static regal_status skip_list(regal_text_reader *reader) {
  regal_lexer *lexer = &reader->lexer;
  bool more;
  REGAL_TRY(regal_lexer_accept(lexer, ']', &more));
  if (more)
    return REGAL_OK;
  do {
    REGAL_TRY(at_message(reader) ? skip_message(reader) : skip_scalar(reader));
    REGAL_TRY(regal_lexer_accept(lexer, ',', &more));
  } while (more);
  if (!regal_lexer_at(lexer, ']'))
    return regal_lexer_expected(lexer, "',' or ']'");
  return regal_lexer_next(lexer);
}

regal_status regal_text_skip(regal_text_reader *reader) {
  regal_lexer *lexer = &reader->lexer;
  bool colon, list;
  REGAL_TRY(regal_lexer_accept(lexer, ':', &colon));
  if (at_message(reader))
    return skip_message(reader);
  REGAL_TRY(regal_lexer_accept(lexer, '[', &list));
  if (list)
    return skip_list(reader);
  if (!colon)
    return regal_lexer_expected(lexer, "':' or '{'");
  return skip_scalar(reader);
}

regal_status regal_text_skip_extension(regal_text_reader *reader) {
  regal_lexer *lexer = &reader->lexer;
  bool open, part;
  REGAL_TRY(regal_lexer_accept(lexer, '[', &open));
  do {
    if (lexer->token.kind != REGAL_TOKEN_NAME &&
        lexer->token.kind != REGAL_TOKEN_NUMBER)
      return regal_lexer_expected(lexer, "the name of an extension");
    REGAL_TRY(regal_lexer_next(lexer));
    part = regal_lexer_at(lexer, '.') || regal_lexer_at(lexer, '/') ||
           regal_lexer_at(lexer, '-');
    if (part)
      REGAL_TRY(regal_lexer_next(lexer));
  } while (part);
  if (!regal_lexer_at(lexer, ']'))
    return regal_lexer_expected(lexer, "']'");
  return regal_lexer_next(lexer);
}

/* A name, a number or an extension. */
static regal_status skip_name(regal_text_reader *reader, char close) {
  regal_lexer *lexer = &reader->lexer;
  if (regal_lexer_at(lexer, '['))
    return regal_text_skip_extension(reader);
  if (lexer->token.kind != REGAL_TOKEN_NAME &&
      lexer->token.kind != REGAL_TOKEN_NUMBER)
    return regal_text_expected_field(reader, close);
  return regal_lexer_next(lexer);
}

static regal_status skip_message(regal_text_reader *reader) {
  char close;
  REGAL_TRY(regal_text_open(reader, &close));
  reader->depth++;
  while (!regal_lexer_at(&reader->lexer, close)) {
    REGAL_TRY(skip_name(reader, close));
    REGAL_TRY(regal_text_skip(reader));
    REGAL_TRY(regal_text_separator(reader));
  }
  reader->depth--;
  return regal_lexer_next(&reader->lexer);
}
