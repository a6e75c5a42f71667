/* SPDX-License-Identifier: Apache-2.0 */
/* Printing a message as protoc --decode does: one field a line, two spaces for
 * each level, fields in the order of their numbers.
 */
#include "format/proto/text_format.h"

#include <inttypes.h>
#include <string.h>

static void write_string(const char *value, regal_text *out) {
  static const char special[] = "\n\r\t\"'\\", letter[] = "nrt\"'\\";
  regal_text_append(out, "\"", 1);
  for (const char *at = value; *at; at++) {
    const char *found = strchr(special, *at);
    if (found)
      regal_text_format(out, "\\%c", letter[found - special]);
    else if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7F)
      regal_text_format(out, "\\%03o", (unsigned char)*at);
    else
      regal_text_append(out, at, 1);
  }
  regal_text_append(out, "\"", 1);
}

static void write_enum(const ProtobufCEnumDescriptor *type, int value,
                       regal_text *out) {
  const ProtobufCEnumValue *known =
      protobuf_c_enum_descriptor_get_value(type, value);
  if (known)
    regal_text_append(out, known->name, strlen(known->name));
  else
    regal_text_format(out, "%d", value);
}

static void write_scalar(const ProtobufCFieldDescriptor *field,
                         const void *member, regal_text *out) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_INT32:
    regal_text_format(out, "%" PRId32, *(const int32_t *)member);
    break;
  case PROTOBUF_C_TYPE_INT64:
    regal_text_format(out, "%" PRId64, *(const int64_t *)member);
    break;
  case PROTOBUF_C_TYPE_BOOL:
    regal_text_format(out, "%s",
                      *(const protobuf_c_boolean *)member ? "true" : "false");
    break;
  case PROTOBUF_C_TYPE_ENUM:
    write_enum(field->descriptor, *(const int *)member, out);
    break;
  case PROTOBUF_C_TYPE_FLOAT:
    regal_text_format(out, "%.9g", (double)*(const float *)member);
    break;
  default:
    write_string(*(char *const *)member, out);
    break;
  }
}

static bool is_default(const ProtobufCFieldDescriptor *field,
                       const void *member) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_INT64:
    return !*(const int64_t *)member;
  case PROTOBUF_C_TYPE_STRING:
    return !**(char *const *)member;
  case PROTOBUF_C_TYPE_MESSAGE:
    return !*(void *const *)member;
  case PROTOBUF_C_TYPE_FLOAT:
    return *(const float *)member == 0;
  default: /* int32, bool and enum are all int-sized */
    return !*(const int32_t *)member;
  }
}

static void write_value(const ProtobufCFieldDescriptor *field,
                        const void *member, unsigned indent, regal_text *out) {
  int spaces = (int)indent * 2;
  if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
    regal_text_format(out, "%*s%s: ", spaces, "", field->name);
    write_scalar(field, member, out);
    regal_text_append(out, "\n", 1);
    return;
  }
  regal_text_format(out, "%*s%s {\n", spaces, "", field->name);
  regal_text_format_write(*(ProtobufCMessage *const *)member, indent + 1, out);
  regal_text_format(out, "%*s}\n", spaces, "");
}

void regal_text_format_write(const ProtobufCMessage *message, unsigned indent,
                             regal_text *out) {
  const ProtobufCMessageDescriptor *type = message->descriptor;
  for (unsigned i = 0; i < type->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &type->fields[i];
    const char *member = (const char *)message + field->offset;
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
      if (!is_default(field, member))
        write_value(field, member, indent, out);
      continue;
    }
    size_t count =
        *(const size_t *)((const char *)message + field->quantifier_offset);
    const char *array = *(char *const *)member;
    for (size_t j = 0; j < count; j++)
      write_value(field, array + j * regal_text_member_size(field), indent,
                  out);
  }
}
