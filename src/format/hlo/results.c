/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a computation's results.
 *
 * A result of the entry lives to the end. If a parameter is donated to it,
 * whatever reads the parameter must run before the result's op, which writes
 * over it. The parameter's memory is free between its last reader and that op,
 * and XLA puts other values there.
 *
 * A result of a loop's body is written over the loop's value, and needs no
 * bytes of its own: XLA has inserted a copy where the value is still needed. If
 * it is read after the op all the same (a module before XLA's copy insertion),
 * the result counts as a tensor of its own.
 */
#include "format/hlo/flow.h"

/* -- The entry ------------------------------------------------------------- */

static regal_status donate(regal_hlo_flow *flow, uint32_t parameter,
                           uint32_t result) {
  const regal_hlo_value *old = &flow->value[parameter];
  const regal_hlo_value *new = &flow->value[result];
  if (old->in_slot || new->in_slot || old->buffer == new->buffer)
    return REGAL_OK;
  const regal_hlo_tensor *tensor = &flow->tensor[new->buffer];
  uint32_t maker = flow->op[tensor->op].instruction;
  flow->donated++;
  for (uint32_t i = old->readers; i != REGAL_NONE; i = flow->reader[i].next) {
    uint32_t reader = flow->reader[i].op;
    if (flow->op[reader].instruction < maker)
      REGAL_TRY(regal_hlo_flow_add_control(flow, reader, tensor->op));
  }
  return REGAL_OK;
}

static regal_status donate_all(regal_hlo_flow *flow,
                               const regal_hlo_alias *alias) {
  const regal_hlo_computation *in = flow->computation;
  const regal_hlo_shape *root = &in->instruction[in->root].shape;
  uint32_t to, from, results, values;
  if (alias->operand < 0 || alias->operand >= in->parameters)
    return REGAL_OK;
  uint32_t parameter = in->parameter[alias->operand];
  if (!regal_hlo_leaves_at(root, alias->output, alias->output_length, &to,
                           &results) ||
      !regal_hlo_leaves_at(&in->instruction[parameter].shape, alias->input,
                           alias->input_length, &from, &values) ||
      results != values)
    return REGAL_OK;
  for (uint32_t k = 0; k < results; k++)
    REGAL_TRY(donate(flow, flow->leaf[flow->leaf_begin[parameter] + from + k],
                     flow->leaf[flow->leaf_begin[in->root] + to + k]));
  return REGAL_OK;
}

/* -- Bodies of loops ------------------------------------------------------- */

static void overwrite(regal_hlo_flow *flow, uint32_t parameter,
                      uint32_t result) {
  const regal_hlo_value *old = &flow->value[parameter];
  const regal_hlo_value *new = &flow->value[result];
  if (!old->in_slot || new->in_slot)
    return;
  regal_hlo_slot *slot = &flow->slot[old->buffer];
  regal_hlo_tensor *tensor = &flow->tensor[new->buffer];
  uint32_t maker = flow->op[tensor->op].instruction;
  if ((slot->last != REGAL_NONE && slot->last > maker) ||
      tensor->bytes > slot->bytes)
    return;
  tensor->bytes = 0;
  slot->last = REGAL_HLO_AT_END; /* it is overwritten once */
}

static void overwrite_all(regal_hlo_flow *flow) {
  const regal_hlo_computation *in = flow->computation;
  uint32_t leaves = in->instruction[in->root].shape.leaves;
  if (in->parameters != 1 ||
      in->instruction[in->parameter[0]].shape.leaves != leaves)
    return;
  uint32_t from = flow->leaf_begin[in->parameter[0]];
  uint32_t to = flow->leaf_begin[in->root];
  for (uint32_t i = 0; i < leaves; i++)
    overwrite(flow, flow->leaf[from + i], flow->leaf[to + i]);
}

/* -- Both ------------------------------------------------------------------ */

/* Results live to the end, in a tensor or in a slot. */
static void keep(regal_hlo_flow *flow, uint32_t result) {
  const regal_hlo_value *value = &flow->value[result];
  if (value->in_slot)
    flow->slot[value->buffer].last = REGAL_HLO_AT_END;
  else
    flow->tensor[value->buffer].is_final = true;
}

regal_status regal_hlo_flow_results(regal_hlo_flow *flow) {
  const regal_hlo_computation *in = flow->computation;
  const regal_hlo_instruction *root = &in->instruction[in->root];
  const regal_hlo_instruction *shape = regal_hlo_flow_shape(flow, root);
  for (uint32_t i = 0; i < shape->shape.leaves; i++)
    keep(flow, flow->leaf[flow->leaf_begin[in->root] + i]);
  if (shape != root)
    return REGAL_OK;
  if (flow->is_body)
    overwrite_all(flow);
  for (uint32_t i = 0; flow->is_entry && i < flow->module->aliases; i++)
    REGAL_TRY(donate_all(flow, &flow->module->alias[i]));
  return REGAL_OK;
}
