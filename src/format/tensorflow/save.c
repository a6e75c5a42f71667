/* SPDX-License-Identifier: Apache-2.0 */
/* A graph as a CostGraphDef, such that reading it gives the same graph.
 *
 * Nodes are written in the order of their ids and numbered from 0. Every
 * output says that it aliases nothing, and none has a shape: the reader would
 * take sizes from it, or take an output for a constant. Fields of our own are
 * written only where a graph needs them: times below a
 * microsecond, results that is_final and _retval_ nodes do not express, several
 * nodes called _SOURCE, which are not partitions, parameters that several nodes
 * may read, outputs that may be written over an input, and the devices and
 * groups that nodes ask for.
 */
#include <inttypes.h>
#include <string.h>

#include "format/proto/text_format.h"
#include "format/proto/wire.h"
#include "format/tensorflow/cost_graph.h"

#define NODE_FIELD 1
#define NS_PER_US 1000

typedef struct saver {
  const regal_graph *graph;
  bool as_text;
  regal_text *out;
  uint32_t *number; /* [ops] id in the new file */

  /* One node at a time, with room for the largest. */
  regal_cost_input *inputs;
  regal_cost_output *outputs;
  regal_cost_input **input_list;
  regal_cost_output **output_list;
  int32_t *controls, *parameters;
} saver;

/* -- One node -------------------------------------------------------------- */

static void fill_inputs(const saver *saver, uint32_t op,
                        regal_cost_node *node) {
  const regal_graph *graph = saver->graph;
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t tensor = graph->input[i], producer = graph->producer[tensor];
    regal_cost_input *input = &saver->inputs[node->n_input_info++];
    regal__cost_graph_def__node__input_info__init(input);
    input->preceding_node = (int32_t)saver->number[producer];
    input->preceding_port = (int32_t)(tensor - graph->output_begin[producer]);
  }
  for (REGAL_ROW(i, graph->control_in_begin, op))
    saver->controls[node->n_control_input++] =
        (int32_t)saver->number[graph->control_in[i]];
  for (REGAL_ROW(i, graph->parameter_begin, op))
    saver->parameters[node->n_regal_parameter++] = (int32_t)graph->parameter[i];
}

/* What the reader will take for final, without our own mark. */
static bool seems_final(const regal_graph *graph, uint32_t tensor,
                        bool node_is_final) {
  bool seems = node_is_final;
  for (uint32_t i = graph->use_begin[tensor];
       !seems && i < graph->use_begin[tensor + 1]; i++)
    seems = regal_cost_is_result_reader(
        regal_graph_name(graph, graph->consumer[i]));
  return seems;
}

static void fill_outputs(const saver *saver, uint32_t op,
                         regal_cost_node *node) {
  const regal_graph *graph = saver->graph;
  uint32_t begin = graph->output_begin[op], end = graph->output_begin[op + 1];
  node->is_final = end > begin;
  for (uint32_t tensor = begin; tensor < end; tensor++)
    node->is_final = node->is_final && graph->is_final[tensor];
  for (uint32_t tensor = begin; tensor < end; tensor++) {
    regal_cost_output *output = &saver->outputs[node->n_output_info++];
    bool is_final = graph->is_final[tensor];
    regal__cost_graph_def__node__output_info__init(output);
    output->size = graph->bytes[tensor];
    output->alias_input_port = -1;
    output->regal_may_reuse = graph->may_reuse[tensor];
    if (is_final != seems_final(graph, tensor, node->is_final))
      output->regal_final = is_final ? REGAL__REGAL_FINAL__REGAL_FINAL_YES
                                     : REGAL__REGAL_FINAL__REGAL_FINAL_NO;
  }
}

static void fill_node(const saver *saver, uint32_t op, regal_cost_node *node) {
  const regal_graph *graph = saver->graph;
  int64_t run_ns = graph->run_ns[op];
  regal__cost_graph_def__node__init(node);
  node->name = (char *)regal_graph_name(graph, op);
  node->id = (int32_t)saver->number[op];
  node->compute_cost =
      run_ns / NS_PER_US + (run_ns % NS_PER_US >= NS_PER_US / 2);
  node->regal_run_ns = run_ns % NS_PER_US ? run_ns : 0;
  node->temporary_memory_size = graph->temporary_bytes[op];
  node->persistent_memory_size = graph->resident_bytes[op];
  node->input_info = saver->input_list;
  node->output_info = saver->output_list;
  node->control_input = saver->controls;
  node->regal_parameter = saver->parameters;
  const char *device = regal_graph_label(graph, &graph->device, op);
  const char *group = regal_graph_label(graph, &graph->group, op);
  if (device)
    node->regal_device = (char *)device;
  if (group)
    node->regal_group = (char *)group;
  fill_inputs(saver, op, node);
  fill_outputs(saver, op, node);
}

/* -- Writing --------------------------------------------------------------- */

/* A protobuf-c buffer that appends to a text. */
typedef struct text_buffer {
  ProtobufCBuffer base;
  regal_text *out;
} text_buffer;

static void append_to_text(ProtobufCBuffer *buffer, size_t size,
                           const uint8_t *bytes) {
  regal_text_append(((text_buffer *)buffer)->out, bytes, size);
}

