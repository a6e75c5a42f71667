/* SPDX-License-Identifier: Apache-2.0 */
/* What a dataset says about a graph: size, shape, parallelism, topology, and
 * whether a plan can make a difference. */
#ifndef REGAL_DATASET_FIGURES_H
#define REGAL_DATASET_FIGURES_H

#include "graph/graph.h"
#include "regal_data.h"

/* All but file_bytes and file_crc, which are the file's. O(ops + edges), times
 * the number of searches that the diameter needs (dataset/diameter.c). */
regal_status regal_figures_of(regal_context *context, const regal_graph *graph,
                              regal_figures *figures);

/* The longest shortest path between two ops, in data edges taken either way; of
 * several components the longest of all. */
regal_status regal_graph_diameter(regal_context *context,
                                  const regal_graph *graph, uint32_t *diameter);

/* A hash of the in-degree sequence: for each op its inputs (tensors) and the
 * ops that it waits for, as one number each, sorted. */
regal_status regal_graph_degrees(regal_context *context,
                                 const regal_graph *graph, uint64_t *degrees);

#endif
