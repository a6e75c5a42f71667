/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf text format, as protoc and TensorFlow print it and as people
 * write it, driven by protobuf-c's descriptors: comments, {} and <>, ':' before
 * messages or not, ',' and ';' after fields, lists in [], every form of number
 * and string. Fields that the schema does not know are skipped by their
 * structure; so are extensions and Any. A field may be named by its number,
 * which is how protoc prints what its own schema does not know.
 *
 * Field types: int32, int64, bool, enum, float, string, message.
 */
#ifndef REGAL_FORMAT_PROTO_TEXT_FORMAT_H
#define REGAL_FORMAT_PROTO_TEXT_FORMAT_H

#include <protobuf-c/protobuf-c.h>

#include "base/memory/arena.h"
#include "base/text.h"
#include "format/proto/text_lexer.h"

/* Messages inside one another, known or skipped. */
#define REGAL_TEXT_DEPTH 100

typedef struct regal_text_reader {
  regal_lexer lexer;
  regal_arena *arena;
  unsigned depth;
  uint32_t line_field; /* field of the outermost message, a repeated one, */
  uint32_t *lines;     /* of whose values the lines are kept */
  size_t line_count, line_room;
} regal_text_reader;

/* Reads a whole text. The message and `lines` live in the arena. */
regal_status regal_text_format_read(regal_text_reader *reader,
                                    const ProtobufCMessageDescriptor *type,
                                    ProtobufCMessage **message);

/* Reads one value of a field that is no message into `member`. */
regal_status regal_text_read_scalar(regal_text_reader *reader,
                                    const ProtobufCFieldDescriptor *field,
                                    void *member);

/* Bytes of one value of the field inside its message, or in its array. */
size_t regal_text_member_size(const ProtobufCFieldDescriptor *field);

/* Appends a message as protoc prints it; what has its default value is left
 * out. */
void regal_text_format_write(const ProtobufCMessage *message, unsigned indent,
                             regal_text *out);

#endif
