/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a CostGraphDef: the stages of cost_graph.h in their order, then what
 * they leave of the file's nodes is given to the builder.
 */
#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "format/tensorflow/cost_graph.h"
#include "graph/builder.h"

regal_status regal_cost_fail(const regal_cost_graph *cost, uint32_t node,
                             const char *format, ...) {
  char message[REGAL_MESSAGE_CAPACITY / 2];
  regal_quoted name = regal_quote(regal_cost_node_at(cost, node)->name);
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(message, sizeof message, format, arguments);
  va_end(arguments);
  if (cost->lines)
    return regal_fail(cost->context, REGAL_BAD_INPUT, "%s:%u: node %s: %s",
                      cost->path, cost->lines[node], name.text, message);
  return regal_fail(cost->context, REGAL_BAD_INPUT, "%s: node %u %s: %s",
                    cost->path, node, name.text, message);
}

regal_status regal_cost_add_wait(regal_cost_graph *cost, uint32_t before,
                                 uint32_t after) {
  if (before == after)
    return REGAL_OK;
  if (cost->wait_count == cost->wait_room) {
    size_t room = cost->wait_room ? cost->wait_room * 2 : 64;
    regal_wait *grown = regal_arena_alloc(&cost->arena, room, sizeof *grown);
    if (!grown)
      return regal_fail_memory(cost->context);
    if (cost->wait_count)
      memcpy(grown, cost->waits, cost->wait_count * sizeof *grown);
    cost->waits = grown;
    cost->wait_room = room;
  }
  cost->waits[cost->wait_count++] = (regal_wait){before, after};
  return REGAL_OK;
}

/* -- Building -------------------------------------------------------------- */

typedef struct building {
  const regal_cost_graph *cost;
  regal_builder *builder;
  uint32_t *op_of;   /* [nodes] REGAL_NONE: dropped */
  uint32_t *node_of; /* [ops] */
  uint32_t ops;
} building;

/* -- Parameters: fields of our own ----------------------------------------- */

static regal_status add_parameters(const building *building) {
  const regal_cost_graph *cost = building->cost;
  for (size_t i = 0; i < cost->def->n_regal_parameter_bytes; i++) {
    regal_status status = regal_builder_add_parameter(
        building->builder, cost->def->regal_parameter_bytes[i], NULL);
    if (status != REGAL_BAD_INPUT) {
      REGAL_TRY(status);
      continue;
    }
    char problem[REGAL_MESSAGE_CAPACITY / 2];
    snprintf(problem, sizeof problem, "%s", regal_error(cost->context));
    return regal_fail(cost->context, status, "%s: %s", cost->path, problem);
  }
  return REGAL_OK;
}

static regal_status add_uses(const building *building, uint32_t node) {
  const regal_cost_graph *cost = building->cost;
  const regal_cost_node *def = regal_cost_node_at(cost, node);
  for (size_t i = 0; i < def->n_regal_parameter; i++) {
    int32_t parameter = def->regal_parameter[i];
    if (parameter < 0)
      return regal_cost_fail(
          cost, node, "regal_parameter is %d, expected 0 or more", parameter);
    REGAL_TRY(regal_builder_add_parameter_use(
        building->builder, building->op_of[node], (uint32_t)parameter));
  }
  return REGAL_OK;
}

static regal_status add_labels(const building *building, uint32_t node) {
  const regal_cost_node *def = regal_cost_node_at(building->cost, node);
  uint32_t op = building->op_of[node];
  if (def->regal_device && *def->regal_device)
    REGAL_TRY(
        regal_builder_set_device(building->builder, op, def->regal_device));
  if (def->regal_group && *def->regal_group)
    REGAL_TRY(regal_builder_set_group(building->builder, op, def->regal_group));
  return REGAL_OK;
}

/* -- Ops and edges --------------------------------------------------------- */

/* Where an op stands, for messages of the builder. */
static void locate(const void *state, uint32_t op, char *text,
                   size_t capacity) {
  const building *building = state;
  const regal_cost_graph *cost = building->cost;
  uint32_t node = building->node_of[op];
  if (cost->lines)
    snprintf(text, capacity, "%s:%u", cost->path, cost->lines[node]);
  else
    snprintf(text, capacity, "%s: node %u", cost->path, node);
}

/* The nodes that are ops, in the file's order. */
static regal_status add_ops(building *building) {
  const regal_cost_graph *cost = building->cost;
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    building->op_of[i] = REGAL_NONE;
    if (cost->becomes[i] != i)
      continue;
    building->node_of[building->ops] = i;
    regal_builder_set_next_id(building->builder, i);
    REGAL_TRY(regal_builder_add_op(building->builder, node->name,
                                   cost->run_ns[i], node->temporary_memory_size,
                                   cost->resident[i], &building->op_of[i]));
    building->ops++;
  }
  for (uint32_t i = 0; i < cost->nodes; i++)
    if (cost->becomes[i] != i && cost->becomes[i] != REGAL_NONE)
      building->op_of[i] = building->op_of[cost->becomes[i]];
  return REGAL_OK;
}

