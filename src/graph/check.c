/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a builder that need all its ops: does every edge lead from an
 * output that exists to another op that exists? Cycles are found by sorting.
 */
#include "graph/builder.h"

#include <inttypes.h>

static regal_status fail_port(const regal_builder *builder,
                              const regal_built_input *input) {
  uint32_t outputs = builder->ops[input->producer].outputs;
  return regal_builder_fail(
      builder, input->consumer, REGAL_BAD_INPUT,
      "op %s reads output %" PRIu32 " of op %s, which has %" PRIu32 " output%s",
      regal_quote(regal_built_name(builder, input->consumer)).text, input->port,
      regal_quote(regal_built_name(builder, input->producer)).text, outputs,
      outputs == 1 ? "" : "s");
}

/* Are both ends of an edge there? `edge` and `does` are for the message. */
static regal_status check_ends(const regal_builder *builder, const char *edge,
                               const char *does, uint32_t from, uint32_t to) {
  size_t ops = builder->op_count;
  if (to >= ops)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "%s is for op %" PRIu32 ", but the number of ops is %zu",
                      edge, to, ops);
  if (from >= ops)
    return regal_builder_fail(
        builder, to, REGAL_BAD_INPUT,
        "op %s %s op %" PRIu32 ", but the number of ops is %zu",
        regal_quote(regal_built_name(builder, to)).text, does, from, ops);
  return REGAL_OK;
}

static regal_status check_input(const regal_builder *builder,
                                const regal_built_input *input) {
  uint32_t producer = input->producer, consumer = input->consumer;
  REGAL_TRY(check_ends(builder, "an input", "reads from", producer, consumer));
  if (producer == consumer)
    return regal_builder_fail(
        builder, consumer, REGAL_BAD_INPUT,
        "op %s reads its own output %" PRIu32,
        regal_quote(regal_built_name(builder, consumer)).text, input->port);
  if (input->port >= builder->ops[producer].outputs)
    return fail_port(builder, input);
  return REGAL_OK;
}

static regal_status check_control(const regal_builder *builder,
                                  const regal_built_control *control) {
  uint32_t before = control->before, after = control->after;
  REGAL_TRY(check_ends(builder, "a control edge", "waits for", before, after));
  if (before == after)
    return regal_builder_fail(
        builder, after, REGAL_BAD_INPUT, "op %s waits for itself",
        regal_quote(regal_built_name(builder, after)).text);
  return REGAL_OK;
}

regal_status regal_builder_check(const regal_builder *builder) {
  if (!builder->op_count)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "the graph has no ops");
  if (builder->input_count + builder->control_count >= REGAL_NONE)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "the graph has more than %" PRIu32 " edges",
                      REGAL_NONE - 1);
  for (size_t i = 0; i < builder->input_count; i++)
    REGAL_TRY(check_input(builder, &builder->inputs[i]));
  for (size_t i = 0; i < builder->control_count; i++)
    REGAL_TRY(check_control(builder, &builder->controls[i]));
  REGAL_TRY(regal_builder_check_parameters(builder));
  return regal_builder_check_marks(builder);
}
