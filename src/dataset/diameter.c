/* SPDX-License-Identifier: Apache-2.0 */
/* The diameter by iterative fringe upper bounds (Crescenzi and others, 2013).
 *
 * From a middle op the search reaches every op of its component within r steps.
 * Two ops at distances i and j from it are at most i + j apart, so once some
 * two ops are known to be further apart than twice the next level, ops nearer
 * to the middle need no search of their own. Graphs of networks are long and
 * thin, and a handful of searches decides; the worst case is a search from
 * every op, O(ops * edges).
 */
#include "dataset/figures.h"

#include "base/carve.h"
#include "graph/rows.h"

typedef struct web {
  uint32_t ops;
  uint32_t *begin, *neighbour; /* rows of both ends of every data edge */
  uint32_t *distance;          /* [ops] of the last search, or REGAL_NONE */
  uint32_t *queue;             /* [ops] in the order of the last search */
  uint32_t *parent;            /* [ops] */
  uint32_t *fringe;            /* [ops] the component, from its middle */
  uint32_t *level;             /* [ops] distances of the fringe's ops */
  uint8_t *done;               /* [ops] its component was measured */
} web;

static void count_ends(const regal_graph *graph, uint32_t *begin) {
  for (uint32_t op = 0; op < graph->ops; op++)
    for (REGAL_ROW(i, graph->input_begin, op)) {
      begin[op]++;
      begin[graph->producer[graph->input[i]]]++;
    }
}

static void fill_ends(const regal_graph *graph, web *web) {
  count_ends(graph, web->begin);
  regal_rows_sum(web->begin, graph->ops);
  for (uint32_t op = 0; op < graph->ops; op++)
    for (REGAL_ROW(i, graph->input_begin, op)) {
      uint32_t producer = graph->producer[graph->input[i]];
      web->neighbour[--web->begin[op]] = producer;
      web->neighbour[--web->begin[producer]] = op;
    }
}

/* Breadth first from `start`; returns how many ops it reached. `distance` is
 * REGAL_NONE everywhere before, and what is reached is in `queue`. */
static uint32_t search(web *web, uint32_t start) {
  uint32_t head = 0, tail = 0;
  web->queue[tail++] = start;
  web->distance[start] = 0;
  web->parent[start] = start;
  while (head < tail) {
    uint32_t op = web->queue[head++];
    for (REGAL_ROW(i, web->begin, op)) {
      uint32_t next = web->neighbour[i];
      if (web->distance[next] != REGAL_NONE)
        continue;
      web->distance[next] = web->distance[op] + 1;
      web->parent[next] = op;
      web->queue[tail++] = next;
    }
  }
  return tail;
}

static void forget(web *web, uint32_t reached) {
  for (uint32_t i = 0; i < reached; i++)
    web->distance[web->queue[i]] = REGAL_NONE;
}

/* How far the furthest op is from `start`. */
static uint32_t reach(web *web, uint32_t start, uint32_t *furthest) {
  uint32_t reached = search(web, start);
  *furthest = web->queue[reached - 1];
  uint32_t far = web->distance[*furthest];
  forget(web, reached);
  return far;
}

/* Two sweeps: the furthest op from anywhere, then the furthest from there.
 * Their distance bounds the diameter from below, and the op half way between
 * them is a good middle. */
static uint32_t find_middle(web *web, uint32_t start, uint32_t *longest) {
  uint32_t end, middle;
  reach(web, start, &end);
  *longest = reach(web, end, &middle);
  for (uint32_t i = 0; i < *longest / 2; i++)
    middle = web->parent[middle];
  return middle;
}

/* Leaves the component's ops in `fringe`, nearest to the middle first, with
 * their levels, and `distance` as it was. */
static uint32_t list_levels(web *web, uint32_t middle) {
  uint32_t reached = search(web, middle);
  for (uint32_t i = 0; i < reached; i++) {
    uint32_t op = web->queue[i];
    web->fringe[i] = op;
    web->level[i] = web->distance[op];
    web->done[op] = 1;
  }
  forget(web, reached);
  return reached;
}

static uint32_t measure_component(web *web, uint32_t start) {
  uint32_t longest, furthest;
  uint32_t middle = find_middle(web, start, &longest);
  uint32_t ops = list_levels(web, middle);
  for (uint32_t i = ops; i-- > 0;) {
    /* What is left is within this level of the middle. */
    if (longest >= 2 * (uint64_t)web->level[i])
      break;
    uint32_t far = reach(web, web->fringe[i], &furthest);
    longest = far > longest ? far : longest;
  }
  return longest;
}

static void lay_out(web *web, regal_carver *carver, const regal_graph *graph) {
  size_t ops = graph->ops, word = sizeof(uint32_t);
  web->begin = regal_carve(carver, ops + 1, word);
  web->neighbour = regal_carve(carver, (size_t)graph->uses * 2, word);
  web->distance = regal_carve(carver, ops, word);
  web->queue = regal_carve(carver, ops, word);
  web->parent = regal_carve(carver, ops, word);
  web->fringe = regal_carve(carver, ops, word);
  web->level = regal_carve(carver, ops, word);
  web->done = regal_carve(carver, ops, 1);
}

regal_status regal_graph_diameter(regal_context *context,
                                  const regal_graph *graph,
                                  uint32_t *diameter) {
  web web = {.ops = graph->ops};
  regal_carver carver = {NULL, 0};
  if (graph->uses > UINT32_MAX / 2) /* rows count in 32 bits */
    return regal_fail_memory(context);
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, lay_out(&web, &carver, graph)));
  fill_ends(graph, &web);
  for (uint32_t op = 0; op < graph->ops; op++)
    web.distance[op] = REGAL_NONE;
  uint32_t longest = 0;
  for (uint32_t op = 0; op < graph->ops; op++) {
    uint32_t length = web.done[op] ? 0 : measure_component(&web, op);
    longest = length > longest ? length : longest;
  }
  regal_release(context, carver.base);
  *diameter = longest;
  return REGAL_OK;
}
