/* SPDX-License-Identifier: Apache-2.0 */
/* If, Loop and Scan: one op each, with the work of its bodies. */
#include "format/onnx/walk.h"

#include "graph/builder.h"

/* How often the body runs; false when that is not known beforehand. */
static bool count_trips(const regal_onnx_call *call, int64_t *trips) {
  const regal_onnx_node *node = call->node;
  *trips = 1;
  if (regal_onnx_is(node, "Loop")) {
    const regal_onnx_value *most = regal_onnx_in(call, 0);
    return most && regal_onnx_integer(most, trips) && *trips >= 0;
  }
  if (!regal_onnx_is(node, "Scan"))
    return true;
  const regal_onnx_attribute *axes =
      regal_onnx_attribute_of(node, "scan_input_axes");
  int64_t axis = axes && axes->n_ints ? axes->ints[0] : 0;
  int64_t scanned = regal_onnx_attribute_int(node, "num_scan_inputs", 1);
  if (scanned < 1 || scanned > (int64_t)node->n_input || axis < INT16_MIN ||
      axis > INT16_MAX)
    return false;
  double length = regal_onnx_dim_at(
      regal_onnx_in(call, node->n_input - (size_t)scanned), (int)axis);
  *trips = length < 0 ? 1 : (int64_t)length;
  return length >= 0;
}

/* Of the branches of If the longer one counts, of other bodies their sum. */
static void take_body(const regal_onnx_call *call, const regal_onnx_work *body,
                      regal_onnx_work *work) {
  if (body->temporary_bytes > work->temporary_bytes)
    work->temporary_bytes = body->temporary_bytes;
  if (!regal_onnx_is(call->node, "If")) {
    work->run_ns += body->run_ns;
    work->flops += body->flops;
  } else if (body->run_ns > work->run_ns) {
    work->run_ns = body->run_ns;
    work->flops = body->flops;
  }
}

static regal_status walk_bodies(regal_onnx *onnx, uint32_t scope,
                                const regal_onnx_call *call,
                                regal_onnx_work *work) {
  for (size_t i = 0; i < call->node->n_attribute; i++) {
    const regal_onnx_attribute *attribute = call->node->attribute[i];
    size_t graphs = attribute->g ? 1 : attribute->n_graphs;
    for (size_t g = 0; g < graphs; g++) {
      const regal_onnx_graph *graph =
          attribute->g ? attribute->g : attribute->graphs[g];
      regal_onnx_work body;
      REGAL_TRY(regal_onnx_walk_graph(onnx, graph, scope, &body));
      if (body.run_ns >= REGAL_MOST_TOTAL - work->run_ns)
        return regal_onnx_fail(onnx, "the run time is beyond 2^62 ns");
      take_body(call, &body, work);
    }
  }
  return REGAL_OK;
}

regal_status regal_onnx_run_bodies(regal_onnx *onnx, uint32_t scope,
                                   const regal_onnx_call *call,
                                   const regal_onnx_op_type *row,
                                   regal_onnx_work *work) {
  const regal_onnx_graph *graph = onnx->graph;
  uint32_t index = onnx->node_index;
  int64_t trips;
  if (!count_trips(call, &trips)) {
    trips = 1;
    regal_onnx_count(&onnx->counts.unbounded, regal_onnx_node_name(call->node));
  }
  if (!row)
    regal_onnx_count(&onnx->counts.unknown_types, call->node->op_type);
  REGAL_TRY(walk_bodies(onnx, scope, call, work));
  onnx->graph = graph;
  onnx->node = call->node;
  onnx->node_index = index;
  work->flops *= (double)trips;
  if (__builtin_mul_overflow(work->run_ns, trips, &work->run_ns) ||
      work->run_ns >= REGAL_MOST_TOTAL - onnx->roofline.launch_ns)
    return regal_onnx_fail(onnx, "the run time is beyond 2^62 ns");
  work->run_ns += onnx->roofline.launch_ns;
  return REGAL_OK;
}
