/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages did, in words: one note for each kind, with its numbers. */
#include <inttypes.h>

#include "format/tensorflow/cost_graph.h"

/* A number with the noun that it counts: "1 output", "3 outputs". */
typedef struct phrase {
  char text[64];
} phrase;

static phrase count(uint64_t number, const char *noun) {
  phrase made;
  snprintf(made.text, sizeof made.text, "%" PRIu64 " %s%s", number, noun,
           number == 1 ? "" : "s");
  return made;
}

static regal_status note_sizes(const regal_cost_counts *counts,
                               regal_graph *graph) {
  if (counts->unmeasured)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_WARNING,
        "%s of negative size, never measured: counted as 0 bytes",
        count(counts->unmeasured, "output").text));
  if (counts->shaped)
    REGAL_TRY(regal_graph_add_note(graph, REGAL_NOTE_ASSUMED,
                                   "%s of size 0 counted by shape and type: %s",
                                   count(counts->shaped, "output").text,
                                   count(counts->shaped_bytes, "byte").text));
  if (counts->constants)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_ASSUMED,
        "%s of constants or variables counted only as resident: %s",
        count(counts->constants, "output").text,
        count(counts->constant_bytes, "byte").text));
  return REGAL_OK;
}

static regal_status note_loops(const regal_cost_counts *counts,
                               regal_graph *graph) {
  if (!counts->cut)
    return REGAL_OK;
  REGAL_TRY(regal_graph_add_note(graph, REGAL_NOTE_DROPPED,
                                 "%s that left NextIteration nodes",
                                 count(counts->cut, "data edge").text));
  return regal_graph_add_note(
      graph, REGAL_NOTE_WARNING,
      "the bodies of while loops count once: the file does not say how often "
      "they run");
}

static regal_status note_partitions(const regal_cost_graph *cost,
                                    regal_graph *graph) {
  const regal_cost_counts *counts = &cost->counts;
  if (cost->partitions < 2)
    return REGAL_OK;
  REGAL_TRY(regal_graph_add_note(
      graph, REGAL_NOTE_JOINED, "%s: %s of _Send and _Recv joined, %s merged",
      count(cost->partitions, "partition").text,
      count(counts->joined, "pair").text,
      count(counts->merged, "_SOURCE or _SINK node").text));
  if (counts->parts < 2)
    return REGAL_OK;
  return regal_graph_add_note(
      graph, REGAL_NOTE_WARNING,
      "%s have no data edge between them: no _Send and _Recv match by name",
      count(counts->parts, "part").text);
}

static regal_status note_memory(const regal_cost_graph *cost,
                                regal_graph *graph) {
  const regal_cost_counts *counts = &cost->counts;
  if (counts->reads)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_ASSUMED,
        "%s of ReadVariableOp resident, once for each of %s: %s",
        count(counts->reads, "output").text,
        count(counts->handles, "handle").text,
        count(counts->variable_bytes, "byte").text));
  if (counts->aliases)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_JOINED,
        "%s with the memory of the input that they alias: %s",
        count(counts->aliases, "output").text,
        count(counts->alias_bytes, "byte").text));
  if (counts->reusing)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_ASSUMED,
        "%s may be written over an input no longer needed: %s",
        count(counts->reusing, "output").text,
        count(counts->reusing_bytes, "byte").text));
  if (counts->larger)
    REGAL_TRY(regal_graph_add_note(
        graph, REGAL_NOTE_WARNING,
        "%s larger than the input that they alias: sizes were probably not "
        "tracked when this file was made",
        count(counts->larger, "output").text));
  return REGAL_OK;
}

regal_status regal_cost_add_notes(const regal_cost_graph *cost,
                                  regal_graph *graph) {
  REGAL_TRY(note_sizes(&cost->counts, graph));
  REGAL_TRY(note_loops(&cost->counts, graph));
  REGAL_TRY(note_partitions(cost, graph));
  REGAL_TRY(note_memory(cost, graph));
  if (!cost->counts.results)
    return REGAL_OK;
  return regal_graph_add_note(graph, REGAL_NOTE_ASSUMED,
                              "%s final, because _retval_ nodes read them",
                              count(cost->counts.results, "tensor").text);
}
