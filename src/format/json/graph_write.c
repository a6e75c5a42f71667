/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of JSON graphs: an op on each line, and ops called by their names, so
 * that two versions of a graph can be compared with diff. Positions would all
 * change behind an op that is new.
 */
#include <inttypes.h>
#include <string.h>

#include "base/name_index.h"
#include "format/json/graph.h"

/* Longer names are not repeated at every edge: the file would become much
 * larger than the graph. */
#define LONGEST_REFERENCE 200

typedef struct graph_writer {
  const regal_graph *graph;
  regal_text *out;
  uint32_t count;
  uint32_t *op_at;    /* [count] op at each place in the file */
  uint32_t *place;    /* [ops] the place of each op */
  const char **names; /* [count] of the op at each place */
  uint8_t *by_name;   /* [count] whether the name says which op */
} graph_writer;

static void put(regal_text *out, const char *text) {
  regal_text_append(out, text, strlen(text));
}

static void put_number(regal_text *out, int64_t number) {
  regal_text_format(out, "%" PRId64, number);
}

/* -- One op ---------------------------------------------------------------- */

/* Begins a member; the first in an object has no comma. */
static void put_key(regal_text *out, const char *key) {
  bool first = out->size && out->bytes[out->size - 1] == '{';
  put(out, first ? "\"" : ", \"");
  put(out, key);
  put(out, "\": ");
}

static void put_amount(regal_text *out, const char *key, int64_t amount) {
  if (!amount)
    return;
  put_key(out, key);
  put_number(out, amount);
}

static void put_reference(const graph_writer *writer, uint32_t op) {
  uint32_t place = writer->place[op];
  if (writer->by_name[place])
    regal_text_json(writer->out, writer->names[place]);
  else
    put_number(writer->out, place);
}

static void put_output(const graph_writer *writer, uint32_t tensor) {
  const regal_graph *graph = writer->graph;
  put(writer->out, "{");
  put_key(writer->out, "bytes");
  put_number(writer->out, graph->bytes[tensor]);
  put(writer->out, graph->is_final[tensor] ? ", \"final\": true" : "");
  put(writer->out, graph->may_reuse[tensor] ? ", \"may_reuse\": true" : "");
  put(writer->out, "}");
}

static void put_input(const graph_writer *writer, uint32_t i) {
  const regal_graph *graph = writer->graph;
  uint32_t tensor = graph->input[i], producer = graph->producer[tensor];
  put(writer->out, "[");
  put_reference(writer, producer);
  put(writer->out, ", ");
  put_number(writer->out, tensor - graph->output_begin[producer]);
  put(writer->out, "]");
}

static void put_control(const graph_writer *writer, uint32_t i) {
  put_reference(writer, writer->graph->control_in[i]);
}

static void put_use(const graph_writer *writer, uint32_t i) {
  put_number(writer->out, writer->graph->parameter[i]);
}

/* The items begin[op] .. begin[op + 1] - 1 as a list, unless it is empty. */
static void put_list(const graph_writer *writer, const char *key,
                     const uint32_t *begin, uint32_t op,
                     void (*put_item)(const graph_writer *, uint32_t)) {
  if (begin[op] == begin[op + 1])
    return;
  put_key(writer->out, key);
  for (REGAL_ROW(i, begin, op)) {
    put(writer->out, i == begin[op] ? "[" : ", ");
    put_item(writer, i);
  }
  put(writer->out, "]");
}

/* What the op asks of the machine; a device's number without quotes. */
static void put_labels(const graph_writer *writer, uint32_t op) {
  const regal_graph *graph = writer->graph;
  const char *device = regal_graph_label(graph, &graph->device, op);
  const char *group = regal_graph_label(graph, &graph->group, op);
  if (device) {
    put_key(writer->out, "device");
    if (regal_is_number(device))
      put(writer->out, device);
    else
      regal_text_json(writer->out, device);
  }
  if (group) {
    put_key(writer->out, "group");
    regal_text_json(writer->out, group);
  }
}

