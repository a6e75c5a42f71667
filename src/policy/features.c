/* SPDX-License-Identifier: Apache-2.0 */
/* The table of features, and encodings made by it: first the nodes and edges of
 * the graph, then column after column, each filled by its row's function. */
#include "policy/features.h"

#include <string.h>

#include "base/carve.h"
#include "base/compare.h"

/* clang-format off */
#define PAPER_FEATURES(ROW) \
  /*  name                of    columns  computed from */ \
  ROW(input_bytes,        NODE, 1,       GRAPH) \
  ROW(output_bytes,       NODE, 1,       GRAPH) \
  ROW(own_bytes,          NODE, 1,       GRAPH) \
  ROW(uses_most_memory,   NODE, 1,       GRAPH) \
  ROW(predecessors_ns,    NODE, 1,       GRAPH) \
  ROW(successors_ns,      NODE, 1,       GRAPH) \
  ROW(run_ns,             NODE, 1,       GRAPH) \
  ROW(runs_longest,       NODE, 1,       GRAPH) \
  ROW(placement,          NODE, DEVICES, POPULATION) \
  ROW(position,           NODE, 1,       POPULATION) \
  ROW(tensor_bytes,       EDGE, 1,       GRAPH) \
  ROW(is_control,         EDGE, 1,       GRAPH) \
  ROW(tensor_number,      EDGE, 1,       GRAPH)

#define OUR_FEATURES(ROW) \
  ROW(draft_affinity,     NODE, DEVICES, DRAFT) \
  ROW(draft_priority,     NODE, 1,       DRAFT) \
  ROW(draft_transfer,     EDGE, DEVICES, DRAFT)
/* clang-format on */

#define DEVICES 0
#define DECLARE(name, of, columns, need)                                       \
  regal_feature_fill regal_feature_##name;
#define DEFINE(name, of, columns, need)                                        \
  {#name, REGAL_FEATURE_##of, columns, REGAL_FEATURE_FROM_##need,              \
   regal_feature_##name},

PAPER_FEATURES(DECLARE)
OUR_FEATURES(DECLARE)

static const regal_feature features[] = {PAPER_FEATURES(DEFINE)
                                             OUR_FEATURES(DEFINE)};
#define COUNT (sizeof features / sizeof *features)
#define ONE(name, of, columns, need) +1
enum { PAPER_COUNT = PAPER_FEATURES(ONE) };
_Static_assert(COUNT <= REGAL_MOST_FEATURES, "a list holds all features");

const regal_feature *regal_feature_at(size_t row) {
  return &features[row];
}

bool regal_features_add(regal_feature_list *list, const char *name) {
  for (size_t row = 0; row < COUNT && list->count < REGAL_MOST_FEATURES; row++)
    if (!strcmp(features[row].name, name)) {
      list->row[list->count++] = (uint8_t)row;
      return true;
    }
  return false;
}

static bool is_in(regal_feature_set set, size_t row) {
  regal_feature_origin from = features[row].from;
  if (set == REGAL_FEATURES_PAPER)
    return row < PAPER_COUNT;
  return set == REGAL_FEATURES_ALL || from == REGAL_FEATURE_FROM_GRAPH ||
         (set == REGAL_FEATURES_DRAFT && from == REGAL_FEATURE_FROM_DRAFT);
}

regal_feature_list regal_features_of(regal_feature_set set) {
  regal_feature_list list = {0};
  for (size_t row = 0; row < COUNT; row++)
    if (is_in(set, row))
      list.row[list.count++] = (uint8_t)row;
  return list;
}

static uint32_t width_of(const regal_feature *feature, uint32_t devices) {
  return feature->width == DEVICES ? devices : feature->width;
}

uint32_t regal_features_width(const regal_feature_list *list,
                              regal_feature_domain domain, uint32_t devices) {
  uint32_t width = 0;
  for (uint32_t i = 0; i < list->count; i++)
    if (features[list->row[i]].domain == domain)
      width += width_of(&features[list->row[i]], devices);
  return width;
}

bool regal_features_need(const regal_feature_list *list,
                         regal_feature_origin from) {
  for (uint32_t i = 0; i < list->count; i++)
    if (features[list->row[i]].from == from)
      return true;
  return false;
}

/* -- Nodes and edges ------------------------------------------------------- */

static size_t draft_genes(const regal_encoding *made) {
  size_t nodes = made->nodes, tensors = made->tensors;
  size_t devices = made->draft_devices;
  return devices ? nodes * (devices + 1) + tensors * devices : 0;
}

static void layout(regal_encoding *made, regal_carver *carver) {
  size_t nodes = made->nodes, edges = made->edges, tensors = made->tensors;
  regal_carve(carver, 1, sizeof *made);
  made->node = regal_carve(carver, nodes * made->node_features, sizeof(float));
  made->edge = regal_carve(carver, edges * made->edge_features, sizeof(float));
  made->from = regal_carve(carver, edges, sizeof(uint32_t));
  made->to = regal_carve(carver, edges, sizeof(uint32_t));
  made->tensor_node = regal_carve(carver, tensors, sizeof(uint32_t));
  made->tensor_edge = regal_carve(carver, tensors + 1, sizeof(uint32_t));
  made->draft = regal_carve(carver, draft_genes(made), sizeof(float));
}

static void add_edge(regal_encoding *made, uint32_t from, uint32_t to) {
  made->from[made->edges] = from;
  made->to[made->edges++] = to;
}

/* The edges of all tensors, then the control edges. */
static void add_edges(const regal_problem *problem, regal_encoding *made) {
  made->edges = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    made->tensor_node[t] = problem->producer[t];
    made->tensor_edge[t] = made->edges;
    for (REGAL_ROW(u, problem->use_begin, t))
      add_edge(made, problem->producer[t], problem->consumer[u]);
  }
  made->tensor_edge[problem->tensors] = made->edges;
  for (uint32_t op = 0; problem->has_waits && op < problem->ops; op++)
    for (REGAL_ROW(w, problem->wait_begin, op))
      add_edge(made, op, problem->waiter[w]);
}

