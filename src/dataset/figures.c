/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of one graph, as a row of index.csv has them: degrees, width of
 * the layers, parallelism (work over critical path), diameter.
 */
#include "dataset/figures.h"

#include <stdlib.h>

#include "base/random.h"

/* -- In-degrees ------------------------------------------------------------ */

static uint64_t in_degree(const regal_graph *graph, uint32_t op) {
  uint64_t inputs = graph->input_begin[op + 1] - graph->input_begin[op];
  uint64_t waits =
      graph->control_in_begin[op + 1] - graph->control_in_begin[op];
  return inputs + waits;
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

regal_status regal_graph_degrees(regal_context *context,
                                 const regal_graph *graph, uint64_t *degrees) {
  uint64_t *degree = regal_alloc(context, graph->ops, sizeof *degree);
  if (!degree)
    return regal_fail_memory(context);
  for (uint32_t op = 0; op < graph->ops; op++)
    degree[op] = in_degree(graph, op);
  qsort(degree, graph->ops, sizeof *degree, compare);
  uint64_t sum = REGAL_GOLDEN;
  for (uint32_t op = 0; op < graph->ops; op++)
    sum = regal_mix(sum ^ degree[op]) + REGAL_GOLDEN;
  regal_release(context, degree);
  *degrees = sum;
  return REGAL_OK;
}

/* -- Width ----------------------------------------------------------------- */

static uint32_t depth_of(const regal_graph *graph, const uint32_t *depth,
                         uint32_t op) {
  uint32_t deepest = 0;
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t before = depth[graph->producer[graph->input[i]]];
    deepest = before >= deepest ? before + 1 : deepest;
  }
  for (REGAL_ROW(i, graph->control_in_begin, op)) {
    uint32_t before = depth[graph->control_in[i]];
    deepest = before >= deepest ? before + 1 : deepest;
  }
  return deepest;
}

/* Most ops at one depth, the length of the longest path to them. */
static regal_status find_width(regal_context *context, const regal_graph *graph,
                               uint32_t *width) {
  uint32_t *depth = regal_alloc(context, graph->ops, sizeof *depth);
  uint32_t *at = regal_alloc(context, graph->ops, sizeof *at);
  uint32_t most = 0;
  if (depth && at)
    for (uint32_t op = 0; op < graph->ops; op++) {
      depth[op] = depth_of(graph, depth, op);
      if (++at[depth[op]] > most)
        most = at[depth[op]];
    }
  bool good = depth && at;
  regal_release(context, depth);
  regal_release(context, at);
  *width = most;
  return good ? REGAL_OK : regal_fail_memory(context);
}

/* -- Room for improvement -------------------------------------------------- */

/* Work equals the critical path exactly when all ops that take time are on one
 * path: then every plan takes that long, and one device takes no longer. */
static regal_room runtime_room(const regal_graph *graph) {
  uint32_t busy = 0;
  for (uint32_t op = 0; op < graph->ops; op++)
    busy += graph->run_ns[op] > 0;
  if (!busy)
    return REGAL_ROOM_NO_COST;
  if (busy == 1)
    return REGAL_ROOM_SINGLE_OP;
  return graph->work_ns == graph->critical_ns ? REGAL_ROOM_CHAIN
                                              : REGAL_ROOM_YES;
}

static bool has_bytes(const regal_graph *graph, uint32_t op) {
  if (graph->temporary_bytes[op])
    return true;
  for (REGAL_ROW(t, graph->output_begin, op))
    if (graph->bytes[t])
      return true;
  return false;
}

/* Resident bytes do not count: no order changes them. */
static regal_room memory_room(const regal_graph *graph) {
  uint32_t busy = 0;
  for (uint32_t op = 0; op < graph->ops; op++)
    busy += has_bytes(graph, op);
  if (!busy)
    return REGAL_ROOM_NO_COST;
  return busy == 1 ? REGAL_ROOM_SINGLE_OP : REGAL_ROOM_YES;
}

regal_status regal_figures_of(regal_context *context, const regal_graph *graph,
                              regal_figures *figures) {
  regal_figures made = {
      .ops = graph->ops,
      .tensors = graph->tensors,
      .edges = graph->uses,
      .controls = graph->controls,
      .work_ns = graph->work_ns,
      .critical_ns = graph->critical_ns,
      .tensor_bytes = graph->tensor_bytes,
      .runtime_room = runtime_room(graph),
      .memory_room = memory_room(graph),
      .checksum = graph->checksum,
  };
  REGAL_TRY(regal_graph_degrees(context, graph, &made.degrees));
  REGAL_TRY(find_width(context, graph, &made.width));
  REGAL_TRY(regal_graph_diameter(context, graph, &made.diameter));
  *figures = made;
  return REGAL_OK;
}