static void put_op(const graph_writer *writer, uint32_t op) {
  const regal_graph *graph = writer->graph;
  regal_text *out = writer->out;
  const char *name = regal_graph_name(graph, op);
  put(out, "{");
  if (*name) {
    put_key(out, "name");
    regal_text_json(out, name);
  }
  put_amount(out, "run_ns", graph->run_ns[op]);
  put_amount(out, "temporary_bytes", graph->temporary_bytes[op]);
  put_amount(out, "resident_bytes", graph->resident_bytes[op]);
  put_list(writer, "outputs", graph->output_begin, op, put_output);
  put_list(writer, "inputs", graph->input_begin, op, put_input);
  put_list(writer, "control", graph->control_in_begin, op, put_control);
  put_list(writer, "parameters", graph->parameter_begin, op, put_use);
  put_labels(writer, op);
  put(out, "}");
}

/* -- The file -------------------------------------------------------------- */

static void put_graph(const graph_writer *writer) {
  const regal_graph *graph = writer->graph;
  regal_text *out = writer->out;
  put(out, "{\"regal_graph\": 1,\n");
  if (graph->parameters)
    put(out, " \"parameters\": [");
  for (uint32_t i = 0; i < graph->parameters; i++)
    regal_text_format(out, "%s\n  {\"bytes\": %" PRId64 "}", i ? "," : "",
                      graph->parameter_bytes[i]);
  put(out, graph->parameters ? "\n ],\n \"ops\": [" : " \"ops\": [");
  for (uint32_t i = 0; i < writer->count; i++) {
    put(out, i ? ",\n  " : "\n  ");
    put_op(writer, writer->op_at[i]);
  }
  put(out, "\n ]}\n");
}

/* The ops in the order of their ids, which may have gaps: then they move up. */
static void find_places(graph_writer *writer) {
  const regal_graph *graph = writer->graph;
  for (uint32_t i = 0; i < graph->file_nodes; i++) {
    uint32_t op = graph->op_of_id[i];
    if (op == REGAL_NONE)
      continue;
    writer->place[op] = writer->count;
    writer->names[writer->count] = regal_graph_name(graph, op);
    writer->op_at[writer->count++] = op;
  }
}

static regal_status find_references(regal_context *context,
                                    graph_writer *writer) {
  regal_name_index index = {0};
  REGAL_TRY(
      regal_name_index_create(context, writer->names, writer->count, &index));
  for (uint32_t i = 0; i < writer->count; i++)
    writer->by_name[i] =
        strnlen(writer->names[i], LONGEST_REFERENCE + 1) <= LONGEST_REFERENCE &&
        regal_name_index_find(&index, writer->names[i]) == i;
  regal_name_index_free(&index);
  return REGAL_OK;
}

static regal_status write_graph(regal_context *context, graph_writer *writer) {
  size_t ops = writer->graph->ops;
  writer->op_at = regal_alloc(context, ops, sizeof *writer->op_at);
  writer->place = regal_alloc(context, ops, sizeof *writer->place);
  writer->names = regal_alloc(context, ops, sizeof *writer->names);
  writer->by_name = regal_alloc(context, ops, sizeof *writer->by_name);
  if (!writer->op_at || !writer->place || !writer->names || !writer->by_name)
    return regal_fail_memory(context);
  find_places(writer);
  REGAL_TRY(find_references(context, writer));
  put_graph(writer);
  return writer->out->failed ? regal_fail_memory(context) : REGAL_OK;
}

regal_status regal_json_graph_save(regal_context *context, const char *path,
                                   const regal_graph *graph, regal_text *out) {
  graph_writer writer = {.graph = graph, .out = out};
  REGAL_TRY(regal_graph_check_utf8(context, path, graph, "JSON"));
  regal_status status = write_graph(context, &writer);
  regal_release(context, writer.op_at);
  regal_release(context, writer.place);
  regal_release(context, writer.names);
  regal_release(context, writer.by_name);
  return status;
}
