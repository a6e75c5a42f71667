/* SPDX-License-Identifier: Apache-2.0 */
/* Topological order and the search for a cycle, on rows of successors. */
#ifndef REGAL_GRAPH_TOPOLOGY_H
#define REGAL_GRAPH_TOPOLOGY_H

#include "graph/builder.h"

/* A builder's ops and all its edges, by numbers of adding; an edge may occur
 * several times. */
typedef struct regal_topology {
  const regal_builder *builder;
  uint32_t ops, positions;
  const uint32_t *op_at;     /* [positions] op at a place in the file */
  const uint32_t *begin;     /* [ops+1] */
  const uint32_t *successor; /* ops that need this one */
  uint32_t *needs;           /* [ops] edges into an op; used up by sorting */
  uint32_t *order;           /* [ops] result */
} regal_topology;

/* Fills `order`: among the ops that are ready, the first of the file goes
 * first. O((ops + edges) log ops). On a cycle REGAL_BAD_INPUT, with the ops of
 * one cycle in the message. */
regal_status regal_topology_sort(regal_topology *topology);

#endif
