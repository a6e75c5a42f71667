/* SPDX-License-Identifier: Apache-2.0 */
/* Plans carry the checksum of their graph, so a change here makes old plans
 * look like plans of another graph: a test pins one. What a graph does not have
 * (parameters, marks, devices, groups) leaves no trace in it.
 */
#include "graph/graph.h"

#include <string.h>

#include "base/random.h"

/* What follows the ops. */
enum section { PARAMETERS = 1, MARKS = 2, DEVICES = 3, GROUPS = 4 };

static uint64_t add(uint64_t sum, uint64_t value) {
  return regal_mix(sum ^ value) + REGAL_GOLDEN;
}

/* Eight characters at a time, lowest byte first on any machine. */
static uint64_t add_text(uint64_t sum, const char *text) {
  size_t size = strlen(text);
  sum = add(sum, size);
  for (size_t begin = 0; begin < size; begin += 8) {
    uint64_t word = 0;
    for (size_t i = begin; i < size && i < begin + 8; i++)
      word |= (uint64_t)(unsigned char)text[i] << 8 * (i - begin);
    sum = add(sum, word);
  }
  return sum;
}

static uint64_t add_rows(uint64_t sum, const uint32_t *begin,
                         const uint32_t *item, uint32_t row) {
  sum = add(sum, begin[row + 1] - begin[row]);
  for (REGAL_ROW(i, begin, row))
    sum = add(sum, item[i]);
  return sum;
}

static uint64_t add_parameters(uint64_t sum, const regal_graph *graph) {
  sum = add(sum, PARAMETERS);
  sum = add(sum, graph->parameters);
  for (uint32_t p = 0; p < graph->parameters; p++)
    sum = add(sum, (uint64_t)graph->parameter_bytes[p]);
  for (uint32_t op = 0; op < graph->ops; op++)
    sum = add_rows(sum, graph->parameter_begin, graph->parameter, op);
  return sum;
}

static uint64_t add_marks(uint64_t sum, const regal_graph *graph) {
  sum = add(sum, MARKS);
  for (uint32_t tensor = 0; tensor < graph->tensors; tensor++)
    if (graph->may_reuse[tensor])
      sum = add(sum, tensor);
  return sum;
}

static uint64_t add_labels(uint64_t sum, const regal_graph *graph,
                           const regal_labels *labels, enum section section) {
  sum = add(sum, section);
  for (uint32_t op = 0; op < graph->ops; op++) {
    const char *text = regal_graph_label(graph, labels, op);
    if (text)
      sum = add_text(add(sum, op), text);
  }
  return sum;
}

uint64_t regal_graph_checksum(const regal_graph *graph) {
  uint64_t sum = add(REGAL_GOLDEN, graph->ops);
  sum = add(sum, graph->file_nodes);
  for (uint32_t op = 0; op < graph->ops; op++) {
    sum = add_text(sum, regal_graph_name(graph, op));
    sum = add(sum, graph->id[op]);
    sum = add(sum, (uint64_t)graph->run_ns[op]);
    sum = add(sum, (uint64_t)graph->temporary_bytes[op]);
    sum = add(sum, (uint64_t)graph->resident_bytes[op]);
    uint32_t begin = graph->output_begin[op], end = graph->output_begin[op + 1];
    sum = add(sum, end - begin);
    for (uint32_t tensor = begin; tensor < end; tensor++) {
      sum = add(sum, (uint64_t)graph->bytes[tensor]);
      sum = add(sum, graph->is_final[tensor]);
    }
    sum = add_rows(sum, graph->input_begin, graph->input, op);
    sum = add_rows(sum, graph->control_in_begin, graph->control_in, op);
  }
  if (graph->parameters)
    sum = add_parameters(sum, graph);
  if (graph->reusing_tensors)
    sum = add_marks(sum, graph);
  if (graph->device.count)
    sum = add_labels(sum, graph, &graph->device, DEVICES);
  if (graph->group.count)
    sum = add_labels(sum, graph, &graph->group, GROUPS);
  return sum;
}
