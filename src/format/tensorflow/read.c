/* SPDX-License-Identifier: Apache-2.0 */
/* A file's bytes to a CostGraphDef.
 *
 * Which format it is must be read off the content. A binary one begins with the
 * tag of its first node, 0x0a, or of an aggregated cost, 0x12. 0x0a is also a
 * line feed, with which a text may begin; but text holds no control characters,
 * and what follows is not a chain of lengths that ends with the file.
 */
#include "format/proto/text_format.h"
#include "format/proto/wire.h"
#include "format/tensorflow/cost_graph.h"
#include "format/tensorflow/foreign.h"

#define NODE_FIELD 1

/* -- Binary or text -------------------------------------------------------- */

static bool is_space(uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool has_control_bytes(const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    if ((bytes[i] < ' ' && !is_space(bytes[i])) || bytes[i] == 0x7F)
      return true;
  return false;
}

/* Whether tags and lengths of the outermost message lead to the very end. */
static bool is_chain(const uint8_t *bytes, size_t size) {
  size_t at = 0;
  while (at < size) {
    uint64_t tag, length;
    if (regal_wire_varint(bytes, &at, size, 5, &tag) != REGAL_VARINT_OK ||
        (tag & 7) != REGAL_WIRE_BYTES || tag >> 3 == 0 ||
        regal_wire_varint(bytes, &at, size, 5, &length) != REGAL_VARINT_OK ||
        length > size - at)
      return false;
    at += (size_t)length;
  }
  return true;
}

bool regal_cost_is_binary(const void *bytes, size_t size) {
  const uint8_t *first = bytes;
  bool node_tag = size && (*first == 0x0A || *first == 0x12);
  return node_tag && (has_control_bytes(bytes, size) || is_chain(bytes, size));
}

enum content { BINARY, TEXT, NEITHER };

static enum content guess(const uint8_t *bytes, size_t size) {
  size_t first = 0;
  while (first < size && is_space(bytes[first]))
    first++;
  if (regal_cost_is_binary(bytes, size))
    return BINARY;
  if (first == size || (bytes[first] > ' ' && bytes[first] < 0x7F))
    return TEXT;
  return is_chain(bytes, size) ? BINARY : NEITHER;
}

bool regal_cost_is_text(const void *bytes, size_t size) {
  return guess(bytes, size) == TEXT;
}

/* -- Reading --------------------------------------------------------------- */

static regal_status read_binary(regal_cost_graph *cost, const void *bytes,
                                size_t size) {
  ProtobufCMessage *message;
  REGAL_TRY(regal_wire_unpack(&cost->arena, cost->path, bytes, size,
                              &regal__cost_graph_def__descriptor, SIZE_MAX,
                              &message));
  cost->def = (const Regal__CostGraphDef *)message;
  return REGAL_OK;
}

static regal_status read_text(regal_cost_graph *cost, const void *bytes,
                              size_t size) {
  regal_text_reader reader = {.arena = &cost->arena, .line_field = NODE_FIELD};
  ProtobufCMessage *message;
  REGAL_TRY(
      regal_lexer_start(&reader.lexer, cost->context, cost->path, bytes, size));
  REGAL_TRY(regal_text_format_read(&reader, &regal__cost_graph_def__descriptor,
                                   &message));
  cost->def = (const Regal__CostGraphDef *)message;
  cost->lines = reader.lines;
  return REGAL_OK;
}

static regal_status fail_foreign(const regal_cost_graph *cost,
                                 const char *kind) {
  return regal_fail(cost->context, REGAL_BAD_INPUT, "%s: this is %s",
                    cost->path, kind);
}

/* The text of a GraphDef has fields that a CostGraphDef does not know, and
 * would be read as nodes without edges. */
static bool is_graph_def_text(const Regal__CostGraphDef *def) {
  for (size_t i = 0; i < def->n_node; i++)
    if (*def->node[i]->op)
      return true;
  return false;
}

static regal_status fail_neither(const regal_cost_graph *cost,
                                 const uint8_t *bytes) {
  return regal_fail(cost->context, REGAL_BAD_INPUT,
                    "%s: begins with byte 0x%02x, like no graph that regal "
                    "reads: ONNX, modules of XLA, StableHLO, CostGraphDef, "
                    "JSON",
                    cost->path, bytes[0]);
}

regal_status regal_cost_read(regal_cost_graph *cost, const void *bytes,
                             size_t size) {
  if (!size)
    return regal_fail(cost->context, REGAL_BAD_INPUT, "%s: the file is empty",
                      cost->path);
  const char *kind = regal_foreign_kind(bytes, size);
  if (kind)
    return fail_foreign(cost, kind);
  switch (guess(bytes, size)) {
  case BINARY:
    REGAL_TRY(read_binary(cost, bytes, size));
    break;
  case TEXT:
    REGAL_TRY(read_text(cost, bytes, size));
    break;
  case NEITHER:
    return fail_neither(cost, bytes);
  }
  if (is_graph_def_text(cost->def))
    return fail_foreign(cost, REGAL_GRAPH_DEF);
  if (!cost->def->n_node)
    return regal_fail(cost->context, REGAL_BAD_INPUT,
                      "%s: the graph has no nodes", cost->path);
  return REGAL_OK;
}
