/* SPDX-License-Identifier: Apache-2.0 */
/* From a builder's lists to the graph's arrays: check, sort, number anew, and
 * lay out the edges both ways. Time O((ops + edges) log ops), memory linear.
 */
#include "graph/graph.h"
#include "graph/rows.h"
#include "graph/topology.h"

#include <inttypes.h>

typedef struct finish {
  regal_builder *builder;
  regal_graph *graph;
  uint32_t *order;  /* [ops] the added op at each place of the order */
  uint32_t *number; /* [ops] the place of each added op */
} finish;

/* Allocates an array of the graph, or of the work on it, to which `array`
 * points; on failure what exists already is released with its owner. */
#define MAKE(context, array, count)                                            \
  (((array) = regal_alloc((context), (count), sizeof *(array))) != NULL)

static uint32_t count_file_nodes(const regal_builder *builder) {
  uint32_t nodes = builder->file_nodes;
  for (size_t i = 0; i < builder->op_count; i++)
    if (builder->ops[i].position >= nodes)
      nodes = builder->ops[i].position + 1;
  return nodes;
}

/* The arrays, as long as they are before doubles are left out. */
static regal_status make_arrays(const finish *finish) {
  regal_graph *graph = finish->graph;
  const regal_builder *builder = finish->builder;
  bool made = true;
#define MAKE_ARRAY(array, count)                                               \
  made = made && MAKE(graph->context, graph->array, count);
  graph->ops = (uint32_t)builder->op_count;
  graph->tensors = (uint32_t)builder->output_count;
  graph->file_nodes = count_file_nodes(builder);
  graph->uses = (uint32_t)builder->input_count;
  graph->controls = (uint32_t)builder->control_count;
  graph->parameters = (uint32_t)builder->parameter_count;
  REGAL_GRAPH_ARRAYS(MAKE_ARRAY, graph)
  MAKE_ARRAY(parameter, builder->parameter_use_count)
  return made ? REGAL_OK : regal_fail_memory(graph->context);
}

/* -- Order ----------------------------------------------------------------- */

static regal_status index_positions(const regal_builder *builder,
                                    uint32_t *op_at, uint32_t nodes) {
  for (uint32_t i = 0; i < nodes; i++)
    op_at[i] = REGAL_NONE;
  for (uint32_t op = 0; op < builder->op_count; op++) {
    uint32_t *at = &op_at[builder->ops[op].position];
    if (*at != REGAL_NONE)
      return regal_builder_fail(
          builder, op, REGAL_MISUSE,
          "ops %s and %s have the same position %" PRIu32,
          regal_quote(regal_built_name(builder, *at)).text,
          regal_quote(regal_built_name(builder, op)).text,
          builder->ops[op].position);
    *at = op;
  }
  return REGAL_OK;
}

/* All edges as rows of successors, with the number of edges into each op. */
static void fill_successors(const regal_builder *builder, uint32_t *begin,
                            uint32_t *successor, uint32_t *needs) {
  for (size_t i = 0; i < builder->input_count; i++) {
    begin[builder->inputs[i].producer]++;
    needs[builder->inputs[i].consumer]++;
  }
  for (size_t i = 0; i < builder->control_count; i++) {
    begin[builder->controls[i].before]++;
    needs[builder->controls[i].after]++;
  }
  regal_rows_sum(begin, (uint32_t)builder->op_count);
  for (size_t i = builder->control_count; i-- > 0;)
    successor[--begin[builder->controls[i].before]] =
        builder->controls[i].after;
  for (size_t i = builder->input_count; i-- > 0;)
    successor[--begin[builder->inputs[i].producer]] =
        builder->inputs[i].consumer;
}

static regal_status sort_ops(finish *finish) {
  const regal_builder *builder = finish->builder;
  regal_context *context = builder->context;
  uint32_t ops = (uint32_t)builder->op_count;
  size_t edges = builder->input_count + builder->control_count;
  uint32_t *begin = NULL, *successor = NULL, *needs = NULL;
  regal_status status = REGAL_OK;
  if (!MAKE(context, begin, (size_t)ops + 1) ||
      !MAKE(context, successor, edges) || !MAKE(context, needs, ops)) {
    status = regal_fail_memory(context);
  } else {
    fill_successors(builder, begin, successor, needs);
    regal_topology topology = {
        .builder = builder,
        .ops = ops,
        .positions = finish->graph->file_nodes,
        .op_at = finish->graph->op_of_id,
        .begin = begin,
        .successor = successor,
        .needs = needs,
        .order = finish->order,
    };
    status = regal_topology_sort(&topology);
  }
  regal_release(context, begin);
  regal_release(context, successor);
  regal_release(context, needs);
  return status;
}

static regal_status order_ops(finish *finish) {
  regal_graph *graph = finish->graph;
  regal_context *context = graph->context;
  if (!MAKE(context, finish->order, graph->ops) ||
      !MAKE(context, finish->number, graph->ops))
    return regal_fail_memory(context);
  REGAL_TRY(
      index_positions(finish->builder, graph->op_of_id, graph->file_nodes));
  REGAL_TRY(sort_ops(finish));
  for (uint32_t op = 0; op < graph->ops; op++)
    finish->number[finish->order[op]] = op;
  for (uint32_t i = 0; i < graph->file_nodes; i++)
    if (graph->op_of_id[i] != REGAL_NONE)
      graph->op_of_id[i] = finish->number[graph->op_of_id[i]];
  return REGAL_OK;
}

/* -- Ops and tensors ------------------------------------------------------- */

