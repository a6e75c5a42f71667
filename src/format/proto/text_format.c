/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the text format by recursive descent: fields of messages, by the
 * schema where it knows them, else by their structure alone. Values of repeated
 * fields grow in the arena by doubling.
 */
#include "format/proto/text_format.h"

#include <string.h>

#define NAME_CAPACITY 64 /* longer than any name of the schema */

static regal_status open_message(regal_text_reader *reader, char *close) {
  regal_lexer *lexer = &reader->lexer;
  bool brace = regal_lexer_at(lexer, '{');
  if (!brace && !regal_lexer_at(lexer, '<'))
    return regal_lexer_expected(lexer, "'{'");
  if (reader->depth == REGAL_TEXT_DEPTH)
    return regal_lexer_expected(lexer, "messages that nest no deeper than %d",
                                REGAL_TEXT_DEPTH);
  *close = brace ? '}' : '>';
  return regal_lexer_next(lexer);
}

static regal_status skip_separator(regal_text_reader *reader) {
  bool found;
  REGAL_TRY(regal_lexer_accept(&reader->lexer, ',', &found));
  return found ? REGAL_OK : regal_lexer_accept(&reader->lexer, ';', &found);
}

/* -- What the schema does not know, by its structure ---------------------- */

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

static regal_status skip_extension(regal_text_reader *reader) {
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

/* -- Storage --------------------------------------------------------------- */

size_t regal_text_member_size(const ProtobufCFieldDescriptor *field) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_INT64:
    return sizeof(int64_t);
  case PROTOBUF_C_TYPE_INT32:
    return sizeof(int32_t);
  case PROTOBUF_C_TYPE_BOOL:
    return sizeof(protobuf_c_boolean);
  case PROTOBUF_C_TYPE_ENUM:
    return sizeof(int);
  case PROTOBUF_C_TYPE_FLOAT:
    return sizeof(float);
  default:
    return sizeof(void *);
  }
}

/* Room for the field's value, one more when it is repeated; NULL when memory is
 * out. Arrays double, when their count is a power of two. */
static void *new_member(regal_text_reader *reader, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field) {
  char *member = (char *)message + field->offset;
  if (field->label != PROTOBUF_C_LABEL_REPEATED)
    return member;
  size_t *count = (size_t *)((char *)message + field->quantifier_offset);
  size_t size = regal_text_member_size(field);
  char **array = (char **)member;
  if (!(*count & (*count - 1))) {
    char *grown =
        regal_arena_alloc(reader->arena, *count ? *count * 2 : 1, size);
    if (!grown)
      return NULL;
    if (*count)
      memcpy(grown, *array, *count * size);
    *array = grown;
  }
  return *array + (*count)++ * size;
}

/* Keeps the line of the next token, if the field is the one to be kept. */
static regal_status keep_line(regal_text_reader *reader, uint32_t line,
                              const ProtobufCFieldDescriptor *field) {
  if (reader->depth || field->id != reader->line_field)
    return REGAL_OK;
  if (reader->line_count == reader->line_room) {
    size_t room = reader->line_room ? reader->line_room * 2 : 16;
    uint32_t *grown = regal_arena_alloc(reader->arena, room, sizeof *grown);
    if (!grown)
      return regal_fail_memory(reader->lexer.context);
    if (reader->line_count)
      memcpy(grown, reader->lines, reader->line_count * sizeof *grown);
    reader->lines = grown;
    reader->line_room = room;
  }
  reader->lines[reader->line_count++] = line;
  return REGAL_OK;
}

/* -- Fields ----------------------------------------------------------------
 * A field that is NULL is unknown, and so are all those of a message that is
 * NULL: what is read of them goes nowhere. */

static regal_status read_fields(regal_text_reader *reader,
                                ProtobufCMessage *message, char close);

static regal_status make_message(regal_text_reader *reader,
                                 const ProtobufCMessageDescriptor *type,
                                 ProtobufCMessage **message) {
  *message = regal_arena_alloc(reader->arena, 1, type->sizeof_message);
  if (!*message)
    return regal_fail_memory(reader->lexer.context);
  protobuf_c_message_init(type, *message);
  return REGAL_OK;
}

static regal_status read_message(regal_text_reader *reader,
                                 const ProtobufCFieldDescriptor *field,
                                 ProtobufCMessage **member) {
  ProtobufCMessage *made = NULL;
  char close = 0;
  REGAL_TRY(open_message(reader, &close));
  if (field) {
    REGAL_TRY(make_message(reader, field->descriptor, &made));
    *member = made;
  }
  reader->depth++;
  REGAL_TRY(read_fields(reader, made, close));
  reader->depth--;
  return regal_lexer_next(&reader->lexer);
}

static regal_status read_value(regal_text_reader *reader,
                               ProtobufCMessage *message,
                               const ProtobufCFieldDescriptor *field,
                               uint32_t line) {
  if (!field)
    return at_message(reader) ? read_message(reader, NULL, NULL)
                              : skip_scalar(reader);
  void *member = new_member(reader, message, field);
  if (!member)
    return regal_fail_memory(reader->lexer.context);
  REGAL_TRY(keep_line(reader, line, field));
  if (field->type == PROTOBUF_C_TYPE_MESSAGE)
    return read_message(reader, field, member);
  return regal_text_read_scalar(reader, field, member);
}

