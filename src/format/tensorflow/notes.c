/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages did, in words: one note for each kind, with its numbers. */
#include <inttypes.h>

#include "format/costs/costs.h"
#include "format/tensorflow/cost_graph.h"

enum { MOST_COUNTS = 3 };

/* A number with the noun that it counts: "1 output", "3 outputs". */
typedef struct counted {
  uint64_t number;
  const char *noun;
} counted;

typedef struct note {
  bool applies;
  regal_note_kind kind;
  const char *text; /* with a %s for each of: */
  counted counts[MOST_COUNTS];
} note;

static regal_status add_note(regal_graph *graph, const note *note) {
  char words[MOST_COUNTS][64] = {""};
  for (int i = 0; i < MOST_COUNTS && note->counts[i].noun; i++)
    snprintf(words[i], sizeof words[i], "%" PRIu64 " %s%s",
             note->counts[i].number, note->counts[i].noun,
             note->counts[i].number == 1 ? "" : "s");
  return regal_graph_add_note(graph, note->kind, note->text, words[0], words[1],
                              words[2]);
}

regal_status regal_cost_add_notes(const regal_cost_graph *cost,
                                  regal_graph *graph) {
  const regal_cost_counts *c = &cost->counts;
  const note notes[] = {
      {c->unmeasured,
       REGAL_NOTE_WARNING,
       "%s of negative size, never measured: counted as 0 bytes",
       {{c->unmeasured, "output"}}},
      {c->shaped,
       REGAL_NOTE_ASSUMED,
       "%s of size 0 counted by shape and type: %s",
       {{c->shaped, "output"}, {c->shaped_bytes, "byte"}}},
      {c->constants,
       REGAL_NOTE_ASSUMED,
       "%s of constants or variables counted only as resident: %s",
       {{c->constants, "output"}, {c->constant_bytes, "byte"}}},
      {c->cut,
       REGAL_NOTE_DROPPED,
       "%s that left NextIteration nodes",
       {{c->cut, "data edge"}}},
      {c->cut,
       REGAL_NOTE_WARNING,
       "the bodies of while loops count once: the file does not say how often "
       "they run",
       {{0, NULL}}},
      {cost->partitions > 1,
       REGAL_NOTE_JOINED,
       "%s: %s of _Send and _Recv joined, %s merged",
       {{cost->partitions, "partition"},
        {c->joined, "pair"},
        {c->merged, "_SOURCE or _SINK node"}}},
      {c->parts > 1,
       REGAL_NOTE_WARNING,
       "%s have no data edge between them: no _Send and _Recv match by name",
       {{c->parts, "part"}}},
      {c->reads,
       REGAL_NOTE_ASSUMED,
       "%s of ReadVariableOp resident, once for each of %s: %s",
       {{c->reads, "output"},
        {c->handles, "handle"},
        {c->variable_bytes, "byte"}}},
      {c->aliases,
       REGAL_NOTE_JOINED,
       "%s with the memory of the input that they alias: %s",
       {{c->aliases, "output"}, {c->alias_bytes, "byte"}}},
      {c->reusing,
       REGAL_NOTE_ASSUMED,
       "%s may be written over an input no longer needed: %s",
       {{c->reusing, "output"}, {c->reusing_bytes, "byte"}}},
      {c->larger,
       REGAL_NOTE_WARNING,
       "%s larger than the input that they alias: sizes were probably not "
       "tracked when this file was made",
       {{c->larger, "output"}}},
      {c->results,
       REGAL_NOTE_ASSUMED,
       "%s final, because _retval_ nodes read them",
       {{c->results, "tensor"}}},
  };
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
    if (notes[i].applies)
      REGAL_TRY(add_note(graph, &notes[i]));
  if (!c->measured)
    return REGAL_OK;
  return regal_costs_add_note(graph, c->measured, cost->options->costs);
}
