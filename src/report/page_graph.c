/* SPDX-License-Identifier: Apache-2.0 */
/* The graph in the data of a page: ops with their names, kinds and costs,
 * tensors, edges, parameters, and the text of `regal inspect`. Rows of
 * different lengths are one list, beside a list of their lengths. */
#include <stdlib.h>

#include "graph/graph.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/summary.h"

static void put_names(regal_text *text, const regal_graph *graph) {
  regal_text_format(text, ",\n\"names\":[");
  for (uint32_t op = 0; op < graph->ops; op++) {
    if (op)
      regal_text_append(text, ",", 1);
    regal_text_json(text, regal_graph_name(graph, op));
  }
  regal_text_format(text, "]");
}

/* Kinds are parts of names, which do not end with a zero. */
static regal_status put_kind_name(regal_context *context, regal_text *text,
                                  const regal_kind *kind) {
  char *name = regal_alloc(context, kind->length + 1, 1);
  if (!name)
    return regal_fail_memory(context);
  for (size_t i = 0; i < kind->length; i++)
    name[i] = kind->name[i];
  regal_text_json(text, name);
  regal_release(context, name);
  return REGAL_OK;
}

static regal_status put_kinds(regal_context *context, regal_text *text,
                              const regal_graph *graph,
                              regal_graph_figures *figures) {
  regal_kind *kinds = figures->kinds;
  uint32_t count = figures->kind_count;
  qsort(kinds, count, sizeof *kinds, regal_figures_compare);
  regal_text_format(text, ",\n\"kinds\":[");
  for (uint32_t k = 0; k < count; k++) {
    regal_text_format(text, k ? "," : "");
    REGAL_TRY(put_kind_name(context, text, &kinds[k]));
  }
  regal_text_format(text, "],\n\"kind\":[");
  for (uint32_t op = 0; op < graph->ops; op++) {
    regal_kind wanted = regal_figures_kind(graph, op);
    const regal_kind *found =
        bsearch(&wanted, kinds, count, sizeof *kinds, regal_figures_compare);
    regal_text_format(text, "%s%u", op ? "," : "", (unsigned)(found - kinds));
  }
  regal_text_format(text, "]");
  return REGAL_OK;
}

static void put_ops(regal_text *text, const regal_graph *graph) {
  regal_text_format(text, ",\n");
  regal_page_indices(text, "id", graph->id, graph->ops);
  regal_text_format(text, ",\n");
  regal_page_numbers(text, "run_ns", graph->run_ns, graph->ops);
  regal_text_format(text, ",\n");
  regal_page_numbers(text, "temporary", graph->temporary_bytes, graph->ops);
  regal_text_format(text, ",\n");
  regal_page_numbers(text, "resident", graph->resident_bytes, graph->ops);
  regal_text_format(text, ",\n");
  regal_page_lengths(text, "outputs", graph->output_begin, graph->ops);
}

static void put_tensors(regal_text *text, const regal_graph *graph) {
  bool first = true;
  regal_text_format(text, ",\n");
  regal_page_numbers(text, "bytes", graph->bytes, graph->tensors);
  regal_text_format(text, ",\n\"final\":[");
  for (uint32_t t = 0; t < graph->tensors; t++)
    if (graph->is_final[t]) {
      regal_text_format(text, "%s%u", first ? "" : ",", t);
      first = false;
    }
  regal_text_format(text, "]");
}

static void put_edges(regal_text *text, const regal_graph *graph) {
  regal_text_format(text, ",\n");
  regal_page_lengths(text, "inputs", graph->input_begin, graph->ops);
  regal_text_format(text, ",\n");
  regal_page_indices(text, "input", graph->input, graph->uses);
  regal_text_format(text, ",\n");
  regal_page_lengths(text, "controls", graph->control_in_begin, graph->ops);
  regal_text_format(text, ",\n");
  regal_page_indices(text, "control", graph->control_in, graph->controls);
}

static void put_parameters(regal_text *text, const regal_graph *graph) {
  regal_text_format(text, ",\n");
  regal_page_numbers(text, "parameter_bytes", graph->parameter_bytes,
                     graph->parameters);
  regal_text_format(text, ",\n");
  regal_page_lengths(text, "parameters", graph->parameter_begin, graph->ops);
  regal_text_format(text, ",\n");
  regal_page_indices(text, "parameter", graph->parameter,
                     graph->parameter_begin[graph->ops]);
}

static regal_status put_text(regal_context *context, regal_text *text,
                             const regal_graph *graph) {
  regal_text report;
  regal_text_init(&report, context);
  regal_status status = regal_graph_text(context, graph, &report);
  if (status == REGAL_OK) {
    regal_text_format(text, ",\n\"text\":");
    regal_text_json(text, report.bytes ? report.bytes : "");
    text->failed = text->failed || report.failed;
  }
  regal_text_free(&report);
  return status;
}

regal_status regal_page_graph(regal_context *context, const regal_graph *graph,
                              regal_text *text) {
  regal_graph_figures figures;
  regal_text_format(text, "{\"ops\":%u,\"tensors\":%u", graph->ops,
                    graph->tensors);
  put_names(text, graph);
  put_ops(text, graph);
  put_tensors(text, graph);
  put_edges(text, graph);
  put_parameters(text, graph);
  REGAL_TRY(regal_figures_compute(context, graph, &figures));
  regal_status status = put_kinds(context, text, graph, &figures);
  regal_figures_free(&figures);
  if (status == REGAL_OK)
    status = put_text(context, text, graph);
  regal_text_format(text, "}");
  return status;
}
