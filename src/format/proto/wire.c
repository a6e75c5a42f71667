/* SPDX-License-Identifier: Apache-2.0 */
/* Checking protobuf's wire format against a schema.
 *
 * A message is a sequence of fields: a varint tag, whose low three bits are the
 * wire type and whose other bits the field's number, then the value: a varint
 * (7 bits a byte, the lowest first, the top bit set on all but the last byte),
 * 8 or 4 bytes, or a length and so many bytes, which for a field of message
 * type are fields again. protobuf-c answers all damage with NULL; here each
 * kind has its message and byte.
 */
#include "format/proto/wire.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/plain.h"
#include "base/utf8.h"

#define TAG_BYTES 5     /* a tag, and a length, fit into 32 bits */
#define VARINT_BYTES 10 /* 64 bits, seven to a byte */

typedef struct walker {
  regal_context *context;
  const char *name;
  const uint8_t *bytes;
  size_t size, at;
  unsigned depth; /* of messages that are open */
  bool plain;
} walker;

static const char *const type_names[8] = {
    "varint",       "64-bit", "length-delimited", "group",
    "end of group", "32-bit", "unknown",          "unknown"};

static regal_status fail_at(const walker *walker, size_t byte,
                            const char *format, ...) REGAL_FORMAT(3, 4);
static regal_status fail_at(const walker *walker, size_t byte,
                            const char *format, ...) {
  char message[REGAL_MESSAGE_CAPACITY / 2];
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(message, sizeof message, format, arguments);
  va_end(arguments);
  return regal_fail(walker->context, REGAL_BAD_INPUT, "%s: byte %zu: %s",
                    walker->name, byte, message);
}

/* -- Values ---------------------------------------------------------------- */

regal_varint regal_wire_varint(const uint8_t *bytes, size_t *at, size_t end,
                               unsigned most, uint64_t *value) {
  uint64_t made = 0;
  for (unsigned i = 0; i < most; i++) {
    if (*at + i >= end)
      return REGAL_VARINT_CUT;
    uint8_t byte = bytes[*at + i];
    made |= (uint64_t)(byte & 0x7F) << 7 * i;
    if (byte < 0x80) {
      *at += i + 1;
      *value = made;
      return REGAL_VARINT_OK;
    }
  }
  return REGAL_VARINT_LONG;
}

static regal_status read_varint(walker *walker, size_t end, unsigned most,
                                const char *what, uint64_t *value) {
  size_t begin = walker->at;
  switch (regal_wire_varint(walker->bytes, &walker->at, end, most, value)) {
  case REGAL_VARINT_OK:
    return REGAL_OK;
  case REGAL_VARINT_CUT:
    return fail_at(walker, begin, "the %s ends inside a %s",
                   end == walker->size ? "file" : "message", what);
  case REGAL_VARINT_LONG:
    break;
  }
  return fail_at(walker, begin, "a %s of more than %u bytes", what, most);
}

/* The wire type of a value of the field, when it is not packed. */
static regal_wire_type expected_type(const ProtobufCFieldDescriptor *field) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES:
  case PROTOBUF_C_TYPE_MESSAGE:
    return REGAL_WIRE_BYTES;
  case PROTOBUF_C_TYPE_FLOAT:
  case PROTOBUF_C_TYPE_FIXED32:
  case PROTOBUF_C_TYPE_SFIXED32:
    return REGAL_WIRE_FIXED32;
  case PROTOBUF_C_TYPE_DOUBLE:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_SFIXED64:
    return REGAL_WIRE_FIXED64;
  default:
    return REGAL_WIRE_VARINT;
  }
}

/* Whether a field of this wire type is what its descriptor asks for; packed
 * and unpacked repeated numbers both are. */
static bool fits(const ProtobufCFieldDescriptor *field, unsigned type) {
  return type == expected_type(field) ||
         (type == REGAL_WIRE_BYTES &&
          field->label == PROTOBUF_C_LABEL_REPEATED);
}

/* The name of a field for messages: "compute_cost (9)", or its number only. */
typedef struct field_name {
  char text[64];
} field_name;

