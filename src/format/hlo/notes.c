/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader assumed and joined, as notes of the graph. */
#include <inttypes.h>

#include "base/text.h"
#include "format/hlo/build.h"
#include "graph/builder.h"

static regal_status note_views(const regal_hlo_flow *flow, regal_graph *graph) {
  if (flow->views)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_JOINED,
        "%u view%s (tuple, get-tuple-element, bitcast) with the original "
        "value",
        flow->views, regal_plural(flow->views)));
  if (flow->in_place)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_JOINED,
        "%u output%s written in place with the operand (while, "
        "dynamic-update-slice, ...)",
        flow->in_place, regal_plural(flow->in_place)));
  if (!flow->donated)
    return REGAL_OK;
  return regal_graph_add_note(
      graph, REGAL_NOTE_JOINED,
      "%u result%s with the memory of a donated parameter", flow->donated,
      regal_plural(flow->donated));
}

static regal_status note_reuse(regal_graph *graph) {
  int64_t bytes = 0;
  for (uint32_t t = 0; t < graph->tensors; t++)
    bytes += graph->may_reuse[t] ? graph->bytes[t] : 0;
  if (!graph->reusing_tensors)
    return REGAL_OK;
  return regal_graph_add_note(
      graph, REGAL_NOTE_ASSUMED,
      "%u output%s may be written over an input no longer needed: %" PRId64
      " bytes",
      graph->reusing_tensors, regal_plural(graph->reusing_tensors), bytes);
}

static regal_status note_times(const regal_hlo_flow *flow,
                               const regal_roofline *roofline,
                               regal_graph *graph) {
  const regal_hlo_computation *in = flow->computation;
  uint32_t endless = 0;
  for (uint32_t i = 0; i < in->count; i++)
    endless += in->instruction[i].opcode->opcode == REGAL_HLO_WHILE &&
               in->instruction[i].trips < 1;
  REGAL_TRY(regal_graph_add_note(graph, REGAL_NOTE_ASSUMED,
                                 "run times of ops by the roofline of %s",
                                 regal_quote(roofline->name).text));
  if (!endless)
    return REGAL_OK;
  return regal_graph_add_note(
      graph, REGAL_NOTE_ASSUMED,
      "%u loop%s of unknown length counted as one round", endless,
      regal_plural(endless));
}

#define NAMED 3

/* "2 instructions of unknown opcodes, ...: "a" (frobnicate), ..." */
static regal_status note_unknown(const regal_hlo_flow *flow,
                                 regal_graph *graph) {
  const regal_hlo_computation *in = flow->computation;
  uint32_t count = 0;
  regal_text names;
  regal_text_init(&names, graph->context);
  for (uint32_t i = 0; i < in->count; i++) {
    const regal_hlo_instruction *at = &in->instruction[i];
    if (at->opcode->opcode != REGAL_HLO_UNKNOWN)
      continue;
    if (count++ < NAMED)
      regal_text_format(&names, "%s%s (%.40s)", count > 1 ? ", " : "",
                        regal_quote(at->name).text, at->opcode_name);
  }
  regal_status status =
      names.failed ? regal_fail_memory(graph->context) : REGAL_OK;
  if (status == REGAL_OK && count)
    status = regal_graph_add_note(
        graph, REGAL_NOTE_WARNING,
        "%u instruction%s of unknown opcode, counted as op%s with outputs of "
        "%s own: %s%s",
        count, regal_plural(count), regal_plural(count),
        count == 1 ? "its" : "their", names.bytes,
        count > NAMED ? ", ..." : "");
  regal_text_free(&names);
  return status;
}

regal_status regal_hlo_add_notes(const regal_hlo_flow *flow,
                                 const regal_roofline *roofline,
                                 regal_graph *graph) {
  REGAL_TRY(note_times(flow, roofline, graph));
  REGAL_TRY(note_reuse(graph));
  REGAL_TRY(note_views(flow, graph));
  return note_unknown(flow, graph);
}
