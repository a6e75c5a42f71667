/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit checksum of all that makes a graph what it is: names, positions,
 * costs and edges. The same on every machine; notes do not count. */
#ifndef REGAL_GRAPH_CHECKSUM_H
#define REGAL_GRAPH_CHECKSUM_H

#include "graph/graph.h"

uint64_t regal_graph_checksum(const regal_graph *graph);

#endif
