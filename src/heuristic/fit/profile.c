/* SPDX-License-Identifier: Apache-2.0 */
/* Range-add and prefix-maximum on a binary tree in an array, from the leaves
 * up: additions stay at the nodes that cover the range, and are never pushed
 * down.
 */
#include "heuristic/fit/profile.h"

#include <string.h>

#include "base/compare.h"

void regal_profile_begin(regal_profile *profile, regal_profile_node *nodes,
                         uint32_t leaves) {
  profile->nodes = nodes;
  profile->size = regal_profile_nodes(leaves) / 2;
  memset(nodes, 0, 2 * (size_t)profile->size * sizeof *nodes);
}

static void add_at(regal_profile_node *node, int64_t value) {
  node->most += value;
  node->added += value;
}

static void refresh(regal_profile_node *nodes, uint32_t at) {
  nodes[at].most = regal_larger(nodes[2 * at].most, nodes[2 * at + 1].most) +
                   nodes[at].added;
}

void regal_profile_add(regal_profile *profile, uint32_t low, uint32_t high,
                       int64_t value) {
  if (low >= high)
    return;
  regal_profile_node *nodes = profile->nodes;
  uint32_t first = low + profile->size, last = high - 1 + profile->size;
  for (uint32_t l = first, r = last + 1; l < r; l /= 2, r /= 2) {
    if (l & 1)
      add_at(&nodes[l++], value);
    if (r & 1)
      add_at(&nodes[--r], value);
  }
  for (first /= 2, last /= 2; first != last; first /= 2, last /= 2) {
    refresh(nodes, first);
    refresh(nodes, last);
  }
  for (; first; first /= 2)
    refresh(nodes, first);
}

void regal_profile_add_leaf(regal_profile *profile, uint32_t leaf,
                            int64_t value) {
  regal_profile_node *nodes = profile->nodes;
  uint32_t at = leaf + profile->size;
  int64_t before;
  add_at(&nodes[at], value);
  do {
    at /= 2;
    before = nodes[at].most;
    if (at)
      refresh(nodes, at);
  } while (at && nodes[at].most != before);
}

void regal_profile_sum(regal_profile *profile) {
  regal_profile_node *nodes = profile->nodes + profile->size;
  for (uint32_t k = 1; k < profile->size; k++)
    nodes[k].most += nodes[k - 1].most;
  for (uint32_t at = profile->size; --at > 0;)
    refresh(profile->nodes, at);
}

int64_t regal_profile_most(const regal_profile *profile, uint32_t end) {
  const regal_profile_node *nodes = profile->nodes;
  int64_t most = INT64_MIN, above = 0;
  uint32_t at = 1, below = profile->size; /* leaves below `at` */
  while (end > 0 && end < below) {
    above += nodes[at].added;
    below /= 2;
    at *= 2;
    if (end >= below) { /* all of the left half */
      most = regal_larger(most, nodes[at].most + above);
      end -= below;
      at++;
    }
  }
  return end ? regal_larger(most, nodes[at].most + above) : most;
}
