/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a graph: `regal inspect`, for people, and `regal inspect --json`,
 * for programs. */
#include "pipeline/pipeline.h"
#include "report/figures.h"
#include "report/layout.h"
#include "report/summary.h"

#include <string.h>

#define KINDS_SHOWN 10

static uint32_t count_labelled(const regal_graph *graph,
                               const regal_labels *labels) {
  uint32_t count = 0;
  for (uint32_t op = 0; op < graph->ops; op++)
    count += regal_graph_label(graph, labels, op) != NULL;
  return count;
}

/* What the graph asks of the machine, if it does. */
static void put_wishes(regal_text *text, const regal_graph *graph) {
  uint32_t pinned = count_labelled(graph, &graph->device);
  uint32_t grouped = count_labelled(graph, &graph->group);
  if (pinned)
    regal_text_format(text, "%-16s%u op%s must run on a given device\n", "pins",
                      pinned, regal_plural(pinned));
  if (grouped)
    regal_text_format(text, "%-16s%u, of %u op%s\n", "groups",
                      graph->group.count, grouped, regal_plural(grouped));
}

static void put_counts(regal_text *text, const regal_graph *graph,
                       const regal_graph_figures *figures) {
  regal_text_format(text, "%-16s%u", "ops", graph->ops);
  if (graph->file_nodes != graph->ops)
    regal_text_format(text, " (of %u node%s in the file)", graph->file_nodes,
                      regal_plural(graph->file_nodes));
  regal_text_format(text, "\n%-16s%u, %s\n", "tensors", graph->tensors,
                    regal_show_bytes(graph->tensor_bytes).text);
  regal_text_format(text, "%-16s%u data, %u control\n", "edges", graph->uses,
                    graph->controls);
  regal_text_format(text, "%-16s%u op%s deep, at most %u wide\n", "shape",
                    figures->depth, regal_plural(figures->depth),
                    figures->width);
  if (graph->total_resident_bytes)
    regal_text_format(text, "%-16s%s resident\n", "parameters",
                      regal_show_bytes(graph->total_resident_bytes).text);
}

static void put_schedule(regal_text *text, const regal_graph *graph) {
  if (!graph->has_schedule)
    return;
  regal_text_format(text, "%-16speak %s on one device", "XLA's order",
                    regal_show_bytes(graph->schedule_peak_bytes).text);
  if (graph->reported_peak_bytes)
    regal_text_format(text, "; XLA reports %s",
                      regal_show_bytes(graph->reported_peak_bytes).text);
  regal_text_format(text, "\n");
}

static void put_times(regal_text *text, const regal_graph *graph) {
  regal_text_format(text, "%-16s%s\n%-16s%s\n", "work",
                    regal_show_duration(graph->work_ns).text, "critical path",
                    regal_show_duration(graph->critical_ns).text);
  if (graph->critical_ns)
    regal_text_format(text, "%-16s%.2f (work / critical path)\n", "parallelism",
                      (double)graph->work_ns / (double)graph->critical_ns);
  regal_text_format(text, "%-16s%016llx\n", "checksum",
                    (unsigned long long)graph->checksum);
}

/* Of one device, which is never idle: no plan does better than that times the
 * number of devices. */
static double throughput(const regal_graph *graph, uint32_t microbatches) {
  double work_ns = (double)graph->work_ns;
  return work_ns > 0 ? microbatches / work_ns * 1e9 : 0;
}

static void put_pipeline(regal_text *text, const regal_graph *graph) {
  uint32_t microbatches = regal_graph_microbatches(graph);
  if (microbatches)
    regal_text_format(text,
                      "%-16s%u microbatches, at most %.4g per second a device "
                      "(bubble rate 0)\n",
                      "pipeline", microbatches,
                      throughput(graph, microbatches));
}

static void put_op(regal_text *text, const regal_graph *graph, uint32_t op) {
  const char *name = regal_graph_name(graph, op);
  regal_layout_name(text, name, strlen(name));
}

/* A figure, as `show` writes it, and its share of the whole. */
static void put_share(regal_text *text, regal_shown (*show)(int64_t),
                      int64_t part, int64_t whole) {
  regal_text_format(text, "  %-12s%5.1f%%  ", show(part).text,
                    regal_layout_percent(part, whole));
}

static void put_largest_ops(regal_text *text, const regal_graph *graph,
                            const regal_graph_figures *figures) {
  if (figures->top_ops)
    regal_text_format(text, "\nlargest ops\n");
  for (uint32_t i = 0; i < figures->top_ops; i++) {
    uint32_t op = figures->top_op[i];
    put_share(text, regal_show_duration, graph->run_ns[op], graph->work_ns);
    put_op(text, graph, op);
    regal_text_format(text, "\n");
  }
}

static void put_largest_tensors(regal_text *text, const regal_graph *graph,
                                const regal_graph_figures *figures) {
  if (figures->top_tensors)
    regal_text_format(text, "\nlargest tensors\n");
  for (uint32_t i = 0; i < figures->top_tensors; i++) {
    uint32_t tensor = figures->top_tensor[i], op = graph->producer[tensor];
    put_share(text, regal_show_bytes, graph->bytes[tensor],
              graph->tensor_bytes);
    put_op(text, graph, op);
    regal_text_format(text, ":%u\n", tensor - graph->output_begin[op]);
  }
}

static void put_kind(regal_text *text, int64_t run_ns, int64_t work_ns,
                     uint32_t ops, const char *name, size_t length) {
  put_share(text, regal_show_duration, run_ns, work_ns);
  regal_text_format(text, "%6u  ", ops);
  regal_layout_name(text, name, length);
  regal_text_format(text, "\n");
}

