/* SPDX-License-Identifier: Apache-2.0 */
/* From bytes to a message: checked, rewritten where protobuf-c cannot take them
 * as they are (which is rare), then unpacked. What is rewritten has been
 * checked, so that only memory can fail.
 */
#include "format/proto/wire.h"

typedef struct part {
  const ProtobufCFieldDescriptor *field; /* NULL: unknown, to be dropped */
  unsigned type;
  const uint8_t *tag;   /* tag, length and value: what is copied whole */
  const uint8_t *value; /* of a message: its bytes */
  const uint8_t *end;
} part;

static uint64_t take_varint(const uint8_t **at) {
  uint64_t value = 0;
  size_t used = 0;
  regal_wire_varint(*at, &used, 10, 10, &value);
  *at += used;
  return value;
}

static void skip_value(const uint8_t **at, unsigned type) {
  uint64_t length = type == REGAL_WIRE_FIXED64   ? 8
                    : type == REGAL_WIRE_FIXED32 ? 4
                                                 : take_varint(at);
  if (type != REGAL_WIRE_VARINT)
    *at += length;
}

/* `at` stands behind a tag that opens a group; moves behind its end. */
static void skip_group(const uint8_t **at) {
  for (unsigned depth = 1; depth;) {
    unsigned type = take_varint(at) & 7;
    if (type == REGAL_WIRE_GROUP)
      depth++;
    else if (type == REGAL_WIRE_END)
      depth--;
    else
      skip_value(at, type);
  }
}

static part next_part(const uint8_t **at,
                      const ProtobufCMessageDescriptor *descriptor) {
  part part = {.tag = *at};
  uint64_t tag = take_varint(at);
  part.type = tag & 7;
  part.field =
      protobuf_c_message_descriptor_get_field(descriptor, (unsigned)(tag >> 3));
  const uint8_t *after = *at;
  if (part.type == REGAL_WIRE_GROUP)
    skip_group(at);
  else
    skip_value(at, part.type);
  if (part.type == REGAL_WIRE_BYTES)
    take_varint(&after);
  part.value = after;
  part.end = *at;
  return part;
}

void regal_wire_append_varint(regal_text *out, uint64_t value) {
  uint8_t bytes[10];
  size_t size = 0;
  do {
    bytes[size++] = (uint8_t)(value & 0x7F) | (value > 0x7F ? 0x80 : 0);
    value >>= 7;
  } while (value);
  regal_text_append(out, bytes, size);
}

static void normalize(const uint8_t *at, const uint8_t *end,
                      const ProtobufCMessageDescriptor *descriptor, size_t most,
                      regal_text *out);

/* The parts of a message field that occur after `from`, as one: to put messages
 * behind one another is to merge them. */
static void append_merged(const part *first, const uint8_t *end,
                          const ProtobufCMessageDescriptor *descriptor,
                          size_t most, regal_text *out) {
  regal_text merged;
  regal_text_init(&merged, out->context);
  const ProtobufCMessageDescriptor *inner = first->field->descriptor;
  bool all = first->field->label != PROTOBUF_C_LABEL_REPEATED;
  normalize(first->value, first->end, inner, most, &merged);
  for (const uint8_t *at = first->end; all && at < end;) {
    part part = next_part(&at, descriptor);
    if (part.field == first->field)
      normalize(part.value, part.end, inner, most, &merged);
  }
  regal_wire_append_varint(out,
                           (uint64_t)first->field->id << 3 | REGAL_WIRE_BYTES);
  regal_wire_append_varint(out, merged.size);
  regal_text_append(out, merged.bytes, merged.size);
  out->failed |= merged.failed;
  regal_text_free(&merged);
}

/* Content that is not part of the structure: bytes and packed numbers. Lists of
 * bytes are not: their length counts. */
static bool is_left_out(const part *part, size_t most) {
  const ProtobufCFieldDescriptor *field = part->field;
  return part->type == REGAL_WIRE_BYTES &&
         (size_t)(part->end - part->value) > most &&
         field->type != PROTOBUF_C_TYPE_MESSAGE &&
         field->type != PROTOBUF_C_TYPE_STRING &&
         (field->type != PROTOBUF_C_TYPE_BYTES ||
          field->label != PROTOBUF_C_LABEL_REPEATED);
}

/* Appends checked bytes to `out` without unknown fields, and with the parts of
 * a message field that occurs several times made one. protobuf-c rejects groups
 * and merges such parts in quadratic time. Contents (bytes, packed numbers)
 * of more than `most` bytes are left out. */
static void normalize(const uint8_t *at, const uint8_t *end,
                      const ProtobufCMessageDescriptor *descriptor, size_t most,
                      regal_text *out) {
  uint64_t done = 0; /* bit per field that was merged */
  while (at < end) {
    part part = next_part(&at, descriptor);
    if (!part.field || is_left_out(&part, most))
      continue;
    if (part.field->type != PROTOBUF_C_TYPE_MESSAGE) {
      regal_text_append(out, part.tag, (size_t)(part.end - part.tag));
      continue;
    }
    uint64_t bit = UINT64_C(1) << (part.field - descriptor->fields);
    if (done & bit)
      continue;
    if (part.field->label != PROTOBUF_C_LABEL_REPEATED)
      done |= bit;
    append_merged(&part, end, descriptor, most, out);
  }
}

/* -- Unpacking ------------------------------------------------------------- */

static void *allocate(void *arena, size_t size) {
  return regal_arena_alloc(arena, size, 1);
}

/* What protobuf-c frees stays until the arena goes. */
static void keep(void *arena, void *block) {
  (void)arena, (void)block;
}

static regal_status unpack(regal_arena *arena, const char *name,
                           const void *bytes, size_t size,
                           const ProtobufCMessageDescriptor *descriptor,
                           ProtobufCMessage **message) {
  ProtobufCAllocator allocator = {allocate, keep, arena};
  *message = protobuf_c_message_unpack(descriptor, &allocator, size, bytes);
  if (*message)
    return REGAL_OK;
  if (arena->failed)
    return regal_fail_memory(arena->context);
  return regal_fail(arena->context, REGAL_BAD_INPUT,
                    "%s: protobuf-c cannot unpack it", name);
}

regal_status regal_wire_unpack(regal_arena *arena, const char *name,
                               const void *bytes, size_t size,
                               const ProtobufCMessageDescriptor *descriptor,
                               size_t most, ProtobufCMessage **message) {
  bool plain;
  REGAL_TRY(
      regal_wire_check(arena->context, name, bytes, size, descriptor, &plain));
  if (plain && most == SIZE_MAX)
    return unpack(arena, name, bytes, size, descriptor, message);
  regal_text other;
  regal_text_init(&other, arena->context);
  const uint8_t *from = bytes;
  normalize(from, from + size, descriptor, most, &other);
  regal_status status = other.failed ? regal_fail_memory(arena->context)
                                     : unpack(arena, name, other.bytes,
                                              other.size, descriptor, message);
  regal_text_free(&other);
  return status;
}
