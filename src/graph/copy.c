/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a graph that may be changed (data augmentation does), and the
 * figures that a change of times or sizes makes stale: totals, critical path,
 * checksum.
 */
#include <string.h>

#include "base/compare.h"
#include "graph/builder.h"
#include "graph/graph.h"

typedef struct copier {
  regal_context *context;
  bool failed;
} copier;

static void *copy_array(copier *c, const void *from, size_t count,
                        size_t size) {
  if (c->failed)
    return NULL;
  void *made = regal_alloc(c->context, count, size);
  c->failed = !made;
  if (made && count)
    memcpy(made, from, count * size);
  return made;
}

/* The larger of `bytes` and the end of the text at `begin`. */
static size_t end_of_text(const regal_graph *graph, size_t begin,
                          size_t bytes) {
  size_t end = begin + strlen(graph->names + begin) + 1;
  return end > bytes ? end : bytes;
}

static size_t name_bytes(const regal_graph *graph) {
  size_t bytes = 0;
  for (uint32_t op = 0; op < graph->ops; op++)
    bytes = end_of_text(graph, graph->name_begin[op], bytes);
  for (uint32_t i = 0; i < graph->device.count; i++)
    bytes = end_of_text(graph, graph->device.begin[i], bytes);
  for (uint32_t i = 0; i < graph->group.count; i++)
    bytes = end_of_text(graph, graph->group.begin[i], bytes);
  return bytes;
}

static void copy_labels(copier *c, uint32_t ops, const regal_labels *from,
                        regal_labels *to) {
  to->begin = NULL;
  to->of = NULL;
  if (!from->of)
    return;
  to->begin = copy_array(c, from->begin, from->count, sizeof *to->begin);
  to->of = copy_array(c, from->of, ops, sizeof *to->of);
}

/* NULL is no text. */
static char *copy_text(copier *c, const char *text) {
  char *copy = text ? regal_copy_text(c->context, text) : NULL;
  c->failed |= text && !copy;
  return copy;
}

/* Every array of `made` starts as NULL, so that a copy that fails half way can
 * be freed like any graph. */
static bool copy_arrays(const regal_graph *graph, regal_graph *made) {
  copier c = {made->context, false};
#define CLEAR(array, count) made->array = NULL;
#define COPY(array, count)                                                     \
  made->array = copy_array(&c, graph->array, count, sizeof *graph->array);
  REGAL_GRAPH_ARRAYS(CLEAR, graph)
  made->names = NULL;
  made->parameter = NULL;
  REGAL_GRAPH_ARRAYS(COPY, graph)
  COPY(names, name_bytes(graph))
  COPY(parameter, graph->parameter_begin[graph->ops])
  copy_labels(&c, graph->ops, &graph->device, &made->device);
  copy_labels(&c, graph->ops, &graph->group, &made->group);
  made->size_advice = copy_text(&c, graph->size_advice);
  made->source = copy_text(&c, graph->source);
  return !c.failed;
}

regal_status regal_graph_copy(regal_context *context, const regal_graph *graph,
                              regal_graph **copy) {
  regal_graph *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  *made = *graph;
  made->context = context;
  made->notes = NULL;
  made->note_count = made->note_capacity = 0;
  made->has_schedule = false; /* its figures are those of the original */
  made->schedule_peak_bytes = made->reported_peak_bytes = 0;
  if (!copy_arrays(graph, made)) {
    regal_graph_free(made);
    return regal_fail_memory(context);
  }
  *copy = made;
  return REGAL_OK;
}

/* -- Totals ---------------------------------------------------------------- */

/* Adds up below the limit; false when it would be passed. */
static bool add(int64_t *sum, int64_t value) {
  return !__builtin_add_overflow(*sum, value, sum) && *sum < REGAL_MOST_TOTAL;
}

static bool sum_up(regal_graph *graph) {
  graph->work_ns = graph->tensor_bytes = 0;
  int64_t other = graph->total_resident_bytes;
  for (uint32_t op = 0; op < graph->ops; op++)
    if (!add(&graph->work_ns, graph->run_ns[op]) ||
        !add(&other, graph->temporary_bytes[op]))
      return false;
  for (uint32_t tensor = 0; tensor < graph->tensors; tensor++)
    if (!add(&graph->tensor_bytes, graph->bytes[tensor]))
      return false;
  return add(&other, graph->tensor_bytes);
}

static void find_critical(regal_graph *graph, int64_t *end) {
  graph->critical_ns = 0;
  for (uint32_t op = 0; op < graph->ops; op++) {
    int64_t start = 0;
    for (REGAL_ROW(i, graph->input_begin, op))
      start = regal_larger(start, end[graph->producer[graph->input[i]]]);
    for (REGAL_ROW(i, graph->control_in_begin, op))
      start = regal_larger(start, end[graph->control_in[i]]);
    end[op] = start + graph->run_ns[op];
    graph->critical_ns = regal_larger(graph->critical_ns, end[op]);
  }
}

regal_status regal_graph_settle(regal_graph *graph) {
  if (!sum_up(graph))
    return regal_fail(graph->context, REGAL_BAD_INPUT,
                      "the graph's times or sizes add up to 2^62 or more");
  int64_t *end = regal_alloc(graph->context, graph->ops, sizeof *end);
  if (!end)
    return regal_fail_memory(graph->context);
  find_critical(graph, end);
  regal_release(graph->context, end);
  graph->checksum = regal_graph_checksum(graph);
  return REGAL_OK;
}
