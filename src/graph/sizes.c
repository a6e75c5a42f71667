/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors whose bytes nobody knows. They count as 0 bytes, so that a search
 * would cut the graph just there, for a transfer that seems to cost nothing.
 * What depends on their bytes is refused instead, with the reader's advice.
 */
#include "graph/builder.h"

#define MOST_NAMED 3

void regal_builder_set_unknown(regal_builder *builder) {
  builder->outputs[builder->output_count - 1].unknown = true;
}

/* "relu:0", "conv:1" and 4 more */
static void list_tensors(const regal_graph *graph, const uint8_t *chosen,
                         uint32_t count, char *list, size_t capacity) {
  uint32_t named = 0;
  size_t at = 0;
  list[0] = 0;
  for (uint32_t t = 0; t < graph->tensors && named < MOST_NAMED; t++) {
    if (!chosen[t])
      continue;
    uint32_t op = graph->producer[t];
    at += (size_t)snprintf(list + at, capacity - at, "%s%s:%u",
                           named++ ? ", " : "",
                           regal_quote(regal_graph_name(graph, op)).text,
                           t - graph->output_begin[op]);
  }
  if (count > named)
    snprintf(list + at, capacity - at, " and %u more", count - named);
}

regal_status regal_graph_check_sizes(regal_context *context,
                                     const regal_graph *graph,
                                     const uint8_t *chosen, const char *what) {
  char list[MOST_NAMED * (REGAL_QUOTED_CAPACITY + 16) + 32];
  uint32_t count = 0;
  for (uint32_t t = 0; t < graph->tensors; t++)
    count += chosen[t] != 0;
  if (!count)
    return REGAL_OK;
  list_tensors(graph, chosen, count, list, sizeof list);
  return regal_fail(
      context, REGAL_BAD_INPUT, "%u tensor%s of unknown size %s: %s%s%s", count,
      count == 1 ? "" : "s", what, list, graph->size_advice ? "; " : "",
      graph->size_advice ? graph->size_advice : "");
}
