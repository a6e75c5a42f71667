/* SPDX-License-Identifier: Apache-2.0 */
/* The table of foreign files. None of it may be a CostGraphDef: a binary one
 * begins with 0x0A or 0x12 and has names of ops further on, a text holds no
 * control characters. */
#include "format/tensorflow/foreign.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "format/proto/wire.h"

#define EXPORT "; export the model to ONNX"

/* -- By a magic number ----------------------------------------------------- */

typedef struct magic {
  size_t offset; /* if not 0, behind an offset of less than 64 KiB */
  const char *bytes;
  const char *kind;
} magic;

static const magic magics[] = {
    {0, "PK\x03\x04",
     "a zip archive; ARCHIVE:NAME is a graph of a dataset ('regal dataset "
     "list ARCHIVE' has the names), a model of Keras or PyTorch must be "
     "exported to ONNX"},
    {0, "\x89HDF", "an HDF5 file, as Keras writes them" EXPORT},
    {0, "\x80\x02", "a pickle of Python" EXPORT},
    {0, "GGUF\x03", "a GGUF file: weights without a graph"},
    {0, "ML\xEFR",
     "MLIR bytecode; write the text of the module (jax.export: "
     "mlir_module(), else stablehlo-translate --deserialize)"},
    {4, "ORTM",
     "a model in onnxruntime's own format; use the ONNX model that it was "
     "made from"},
    {4, "TFL3", "a TensorFlow Lite model; convert it to ONNX (tf2onnx)"},
};

static bool has_magic(const uint8_t *bytes, size_t size, const magic *magic) {
  size_t length = strlen(magic->bytes);
  return size >= magic->offset + length &&
         (!magic->offset || (!bytes[2] && !bytes[3])) &&
         !memcmp(bytes + magic->offset, magic->bytes, length);
}

/* The length of the JSON header, of 64 bits and padded to 8, then the header.
 */
static bool is_safetensors(const uint8_t *bytes, size_t size) {
  return size > 9 && bytes[0] % 8 == 0 && !bytes[4] && !bytes[5] && !bytes[6] &&
         !bytes[7] && bytes[8] == '{' && bytes[9] == '"';
}

/* -- By the first fields of a protobuf message ------------------------------
 */

typedef struct message {
  const uint8_t *bytes;
  size_t at, end;
} message;

typedef struct field {
  uint64_t number;
  message content; /* of a field with a length; else none */
} field;

static bool next_field(message *from, field *field) {
  uint64_t tag, value;
  if (regal_wire_varint(from->bytes, &from->at, from->end, 5, &tag) !=
          REGAL_VARINT_OK ||
      regal_wire_varint(from->bytes, &from->at, from->end, 10, &value) !=
          REGAL_VARINT_OK)
    return false;
  field->number = tag >> 3;
  field->content = (message){0};
  if ((tag & 7) == REGAL_WIRE_VARINT)
    return true;
  if ((tag & 7) != REGAL_WIRE_BYTES || value > from->end - from->at)
    return false;
  field->content = (message){from->bytes, from->at, from->at + (size_t)value};
  from->at += (size_t)value;
  return true;
}

/* A NodeDef: its inputs are names (field 3), where a node of a CostGraphDef has
 * its id, and its attributes (field 5) begin with a name, where an output has a
 * size. */
static bool is_node_def(message node) {
  field field;
  while (next_field(&node, &field))
    if (field.content.bytes &&
        (field.number == 3 ||
         (field.number == 5 && field.content.end > field.content.at &&
          node.bytes[field.content.at] == 0x0A)))
      return true;
  return false;
}

static bool is_graph_def(message file) {
  field node;
  while (next_field(&file, &node) && node.number == 1 && node.content.bytes)
    if (is_node_def(node.content))
      return true;
  return false;
}

/* It begins with StepStats of DeviceStepStats of the name of a device. */
static bool is_run_metadata(message file) {
  static const char device[] = "/job:";
  field field;
  for (int depth = 0; depth < 3; depth++) {
    if (!next_field(&file, &field) || field.number != 1 || !field.content.bytes)
      return false;
    file = field.content;
  }
  return file.end - file.at >= strlen(device) &&
         !memcmp(file.bytes + file.at, device, strlen(device));
}

/* -- All ------------------------------------------------------------------- */

const char *regal_foreign_kind(const void *bytes, size_t size) {
  message file = {bytes, 0, size};
  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
    if (has_magic(bytes, size, &magics[i]))
      return magics[i].kind;
  if (is_safetensors(bytes, size))
    return "a safetensors file: weights without a graph";
  if (is_graph_def(file))
    return REGAL_GRAPH_DEF;
  if (is_run_metadata(file))
    return "a RunMetadata of TensorFlow; write its cost graph alone: "
           "run_metadata.cost_graph.SerializeToString()";
  return NULL;
}
