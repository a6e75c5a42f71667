/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to a ModelProto.
 *
 * Field 1 tells a model from a CostGraphDef: a number (ir_version) here, a
 * message (the first node) there. Where it is missing, the graph decides: field
 * 7 is unknown to a CostGraphDef.
 */
#include "format/onnx/onnx.h"
#include "format/proto/wire.h"

#define TAG_BYTES 5
#define VARINT_BYTES 10
/* Longer contents are dropped; shorter ones may be shapes, which inference
 * computes with. */
#define MOST_CONTENT ((size_t)32 << 10)

enum { IR_VERSION = 1, MODEL_VERSION = 5, GRAPH = 7 };

/* -- Detection ------------------------------------------------------------- */

typedef struct field {
  uint64_t number;
  unsigned type;
  uint64_t value; /* or length */
} field;

/* Reads the field at *at and moves behind it; false when it does not fit. */
static bool next_field(const uint8_t *bytes, size_t *at, size_t size,
                       field *field) {
  uint64_t tag;
  if (regal_wire_varint(bytes, at, size, TAG_BYTES, &tag) != REGAL_VARINT_OK)
    return false;
  field->number = tag >> 3;
  field->type = tag & 7;
  if (field->type != REGAL_WIRE_VARINT && field->type != REGAL_WIRE_BYTES)
    return false;
  if (regal_wire_varint(bytes, at, size, VARINT_BYTES, &field->value) !=
      REGAL_VARINT_OK)
    return false;
  if (field->type == REGAL_WIRE_VARINT)
    return true;
  if (field->value > size - *at)
    return false;
  *at += (size_t)field->value;
  return true;
}

/* Damage after the field that decides does not count: the reader will say
 * better than a guess what it is. (A version of 0 is none: files that are no
 * protobuf may begin with 8 and 0.) */
bool regal_onnx_detect(const void *bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    field field = {0};
    bool whole = next_field(bytes, &at, size, &field);
    if (field.number == IR_VERSION)
      return field.type == REGAL_WIRE_VARINT && (field.value || !whole);
    if (!whole)
      return false;
    if (field.number == GRAPH)
      return field.type == REGAL_WIRE_BYTES;
    if ((field.type == REGAL_WIRE_VARINT) != (field.number == MODEL_VERSION))
      return false;
  }
  return false;
}

/* -- Reading --------------------------------------------------------------- */

/* Weights, most of a model's bytes, are dropped here: in all later stages a
 * model of gigabytes is a small one. */
regal_status regal_onnx_read(regal_onnx *onnx, const void *bytes, size_t size) {
  ProtobufCMessage *message;
  REGAL_TRY(regal_wire_unpack(&onnx->arena, onnx->path, bytes, size,
                              &regal_onnx__model_proto__descriptor,
                              MOST_CONTENT, &message));
  onnx->model = (regal_onnx_model *)message;
  if (!onnx->model->graph)
    return regal_fail(onnx->context, REGAL_BAD_INPUT,
                      "%s: the model has no graph; if it is no ONNX model but "
                      "TensorFlow's SavedModel or Core ML's, convert it to "
                      "ONNX",
                      onnx->path);
  if (!onnx->model->graph->n_node)
    return regal_fail(onnx->context, REGAL_BAD_INPUT,
                      "%s: the graph has no nodes", onnx->path);
  return REGAL_OK;
}
