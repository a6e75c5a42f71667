/* SPDX-License-Identifier: Apache-2.0 */
/* A finished graph: read access to it, its notes, and its release. */
#include "graph/graph.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "base/utf8.h"

void regal_graph_free(regal_graph *graph) {
  if (!graph)
    return;
#define RELEASE(array, count) regal_release(graph->context, graph->array);
  REGAL_GRAPH_ARRAYS(RELEASE, graph)
  regal_release(graph->context, graph->names);
  regal_release(graph->context, graph->parameter);
  regal_release(graph->context, graph->device.begin);
  regal_release(graph->context, graph->device.of);
  regal_release(graph->context, graph->group.begin);
  regal_release(graph->context, graph->group.of);
  for (size_t i = 0; i < graph->note_count; i++)
    regal_release(graph->context, (void *)graph->notes[i].text);
  regal_release(graph->context, graph->notes);
  regal_release(graph->context, graph->size_advice);
  regal_release(graph->context, graph->source);
  regal_release(graph->context, graph);
}

static bool is_utf8(const char *text) {
  size_t size = text ? strlen(text) : 0;
  return !text || regal_utf8_valid(text, size) == size;
}

regal_status regal_graph_check_utf8(regal_context *context, const char *path,
                                    const regal_graph *graph,
                                    const char *format) {
  for (uint32_t op = 0; op < graph->ops; op++) {
    const char *wrong = NULL;
    if (!is_utf8(regal_graph_name(graph, op)))
      wrong = "name";
    else if (!is_utf8(regal_graph_label(graph, &graph->device, op)))
      wrong = "device";
    else if (!is_utf8(regal_graph_label(graph, &graph->group, op)))
      wrong = "group";
    if (wrong)
      return regal_fail(context, REGAL_BAD_INPUT,
                        "%s: the %s of op %u is not UTF-8, which %s needs",
                        path, wrong, graph->id[op], format);
  }
  return REGAL_OK;
}

void regal_graph_describe(const regal_graph *graph, regal_graph_info *info) {
  *info = (regal_graph_info){
      .ops = graph->ops,
      .tensors = graph->tensors,
      .data_edges = graph->uses,
      .control_edges = graph->controls,
      .file_nodes = graph->file_nodes,
      .work_ns = graph->work_ns,
      .critical_ns = graph->critical_ns,
      .tensor_bytes = graph->tensor_bytes,
      .resident_bytes = graph->total_resident_bytes,
      .checksum = graph->checksum,
      .parameters = graph->parameters,
      .reusing_tensors = graph->reusing_tensors,
      .has_schedule = graph->has_schedule,
      .schedule_peak_bytes = graph->schedule_peak_bytes,
      .reported_peak_bytes = graph->reported_peak_bytes,
  };
}

void regal_graph_op(const regal_graph *graph, uint32_t op,
                    regal_op_info *info) {
  *info = (regal_op_info){
      .name = regal_graph_name(graph, op),
      .id = graph->id[op],
      .run_ns = graph->run_ns[op],
      .temporary_bytes = graph->temporary_bytes[op],
      .resident_bytes = graph->resident_bytes[op],
      .outputs = graph->output_begin[op + 1] - graph->output_begin[op],
      .inputs = graph->input_begin[op + 1] - graph->input_begin[op],
      .device = regal_graph_label(graph, &graph->device, op),
      .group = regal_graph_label(graph, &graph->group, op),
  };
}

void regal_graph_read(const regal_graph *graph, regal_graph_arrays *arrays) {
  *arrays = (regal_graph_arrays){
      .ops = graph->ops,
      .tensors = graph->tensors,
      .parameters = graph->parameters,
      .ids = graph->file_nodes,
      .id = graph->id,
      .op_of_id = graph->op_of_id,
      .run_ns = graph->run_ns,
      .temporary_bytes = graph->temporary_bytes,
      .resident_bytes = graph->resident_bytes,
      .output_begin = graph->output_begin,
      .producer = graph->producer,
      .bytes = graph->bytes,
      .is_final = graph->is_final,
      .may_reuse = graph->may_reuse,
      .input_begin = graph->input_begin,
      .input = graph->input,
      .control_begin = graph->control_in_begin,
      .control = graph->control_in,
      .parameter_bytes = graph->parameter_bytes,
      .parameter_begin = graph->parameter_begin,
      .parameter = graph->parameter,
  };
}

size_t regal_graph_note_count(const regal_graph *graph) {
  return graph->note_count;
}

regal_note regal_graph_note(const regal_graph *graph, size_t index) {
  return graph->notes[index];
}

static regal_status add_text(regal_graph *graph, regal_note_kind kind,
                             const char *text) {
  regal_context *context = graph->context;
  if (!REGAL_RESERVE(context, graph->notes, graph->note_count,
                     graph->note_capacity))
    return regal_fail_memory(context);
  char *copy = regal_copy_text(context, text);
  if (!copy)
    return regal_fail_memory(context);
  graph->notes[graph->note_count++] = (regal_note){kind, copy};
  return REGAL_OK;
}

regal_status regal_graph_add_note(regal_graph *graph, regal_note_kind kind,
                                  const char *format, ...) {
  char text[REGAL_MESSAGE_CAPACITY];
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(text, sizeof text, format, arguments);
  va_end(arguments);
  return add_text(graph, kind, text);
}
