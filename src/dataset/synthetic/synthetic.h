/* SPDX-License-Identifier: Apache-2.0 */
/* Random computation graphs: the paper's recipe (appendix, synthetic dataset),
 * and layered graphs of any size for benchmarks. */
#ifndef REGAL_DATASET_SYNTHETIC_SYNTHETIC_H
#define REGAL_DATASET_SYNTHETIC_SYNTHETIC_H

#include "graph/graph.h"

typedef enum regal_graph_model {
  REGAL_ERDOS_RENYI,
  REGAL_BARABASI_ALBERT,
  REGAL_WATTS_STROGATZ,
  REGAL_STOCHASTIC_BLOCK,
  REGAL_GRAPH_MODELS /* how many there are */
} regal_graph_model;

/* How many nodes may be asked for. */
enum { REGAL_LEAST_NODES = 5, REGAL_MOST_NODES = 10000 };

/* A graph with `nodes` ops besides source and sink (0: uniform in 50 .. 200) of
 * the given model; everything follows from the seed. Unfiltered. */
regal_status regal_synthetic_graph(regal_context *context,
                                   regal_graph_model model, uint32_t nodes,
                                   uint64_t seed, regal_graph **graph);

/* `ops` ops in layers of `width`; each reads `fan_in` outputs of the few layers
 * before it. Time and memory linear in ops. */
regal_status regal_layered_graph(regal_context *context, uint32_t ops,
                                 uint32_t width, uint32_t fan_in, uint64_t seed,
                                 regal_graph **graph);

#endif