/* "[1, 2]", behind the '['. A list holds scalars or messages, but no lists. */
static regal_status read_list(regal_text_reader *reader,
                              ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field) {
  regal_lexer *lexer = &reader->lexer;
  bool more;
  REGAL_TRY(regal_lexer_accept(lexer, ']', &more));
  if (more)
    return REGAL_OK;
  do {
    REGAL_TRY(read_value(reader, message, field, lexer->token.line));
    REGAL_TRY(regal_lexer_accept(lexer, ',', &more));
  } while (more);
  if (!regal_lexer_at(lexer, ']'))
    return regal_lexer_expected(lexer, "',' or ']'");
  return regal_lexer_next(lexer);
}

static const ProtobufCFieldDescriptor *
find_field(const ProtobufCMessageDescriptor *type, const regal_token *token) {
  char name[NAME_CAPACITY];
  unsigned number = 0;
  if (token->size >= sizeof name)
    return NULL;
  memcpy(name, token->text, token->size);
  name[token->size] = 0;
  if (token->kind == REGAL_TOKEN_NAME)
    return protobuf_c_message_descriptor_get_field_by_name(type, name);
  for (const char *digit = name; *digit; digit++)
    number = number * 10 + (unsigned)(*digit - '0');
  return protobuf_c_message_descriptor_get_field(type, number);
}

/* A field may be named by its number: plain digits, 29 bits at most. */
static bool is_field_number(const regal_token *token) {
  if (token->kind != REGAL_TOKEN_NUMBER || token->size > 9)
    return false;
  for (size_t i = 0; i < token->size; i++)
    if (token->text[i] < '0' || token->text[i] > '9')
      return false;
  return true;
}

/* What follows the name of a field. */
static regal_status read_content(regal_text_reader *reader,
                                 ProtobufCMessage *message,
                                 const ProtobufCFieldDescriptor *field,
                                 uint32_t line) {
  regal_lexer *lexer = &reader->lexer;
  bool colon, list = false;
  REGAL_TRY(regal_lexer_accept(lexer, ':', &colon));
  if (field && !colon && field->type != PROTOBUF_C_TYPE_MESSAGE)
    return regal_lexer_expected(lexer, "':' after \"%s\"", field->name);
  if (!field || field->label == PROTOBUF_C_LABEL_REPEATED)
    REGAL_TRY(regal_lexer_accept(lexer, '[', &list));
  if (list)
    return read_list(reader, message, field);
  if (!field && !colon && !at_message(reader))
    return regal_lexer_expected(lexer, "':' or '{'");
  return read_value(reader, message, field, line);
}

static regal_status expected_field(const regal_text_reader *reader,
                                   char close) {
  if (!close)
    return regal_lexer_expected(&reader->lexer, "a field name");
  return regal_lexer_expected(&reader->lexer, "a field name or '%c'", close);
}

/* Whether the next token can name a field. In an unknown message it may be any
 * number. */
static bool at_name(const regal_text_reader *reader,
                    const ProtobufCMessage *message) {
  const regal_token *token = &reader->lexer.token;
  return token->kind == REGAL_TOKEN_NAME ||
         (message ? is_field_number(token) : token->kind == REGAL_TOKEN_NUMBER);
}

static regal_status read_field(regal_text_reader *reader,
                               ProtobufCMessage *message, char close,
                               uint64_t *seen) {
  regal_lexer *lexer = &reader->lexer;
  const ProtobufCFieldDescriptor *field = NULL;
  uint32_t line = lexer->token.line;
  if (regal_lexer_at(lexer, '[')) {
    REGAL_TRY(skip_extension(reader));
    return read_content(reader, message, NULL, line);
  }
  if (!at_name(reader, message))
    return expected_field(reader, close);
  if (message)
    field = find_field(message->descriptor, &lexer->token);
  if (field) {
    uint64_t bit = UINT64_C(1) << (field - message->descriptor->fields);
    if (field->label != PROTOBUF_C_LABEL_REPEATED && (*seen & bit))
      return regal_lexer_expected(lexer, "\"%s\" only once", field->name);
    *seen |= bit;
  }
  REGAL_TRY(regal_lexer_next(lexer));
  return read_content(reader, message, field, line);
}

/* Fields up to the symbol that closes the message; 0: up to the end. */
static regal_status read_fields(regal_text_reader *reader,
                                ProtobufCMessage *message, char close) {
  regal_lexer *lexer = &reader->lexer;
  uint64_t seen = 0;
  while (close ? !regal_lexer_at(lexer, close)
               : lexer->token.kind != REGAL_TOKEN_END) {
    REGAL_TRY(read_field(reader, message, close, &seen));
    REGAL_TRY(skip_separator(reader));
  }
  return REGAL_OK;
}

regal_status regal_text_format_read(regal_text_reader *reader,
                                    const ProtobufCMessageDescriptor *type,
                                    ProtobufCMessage **message) {
  REGAL_TRY(make_message(reader, type, message));
  return read_fields(reader, *message, 0);
}
