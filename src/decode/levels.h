/* SPDX-License-Identifier: Apache-2.0 */
/* How much hangs on an op: the longest chain of run times from its start to the
 * end of the graph, the classical priority of list scheduling. */
#ifndef REGAL_DECODE_LEVELS_H
#define REGAL_DECODE_LEVELS_H

#include "decode/decoder.h"

/* Fills level[op] with the chain that begins with op, as a share of the longest
 * one, in the units of a gene. Each op counts its least run time, and each
 * tensor on the way `halves` / 2 of its mean transfer time. `chain` [ops] is
 * scratch. Returns the mean run time of an op. */
int64_t regal_levels_fill(const regal_problem *problem, int halves,
                          int64_t *chain, regal_gene *level);

/* A key between level and gene: (1 - u^2) * level + u^2 * gene, u the blend. */
static inline regal_gene regal_levels_blend(regal_gene level, regal_gene gene,
                                            uint64_t share) {
  return (regal_gene)(((65536 - share) * level + share * gene) >> 16);
}

/* u^2 in 1/65536. */
static inline uint64_t regal_levels_share(regal_gene blend) {
  uint64_t root = blend >> 8;
  return root * root >> 16;
}

#endif