/* Says something only where ops share kinds and have times. */
static void put_kinds(regal_text *text, const regal_graph *graph,
                      const regal_graph_figures *figures) {
  if (figures->kind_count > graph->ops / 2 || !graph->work_ns)
    return;
  int64_t rest_ns = graph->work_ns;
  uint32_t rest_ops = graph->ops, shown = 0;
  regal_text_format(text, "\ntime by kind of op (time, share, ops)\n");
  for (; shown < figures->kind_count && shown < KINDS_SHOWN; shown++) {
    const regal_kind *kind = &figures->kinds[shown];
    put_kind(text, kind->run_ns, graph->work_ns, kind->ops, kind->name,
             kind->length);
    rest_ns -= kind->run_ns;
    rest_ops -= kind->ops;
  }
  if (rest_ops)
    put_kind(text, rest_ns, graph->work_ns, rest_ops, "(all others)", 12);
}

static void put_notes(regal_text *text, const regal_graph *graph) {
  if (graph->note_count)
    regal_text_format(text, "\nreader notes\n");
  for (int kind = REGAL_NOTE_ASSUMED; kind <= REGAL_NOTE_WARNING; kind++)
    for (size_t i = 0; i < graph->note_count; i++) {
      const regal_note *note = &graph->notes[i];
      if ((int)note->kind != kind)
        continue;
      regal_text_format(text, "  %s: ", regal_note_name(note->kind));
      regal_layout_name(text, note->text, strlen(note->text));
      regal_text_format(text, "\n");
    }
}

regal_status regal_graph_text(regal_context *context, const regal_graph *graph,
                              regal_text *text) {
  regal_graph_figures figures;
  REGAL_TRY(regal_figures_compute(context, graph, &figures));
  put_counts(text, graph, &figures);
  put_wishes(text, graph);
  put_times(text, graph);
  put_schedule(text, graph);
  put_pipeline(text, graph);
  put_largest_ops(text, graph, &figures);
  put_largest_tensors(text, graph, &figures);
  put_kinds(text, graph, &figures);
  put_notes(text, graph);
  regal_figures_free(&figures);
  return REGAL_OK;
}

regal_status regal_report_graph(regal_context *context,
                                const regal_graph *graph, FILE *stream) {
  regal_text text;
  REGAL_TRY(regal_need(context, graph && stream,
                       "a report needs a graph and a stream"));
  regal_text_init(&text, context);
  regal_status status = regal_graph_text(context, graph, &text);
  return regal_layout_finish(context, status, &text, stream);
}

/* -- JSON ------------------------------------------------------------------ */

static void put_number(regal_text *text, const char *key, int64_t value) {
  regal_text_format(text, " \"%s\": %lld,\n", key, (long long)value);
}

static void put_pipeline_json(regal_text *text, const regal_graph *graph) {
  uint32_t microbatches = regal_graph_microbatches(graph);
  if (microbatches)
    regal_text_format(text,
                      " \"microbatches\": %u,\n"
                      " \"microbatches_per_device_second\": %.6g,\n",
                      microbatches, throughput(graph, microbatches));
}

static void put_schedule_json(regal_text *text, const regal_graph *graph) {
  if (graph->has_schedule)
    put_number(text, "schedule_peak_bytes", graph->schedule_peak_bytes);
  if (graph->reported_peak_bytes)
    put_number(text, "reported_peak_bytes", graph->reported_peak_bytes);
}

static void put_notes_json(regal_text *text, const regal_graph *graph) {
  regal_text_format(text, " \"notes\": [");
  for (size_t i = 0; i < graph->note_count; i++) {
    regal_text_format(text, "%s\n  {\"kind\": \"%s\", \"text\": ", i ? "," : "",
                      regal_note_name(graph->notes[i].kind));
    regal_text_json(text, graph->notes[i].text);
    regal_text_format(text, "}");
  }
  regal_text_format(text, "]}\n");
}

regal_status regal_graph_info_save_json(regal_context *context,
                                        const regal_graph *graph,
                                        const char *path) {
  regal_graph_figures figures;
  regal_text text;
  REGAL_TRY(regal_need(context, graph && path,
                       "saving a graph's statistics needs it and a path"));
  REGAL_TRY(regal_figures_compute(context, graph, &figures));
  regal_text_init(&text, context);
  regal_text_format(&text, "{\"ops\": %u,\n", graph->ops);
  put_number(&text, "tensors", graph->tensors);
  put_number(&text, "data_edges", graph->uses);
  put_number(&text, "control_edges", graph->controls);
  put_number(&text, "file_nodes", graph->file_nodes);
  put_number(&text, "depth", figures.depth);
  put_number(&text, "width", figures.width);
  put_number(&text, "work_ns", graph->work_ns);
  put_number(&text, "critical_path_ns", graph->critical_ns);
  put_number(&text, "tensor_bytes", graph->tensor_bytes);
  put_number(&text, "resident_bytes", graph->total_resident_bytes);
  put_number(&text, "pinned_ops", count_labelled(graph, &graph->device));
  put_number(&text, "groups", graph->group.count);
  put_schedule_json(&text, graph);
  put_pipeline_json(&text, graph);
  regal_text_format(&text, " \"checksum\": \"%016llx\",\n",
                    (unsigned long long)graph->checksum);
  put_notes_json(&text, graph);
  regal_figures_free(&figures);
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}
