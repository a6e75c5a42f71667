/* SPDX-License-Identifier: Apache-2.0 */
/* Bisection by METIS (Karypis and Kumar). A net becomes edges from its first
 * pin, the producer's vertex where that is in the bisection, to the others.
 *
 * METIS allocates its own memory and complains on stdout about graphs without
 * vertices, so it never gets one.
 */
#include <metis.h>

#include "base/carve.h"
#include "heuristic/partition/partition.h"

_Static_assert(sizeof(idx_t) == 4 || sizeof(idx_t) == 8, "METIS's integers");

/* Sums of weights stay below this, so that METIS can add them up. */
#define MOST_WEIGHT 0x1p29

typedef struct metis_graph {
  idx_t vertices;
  idx_t *begin, *neighbour, *weight, *edge_weight, *side;
} metis_graph;

static void layout(metis_graph *graph, regal_carver *carver,
                   const regal_bisection *b, size_t edges) {
  graph->vertices = (idx_t)b->vertices;
  graph->begin = regal_carve(carver, (size_t)b->vertices + 2, sizeof(idx_t));
  graph->neighbour = regal_carve(carver, edges, sizeof(idx_t));
  graph->edge_weight = regal_carve(carver, edges, sizeof(idx_t));
  graph->weight = regal_carve(carver, b->vertices, sizeof(idx_t));
  graph->side = regal_carve(carver, b->vertices, sizeof(idx_t));
}

static void add_edge(metis_graph *graph, uint32_t from, uint32_t to,
                     idx_t weight) {
  idx_t at = graph->begin[from + 1]++;
  graph->neighbour[at] = (idx_t)to;
  graph->edge_weight[at] = weight;
}

/* Parallel edges are left to METIS, which adds them up as it coarsens. */
static void fill_edges(const regal_bisection *b, metis_graph *graph) {
  double bytes = 1;
  for (uint32_t n = 0; n < b->nets; n++) {
    uint32_t first = b->pin_begin[n], end = b->pin_begin[n + 1];
    bytes += (double)b->bytes[n] * (end - first - 1);
    graph->begin[b->pin[first] + 2] += (idx_t)(end - first - 1);
    for (uint32_t i = first + 1; i < end; i++)
      graph->begin[b->pin[i] + 2]++;
  }
  for (uint32_t v = 0; v < b->vertices; v++)
    graph->begin[v + 2] += graph->begin[v + 1];
  double scale = bytes > MOST_WEIGHT ? MOST_WEIGHT / bytes : 1;
  for (uint32_t n = 0; n < b->nets; n++) {
    uint32_t first = b->pin[b->pin_begin[n]];
    idx_t weight = 1 + (idx_t)((double)b->bytes[n] * scale);
    for (uint32_t i = b->pin_begin[n] + 1; i < b->pin_begin[n + 1]; i++) {
      add_edge(graph, first, b->pin[i], weight);
      add_edge(graph, b->pin[i], first, weight);
    }
  }
}

static void fill_weights(const regal_bisection *b, metis_graph *graph) {
  double total = 1;
  for (uint32_t v = 0; v < b->vertices; v++)
    total += (double)b->weight[v];
  double scale = total > MOST_WEIGHT ? MOST_WEIGHT / total : 1;
  for (uint32_t v = 0; v < b->vertices; v++)
    graph->weight[v] = (idx_t)((double)b->weight[v] * scale);
}

static regal_status call_metis(regal_context *context, metis_graph *graph,
                               double share, uint64_t seed) {
  idx_t constraints = 1, parts = 2, cut, options[METIS_NOPTIONS];
  real_t shares[2] = {(real_t)share, (real_t)(1 - share)};
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = (idx_t)(seed & INT32_MAX);
  options[METIS_OPTION_NUMBERING] = 0;
  int status = METIS_PartGraphRecursive(
      &graph->vertices, &constraints, graph->begin, graph->neighbour,
      graph->weight, NULL, graph->edge_weight, &parts, shares, NULL, options,
      &cut, graph->side);
  if (status == METIS_OK)
    return REGAL_OK;
  return status == METIS_ERROR_MEMORY
             ? regal_fail_memory(context)
             : regal_fail(context, REGAL_INTERNAL, "METIS failed: error %d",
                          status);
}

regal_status regal_bisect_metis(regal_context *context,
                                regal_bisection *bisection, uint64_t seed) {
  regal_bisection *b = bisection;
  size_t edges = 2 * (size_t)(b->pin_begin[b->nets] - b->nets);
  if (edges > INT32_MAX / 2)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "partitioner metis: %zu edges are too many for it",
                      edges);
  if (b->nets == 0 || b->vertices < 2) /* only the balance counts */
    return regal_bisect_fm(context, b, seed);
  metis_graph graph;
  regal_carver carver = {NULL, 0};
  REGAL_TRY(
      REGAL_CARVE_BLOCK(context, carver, layout(&graph, &carver, b, edges)));
  fill_edges(b, &graph);
  fill_weights(b, &graph);
  regal_status status = call_metis(context, &graph, b->share, seed);
  for (uint32_t v = 0; v < b->vertices && status == REGAL_OK; v++)
    b->side[v] =
        b->fixed[v] == REGAL_SIDE_FREE ? graph.side[v] != 0 : b->fixed[v];
  regal_release(context, carver.base);
  return status;
}
