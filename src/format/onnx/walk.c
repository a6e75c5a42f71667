/* SPDX-License-Identifier: Apache-2.0 */
/* Each node in its order: is it known beforehand (folded), is its output only a
 * view of its input, or is it an op, and then how long does it run?
 *
 * Bodies of If, Loop and Scan are walked where their node stands: what they
 * read from the main graph is read by that node, and their work is its work.
 */
#include "format/onnx/walk.h"

#include <string.h>

#include "format/onnx/order.h"
#include "graph/builder.h"

static regal_status walk_graph(regal_onnx *onnx, const regal_onnx_graph *graph,
                               uint32_t parent, regal_onnx_work *total);

static regal_status fail_time(const regal_onnx *onnx) {
  return regal_onnx_fail(onnx, "the run time is beyond 2^62 ns");
}

/* -- Bodies: If, Loop and Scan are one op each, with the work inside ------- */

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
    work->launch_ns += body->launch_ns;
    work->flops += body->flops;
  } else if (body->run_ns > work->run_ns) {
    work->run_ns = body->run_ns;
    work->launch_ns = body->launch_ns;
    work->flops = body->flops;
  }
}

static regal_status walk_bodies(const regal_onnx_call *call,
                                regal_onnx_work *work) {
  for (size_t i = 0; i < call->node->n_attribute; i++) {
    const regal_onnx_attribute *attribute = call->node->attribute[i];
    size_t graphs = attribute->g ? 1 : attribute->n_graphs;
    for (size_t g = 0; g < graphs; g++) {
      const regal_onnx_graph *graph =
          attribute->g ? attribute->g : attribute->graphs[g];
      regal_onnx_work body;
      REGAL_TRY(walk_graph(call->onnx, graph, call->scope, &body));
      if (body.run_ns >= REGAL_MOST_TOTAL - work->run_ns)
        return fail_time(call->onnx);
      take_body(call, &body, work);
    }
  }
  return REGAL_OK;
}

regal_status regal_onnx_run_bodies(const regal_onnx_call *call,
                                   regal_onnx_work *work) {
  regal_onnx *onnx = call->onnx;
  const regal_onnx_graph *graph = onnx->graph;
  uint32_t index = onnx->node_index;
  int64_t trips;
  if (!count_trips(call, &trips)) {
    trips = 1;
    regal_onnx_count(&onnx->counts.unbounded, regal_onnx_node_name(call->node));
  }
  if (!call->row)
    regal_onnx_count(&onnx->counts.unknown_types, call->node->op_type);
  REGAL_TRY(walk_bodies(call, work));
  onnx->graph = graph;
  onnx->node = call->node;
  onnx->node_index = index;
  work->flops *= (double)trips;
  work->launch_ns *= (double)trips;
  if (__builtin_mul_overflow(work->run_ns, trips, &work->run_ns) ||
      work->run_ns >= REGAL_MOST_TOTAL - onnx->roofline.launch_ns)
    return fail_time(onnx);
  work->run_ns += onnx->roofline.launch_ns;
  work->launch_ns += (double)onnx->roofline.launch_ns;
  return REGAL_OK;
}

/* -- Values of a graph ------------------------------------------------------*/

static regal_status declare_types(regal_onnx *onnx, uint32_t scope,
                                  RegalOnnx__ValueInfoProto *const *infos,
                                  size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t value;
    REGAL_TRY(regal_onnx_declare(onnx, scope, infos[i]->name, &value));
    if (!onnx->values[value].shaped)
      REGAL_TRY(regal_onnx_set_type(onnx, value, infos[i]->type));
  }
  return REGAL_OK;
}

regal_status regal_onnx_set_tensor(regal_onnx *onnx, uint32_t value,
                                   const regal_onnx_tensor *tensor) {
  regal_onnx_value *made = &onnx->values[value];
  for (size_t i = 0; i < tensor->n_dims; i++)
    if (tensor->dims[i] < 0)
      return regal_onnx_fail(onnx, "tensor %s has the dimension %lld",
                             regal_quote(made->name).text,
                             (long long)tensor->dims[i]);
  made->shaped = false;
  made->tensor = tensor;
  return regal_onnx_set_shape(onnx, value, tensor->data_type, tensor->dims,
                              tensor->n_dims);
}

static regal_status make_initializer(regal_onnx *onnx, uint32_t scope,
                                     const char *name, uint32_t *value) {
  REGAL_TRY(regal_onnx_declare(onnx, scope, name, value));
  regal_onnx_value *made = &onnx->values[*value];
  if (made->made)
    return regal_onnx_fail(onnx, "initializer %s is there twice",
                           regal_quote(name).text);
  made->made = made->constant = true;
  return REGAL_OK;
}

