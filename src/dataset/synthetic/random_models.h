/* SPDX-License-Identifier: Apache-2.0 */
/* What random computation graphs are drawn from: undirected random graphs, as
 * sets of pairs, and the paper's distributions of sizes and times.
 */
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

/* -- Sizes and times --------------------------------------------------------
 * (Appendix, synthetic dataset.) A CostGraphDef holds whole bytes and whole
 * microseconds, so both are rounded, and a graph is the same after it was
 * written and read. */

/* Standard normal numbers; each pair of draws gives two. */
typedef struct regal_normal {
  regal_random random;
  double spare;
  int has_spare;
} regal_normal;

double regal_normal_next(regal_normal *normal);

/* A tensor's size: N(50, 10) bytes, rounded, at least 1. */
int64_t regal_random_bytes(regal_normal *normal);
/* The run time of an op whose inputs and outputs have `touched` bytes together:
 * that many microseconds times 1 + N(0, 0.1), rounded, at least 0. */
int64_t regal_random_run_ns(regal_normal *normal, int64_t touched);

#endif
