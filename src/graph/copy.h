/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of one's own, to change before anybody else sees it. */
#ifndef REGAL_GRAPH_COPY_H
#define REGAL_GRAPH_COPY_H

#include "graph/graph.h"

/* Everything but the notes. O(size of the graph). */
regal_status regal_graph_copy(regal_context *context, const regal_graph *graph,
                              regal_graph **copy);

/* Computes totals, critical path and checksum anew, after times or sizes were
 * changed; REGAL_BAD_INPUT when a sum is too large. */
regal_status regal_graph_settle(regal_graph *graph);

#endif
