/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf wire format, checked before protobuf-c unpacks it, so that each
 * defect has its own message with the byte where it stands.
 */
#ifndef REGAL_FORMAT_PROTO_WIRE_H
#define REGAL_FORMAT_PROTO_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "base/memory/arena.h"
#include "base/text.h"

typedef enum regal_wire_type {
  REGAL_WIRE_VARINT = 0,
  REGAL_WIRE_FIXED64 = 1,
  REGAL_WIRE_BYTES = 2, /* a length, then so many bytes */
  REGAL_WIRE_GROUP = 3, /* ends at a tag of type REGAL_WIRE_END */
  REGAL_WIRE_END = 4,
  REGAL_WIRE_FIXED32 = 5
} regal_wire_type;

/* Groups, which only unknown fields can be, nest no deeper. */
#define REGAL_WIRE_DEPTH 64
/* Messages nest no deeper; protobuf's own readers have the same limit. */
#define REGAL_WIRE_MESSAGES 100

/* Checks a whole message and all messages in it: "NAME: byte 12: ...". Time
 * linear in `size`, no memory. `plain` says whether protobuf-c can take the
 * bytes as they are. */
regal_status regal_wire_check(regal_context *context, const char *name,
                              const void *bytes, size_t size,
                              const ProtobufCMessageDescriptor *descriptor,
                              bool *plain);

/* Checks the bytes and unpacks them into the arena; contents of more than
 * `most` bytes are left out. */
regal_status regal_wire_unpack(regal_arena *arena, const char *name,
                               const void *bytes, size_t size,
                               const ProtobufCMessageDescriptor *descriptor,
                               size_t most, ProtobufCMessage **message);

/* -- One field, for both of the above ------------------------------------- */

/* Reads a varint of at most `most` bytes at *at, which must end before `end`,
 * and moves *at behind it. */
typedef enum regal_varint {
  REGAL_VARINT_OK,
  REGAL_VARINT_CUT, /* the bytes end inside */
  REGAL_VARINT_LONG /* more than `most` bytes */
} regal_varint;
regal_varint regal_wire_varint(const uint8_t *bytes, size_t *at, size_t end,
                               unsigned most, uint64_t *value);

void regal_wire_append_varint(regal_text *out, uint64_t value);

#endif