static void append_binary(const ProtobufCMessage *message, regal_text *out) {
  text_buffer buffer = {{append_to_text}, out};
  protobuf_c_message_pack_to_buffer(message, &buffer.base);
}

/* Nodes one by one, so that the whole message is never in memory: what is
 * written is the same as that of a CostGraphDef with all of them. */
static void write_node(const saver *saver, const regal_cost_node *node) {
  regal_text *out = saver->out;
  if (saver->as_text) {
    regal_text_append(out, "node {\n", 7);
    regal_text_format_write(&node->base, 1, out);
    regal_text_append(out, "}\n", 2);
    return;
  }
  regal_wire_append_varint(out, NODE_FIELD << 3 | REGAL_WIRE_BYTES);
  regal_wire_append_varint(out,
                           protobuf_c_message_get_packed_size(&node->base));
  append_binary(&node->base, out);
}

/* What a CostGraphDef holds besides its nodes. */
static void write_rest(const saver *saver) {
  const regal_graph *graph = saver->graph;
  Regal__CostGraphDef rest = REGAL__COST_GRAPH_DEF__INIT;
  uint32_t sources = 0;
  for (uint32_t op = 0; op < graph->ops; op++)
    sources += !strcmp(regal_graph_name(graph, op), "_SOURCE");
  rest.regal_one_partition = sources > 1;
  rest.regal_parameter_bytes = graph->parameter_bytes;
  rest.n_regal_parameter_bytes = graph->parameters;
  if (saver->as_text)
    regal_text_format_write(&rest.base, 0, saver->out);
  else
    append_binary(&rest.base, saver->out);
}

static void write_all(saver *saver) {
  const regal_graph *graph = saver->graph;
  uint32_t next = 0;
  for (uint32_t i = 0; i < graph->file_nodes; i++)
    if (graph->op_of_id[i] != REGAL_NONE)
      saver->number[graph->op_of_id[i]] = next++;
  for (uint32_t i = 0; i < graph->file_nodes; i++) {
    regal_cost_node node;
    if (graph->op_of_id[i] == REGAL_NONE)
      continue;
    fill_node(saver, graph->op_of_id[i], &node);
    write_node(saver, &node);
  }
  write_rest(saver);
}

/* -- Room ------------------------------------------------------------------ */

static uint32_t longest_row(const uint32_t *begin, uint32_t rows) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < rows; i++)
    if (begin[i + 1] - begin[i] > longest)
      longest = begin[i + 1] - begin[i];
  return longest;
}

static bool make_room(saver *saver, regal_arena *arena) {
  const regal_graph *graph = saver->graph;
  size_t inputs = longest_row(graph->input_begin, graph->ops);
  size_t outputs = longest_row(graph->output_begin, graph->ops);
  size_t controls = longest_row(graph->control_in_begin, graph->ops);
  size_t parameters = longest_row(graph->parameter_begin, graph->ops);
  saver->number = regal_arena_alloc(arena, graph->ops, sizeof *saver->number);
  saver->inputs = regal_arena_alloc(arena, inputs, sizeof *saver->inputs);
  saver->outputs = regal_arena_alloc(arena, outputs, sizeof *saver->outputs);
  saver->input_list = regal_arena_alloc(arena, inputs, sizeof(void *));
  saver->output_list = regal_arena_alloc(arena, outputs, sizeof(void *));
  saver->controls = regal_arena_alloc(arena, controls, sizeof(int32_t));
  saver->parameters = regal_arena_alloc(arena, parameters, sizeof(int32_t));
  if (arena->failed)
    return false;
  for (size_t i = 0; i < inputs; i++)
    saver->input_list[i] = &saver->inputs[i];
  for (size_t i = 0; i < outputs; i++)
    saver->output_list[i] = &saver->outputs[i];
  return true;
}

/* What a CostGraphDef cannot hold. */
static regal_status check(regal_context *context, const char *path,
                          const regal_graph *graph) {
  if (graph->ops > INT32_MAX || graph->parameters > INT32_MAX)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: a CostGraphDef has at most %" PRId32
                      " nodes and as many parameters",
                      path, INT32_MAX);
  return regal_graph_check_utf8(context, path, graph, "a CostGraphDef");
}

static regal_status save(regal_context *context, const char *path,
                         const regal_graph *graph, bool as_text,
                         regal_text *out) {
  saver saver = {.graph = graph, .as_text = as_text, .out = out};
  regal_arena arena;
  REGAL_TRY(check(context, path, graph));
  regal_arena_init(&arena, context);
  bool room = make_room(&saver, &arena);
  if (room)
    write_all(&saver);
  regal_arena_free(&arena);
  return room && !out->failed ? REGAL_OK : regal_fail_memory(context);
}

regal_status regal_cost_graph_save_binary(regal_context *context,
                                          const char *path,
                                          const regal_graph *graph,
                                          regal_text *out) {
  return save(context, path, graph, false, out);
}

regal_status regal_cost_graph_save_text(regal_context *context,
                                        const char *path,
                                        const regal_graph *graph,
                                        regal_text *out) {
  return save(context, path, graph, true, out);
}