static field_name name_field(const ProtobufCFieldDescriptor *field,
                             uint32_t number) {
  field_name name;
  if (field)
    snprintf(name.text, sizeof name.text, "%s (%" PRIu32 ")", field->name,
             number);
  else
    snprintf(name.text, sizeof name.text, "%" PRIu32, number);
  return name;
}

/* -- Fields ---------------------------------------------------------------- */

typedef struct tag {
  const ProtobufCFieldDescriptor *field; /* NULL: unknown */
  size_t begin;                          /* where the tag stands */
  uint32_t number;
  unsigned type;
} tag;

static regal_status read_tag(walker *walker, size_t end,
                             const ProtobufCMessageDescriptor *descriptor,
                             tag *tag) {
  uint64_t value;
  tag->begin = walker->at;
  REGAL_TRY(read_varint(walker, end, TAG_BYTES, "tag", &value));
  if (value > UINT32_MAX)
    return fail_at(walker, tag->begin, "field number %" PRIu64 " is too large",
                   value >> 3);
  tag->number = (uint32_t)(value >> 3);
  tag->type = value & 7;
  if (!tag->number)
    return fail_at(walker, tag->begin, "field number 0 is not allowed");
  if (tag->type > REGAL_WIRE_FIXED32)
    return fail_at(walker, tag->begin,
                   "field %" PRIu32 " has wire type %u, which does not exist",
                   tag->number, tag->type);
  tag->field = descriptor ? protobuf_c_message_descriptor_get_field(descriptor,
                                                                    tag->number)
                          : NULL;
  if (!tag->field || fits(tag->field, tag->type))
    return REGAL_OK;
  regal_wire_type expected = expected_type(tag->field);
  return fail_at(walker, tag->begin,
                 "field %s has wire type %u (%s), expected %d (%s)",
                 name_field(tag->field, tag->number).text, tag->type,
                 type_names[tag->type], (int)expected, type_names[expected]);
}

static regal_status skip_fixed(walker *walker, const tag *tag, size_t end,
                               size_t bytes) {
  if (end - walker->at < bytes)
    return fail_at(walker, walker->at,
                   "the %s ends inside field %s, a %zu-bit number",
                   end == walker->size ? "file" : "message",
                   name_field(tag->field, tag->number).text, bytes * 8);
  walker->at += bytes;
  return REGAL_OK;
}

static regal_status check_message(walker *walker, size_t end,
                                  const ProtobufCMessageDescriptor *descriptor);

static regal_status check_packed(walker *walker, const tag *tag, size_t end) {
  while (walker->at < end) {
    uint64_t ignored;
    regal_wire_type type = expected_type(tag->field);
    if (type == REGAL_WIRE_VARINT)
      REGAL_TRY(read_varint(walker, end, VARINT_BYTES, "varint", &ignored));
    else
      REGAL_TRY(
          skip_fixed(walker, tag, end, type == REGAL_WIRE_FIXED32 ? 4 : 8));
  }
  return REGAL_OK;
}

static regal_status check_string(walker *walker, const tag *tag, size_t end) {
  const uint8_t *begin = walker->bytes + walker->at;
  size_t valid = regal_utf8_valid(begin, end - walker->at);
  size_t byte = walker->at + valid;
  if (byte < end && !walker->bytes[byte])
    return fail_at(walker, byte, "field %s contains a zero byte",
                   name_field(tag->field, tag->number).text);
  if (byte < end)
    return fail_at(walker, byte, "field %s is not valid UTF-8",
                   name_field(tag->field, tag->number).text);
  walker->at = end;
  return REGAL_OK;
}

static regal_status check_bytes(walker *walker, const tag *tag, size_t end) {
  size_t begin = walker->at;
  uint64_t length;
  REGAL_TRY(read_varint(walker, end, TAG_BYTES, "length", &length));
  if (length > end - walker->at)
    return fail_at(walker, begin,
                   "field %s has a length of %" PRIu64
                   ", but only %zu bytes of the %s are left",
                   name_field(tag->field, tag->number).text, length,
                   end - walker->at, end == walker->size ? "file" : "message");
  end = walker->at + (size_t)length;
  if (!tag->field) {
    walker->at = end;
    return REGAL_OK;
  }
  switch (tag->field->type) {
  case PROTOBUF_C_TYPE_MESSAGE:
    return check_message(walker, end, tag->field->descriptor);
  case PROTOBUF_C_TYPE_STRING:
    return check_string(walker, tag, end);
  case PROTOBUF_C_TYPE_BYTES:
    walker->at = end;
    return REGAL_OK;
  default:
    return check_packed(walker, tag, end);
  }
}