static regal_status declare_initializers(regal_onnx *onnx, uint32_t scope,
                                         const regal_onnx_graph *graph) {
  uint32_t value;
  for (size_t i = 0; i < graph->n_initializer; i++) {
    const regal_onnx_tensor *tensor = graph->initializer[i];
    REGAL_TRY(make_initializer(onnx, scope, tensor->name, &value));
    REGAL_TRY(regal_onnx_set_tensor(onnx, value, tensor));
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
    const RegalOnnx__SparseTensorProto *sparse = graph->sparse_initializer[i];
    if (!sparse->values)
      return regal_onnx_fail(onnx, "sparse initializer %zu has no values", i);
    REGAL_TRY(make_initializer(onnx, scope, sparse->values->name, &value));
    REGAL_TRY(regal_onnx_set_tensor(onnx, value, sparse->values));
  }
  return REGAL_OK;
}

/* Inputs that have an initializer are constants: it is their default. */
static regal_status declare_inputs(regal_onnx *onnx, uint32_t scope,
                                   const regal_onnx_graph *graph) {
  uint32_t port = 0;
  for (size_t i = 0; i < graph->n_input; i++) {
    const char *name = graph->input[i]->name;
    regal_onnx_value *value =
        &onnx->values[regal_onnx_local(onnx, scope, name)];
    if (!*name)
      return regal_onnx_fail(onnx, "input %zu has no name", i);
    if (value->constant)
      continue;
    if (value->made)
      return regal_onnx_fail(onnx, "input %s is there twice",
                             regal_quote(name).text);
    value->made = true;
    value->port = port++;
    regal_onnx_need_size(onnx, regal_onnx_local(onnx, scope, name));
  }
  return REGAL_OK;
}

static regal_status declare_all(regal_onnx *onnx, uint32_t scope,
                                const regal_onnx_graph *graph) {
  REGAL_TRY(declare_types(onnx, scope, graph->input, graph->n_input));
  REGAL_TRY(declare_types(onnx, scope, graph->output, graph->n_output));
  REGAL_TRY(declare_types(onnx, scope, graph->value_info, graph->n_value_info));
  REGAL_TRY(declare_initializers(onnx, scope, graph));
  return declare_inputs(onnx, scope, graph);
}

/* -- Values of a node ------------------------------------------------------ */

static bool find_maker(const regal_onnx_graph *graph, const char *name,
                       size_t *maker) {
  for (size_t i = 0; i < graph->n_node; i++)
    for (size_t o = 0; o < graph->node[i]->n_output; o++)
      if (!strcmp(graph->node[i]->output[o], name)) {
        *maker = i;
        return true;
      }
  return false;
}

static regal_status fail_input(const regal_onnx *onnx, const char *name) {
  const regal_onnx_graph *main_graph = onnx->model->graph;
  size_t maker;
  if (find_maker(onnx->graph, name, &maker))
    return regal_onnx_fail(
        onnx, "input %s is made by node %zu, %s", regal_quote(name).text, maker,
        onnx->graph == main_graph ? "which needs what this node makes: a cycle"
                                  : "but nodes of a body must come after "
                                    "those whose outputs they read");
  if (find_maker(main_graph, name, &maker))
    return regal_onnx_fail(onnx,
                           "input %s is made by node %zu of the main graph, "
                           "but that must come before the node with this body",
                           regal_quote(name).text, maker);
  return regal_onnx_fail(onnx,
                         "input %s is no input or initializer of the graph, "
                         "nor made by any node",
                         regal_quote(name).text);
}

static regal_status find_inputs(regal_onnx *onnx, uint32_t scope,
                                const regal_onnx_node *node, uint32_t *inputs) {
  for (size_t i = 0; i < node->n_input; i++) {
    inputs[i] = REGAL_NONE;
    if (!*node->input[i])
      continue;
    inputs[i] = regal_onnx_lookup(onnx, scope, node->input[i]);
    if (inputs[i] == REGAL_NONE)
      return fail_input(onnx, node->input[i]);
  }
  return REGAL_OK;
}

static regal_status make_outputs(regal_onnx *onnx, uint32_t scope,
                                 const regal_onnx_node *node,
                                 uint32_t *outputs) {
  uint32_t port = 0;
  for (size_t i = 0; i < node->n_output; i++) {
    const char *name = node->output[i];
    outputs[i] = REGAL_NONE;
    if (!*name)
      continue;
    REGAL_TRY(regal_onnx_declare(onnx, scope, name, &outputs[i]));
    regal_onnx_value *value = &onnx->values[outputs[i]];
    if (value->made)
      return regal_onnx_fail(onnx, "output %s was made before",
                             regal_quote(name).text);
    value->made = true;
    value->node = onnx->node_index;
    value->port = port++;
  }
  return REGAL_OK;
}

/* -- Graphs ---------------------------------------------------------------- */