static void fill_ops(const finish *finish) {
  regal_graph *graph = finish->graph;
  uint32_t tensor = 0;
  for (uint32_t op = 0; op < graph->ops; op++) {
    const regal_built_op *built = &finish->builder->ops[finish->order[op]];
    graph->run_ns[op] = built->run_ns;
    graph->temporary_bytes[op] = built->temporary_bytes;
    graph->resident_bytes[op] = built->resident_bytes;
    graph->id[op] = built->position;
    graph->name_begin[op] = built->name;
    graph->output_begin[op] = tensor;
    for (uint32_t port = 0; port < built->outputs; port++)
      graph->producer[tensor++] = op;
  }
  graph->output_begin[graph->ops] = tensor;
}

static void fill_tensors(const finish *finish) {
  const regal_builder *builder = finish->builder;
  regal_graph *graph = finish->graph;
  for (size_t i = 0; i < builder->output_count; i++) {
    const regal_built_output *output = &builder->outputs[i];
    uint32_t op = finish->number[output->op];
    uint32_t tensor = graph->output_begin[op] + output->port;
    graph->bytes[tensor] = output->bytes;
    graph->is_final[tensor] = output->is_final;
    graph->unknown[tensor] = output->unknown;
    graph->unknown_tensors += output->unknown;
  }
}

/* -- Edges ----------------------------------------------------------------- */

/* An op's inputs keep the order in which they were added. */
static void fill_inputs(const finish *finish, uint32_t *seen) {
  const regal_builder *builder = finish->builder;
  regal_graph *graph = finish->graph;
  for (size_t i = 0; i < builder->input_count; i++)
    graph->input_begin[finish->number[builder->inputs[i].consumer]]++;
  regal_rows_sum(graph->input_begin, graph->ops);
  for (size_t i = builder->input_count; i-- > 0;) {
    const regal_built_input *input = &builder->inputs[i];
    uint32_t op = finish->number[input->consumer];
    uint32_t producer = finish->number[input->producer];
    graph->input[--graph->input_begin[op]] =
        graph->output_begin[producer] + input->port;
  }
  regal_rows_unique(graph->ops, graph->input_begin, graph->input, seen);
  graph->uses = graph->input_begin[graph->ops];
  regal_rows_transpose(graph->ops, graph->input_begin, graph->input,
                       graph->tensors, graph->use_begin, graph->consumer);
}

/* Both sides ascend: the second transposition sorts what came unsorted. */
static void fill_controls(const finish *finish, uint32_t *seen) {
  const regal_builder *builder = finish->builder;
  regal_graph *graph = finish->graph;
  uint32_t *begin = graph->control_in_begin;
  for (size_t i = 0; i < builder->control_count; i++)
    begin[finish->number[builder->controls[i].after]]++;
  regal_rows_sum(begin, graph->ops);
  for (size_t i = builder->control_count; i-- > 0;) {
    const regal_built_control *control = &builder->controls[i];
    graph->control_in[--begin[finish->number[control->after]]] =
        finish->number[control->before];
  }
  regal_rows_unique(graph->ops, begin, graph->control_in, seen);
  graph->controls = begin[graph->ops];
  regal_rows_transpose(graph->ops, begin, graph->control_in, graph->ops,
                       graph->control_out_begin, graph->control_out);
  for (uint32_t op = 0; op <= graph->ops; op++)
    begin[op] = 0;
  regal_rows_transpose(graph->ops, graph->control_out_begin, graph->control_out,
                       graph->ops, begin, graph->control_in);
}

static regal_status fill_edges(const finish *finish) {
  regal_context *context = finish->graph->context;
  size_t items = (size_t)finish->graph->tensors + finish->graph->ops;
  uint32_t *seen = regal_alloc(context, items, sizeof *seen);
  if (!seen)
    return regal_fail_memory(context);
  fill_inputs(finish, seen);
  fill_controls(finish, seen + finish->graph->tensors);
  regal_release(context, seen);
  return REGAL_OK;
}

static regal_status build(finish *finish) {
  regal_graph *graph = finish->graph;
  REGAL_TRY(make_arrays(finish));
  REGAL_TRY(order_ops(finish));
  fill_ops(finish);
  fill_tensors(finish);
  regal_builder_fill_marks(finish->builder, finish->number, graph);
  REGAL_TRY(fill_edges(finish));
  REGAL_TRY(
      regal_builder_fill_parameters(finish->builder, finish->number, graph));
  REGAL_TRY(regal_builder_fill_labels(finish->builder, finish->number, graph));
  graph->names = finish->builder->names;
  finish->builder->names = NULL;
  graph->total_resident_bytes += finish->builder->resident_bytes;
  return regal_graph_settle(graph);
}

static regal_status check_and_build(regal_builder *builder,
                                    regal_graph **graph) {
  regal_context *context = builder->context;
  REGAL_TRY(regal_builder_check(builder));
  finish finish = {.builder = builder};
  finish.graph = regal_alloc(context, 1, sizeof *finish.graph);
  if (!finish.graph)
    return regal_fail_memory(context);
  finish.graph->context = context;
  regal_status status = build(&finish);
  regal_release(context, finish.order);
  regal_release(context, finish.number);
  if (status == REGAL_OK)
    *graph = finish.graph;
  else
    regal_graph_free(finish.graph);
  return status;
}

regal_status regal_builder_finish(regal_builder *builder, regal_graph **graph) {
  if (!builder)
    return REGAL_MISUSE;
  regal_status status =
      graph ? check_and_build(builder, graph)
            : regal_fail(builder->context, REGAL_MISUSE,
                         "finish needs somewhere to put the graph");
  regal_builder_free(builder);
  return status;
}
