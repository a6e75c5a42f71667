/* SPDX-License-Identifier: Apache-2.0 */
/* Run times that the user has measured (--costs) in place of the roofline's.
 * Rows of nodes that are no ops (folded, views) are ignored.
 */
#include "format/costs/costs.h"
#include "format/onnx/onnx.h"

regal_status regal_onnx_measure(regal_onnx *onnx) {
  const regal_onnx_graph *graph = onnx->model->graph;
  uint32_t nodes = (uint32_t)graph->n_node;
  if (!onnx->options->costs[0])
    return REGAL_OK;
  const char **names = regal_arena_alloc(&onnx->arena, nodes, sizeof *names);
  int64_t *run_ns = regal_arena_alloc(&onnx->arena, nodes, sizeof *run_ns);
  if (!names || !run_ns)
    return regal_fail_memory(onnx->context);
  for (uint32_t i = 0; i < nodes; i++)
    names[i] = regal_onnx_node_name(graph->node[i]);
  REGAL_TRY(regal_costs_read(onnx->context, onnx->options->costs, names, nodes,
                             "the model", run_ns));
  for (uint32_t i = 0; i < nodes; i++) {
    regal_onnx_work *work = &onnx->ops[i].work;
    if (!work->is_op)
      continue;
    bool measured = run_ns[i] != REGAL_NOT_MEASURED;
    onnx->measured += measured;
    onnx->not_measured += !measured;
    if (!measured)
      continue;
    work->run_ns = run_ns[i];
    work->launch_ns = 0;
  }
  return REGAL_OK;
}