static regal_status make_encoding(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_feature_list *list,
                                  uint32_t devices, bool has_draft,
                                  regal_encoding **encoding) {
  size_t edges = problem->use_begin[problem->tensors];
  edges += problem->has_waits ? problem->wait_begin[problem->ops] : 0;
  if (edges > UINT32_MAX)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%zu edges are too many for a policy", edges);
  regal_encoding sizes = {
      .nodes = problem->ops,
      .edges = (uint32_t)edges,
      .tensors = problem->tensors,
      .draft_devices = has_draft ? problem->devices : 0,
      .node_features = regal_features_width(list, REGAL_FEATURE_NODE, devices),
      .edge_features = regal_features_width(list, REGAL_FEATURE_EDGE, devices)};
  regal_carver carver = {0};
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&sizes, &carver)));
  add_edges(problem, &sizes);
  *encoding = (regal_encoding *)carver.base;
  **encoding = sizes;
  return REGAL_OK;
}

/* -- Features -------------------------------------------------------------- */

static void find_longest(regal_feature_source *source, double *run_ns) {
  const regal_problem *problem = source->problem;
  source->longest_ns = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    run_ns[op] = regal_problem_mean_run_ns(problem, op);
    if (run_ns[op] > source->longest_ns)
      source->longest_ns = run_ns[op];
  }
  if (source->longest_ns == 0)
    source->longest_ns = 1;
  source->run_ns = problem->objective == REGAL_MEMORY ? NULL : run_ns;
}

int64_t regal_feature_own_memory(const regal_problem *problem, uint32_t op) {
  const regal_graph *graph = problem->graph;
  int64_t bytes = graph->temporary_bytes[op] + graph->resident_bytes[op];
  for (REGAL_ROW(i, graph->parameter_begin, op))
    bytes += graph->parameter_bytes[graph->parameter[i]];
  return bytes;
}

static void find_largest(regal_feature_source *source) {
  const regal_problem *problem = source->problem;
  int64_t largest = 0;
  for (uint32_t t = 0; t < problem->tensors; t++)
    largest = regal_larger(largest, problem->bytes[t]);
  for (uint32_t op = 0; op < problem->ops; op++)
    largest = regal_larger(largest, regal_feature_own_memory(problem, op));
  source->largest_bytes = largest ? (double)largest : 1;
}

static void fill_columns(const regal_feature_source *source,
                         const regal_feature_list *list, regal_encoding *made) {
  uint32_t node = 0, edge = 0; /* columns so far */
  for (uint32_t i = 0; i < list->count; i++) {
    const regal_feature *feature = &features[list->row[i]];
    uint32_t width = width_of(feature, source->devices);
    if (feature->domain == REGAL_FEATURE_NODE) {
      feature->fill(source, made->node + node, made->node_features);
      node += width;
    } else {
      feature->fill(source, made->edge + edge, made->edge_features);
      edge += width;
    }
  }
}

static void keep_draft(const regal_feature_runs *runs, regal_encoding *made) {
  if (runs->draft)
    memcpy(made->draft, runs->draft, draft_genes(made) * sizeof *made->draft);
  else
    made->draft = NULL;
}

regal_status regal_encode_problem(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_feature_list *list,
                                  uint32_t devices,
                                  const regal_feature_runs *runs,
                                  regal_encoding **encoding) {
  regal_feature_source source = {
      .problem = problem, .devices = devices, .runs = *runs};
  regal_encoding *made = NULL;
  double *run_ns = regal_alloc(context, problem->ops, sizeof *run_ns);
  if (!run_ns)
    return regal_fail_memory(context);
  regal_status status = make_encoding(context, problem, list, devices,
                                      runs->draft != NULL, &made);
  if (status == REGAL_OK) {
    source.graph = made;
    find_longest(&source, run_ns);
    find_largest(&source);
    fill_columns(&source, list, made);
    keep_draft(runs, made);
    *encoding = made;
  }
  regal_release(context, run_ns);
  return status;
}

void regal_encoding_free(regal_context *context, regal_encoding *encoding) {
  regal_release(context, encoding);
}
