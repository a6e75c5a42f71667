/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader assumed and left out, as notes of the graph: one for each
 * kind, with its count and the first few names.
 */
#include "format/onnx/onnx.h"

#include <inttypes.h>
#include <string.h>

#include "format/costs/costs.h"
#include "graph/builder.h"

void regal_onnx_list(const regal_onnx_names *names, size_t most,
                     regal_text *text) {
  uint64_t named = 0;
  if (most > REGAL_ONNX_NAMED)
    most = REGAL_ONNX_NAMED;
  for (size_t i = 0; i < most && names->name[i]; i++) {
    regal_text_format(text, "%s%s", i ? ", " : "",
                      regal_quote(names->name[i]).text);
    if (names->times[i] > 1)
      regal_text_format(text, " (%" PRIu64 " times)", names->times[i]);
    named += names->times[i];
  }
  if (names->count > named)
    regal_text_format(text, " and %" PRIu64 " more", names->count - named);
}

/* "3 ops of ...: NAMES". */
static regal_status note_names(regal_graph *graph, regal_note_kind kind,
                               const regal_onnx_names *names, const char *one,
                               const char *several) {
  regal_text text;
  if (!names->count)
    return REGAL_OK;
  regal_text_init(&text, graph->context);
  regal_text_format(&text, "%" PRIu64 " %s: ", names->count,
                    names->count == 1 ? one : several);
  regal_onnx_list(names, REGAL_ONNX_NAMED, &text);
  regal_status status =
      text.failed ? regal_fail_memory(graph->context)
                  : regal_graph_add_note(graph, kind, "%s", text.bytes);
  regal_text_free(&text);
  return status;
}

static regal_status note_sizes(const regal_onnx *onnx, regal_graph *graph) {
  for (size_t i = 0; i < onnx->size_count; i++)
    if (!onnx->sizes[i].given)
      REGAL_TRY(
          regal_graph_add_note(graph, REGAL_NOTE_ASSUMED,
                               "dimension %s counted as 1: set it with --dim",
                               regal_quote(onnx->sizes[i].name).text));
  if (!onnx->nameless)
    return REGAL_OK;
  return regal_graph_add_note(
      graph, REGAL_NOTE_ASSUMED,
      "%" PRIu64 " dimension%s of inputs with neither number nor name counted "
      "as 1: set %s with --shape %s",
      onnx->nameless, onnx->nameless == 1 ? "" : "s",
      onnx->nameless == 1 ? "it" : "them", onnx->nameless_shape);
}

static regal_status note_nodes(const regal_onnx *onnx, regal_graph *graph) {
  if (onnx->counts.folded)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_DROPPED,
        "%" PRIu64 " node%s known before the model runs: constants, shapes and "
        "what follows from them",
        onnx->counts.folded, onnx->counts.folded == 1 ? "" : "s"));
  if (!onnx->counts.views)
    return REGAL_OK;
  return regal_graph_add_note(
      graph, REGAL_NOTE_JOINED,
      "%" PRIu64 " view%s (Reshape, Identity, ...) with the original tensor",
      onnx->counts.views, onnx->counts.views == 1 ? "" : "s");
}

static regal_status note_costs(const regal_onnx *onnx, regal_graph *graph) {
  if (onnx->measured)
    REGAL_TRY(
        regal_costs_add_note(graph, onnx->measured, onnx->options->costs));
  if (!onnx->measured || onnx->not_measured)
    REGAL_TRY(regal_graph_add_note(graph, REGAL_NOTE_ASSUMED,
                                   "run times of %s by the roofline of %s",
                                   onnx->measured ? "the other ops" : "ops",
                                   regal_quote(onnx->roofline.name).text));
  return regal_graph_add_note(graph, REGAL_NOTE_ASSUMED,
                              "%.4g GFLOP in all (a multiplication and an "
                              "addition are two)",
                              onnx->counts.flops / 1e9);
}

/* Where launches are most of the work, all ops take about the same time, and
 * what that says about parallelism is not the model's. */
static regal_status note_launches(const regal_onnx *onnx, regal_graph *graph) {
  double launch_ns = 0;
  for (size_t i = 0; i < onnx->model->graph->n_node; i++)
    launch_ns += onnx->ops[i].work.launch_ns;
  double share = launch_ns / ((double)graph->work_ns + 1e-9);
  if (share <= 0.5)
    return REGAL_OK;
  return regal_graph_add_note(
      graph, REGAL_NOTE_ASSUMED,
      "launches are %.0f%% of the work, %s for each op: the ops are too small "
      "for times and parallelism to mean much",
      100 * share, regal_show_duration(onnx->roofline.launch_ns).text);
}

/* Why shapes are missing where ONNX's inference is older than the model. */
static regal_status note_opset(const regal_onnx *onnx, regal_graph *graph) {
  int64_t known = regal_onnx_known_opset();
  for (size_t i = 0; i < onnx->model->n_opset_import; i++) {
    const RegalOnnx__OperatorSetIdProto *import = onnx->model->opset_import[i];
    bool own = !*import->domain || !strcmp(import->domain, "ai.onnx");
    if (own && onnx->counts.missing.count && import->version > known && known)
      return regal_graph_add_note(
          graph, REGAL_NOTE_WARNING,
          "the model is of opset %" PRId64 ", shape inference knows %" PRId64
          ": what ops make that have changed since has no shape",
          import->version, known);
  }
  return REGAL_OK;
}

/* What was not known, and what it counts as. */
static regal_status note_sizeless(const regal_onnx *onnx, regal_graph *graph) {
  const regal_onnx_counts *counts = &onnx->counts;
  regal_note_kind kind =
      onnx->assumes_sizes ? REGAL_NOTE_ASSUMED : REGAL_NOTE_WARNING;
  char one[96], several[96];
  regal_shown bytes = regal_show_bytes(onnx->options->assume_unknown_bytes);
  snprintf(one, sizeof one, "tensor without a shape, counted as %s",
           bytes.text);
  snprintf(several, sizeof several, "tensors without a shape, counted as %s%s",
           bytes.text, onnx->assumes_sizes ? " each" : "");
  REGAL_TRY(note_names(graph, kind, &counts->missing, one, several));
  snprintf(one, sizeof one, "sequence or map, counted as %s", bytes.text);
  snprintf(several, sizeof several, "sequences or maps, counted as %s",
           bytes.text);
  return note_names(graph, kind, &counts->no_tensors, one, several);
}

regal_status regal_onnx_add_notes(const regal_onnx *onnx, regal_graph *graph) {
  const regal_onnx_counts *counts = &onnx->counts;
  REGAL_TRY(note_sizes(onnx, graph));
  REGAL_TRY(note_nodes(onnx, graph));
  REGAL_TRY(note_costs(onnx, graph));
  REGAL_TRY(note_launches(onnx, graph));
  REGAL_TRY(note_names(graph, REGAL_NOTE_WARNING, &counts->unknown_types,
                       "op of unknown type, its run time guessed by its bytes",
                       "ops of unknown types, their run times guessed by "
                       "their bytes"));
  REGAL_TRY(note_opset(onnx, graph));
  REGAL_TRY(note_sizeless(onnx, graph));
  REGAL_TRY(note_names(graph, REGAL_NOTE_WARNING, &counts->unshaped_ops,
                       "op whose run time is guessed, for a shape is missing",
                       "ops whose run times are guessed, for shapes are "
                       "missing"));
  return note_names(graph, REGAL_NOTE_ASSUMED, &counts->unbounded,
                    "loop of unknown length counted as one round",
                    "loops of unknown length counted as one round each");
}