static regal_status walk_node(regal_onnx *onnx, uint32_t scope,
                              regal_onnx_work *work) {
  const regal_onnx_node *node = onnx->node;
  uint32_t *inputs = regal_arena_alloc(
      &onnx->arena, node->n_input + node->n_output, sizeof *inputs);
  if (!inputs)
    return regal_fail_memory(onnx->context);
  uint32_t *outputs = inputs + node->n_input;
  if (!*node->op_type)
    return regal_onnx_fail(onnx, "it has no op_type");
  REGAL_TRY(find_inputs(onnx, scope, node, inputs));
  REGAL_TRY(make_outputs(onnx, scope, node, outputs));
  const regal_onnx_op_type *row = regal_onnx_op_type_of(node);
  regal_onnx_call call = {.onnx = onnx,
                          .node = node,
                          .row = row,
                          .traits = row ? row->traits : 0,
                          .scope = scope,
                          .inputs = inputs,
                          .outputs = outputs};
  return regal_onnx_interpret(&call, work);
}

static regal_status add_work(regal_onnx *onnx, regal_onnx_work *total,
                             const regal_onnx_work *work) {
  total->flops += work->flops;
  if (work->temporary_bytes > total->temporary_bytes)
    total->temporary_bytes = work->temporary_bytes;
  if (work->run_ns >= REGAL_MOST_TOTAL - total->run_ns)
    return fail_time(onnx);
  total->run_ns += work->run_ns;
  total->launch_ns += work->launch_ns;
  return REGAL_OK;
}

/* A body's results may be values from around it. */
static regal_status check_results(regal_onnx *onnx, uint32_t scope,
                                  const regal_onnx_graph *graph) {
  for (size_t i = 0; i < graph->n_output; i++) {
    const char *name = graph->output[i]->name;
    uint32_t value = regal_onnx_lookup(onnx, scope, name);
    if (value == REGAL_NONE)
      return regal_onnx_fail(onnx, "output %s is made by no node",
                             regal_quote(name).text);
    if (scope != REGAL_ONNX_MAIN)
      REGAL_TRY(regal_onnx_add_read(onnx, value));
    else
      onnx->values[onnx->values[value].root].is_final = true;
  }
  return REGAL_OK;
}

static regal_status walk_nodes(regal_onnx *onnx, uint32_t scope,
                               const regal_onnx_graph *graph,
                               regal_onnx_work *total) {
  for (size_t k = 0; k < graph->n_node; k++) {
    size_t i = scope == REGAL_ONNX_MAIN ? onnx->order[k] : k;
    regal_onnx_work work = {0};
    onnx->graph = graph;
    onnx->node = graph->node[i];
    onnx->node_index = (uint32_t)i;
    size_t begin = onnx->read_count;
    REGAL_TRY(walk_node(onnx, scope, &work));
    REGAL_TRY(add_work(onnx, total, &work));
    if (scope == REGAL_ONNX_MAIN)
      onnx->ops[i] = (regal_onnx_op){work, begin, onnx->read_count};
  }
  return REGAL_OK;
}

static regal_status walk_graph(regal_onnx *onnx, const regal_onnx_graph *graph,
                               uint32_t parent, regal_onnx_work *total) {
  uint32_t scope;
  *total = (regal_onnx_work){0};
  REGAL_TRY(regal_onnx_open_scope(onnx, parent, &scope));
  onnx->graph = graph;
  onnx->node = NULL;
  REGAL_TRY(declare_all(onnx, scope, graph));
  REGAL_TRY(walk_nodes(onnx, scope, graph, total));
  onnx->graph = graph;
  onnx->node = NULL;
  return check_results(onnx, scope, graph);
}

static regal_status sort(regal_onnx *onnx) {
  const regal_onnx_graph *graph = onnx->model->graph;
  onnx->order =
      regal_arena_alloc(&onnx->keep, graph->n_node, sizeof *onnx->order);
  return onnx->order ? regal_onnx_sort(onnx->context, graph, onnx->order)
                     : regal_fail_memory(onnx->context);
}

regal_status regal_onnx_walk(regal_onnx *onnx) {
  const regal_onnx_graph *graph = onnx->model->graph;
  regal_onnx_work total;
  regal_onnx_clear_values(onnx);
  onnx->counts = (regal_onnx_counts){0};
  onnx->read_count = 0;
  if (graph->n_node >= REGAL_NONE - 1)
    return regal_fail(onnx->context, REGAL_BAD_INPUT, "%s: too many nodes",
                      onnx->path);
  onnx->ops = regal_arena_alloc(&onnx->arena, graph->n_node, sizeof *onnx->ops);
  if (!onnx->ops)
    return regal_fail_memory(onnx->context);
  if (!onnx->order)
    REGAL_TRY(sort(onnx));
  REGAL_TRY(walk_graph(onnx, graph, REGAL_NONE, &total));
  onnx->counts.flops = total.flops;
  return REGAL_OK;
}
