/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum flow, for bounds that are minimum cuts. Dinic's algorithm with
 * capacity left on arcs; a network is laid out anew for each cut, in arrays
 * that are allocated once. */
#ifndef REGAL_COST_BOUND_FLOW_H
#define REGAL_COST_BOUND_FLOW_H

#include "base/carve.h"

#define REGAL_FLOW_ENDLESS (INT64_MAX / 4)

typedef struct regal_flow {
  uint32_t nodes, arcs;
  uint32_t *first;                  /* [nodes] arc out of a node */
  uint32_t *level, *cursor, *queue; /* [nodes] */
  uint32_t *next, *to;              /* [arcs] arc i's reverse: i ^ 1 */
  int64_t *left;                    /* [arcs] */
  uint64_t work;                    /* arcs looked at so far */
} regal_flow;

/* Room for `nodes`, and for `pairs` calls of regal_flow_join. */
void regal_flow_layout(regal_flow *flow, regal_carver *carver, size_t nodes,
                       size_t pairs);

/* A network of that many nodes without arcs. */
void regal_flow_begin(regal_flow *flow, uint32_t nodes);

/* An arc of each direction; a capacity may be 0 or endless. */
void regal_flow_join(regal_flow *flow, uint32_t from, uint32_t to,
                     int64_t forth, int64_t back);

/* The largest flow from node 0 to node 1, at most endless. Any value that it
 * returns early, after `effort` looks at arcs, is a flow: not above the cut. */
int64_t regal_flow_run(regal_flow *flow, uint64_t effort);

#endif
