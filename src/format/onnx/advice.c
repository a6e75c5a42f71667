/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that remain unknown. A tensor of 0 bytes is free to move, so that a
 * search cuts a graph where nothing is known of it, and what it then says of
 * the plan is wrong. A model with more than a few such tensors is refused, with
 * what the user can do: give dimensions, add shapes, or assume a size. With
 * fewer the graph is made, and plans that move one of them are refused
 * (src/api/evaluate.c).
 *
 * Sequences and maps (of ZipMap, say) have no shape that could be given. They
 * do not count among the few, but are not moved either.
 */
#include "format/onnx/onnx.h"

#include <inttypes.h>

#include "graph/builder.h"

/* One in so many tensors may be unknown: 5%. */
#define KNOWN_PER_UNKNOWN 20
#define MOST_NAMED 3

static void put_dimensions(const regal_onnx *onnx, regal_text *text) {
  const char *before = "give the dimensions --dim ";
  for (size_t i = 0, named = 0; i < onnx->size_count && named < 5; i++) {
    if (onnx->sizes[i].given)
      continue;
    regal_text_format(text, "%s%s=N", named++ ? "," : before,
                      onnx->sizes[i].name);
    before = "";
  }
  if (onnx->nameless_shape)
    regal_text_format(text, "%s--shape %s",
                      *before ? "give the dimensions " : " ",
                      onnx->nameless_shape);
  if (!*before || onnx->nameless_shape)
    regal_text_format(text, "; ");
}

static void put_advice(const regal_onnx *onnx, regal_text *text) {
  put_dimensions(onnx, text);
  regal_text_format(text,
                    "infer shapes with 'python -m "
                    "onnxruntime.tools.symbolic_shape_infer --auto_merge "
                    "--input %.200s --output shaped.onnx'; or go on with "
                    "--assume-unknown-bytes N",
                    onnx->path);
}

static regal_status fail_unknown(const regal_onnx *onnx, uint64_t tensors) {
  const regal_onnx_names *missing = &onnx->counts.missing;
  regal_text text;
  regal_text_init(&text, onnx->context);
  regal_text_format(
      &text,
      "%s: %" PRIu64 " of %" PRIu64 " tensors have no known size: ", onnx->path,
      missing->count, tensors);
  regal_onnx_list(missing, MOST_NAMED, &text);
  regal_text_format(&text, "; ");
  put_advice(onnx, &text);
  regal_status status = text.failed ? regal_fail_memory(onnx->context)
                                    : regal_fail(onnx->context, REGAL_BAD_INPUT,
                                                 "%s", text.bytes);
  regal_text_free(&text);
  return status;
}

regal_status regal_onnx_check_known(const regal_onnx *onnx) {
  const regal_onnx_counts *counts = &onnx->counts;
  uint64_t tensors = counts->sized - counts->no_tensors.count;
  if (onnx->assumes_sizes ||
      counts->missing.count * KNOWN_PER_UNKNOWN <= tensors)
    return REGAL_OK;
  return fail_unknown(onnx, tensors);
}

regal_status regal_onnx_add_advice(const regal_onnx *onnx, regal_graph *graph) {
  uint64_t unknown = onnx->counts.missing.count + onnx->counts.no_tensors.count;
  if (onnx->assumes_sizes)
    graph->assumed_sizes = unknown;
  if (!unknown || onnx->assumes_sizes)
    return REGAL_OK;
  regal_text text;
  regal_text_init(&text, onnx->context);
  put_advice(onnx, &text);
  if (!text.failed)
    graph->size_advice = regal_copy_text(graph->context, text.bytes);
  regal_text_free(&text);
  return graph->size_advice ? REGAL_OK : regal_fail_memory(onnx->context);
}
