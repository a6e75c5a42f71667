/* SPDX-License-Identifier: Apache-2.0 */
/* Undirected random graphs, as sets of pairs: what the paper's synthetic
 * computation graphs start from. */
#ifndef REGAL_DATASET_SYNTHETIC_RANDOM_MODELS_H
#define REGAL_DATASET_SYNTHETIC_RANDOM_MODELS_H

#include "base/random.h"
#include "dataset/synthetic/synthetic.h"

/* A symmetric matrix of bits without a diagonal. */
typedef struct regal_pairs {
  uint32_t nodes;
  size_t row_words;
  uint64_t *bits; /* [nodes * row_words] */
} regal_pairs;

static inline bool regal_pairs_has(const regal_pairs *pairs, uint32_t a,
                                   uint32_t b) {
  return pairs->bits[a * pairs->row_words + b / 64] >> (b % 64) & 1;
}

/* An empty set of pairs of `nodes` nodes; bits are released by the caller. */
regal_status regal_pairs_create(regal_context *context, uint32_t nodes,
                                regal_pairs *pairs);

/* Adds the pairs of a random graph of the model, with the paper's parameters
 * (appendix, table of parameters). At least 5 nodes. O(nodes^2). */
void regal_random_model(regal_graph_model model, regal_pairs *pairs,
                        regal_random *random);

#endif
