/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's four random graph models, and its sizes and times.
 *
 * Where the paper leaves a detail open the usual definition holds: preferential
 * attachment starts from m nodes without edges, rewiring keeps one end of an
 * edge and draws the other again, blocks are as equal in size as possible.
 */
#include "dataset/synthetic/random_models.h"

#include <math.h>

static const double erdos_renyi_p = 0.05;
enum { BARABASI_ALBERT_M = 2 };
enum { WATTS_STROGATZ_K = 4 };
static const double watts_strogatz_p = 0.3;
enum { STOCHASTIC_BLOCKS = 4 };
static const double block_within_p = 0.3, block_across_p = 0.01;

regal_status regal_pairs_create(regal_context *context, uint32_t nodes,
                                regal_pairs *pairs) {
  pairs->nodes = nodes;
  pairs->row_words = ((size_t)nodes + 63) / 64;
  pairs->bits =
      regal_alloc(context, nodes * pairs->row_words, sizeof *pairs->bits);
  return pairs->bits ? REGAL_OK : regal_fail_memory(context);
}

static void flip_pair(regal_pairs *pairs, uint32_t a, uint32_t b) {
  pairs->bits[a * pairs->row_words + b / 64] ^= UINT64_C(1) << b % 64;
  pairs->bits[b * pairs->row_words + a / 64] ^= UINT64_C(1) << a % 64;
}

static uint32_t draw_node(regal_random *random, uint32_t nodes) {
  return (uint32_t)regal_random_below(random, nodes);
}

static void erdos_renyi(regal_pairs *pairs, regal_random *random) {
  for (uint32_t a = 0; a < pairs->nodes; a++)
    for (uint32_t b = a + 1; b < pairs->nodes; b++)
      if (regal_random_unit(random) < erdos_renyi_p)
        flip_pair(pairs, a, b);
}

static uint32_t block_of(const regal_pairs *pairs, uint32_t node) {
  return (uint32_t)((uint64_t)node * STOCHASTIC_BLOCKS / pairs->nodes);
}

static void stochastic_block(regal_pairs *pairs, regal_random *random) {
  for (uint32_t a = 0; a < pairs->nodes; a++)
    for (uint32_t b = a + 1; b < pairs->nodes; b++) {
      bool within = block_of(pairs, a) == block_of(pairs, b);
      double p = within ? block_within_p : block_across_p;
      if (regal_random_unit(random) < p)
        flip_pair(pairs, a, b);
    }
}

/* A node among the first `nodes`, with probability proportional to its degree:
 * an end of a random edge. Every node after the first m brought m edges to
 * nodes before it, so edge e is the (e mod m)-th of node m + e / m, in whose
 * row those m ends come first. */
static uint32_t draw_edge_end(const regal_pairs *pairs, regal_random *random,
                              uint32_t nodes) {
  enum { M = BARABASI_ALBERT_M };
  uint32_t edge = draw_node(random, (nodes - M) * M);
  uint32_t end = M + edge / M;
  if (regal_random_below(random, 2))
    return end;
  uint32_t other = 0;
  for (uint32_t left = edge % M;; other++)
    if (regal_pairs_has(pairs, end, other) && left-- == 0)
      return other;
}

static void barabasi_albert(regal_pairs *pairs, regal_random *random) {
  enum { M = BARABASI_ALBERT_M };
  for (uint32_t node = 0; node < M; node++)
    flip_pair(pairs, M, node);
  for (uint32_t node = M + 1; node < pairs->nodes; node++)
    for (uint32_t edge = 0; edge < M;) {
      uint32_t other = draw_edge_end(pairs, random, node);
      if (regal_pairs_has(pairs, node, other))
        continue;
      flip_pair(pairs, node, other);
      edge++;
    }
}

/* Gives the edge (node, old) another end, if there is one to give. */
static void rewire(regal_pairs *pairs, regal_random *random, uint32_t node,
                   uint32_t old) {
  uint32_t degree = 0;
  for (size_t i = 0; i < pairs->row_words; i++)
    degree += (uint32_t)__builtin_popcountll(
        pairs->bits[node * pairs->row_words + i]);
  if (degree >= pairs->nodes - 1)
    return;
  uint32_t end;
  do
    end = draw_node(random, pairs->nodes);
  while (end == node || regal_pairs_has(pairs, node, end));
  flip_pair(pairs, node, old);
  flip_pair(pairs, node, end);
}

static void watts_strogatz(regal_pairs *pairs, regal_random *random) {
  uint32_t nodes = pairs->nodes;
  for (uint32_t step = 1; step <= WATTS_STROGATZ_K / 2; step++)
    for (uint32_t node = 0; node < nodes; node++)
      flip_pair(pairs, node, (node + step) % nodes);
  for (uint32_t step = 1; step <= WATTS_STROGATZ_K / 2; step++)
    for (uint32_t node = 0; node < nodes; node++)
      if (regal_random_unit(random) < watts_strogatz_p)
        rewire(pairs, random, node, (node + step) % nodes);
}

void regal_random_model(regal_graph_model model, regal_pairs *pairs,
                        regal_random *random) {
  static void (*const models[REGAL_GRAPH_MODELS])(regal_pairs *,
                                                  regal_random *) = {
      [REGAL_ERDOS_RENYI] = erdos_renyi,
      [REGAL_BARABASI_ALBERT] = barabasi_albert,
      [REGAL_WATTS_STROGATZ] = watts_strogatz,
      [REGAL_STOCHASTIC_BLOCK] = stochastic_block,
  };
  models[model](pairs, random);
}

/* -- Sizes and times --------------------------------------------------------
 * Normal numbers by Marsaglia's polar method: of the math library it needs only
 * the logarithm and the (exact) square root, which leaves the least room for
 * machines to differ. */

double regal_normal_next(regal_normal *normal) {
  if (normal->has_spare) {
    normal->has_spare = 0;
    return normal->spare;
  }
  double u, v, square;
  do {
    u = 2 * regal_random_unit(&normal->random) - 1;
    v = 2 * regal_random_unit(&normal->random) - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  double scale = sqrt(-2 * log(square) / square);
  normal->spare = v * scale;
  normal->has_spare = 1;
  return u * scale;
}

int64_t regal_random_bytes(regal_normal *normal) {
  int64_t bytes = (int64_t)floor(50 + 10 * regal_normal_next(normal) + 0.5);
  return bytes > 1 ? bytes : 1;
}

int64_t regal_random_run_ns(regal_normal *normal, int64_t touched) {
  double factor = 1 + 0.1 * regal_normal_next(normal);
  int64_t us = (int64_t)floor((double)touched * factor + 0.5);
  return us > 0 ? us * 1000 : 0;
}
