/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a graph, for programs: `regal inspect --json`. */
#include "base/text.h"
#include "report/figures.h"

static void put_number(regal_text *text, const char *key, int64_t value) {
  regal_text_format(text, " \"%s\": %lld,\n", key, (long long)value);
}

static void put_notes(regal_text *text, const regal_graph *graph) {
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
  regal_text_format(&text, " \"checksum\": \"%016llx\",\n",
                    (unsigned long long)graph->checksum);
  put_notes(&text, graph);
  regal_figures_free(&figures);
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}
