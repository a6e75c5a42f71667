/* SPDX-License-Identifier: Apache-2.0 */
/* An ONNX model with its nodes in the order of a plan.
 *
 * The file is not unpacked and packed again, which would lose what our schema
 * does not know and what the reader leaves out (weights). Its bytes are copied:
 * all fields of the model and of its graph as they are, the nodes in another
 * order, each op with two more entries of metadata_props, its device and its
 * step. Readers that know the field show it, others skip it.
 *
 * A plan orders ops. Nodes that are no ops, constants and views, go right
 * before the first node that reads them. Nodes need what their bodies read,
 * too. An op may read the result of a node that regal folds although it depends
 * on another op (Shape of a known shape); if the plan runs that op later, it
 * comes earlier here: the order is always one that ONNX accepts.
 */
#include <string.h>

#include "format/onnx/onnx.h"
#include "format/onnx/order.h"
#include "format/proto/wire.h"

#define TAG_BYTES 5
#define VARINT_BYTES 10
#define MOST_CONTENT 64 /* of tensors, which do not matter here */
enum { MODEL_GRAPH = 7, GRAPH_NODE = 1, NODE_METADATA = 9 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };
static const char prefix[] = "regal.";

/* A field of a message: its tag and content. */
typedef struct field {
  uint64_t number;
  size_t begin, content, end;
} field;

typedef struct reorder {
  regal_context *context;
  const char *name; /* of the file */
  const uint8_t *bytes;
  const regal_onnx_graph *graph;
  const regal_onnx_place *places;
  uint32_t nodes;
  field *node; /* [nodes] in the file */
  regal_onnx_sorter sorter;
} reorder;

/* -- Fields ---------------------------------------------------------------- */

/* The field at `at`. The file has been checked: only a group can fail. */
static bool read_field(const uint8_t *bytes, size_t at, size_t end,
                       field *field) {
  uint64_t tag, value;
  field->begin = at;
  if (regal_wire_varint(bytes, &at, end, TAG_BYTES, &tag) != REGAL_VARINT_OK)
    return false;
  field->number = tag >> 3;
  field->content = at;
  unsigned type = tag & 7;
  if (type == REGAL_WIRE_FIXED64 || type == REGAL_WIRE_FIXED32)
    value = type == REGAL_WIRE_FIXED64 ? 8 : 4;
  else if ((type != REGAL_WIRE_VARINT && type != REGAL_WIRE_BYTES) ||
           regal_wire_varint(bytes, &at, end, VARINT_BYTES, &value) !=
               REGAL_VARINT_OK)
    return false;
  if (type == REGAL_WIRE_BYTES)
    field->content = at;
  else if (type == REGAL_WIRE_VARINT)
    value = 0;
  if (value > end - at)
    return false;
  field->end = at + (size_t)value;
  return true;
}

#define EACH_FIELD(r, f, from, to)                                             \
  for (size_t at_ = (from);                                                    \
       at_ < (to) && read_field((r)->bytes, at_, (to), f); at_ = (f)->end)

static regal_status fail_shape(const reorder *r) {
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: its graph is in several parts, or has groups of "
                    "fields; such a model cannot be reordered",
                    r->name);
}

/* The only graph of the model, and its nodes. */
static regal_status find_nodes(reorder *r, size_t size, field *graph) {
  field part;
  uint32_t graphs = 0, nodes = 0;
  size_t covered = 0;
  EACH_FIELD(r, &part, 0, size) {
    covered = part.end;
    if (part.number == MODEL_GRAPH) {
      *graph = part;
      graphs++;
    }
  }
  if (graphs != 1 || covered != size)
    return fail_shape(r);
  EACH_FIELD(r, &part, graph->content, graph->end) {
    covered = part.end;
    if (part.number == GRAPH_NODE && nodes < r->nodes)
      r->node[nodes++] = part;
  }
  return nodes == r->nodes && covered == graph->end ? REGAL_OK : fail_shape(r);
}

/* -- The order ------------------------------------------------------------- */

/* `by_step` has the node of each step, or REGAL_NONE. */
static regal_status find_order(reorder *r, const uint32_t *by_step,
                               uint32_t steps) {
  REGAL_TRY(regal_onnx_sorter_open(&r->sorter, r->context, r->graph));
  for (uint32_t i = 0; i < steps; i++)
    if (by_step[i] < r->nodes)
      REGAL_TRY(regal_onnx_sorter_take(&r->sorter, by_step[i]));
  for (uint32_t node = 0; node < r->nodes; node++)
    REGAL_TRY(regal_onnx_sorter_take(&r->sorter, node));
  return REGAL_OK;
}

/* -- Writing --------------------------------------------------------------- */

