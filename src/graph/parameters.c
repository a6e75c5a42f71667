/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that several ops read, and marks of outputs that may be written
 * over an input: adding, checking and laying out.
 */
#include "graph/builder.h"
#include "graph/rows.h"

#include <inttypes.h>

/* -- Adding ---------------------------------------------------------------- */

/* Every device may hold the parameter: it counts as often. Neither the total
 * nor the bytes can be negative, so that the difference cannot overflow. */
static regal_status check_parameter(const regal_builder *builder, int64_t bytes,
                                    int64_t *total) {
  int64_t most = (REGAL_MOST_TOTAL - 1 - *total) / REGAL_MAX_DEVICES;
  if (bytes < 0)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "parameter %zu: size %" PRId64 " is negative",
                      builder->parameter_count, bytes);
  if (bytes > most)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "parameter %zu: with its size of %" PRId64
                      " on each of %d devices the graph's total is beyond 2^62",
                      builder->parameter_count, bytes, REGAL_MAX_DEVICES);
  *total += bytes * REGAL_MAX_DEVICES;
  return REGAL_OK;
}

regal_status regal_builder_add_parameter(regal_builder *builder, int64_t bytes,
                                         uint32_t *parameter) {
  if (!builder)
    return REGAL_MISUSE;
  int64_t total = builder->total_bytes;
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, parameter, "parameters"));
  REGAL_TRY(check_parameter(builder, bytes, &total));
  if (parameter)
    *parameter = (uint32_t)builder->parameter_count;
  builder->parameters[builder->parameter_count++] = bytes;
  builder->total_bytes = total;
  return REGAL_OK;
}

regal_status regal_builder_add_parameter_use(regal_builder *builder,
                                             uint32_t op, uint32_t parameter) {
  if (!builder)
    return REGAL_MISUSE;
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, parameter_use, "uses of parameters"));
  builder->parameter_uses[builder->parameter_use_count++] =
      (regal_built_parameter_use){op, parameter};
  return REGAL_OK;
}

regal_status regal_builder_set_may_reuse(regal_builder *builder, uint32_t op,
                                         uint32_t port) {
  if (!builder)
    return REGAL_MISUSE;
  REGAL_TRY(REGAL_BUILDER_ROOM(builder, mark, "outputs that may reuse"));
  builder->marks[builder->mark_count++] = (regal_built_mark){op, port};
  return REGAL_OK;
}

/* -- Checking -------------------------------------------------------------- */

static regal_status fail_use(const regal_builder *builder,
                             const regal_built_parameter_use *use) {
  if (use->op >= builder->op_count)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "a parameter is read by op %" PRIu32
                      ", but the number of ops is %zu",
                      use->op, builder->op_count);
  return regal_builder_fail(
      builder, use->op, REGAL_BAD_INPUT,
      "op %s reads parameter %" PRIu32 ", but the number of parameters is %zu",
      regal_quote(regal_built_name(builder, use->op)).text, use->parameter,
      builder->parameter_count);
}

regal_status regal_builder_check_parameters(const regal_builder *builder) {
  for (size_t i = 0; i < builder->parameter_use_count; i++) {
    const regal_built_parameter_use *use = &builder->parameter_uses[i];
    if (use->op >= builder->op_count ||
        use->parameter >= builder->parameter_count)
      return fail_use(builder, use);
  }
  return REGAL_OK;
}

static regal_status fail_mark(const regal_builder *builder,
                              const regal_built_mark *mark) {
  if (mark->op >= builder->op_count)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "an output that may reuse an input is of op %" PRIu32
                      ", but the number of ops is %zu",
                      mark->op, builder->op_count);
  uint32_t outputs = builder->ops[mark->op].outputs;
  return regal_builder_fail(
      builder, mark->op, REGAL_BAD_INPUT,
      "output %" PRIu32 " of op %s may reuse an input, but the op has %" PRIu32
      " output%s",
      mark->port, regal_quote(regal_built_name(builder, mark->op)).text,
      outputs, outputs == 1 ? "" : "s");
}

regal_status regal_builder_check_marks(const regal_builder *builder) {
  for (size_t i = 0; i < builder->mark_count; i++) {
    const regal_built_mark *mark = &builder->marks[i];
    if (mark->op >= builder->op_count ||
        mark->port >= builder->ops[mark->op].outputs)
      return fail_mark(builder, mark);
  }
  return REGAL_OK;
}

/* -- Laying out ------------------------------------------------------------ */

void regal_builder_fill_marks(const regal_builder *builder,
                              const uint32_t *number, regal_graph *graph) {
  for (size_t i = 0; i < builder->mark_count; i++) {
    const regal_built_mark *mark = &builder->marks[i];
    uint32_t tensor = graph->output_begin[number[mark->op]] + mark->port;
    graph->reusing_tensors += !graph->may_reuse[tensor];
    graph->may_reuse[tensor] = 1;
  }
}

/* Rows of readers first: transposing them sorts the parameters of each op.
 * `begin` ([parameters+1]) and `seen` ([parameters]) are zero. */
static void fill_uses(const regal_builder *builder, const uint32_t *number,
                      regal_graph *graph, uint32_t *begin, uint32_t *reader,
                      uint32_t *seen) {
  uint32_t parameters = graph->parameters;
  for (size_t i = 0; i < builder->parameter_use_count; i++)
    begin[builder->parameter_uses[i].parameter]++;
  regal_rows_sum(begin, parameters);
  for (size_t i = builder->parameter_use_count; i-- > 0;) {
    const regal_built_parameter_use *use = &builder->parameter_uses[i];
    reader[--begin[use->parameter]] = number[use->op];
  }
  regal_rows_transpose(parameters, begin, reader, graph->ops,
                       graph->parameter_begin, graph->parameter);
  regal_rows_unique(graph->ops, graph->parameter_begin, graph->parameter, seen);
  for (uint32_t p = 0; p < parameters; p++)
    if (begin[p] < begin[p + 1])
      graph->total_resident_bytes += graph->parameter_bytes[p];
}

regal_status regal_builder_fill_parameters(const regal_builder *builder,
                                           const uint32_t *number,
                                           regal_graph *graph) {
  if (!graph->parameters)
    return REGAL_OK;
  for (uint32_t p = 0; p < graph->parameters; p++)
    graph->parameter_bytes[p] = builder->parameters[p];
  regal_context *context = graph->context;
  size_t parameters = graph->parameters;
  uint32_t *begin = regal_alloc(
      context, 2 * parameters + 1 + builder->parameter_use_count, 4);
  if (!begin)
    return regal_fail_memory(context);
  uint32_t *seen = begin + parameters + 1, *reader = seen + parameters;
  fill_uses(builder, number, graph, begin, reader, seen);
  regal_release(context, begin);
  return REGAL_OK;
}
