/* SPDX-License-Identifier: Apache-2.0 */
/* A row of numbers with two operations: add to a range, and the largest of a
 * prefix. Both O(log n): a binary tree, where a node keeps what was added to
 * all of its leaves, and the largest leaf below it with that.
 */
#ifndef REGAL_HEURISTIC_FIT_PROFILE_H
#define REGAL_HEURISTIC_FIT_PROFILE_H

#include <stdint.h>

typedef struct regal_profile_node {
  int64_t most;  /* of the leaves below, with `added` of them and of itself */
  int64_t added; /* to all leaves below */
} regal_profile_node;

typedef struct regal_profile {
  regal_profile_node *nodes; /* [2 * size] the root is 1, leaf k size + k */
  uint32_t size;             /* a power of two */
} regal_profile;

/* The nodes that `leaves` need. */
static inline uint32_t regal_profile_nodes(uint32_t leaves) {
  uint32_t size = 1;
  while (size < leaves)
    size *= 2;
  return 2 * size;
}

/* All leaves are 0. Then, in O(n), for any number of ranges: raise the leaves
 * low .. high-1 by a value, and finally regal_profile_sum. */
void regal_profile_begin(regal_profile *profile, regal_profile_node *nodes,
                         uint32_t leaves);
static inline void regal_profile_raise(regal_profile *profile, uint32_t low,
                                       uint32_t high, int64_t value) {
  regal_profile_node *leaves = profile->nodes + profile->size;
  if (low >= high)
    return;
  leaves[low].most += value;
  if (high < profile->size)
    leaves[high].most -= value;
}
void regal_profile_sum(regal_profile *profile);

/* Adds to the leaves low .. high-1, or to one. */
void regal_profile_add(regal_profile *profile, uint32_t low, uint32_t high,
                       int64_t value);
void regal_profile_add_leaf(regal_profile *profile, uint32_t leaf,
                            int64_t value);
/* The largest of the leaves 0 .. end-1; INT64_MIN if there is none. */
int64_t regal_profile_most(const regal_profile *profile, uint32_t end);

#endif