static void put_bytes(regal_text *out, unsigned number, const void *bytes,
                      size_t size) {
  regal_wire_append_varint(out, number << 3 | REGAL_WIRE_BYTES);
  regal_wire_append_varint(out, size);
  regal_text_append(out, bytes, size);
}

static void put_metadata(reorder *r, regal_text *node, const char *key,
                         uint32_t value) {
  char name[32], digits[16];
  regal_text entry;
  regal_text_init(&entry, r->context);
  snprintf(name, sizeof name, "%s%s", prefix, key);
  snprintf(digits, sizeof digits, "%u", value);
  put_bytes(&entry, ENTRY_KEY, name, strlen(name));
  put_bytes(&entry, ENTRY_VALUE, digits, strlen(digits));
  put_bytes(node, NODE_METADATA, entry.bytes, entry.size);
  node->failed = node->failed || entry.failed;
  regal_text_free(&entry);
}

/* Whether the field is an entry that we have written before. */
static bool is_ours(const reorder *r, const field *entry) {
  field key;
  EACH_FIELD(r, &key, entry->content, entry->end)
  if (key.number == ENTRY_KEY)
    return key.end - key.content >= sizeof prefix - 1 &&
           !memcmp(r->bytes + key.content, prefix, sizeof prefix - 1);
  return false;
}

static void put_node(reorder *r, uint32_t number, regal_text *graph) {
  const field *from = &r->node[number];
  const regal_onnx_place *place = &r->places[number];
  field part;
  regal_text node;
  regal_text_init(&node, r->context);
  EACH_FIELD(r, &part, from->content, from->end)
  if (part.number != NODE_METADATA || !is_ours(r, &part))
    regal_text_append(&node, r->bytes + part.begin, part.end - part.begin);
  if (place->step != REGAL_NONE) {
    put_metadata(r, &node, "device", place->device);
    put_metadata(r, &node, "step", place->step);
  }
  put_bytes(graph, GRAPH_NODE, node.bytes, node.size);
  graph->failed = graph->failed || node.failed;
  regal_text_free(&node);
}

static void put_model(reorder *r, size_t size, const field *graph,
                      regal_text *out) {
  field part;
  regal_text made;
  regal_text_init(&made, r->context);
  for (uint32_t i = 0; i < r->nodes; i++)
    put_node(r, r->sorter.order[i], &made);
  EACH_FIELD(r, &part, graph->content, graph->end)
  if (part.number != GRAPH_NODE)
    regal_text_append(&made, r->bytes + part.begin, part.end - part.begin);
  regal_text_append(out, r->bytes, graph->begin);
  put_bytes(out, MODEL_GRAPH, made.bytes, made.size);
  regal_text_append(out, r->bytes + graph->end, size - graph->end);
  out->failed = out->failed || made.failed;
  regal_text_free(&made);
}

static regal_status allocate(reorder *r) {
  r->node = regal_alloc(r->context, r->nodes, sizeof *r->node);
  return r->node ? REGAL_OK : regal_fail_memory(r->context);
}

static regal_status run(reorder *r, regal_arena *arena, size_t size,
                        const uint32_t *by_step, uint32_t steps, uint32_t ids,
                        regal_text *out) {
  ProtobufCMessage *message;
  field graph = {0};
  REGAL_TRY(regal_wire_unpack(arena, r->name, r->bytes, size,
                              &regal_onnx__model_proto__descriptor,
                              MOST_CONTENT, &message));
  r->graph = ((regal_onnx_model *)message)->graph;
  r->nodes = r->graph ? (uint32_t)r->graph->n_node : 0;
  if (!r->nodes || (ids != r->nodes && ids != r->nodes + 1))
    return regal_fail(r->context, REGAL_BAD_INPUT,
                      "%s: the plan is not for this model: it has %u nodes",
                      r->name, r->nodes);
  REGAL_TRY(allocate(r));
  REGAL_TRY(find_nodes(r, size, &graph));
  REGAL_TRY(find_order(r, by_step, steps));
  put_model(r, size, &graph, out);
  return REGAL_OK;
}

regal_status regal_onnx_reorder(regal_context *context, const char *name,
                                const void *bytes, size_t size,
                                const regal_onnx_order *order,
                                regal_text *out) {
  reorder r = {.context = context,
               .name = name,
               .bytes = bytes,
               .places = order->places};
  regal_arena arena;
  if (!regal_onnx_detect(bytes, size))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: only a graph that was read from an ONNX model can "
                      "be written as one",
                      name);
  regal_arena_init(&arena, context);
  regal_status status =
      run(&r, &arena, size, order->by_step, order->steps, order->ids, out);
  if (r.sorter.context)
    regal_onnx_sorter_free(&r.sorter);
  regal_arena_free(&arena);
  regal_release(context, r.node);
  return status;
}
