/* The checks of a builder that need all its ops: does every edge lead from an
 * output that exists to another op that exists? Cycles are found by sorting.
 */
#include "graph/builder.h"

#include <inttypes.h>

static bool is_good_input(const regal_builder *builder,
                          const regal_built_input *input) {
  return input->consumer < builder->op_count &&
         input->producer < builder->op_count &&
         input->producer != input->consumer &&
         input->port < builder->ops[input->producer].outputs;
}

static bool is_good_control(const regal_builder *builder,
                            const regal_built_control *control) {
  return control->before < builder->op_count &&
         control->after < builder->op_count &&
         control->before != control->after;
}

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

static regal_status fail_input(const regal_builder *builder,
                               const regal_built_input *input) {
  size_t ops = builder->op_count;
  if (input->consumer >= ops)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "an input is for op %" PRIu32
                      ", but the number of ops is %zu",
                      input->consumer, ops);
  regal_quoted name = regal_quote(regal_built_name(builder, input->consumer));
  if (input->producer >= ops)
    return regal_builder_fail(builder, input->consumer, REGAL_BAD_INPUT,
                              "op %s reads from op %" PRIu32
                              ", but the number of ops is %zu",
                              name.text, input->producer, ops);
  if (input->producer == input->consumer)
    return regal_builder_fail(builder, input->consumer, REGAL_BAD_INPUT,
                              "op %s reads its own output %" PRIu32, name.text,
                              input->port);
  return fail_port(builder, input);
}

static regal_status fail_control(const regal_builder *builder,
                                 const regal_built_control *control) {
  size_t ops = builder->op_count;
  if (control->after >= ops)
    return regal_fail(builder->context, REGAL_BAD_INPUT,
                      "a control edge is for op %" PRIu32
                      ", but the number of ops is %zu",
                      control->after, ops);
  regal_quoted name = regal_quote(regal_built_name(builder, control->after));
  if (control->before >= ops)
    return regal_builder_fail(builder, control->after, REGAL_BAD_INPUT,
                              "op %s waits for op %" PRIu32
                              ", but the number of ops is %zu",
                              name.text, control->before, ops);
  return regal_builder_fail(builder, control->after, REGAL_BAD_INPUT,
                            "op %s waits for itself", name.text);
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
    if (!is_good_input(builder, &builder->inputs[i]))
      return fail_input(builder, &builder->inputs[i]);
  for (size_t i = 0; i < builder->control_count; i++)
    if (!is_good_control(builder, &builder->controls[i]))
      return fail_control(builder, &builder->controls[i]);
  REGAL_TRY(regal_builder_check_parameters(builder));
  return regal_builder_check_marks(builder);
}
