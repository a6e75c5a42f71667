/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum flow by Dinic's algorithm (1970): breadth-first levels from the
 * source over arcs with capacity left, then a blocking flow along rising levels
 * by depth-first search with a cursor for each node; repeated until the sink is
 * out of reach. Arcs are made in pairs, so that arc a ^ 1 is the way back.
 *
 * The flow found so far is at most the minimum cut at any time, so a run that
 * is stopped early still gives a valid lower bound.
 */
#include "cost/bound/flow.h"

#define SOURCE 0
#define SINK 1
#define NO_ARC UINT32_MAX
#define UNSEEN UINT32_MAX

void regal_flow_layout(regal_flow *flow, regal_carver *carver, size_t nodes,
                       size_t pairs) {
  flow->first = regal_carve(carver, nodes, 4);
  flow->level = regal_carve(carver, nodes, 4);
  flow->cursor = regal_carve(carver, nodes, 4);
  flow->queue = regal_carve(carver, nodes, 4);
  flow->next = regal_carve(carver, 2 * pairs, 4);
  flow->to = regal_carve(carver, 2 * pairs, 4);
  flow->left = regal_carve(carver, 2 * pairs, 8);
}

void regal_flow_begin(regal_flow *flow, uint32_t nodes) {
  flow->nodes = nodes;
  flow->arcs = 0;
  for (uint32_t i = 0; i < nodes; i++)
    flow->first[i] = NO_ARC;
}

static void add_arc(regal_flow *flow, uint32_t from, uint32_t to,
                    int64_t capacity) {
  uint32_t arc = flow->arcs++;
  flow->to[arc] = to;
  flow->left[arc] = capacity;
  flow->next[arc] = flow->first[from];
  flow->first[from] = arc;
}

void regal_flow_join(regal_flow *flow, uint32_t from, uint32_t to,
                     int64_t forth, int64_t back) {
  add_arc(flow, from, to, forth);
  add_arc(flow, to, from, back);
}

/* Distances from the source over arcs with capacity left; whether the sink is
 * reached. */
static bool find_levels(regal_flow *flow) {
  uint32_t end = 0;
  for (uint32_t i = 0; i < flow->nodes; i++)
    flow->level[i] = UNSEEN;
  flow->level[SOURCE] = 0;
  flow->queue[end++] = SOURCE;
  for (uint32_t begin = 0; begin < end; begin++) {
    uint32_t node = flow->queue[begin];
    for (uint32_t a = flow->first[node]; a != NO_ARC; a = flow->next[a]) {
      flow->work++;
      if (!flow->left[a] || flow->level[flow->to[a]] != UNSEEN)
        continue;
      flow->level[flow->to[a]] = flow->level[node] + 1;
      if (flow->to[a] == SINK)
        return true;
      flow->queue[end++] = flow->to[a];
    }
  }
  return false;
}

/* Pushes what the path of `length` arcs (in queue) carries; the length of the
 * part before the first arc that is now full. */
static uint32_t push(regal_flow *flow, uint32_t length, int64_t *total) {
  int64_t amount = INT64_MAX;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < length; i++)
    if (flow->left[flow->queue[i]] < amount) {
      amount = flow->left[flow->queue[i]];
      kept = i;
    }
  for (uint32_t i = 0; i < length; i++) {
    flow->left[flow->queue[i]] -= amount;
    flow->left[flow->queue[i] ^ 1] += amount;
  }
  *total += amount;
  return kept;
}

/* A blocking flow along rising levels: depth first, the path in queue. */
static int64_t augment(regal_flow *flow) {
  int64_t total = 0;
  uint32_t length = 0, node = SOURCE;
  for (uint32_t i = 0; i < flow->nodes; i++)
    flow->cursor[i] = flow->first[i];
  for (;;) {
    uint32_t a = flow->cursor[node];
    if (node == SINK) {
      length = push(flow, length, &total);
      node = flow->to[flow->queue[length] ^ 1];
      if (total >= REGAL_FLOW_ENDLESS)
        return REGAL_FLOW_ENDLESS;
    } else if (a == NO_ARC) {
      if (!length)
        return total;
      node = flow->to[flow->queue[--length] ^ 1];
      flow->cursor[node] = flow->next[flow->cursor[node]];
    } else if (flow->left[a] &&
               flow->level[flow->to[a]] == flow->level[node] + 1) {
      flow->queue[length++] = a;
      node = flow->to[a];
      flow->work++;
    } else {
      flow->cursor[node] = flow->next[a];
      flow->work++;
    }
  }
}

int64_t regal_flow_run(regal_flow *flow, uint64_t effort) {
  int64_t total = 0;
  uint64_t stop = flow->work + effort;
  while (flow->work < stop && find_levels(flow)) {
    total += augment(flow);
    if (total >= REGAL_FLOW_ENDLESS)
      return REGAL_FLOW_ENDLESS;
  }
  return total;
}
