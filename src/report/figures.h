/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a graph that only reports want: its shape, its largest parts, and
 * its time by kind of op. */
#ifndef REGAL_REPORT_FIGURES_H
#define REGAL_REPORT_FIGURES_H

#include "graph/graph.h"

#define REGAL_FIGURES_TOP 5

/* Ops whose names differ only in their path and number: "block1/Conv2D_3" and
 * "Conv2D" are of the kind "Conv2D". */
typedef struct regal_kind {
  const char *name; /* not zero-terminated */
  size_t length;
  uint32_t ops;
  int64_t run_ns;
} regal_kind;

typedef struct regal_graph_figures {
  regal_context *context;
  uint32_t depth; /* ops on the longest chain */
  uint32_t width; /* most ops that are equally far from the beginning */
  uint32_t top_ops, top_tensors;
  uint32_t top_op[REGAL_FIGURES_TOP];     /* by run time, longest first */
  uint32_t top_tensor[REGAL_FIGURES_TOP]; /* by bytes, largest first */
  regal_kind *kinds;                      /* by run time, longest first */
  uint32_t kind_count;
} regal_graph_figures;

/* Time O(ops log ops + edges). The kinds' names are the graph's. */
regal_status regal_figures_compute(regal_context *context,
                                   const regal_graph *graph,
                                   regal_graph_figures *figures);
void regal_figures_free(regal_graph_figures *figures);

/* The kind of an op: one op, with the op's own time. */
regal_kind regal_figures_kind(const regal_graph *graph, uint32_t op);
/* The order of kinds by name. */
int regal_figures_compare(const void *left, const void *right);

/* "assumed", "dropped", "joined", "warning" */
const char *regal_note_name(regal_note_kind kind);

#endif
