/* SPDX-License-Identifier: Apache-2.0 */
/* Run times that the user has measured (--costs) in place of the file's. They
 * are those of the file's nodes, before any are joined or dropped.
 */
#include "format/costs/costs.h"
#include "format/tensorflow/cost_graph.h"

regal_status regal_cost_replace_times(regal_cost_graph *cost) {
  const char *path = cost->options->costs;
  if (!path[0])
    return REGAL_OK;
  const char **names =
      regal_arena_alloc(&cost->arena, cost->nodes, sizeof *names);
  int64_t *run_ns =
      regal_arena_alloc(&cost->arena, cost->nodes, sizeof *run_ns);
  if (!names || !run_ns)
    return regal_fail_memory(cost->context);
  for (uint32_t i = 0; i < cost->nodes; i++)
    names[i] = regal_cost_node_at(cost, i)->name;
  REGAL_TRY(regal_costs_read(cost->context, path, names, cost->nodes,
                             "the graph", run_ns));
  for (uint32_t i = 0; i < cost->nodes; i++) {
    if (run_ns[i] == REGAL_NOT_MEASURED)
      continue;
    cost->run_ns[i] = run_ns[i];
    cost->counts.measured++;
  }
  return REGAL_OK;
}
