/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings of random graphs, and configurations of small policies that read
 * them: every kind of head, tensors with no edge, with several, and control
 * edges. The same seed gives the same encoding everywhere. */
#ifndef REGAL_TESTS_RANDOM_ENCODING_H
#define REGAL_TESTS_RANDOM_ENCODING_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "policy/policy.h"

#define NODE_FEATURES 11 /* the paper's, for two devices */
#define EDGE_FEATURES 3

static inline float *random_features(regal_random *random, size_t count) {
  float *made = calloc(count + 1, sizeof *made);
  assert(made);
  for (size_t i = 0; i < count; i++)
    made[i] = (float)(2 * regal_random_unit(random) - 1);
  return made;
}

/* Each node has 0 to 2 tensors, each read by 0 to `readers` later nodes; every
 * fifth node has a control edge to the next. Freed by free_encoding. */
static inline regal_encoding random_encoding(uint64_t seed, uint32_t nodes,
                                             uint32_t readers) {
  regal_random random = {
      .key = regal_random_key(seed, REGAL_PURPOSE_TEST, 6, nodes)};
  size_t most = (size_t)nodes * (2 * readers + 1);
  regal_encoding e = {.nodes = nodes,
                      .node_features = NODE_FEATURES,
                      .edge_features = EDGE_FEATURES};
  e.from = calloc(most + 1, sizeof *e.from);
  e.to = calloc(most + 1, sizeof *e.to);
  e.tensor_node = calloc(2 * nodes + 1, sizeof *e.tensor_node);
  e.tensor_edge = calloc(2 * nodes + 1, sizeof *e.tensor_edge);
  assert(e.from && e.to && e.tensor_node && e.tensor_edge);
  for (uint32_t v = 0; v < nodes; v++)
    for (uint64_t t = regal_random_below(&random, 3); t > 0; t--) {
      e.tensor_node[e.tensors] = v;
      e.tensor_edge[e.tensors++] = e.edges;
      for (uint64_t r = regal_random_below(&random, readers + 1);
           r > 0 && v + 1 < nodes; r--) {
        e.from[e.edges] = v;
        e.to[e.edges++] =
            v + 1 + (uint32_t)regal_random_below(&random, nodes - v - 1);
      }
    }
  e.tensor_edge[e.tensors] = e.edges;
  for (uint32_t v = 0; v + 1 < nodes; v += 5) {
    e.from[e.edges] = v;
    e.to[e.edges++] = v + 1;
  }
  e.node = random_features(&random, (size_t)nodes * NODE_FEATURES);
  e.edge = random_features(&random, (size_t)e.edges * EDGE_FEATURES);
  return e;
}

static inline void free_encoding(regal_encoding *e) {
  free(e->node);
  free(e->edge);
  free(e->from);
  free(e->to);
  free(e->tensor_node);
  free(e->tensor_edge);
}

/* Heads as a decoder with every class would have them: affinities, priorities
 * with a crossover bias, transfers and one global gene. */
static inline regal_policy_config small_policy(regal_policy_kind kind,
                                               uint32_t width) {
  regal_policy_config config = {
      .kind = kind,
      .update = REGAL_UPDATE_GRU,
      .mean_aggregation = true,
      .rounds = 2,
      .width = width,
      .experts = 3,
      .node_features = NODE_FEATURES,
      .edge_features = EDGE_FEATURES,
      .head_count = 4,
      .devices = 2,
      .heads = {{"affinity", REGAL_HEAD_NODE, 2, 2, 3, 0, false},
                {"priority", REGAL_HEAD_NODE, 1, 4, 3, 2, false},
                {"transfer", REGAL_HEAD_TENSOR, 2, 2, 2, 0, false},
                {"global", REGAL_HEAD_GRAPH, 1, 3, 2, 0, false}}};
  return config;
}

#endif