static regal_status add_wait(const building *building, uint32_t before,
                             uint32_t after) {
  uint32_t first = building->op_of[before], then = building->op_of[after];
  if (first == REGAL_NONE || then == REGAL_NONE || first == then)
    return REGAL_OK;
  return regal_builder_add_control(building->builder, first, then);
}

static regal_status add_edges(const building *building, uint32_t node) {
  const regal_cost_graph *cost = building->cost;
  uint32_t op = building->op_of[node];
  for (REGAL_ROW(i, cost->input_begin, node))
    if (cost->input[i].node != REGAL_NONE)
      REGAL_TRY(regal_builder_add_input(building->builder, op,
                                        building->op_of[cost->input[i].node],
                                        cost->input[i].port));
  for (REGAL_ROW(i, cost->control_begin, node))
    REGAL_TRY(add_wait(building, cost->control[i], node));
  REGAL_TRY(add_uses(building, node));
  return add_labels(building, node);
}

static regal_status add_outputs(const building *building, uint32_t node) {
  const regal_cost_graph *cost = building->cost;
  const regal_cost_node *def = regal_cost_node_at(cost, node);
  uint32_t op = building->op_of[node], begin = cost->output_begin[node];
  for (uint32_t port = 0; port < def->n_output_info; port++) {
    REGAL_TRY(regal_builder_add_output(building->builder, op,
                                       cost->bytes[begin + port],
                                       cost->is_final[begin + port]));
    if (cost->may_reuse[begin + port])
      REGAL_TRY(regal_builder_set_may_reuse(building->builder, op, port));
  }
  return REGAL_OK;
}

static regal_status add_node(const building *building, uint32_t node) {
  const regal_cost_graph *cost = building->cost;
  if (cost->becomes[node] == node)
    REGAL_TRY(add_outputs(building, node));
  return building->op_of[node] == REGAL_NONE ? REGAL_OK
                                             : add_edges(building, node);
}

static regal_status add_all(building *building) {
  const regal_cost_graph *cost = building->cost;
  regal_builder_set_file_nodes(building->builder, cost->nodes);
  regal_builder_set_locator(building->builder, locate, building);
  REGAL_TRY(add_parameters(building));
  REGAL_TRY(add_ops(building));
  for (uint32_t i = 0; i < cost->nodes; i++)
    REGAL_TRY(add_node(building, i));
  for (size_t i = 0; i < cost->wait_count; i++)
    REGAL_TRY(add_wait(building, cost->waits[i].before, cost->waits[i].after));
  return REGAL_OK;
}

static regal_status build(regal_cost_graph *cost, regal_graph **graph) {
  building building = {.cost = cost};
  size_t nodes = cost->nodes;
  building.op_of =
      regal_arena_alloc(&cost->arena, nodes, sizeof *building.op_of);
  building.node_of =
      regal_arena_alloc(&cost->arena, nodes, sizeof *building.node_of);
  if (!building.op_of || !building.node_of)
    return regal_fail_memory(cost->context);
  REGAL_TRY(regal_builder_create(cost->context, &building.builder));
  return regal_builder_end(building.builder, add_all(&building), graph);
}

/* -- Loading --------------------------------------------------------------- */

/* Everything between the message and the graph. */
static regal_status interpret(regal_cost_graph *cost) {
  uint32_t *root;
  REGAL_TRY(regal_cost_resolve(cost));
  REGAL_TRY(regal_cost_measure(cost));
  REGAL_TRY(regal_cost_replace_times(cost));
  regal_cost_cut_loops(cost);
  REGAL_TRY(regal_cost_join(cost));
  REGAL_TRY(regal_cost_find_aliases(cost, &root));
  regal_cost_settle_constants(cost);
  REGAL_TRY(regal_cost_settle_variables(cost, root));
  REGAL_TRY(regal_cost_share_aliases(cost, root));
  regal_cost_mark_results(cost);
  regal_cost_mark_reuse(cost);
  return REGAL_OK;
}

static regal_status load(regal_cost_graph *cost, const void *bytes, size_t size,
                         regal_graph **graph) {
  regal_graph *made;
  REGAL_TRY(regal_cost_read(cost, bytes, size));
  REGAL_TRY(interpret(cost));
  REGAL_TRY(build(cost, &made));
  regal_status status = regal_cost_add_notes(cost, made);
  if (status == REGAL_OK)
    *graph = made;
  else
    regal_graph_free(made);
  return status;
}

regal_status regal_cost_graph_load(regal_context *context, const char *path,
                                   const void *bytes, size_t size,
                                   const regal_options *options,
                                   regal_graph **graph) {
  regal_cost_graph cost = {
      .context = context, .path = path, .options = options};
  regal_arena_init(&cost.arena, context);
  regal_status status = load(&cost, bytes, size, graph);
  regal_arena_free(&cost.arena);
  return status;
}