static regal_status check_value(walker *walker, const tag *tag, size_t end) {
  uint64_t ignored;
  switch (tag->type) {
  case REGAL_WIRE_VARINT:
    return read_varint(walker, end, VARINT_BYTES, "varint", &ignored);
  case REGAL_WIRE_FIXED64:
    return skip_fixed(walker, tag, end, 8);
  case REGAL_WIRE_FIXED32:
    return skip_fixed(walker, tag, end, 4);
  default:
    return check_bytes(walker, tag, end);
  }
}

/* Skips a group, an unknown field, with the groups in it. */
static regal_status skip_group(walker *walker, const tag *first, size_t end) {
  uint32_t open[REGAL_WIRE_DEPTH];
  unsigned depth = 0;
  open[depth++] = first->number;
  walker->plain = false;
  while (depth) {
    tag tag;
    if (walker->at >= end)
      return fail_at(walker, first->begin, "group %" PRIu32 " has no end",
                     open[depth - 1]);
    REGAL_TRY(read_tag(walker, end, NULL, &tag));
    if (tag.type == REGAL_WIRE_GROUP) {
      if (depth == REGAL_WIRE_DEPTH)
        return fail_at(walker, tag.begin, "groups nest deeper than %d",
                       REGAL_WIRE_DEPTH);
      open[depth++] = tag.number;
    } else if (tag.type != REGAL_WIRE_END) {
      REGAL_TRY(check_value(walker, &tag, end));
    } else if (tag.number != open[--depth]) {
      return fail_at(walker, tag.begin,
                     "group %" PRIu32 " ends inside group %" PRIu32, tag.number,
                     open[depth]);
    }
  }
  return REGAL_OK;
}

/* Notices a message field that occurs again though it is not repeated. */
static void note_again(walker *walker, const tag *tag,
                       const ProtobufCMessageDescriptor *descriptor,
                       uint64_t *seen) {
  if (!tag->field || tag->field->type != PROTOBUF_C_TYPE_MESSAGE ||
      tag->field->label == PROTOBUF_C_LABEL_REPEATED)
    return;
  uint64_t bit = UINT64_C(1) << (tag->field - descriptor->fields);
  if (*seen & bit)
    walker->plain = false;
  *seen |= bit;
}

/* The depth is bounded, for a schema may have a message inside itself. */
static regal_status
check_message(walker *walker, size_t end,
              const ProtobufCMessageDescriptor *descriptor) {
  uint64_t seen = 0;
  if (walker->depth == REGAL_WIRE_MESSAGES)
    return fail_at(walker, walker->at, "messages nest deeper than %d",
                   REGAL_WIRE_MESSAGES);
  walker->depth++;
  while (walker->at < end) {
    tag tag;
    REGAL_TRY(read_tag(walker, end, descriptor, &tag));
    note_again(walker, &tag, descriptor, &seen);
    if (tag.type == REGAL_WIRE_END)
      return fail_at(walker, tag.begin,
                     "group %" PRIu32 " ends, but none has begun", tag.number);
    if (tag.type == REGAL_WIRE_GROUP)
      REGAL_TRY(skip_group(walker, &tag, end));
    else
      REGAL_TRY(check_value(walker, &tag, end));
  }
  walker->depth--;
  return REGAL_OK;
}

regal_status regal_wire_check(regal_context *context, const char *name,
                              const void *bytes, size_t size,
                              const ProtobufCMessageDescriptor *descriptor,
                              bool *plain) {
  walker walker = {context, name, bytes, size, 0, 0, true};
  REGAL_TRY(check_message(&walker, size, descriptor));
  *plain = walker.plain;
  return REGAL_OK;
}
