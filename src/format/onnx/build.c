/* SPDX-License-Identifier: Apache-2.0 */
/* The graph: the inputs as one op that costs nothing, then the nodes that are
 * ops. An op's id is its node's position; the inputs' op comes after all
 * nodes. */
#include "format/onnx/onnx.h"

#include "graph/builder.h"

#define SOURCE_NAME "inputs"

typedef struct building {
  regal_onnx *onnx;
  regal_builder *builder;
  uint32_t *op_of;   /* [nodes + 1] REGAL_NONE: no op; the last: the inputs */
  uint32_t *node_of; /* [ops] */
  uint32_t ops, nodes;
} building;

static void locate(const void *state, uint32_t op, char *text,
                   size_t capacity) {
  const building *building = state;
  uint32_t node = building->node_of[op];
  if (node == building->nodes) /* the inputs */
    snprintf(text, capacity, "%s", building->onnx->path);
  else
    snprintf(text, capacity, "%s: node %u", building->onnx->path, node);
}

static regal_status add_op(building *building, uint32_t node, const char *name,
                           int64_t run_ns, int64_t temporary_bytes) {
  building->node_of[building->ops++] = node;
  regal_builder_set_next_id(building->builder, node);
  return regal_builder_add_op(building->builder, name, run_ns, temporary_bytes,
                              0, &building->op_of[node]);
}

/* -- Tensors --------------------------------------------------------------- */

static regal_status add_tensor(const building *building, uint32_t op,
                               const char *name) {
  const regal_onnx *onnx = building->onnx;
  const regal_onnx_value *value =
      &onnx->values[regal_onnx_local(onnx, REGAL_ONNX_MAIN, name)];
  REGAL_TRY(regal_builder_add_output(building->builder, op, value->bytes,
                                     value->is_final));
  if (!value->shaped && !onnx->assumes_sizes)
    regal_builder_set_unknown(building->builder);
  return REGAL_OK;
}

/* The inputs that are no constants, as outputs of one op. */
static regal_status add_source(building *building) {
  const regal_onnx *onnx = building->onnx;
  const regal_onnx_graph *graph = onnx->model->graph;
  uint32_t *op = &building->op_of[building->nodes];
  *op = REGAL_NONE;
  for (size_t i = 0; i < graph->n_input; i++) {
    const char *name = graph->input[i]->name;
    uint32_t value = regal_onnx_local(onnx, REGAL_ONNX_MAIN, name);
    if (onnx->values[value].constant)
      continue;
    if (*op == REGAL_NONE)
      REGAL_TRY(add_op(building, building->nodes, SOURCE_NAME, 0, 0));
    REGAL_TRY(add_tensor(building, *op, name));
  }
  regal_builder_set_file_nodes(building->builder,
                               building->nodes + (*op != REGAL_NONE));
  return REGAL_OK;
}

static regal_status add_node(building *building, uint32_t node) {
  const regal_onnx_node *from = building->onnx->model->graph->node[node];
  const regal_onnx_work *op = &building->onnx->ops[node].work;
  building->op_of[node] = REGAL_NONE;
  if (!op->is_op)
    return REGAL_OK;
  REGAL_TRY(add_op(building, node, regal_onnx_node_name(from), op->run_ns,
                   op->temporary_bytes));
  uint32_t made = building->op_of[node];
  bool any = false;
  for (size_t i = 0; i < from->n_output; i++) {
    if (!*from->output[i])
      continue;
    REGAL_TRY(add_tensor(building, made, from->output[i]));
    any = true;
  }
  if (!any || !op->may_reuse)
    return REGAL_OK;
  return regal_builder_set_may_reuse(building->builder, made, 0);
}

/* -- Reads ----------------------------------------------------------------- */

static regal_status add_parameter(const building *building, uint32_t op,
                                  regal_onnx_value *constant) {
  if (!constant->bytes)
    return REGAL_OK;
  if (constant->parameter == REGAL_NONE)
    REGAL_TRY(regal_builder_add_parameter(building->builder, constant->bytes,
                                          &constant->parameter));
  return regal_builder_add_parameter_use(building->builder, op,
                                         constant->parameter);
}

static regal_status add_reads(const building *building, uint32_t node) {
  const regal_onnx *onnx = building->onnx;
  const regal_onnx_op *op = &onnx->ops[node];
  uint32_t reader = building->op_of[node];
  for (size_t i = op->read_begin; i < op->read_end; i++) {
    regal_onnx_value *value = &onnx->values[onnx->reads[i]];
    if (value->constant) {
      REGAL_TRY(add_parameter(building, reader, value));
      continue;
    }
    uint32_t from = value->node == REGAL_NONE ? building->nodes : value->node;
    REGAL_TRY(regal_builder_add_input(building->builder, reader,
                                      building->op_of[from], value->port));
  }
  return REGAL_OK;
}

static regal_status add_all(building *building) {
  regal_builder_set_locator(building->builder, locate, building);
  REGAL_TRY(add_source(building));
  for (uint32_t i = 0; i < building->nodes; i++)
    REGAL_TRY(add_node(building, i));
  if (!building->ops)
    return regal_fail(building->onnx->context, REGAL_BAD_INPUT,
                      "%s: nothing is left to run: all nodes are constants",
                      building->onnx->path);
  for (uint32_t i = 0; i < building->nodes; i++)
    if (building->op_of[i] != REGAL_NONE)
      REGAL_TRY(add_reads(building, i));
  return REGAL_OK;
}

regal_status regal_onnx_build(regal_onnx *onnx, regal_graph **graph) {
  building building = {.onnx = onnx,
                       .nodes = (uint32_t)onnx->model->graph->n_node};
  size_t most = (size_t)building.nodes + 1;
  building.op_of =
      regal_arena_alloc(&onnx->arena, most, sizeof *building.op_of);
  building.node_of =
      regal_arena_alloc(&onnx->arena, most, sizeof *building.node_of);
  if (!building.op_of || !building.node_of)
    return regal_fail_memory(onnx->context);
  REGAL_TRY(regal_builder_create(onnx->context, &building.builder));
  return regal_builder_end(building.builder, add_all(&building), graph);
}
