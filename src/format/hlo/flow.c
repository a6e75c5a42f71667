/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass over a computation: ops, what they read, make and overwrite.
 */
#include "format/hlo/flow.h"

#include "format/hlo/share.h"
#include "graph/builder.h"

regal_status regal_hlo_flow_add_control(regal_hlo_flow *flow, uint32_t before,
                                        uint32_t after) {
  regal_context *context = flow->module->context;
  if (before == after)
    return REGAL_OK;
  if (!REGAL_RESERVE(context, flow->control, flow->controls,
                     flow->control_capacity))
    return regal_fail_memory(context);
  flow->control[flow->controls++] = (regal_hlo_control){before, after};
  return REGAL_OK;
}

/* -- Groups: ops on one buffer, which is on one device --------------------- */

static uint32_t group_of(regal_hlo_flow *flow, uint32_t op) {
  while (flow->op[op].group != op) {
    flow->op[op].group = flow->op[flow->op[op].group].group;
    op = flow->op[op].group;
  }
  return op;
}

static void join(regal_hlo_flow *flow, uint32_t a, uint32_t b) {
  a = group_of(flow, a);
  b = group_of(flow, b);
  flow->op[a > b ? a : b].group = a > b ? b : a;
}

/* -- Reading --------------------------------------------------------------- */

static regal_status add_reader(regal_hlo_flow *flow, uint32_t *list,
                               uint32_t op) {
  regal_context *context = flow->module->context;
  if (!REGAL_RESERVE(context, flow->reader, flow->readers,
                     flow->reader_capacity))
    return regal_fail_memory(context);
  flow->reader[flow->readers] = (regal_hlo_reader){op, *list};
  *list = (uint32_t)flow->readers++;
  return REGAL_OK;
}

static void read_tensor(regal_hlo_flow *flow, uint32_t op, uint32_t tensor) {
  if (flow->tensor_mark[tensor] == op + 1)
    return;
  flow->tensor_mark[tensor] = op + 1;
  flow->tensor[tensor].uses++;
  flow->input[flow->inputs++] = tensor;
}

static regal_status read_slot(regal_hlo_flow *flow, uint32_t op,
                              const regal_hlo_value *value) {
  regal_hlo_slot *slot = &flow->slot[value->buffer];
  slot->last = flow->op[op].instruction;
  if (value->wait != REGAL_NONE)
    join(flow, op, value->wait);
  if (flow->slot_mark[value->buffer] == op + 1)
    return REGAL_OK;
  flow->slot_mark[value->buffer] = op + 1;
  flow->slot_use[flow->slot_uses++] = value->buffer;
  return add_reader(flow, &slot->readers, op);
}

static regal_status read_value(regal_hlo_flow *flow, uint32_t op,
                               uint32_t number) {
  regal_hlo_value *value = &flow->value[number];
  if (value->in_slot)
    REGAL_TRY(read_slot(flow, op, value));
  else
    read_tensor(flow, op, value->buffer);
  if (value->wait != REGAL_NONE)
    REGAL_TRY(regal_hlo_flow_add_control(flow, value->wait, op));
  return add_reader(flow, &value->readers, op);
}

static regal_status read_from(regal_hlo_flow *flow, uint32_t op,
                              uint32_t instruction) {
  const regal_hlo_instruction *from =
      &flow->computation->instruction[instruction];
  uint32_t begin = flow->leaf_begin[instruction];
  uint32_t count = regal_hlo_flow_shape(flow, from)->shape.leaves;
  for (uint32_t i = 0; i < count; i++)
    REGAL_TRY(read_value(flow, op, flow->leaf[begin + i]));
  return REGAL_OK;
}

static regal_status read_all(regal_hlo_flow *flow, uint32_t op) {
  const regal_hlo_instruction *all = flow->computation->instruction;
  const regal_hlo_instruction *at = &all[flow->op[op].instruction];
  for (uint32_t i = 0; i < at->operands; i++)
    REGAL_TRY(read_from(flow, op, at->operand[i]));
  for (uint32_t i = 0; i < at->controls; i++)
    if (flow->op_of[at->control[i]] != REGAL_NONE)
      REGAL_TRY(
          regal_hlo_flow_add_control(flow, flow->op_of[at->control[i]], op));
  if (at->opcode->role != REGAL_HLO_DONE || at->other_half == REGAL_NONE)
    return REGAL_OK;
  const regal_hlo_instruction *start = &all[at->other_half];
  for (uint32_t i = 0; i < start->operands; i++)
    REGAL_TRY(read_from(flow, op, start->operand[i]));
  join(flow, op, flow->op_of[at->other_half]);
  return REGAL_OK;
}

/* -- Writing in place ------------------------------------------------------ */

typedef struct taking {
  regal_hlo_pairs pairs; /* first: the callback gets a pointer to it */
  regal_hlo_flow *flow;
  uint32_t op, position;
  regal_status status;
} taking;

static int64_t bytes_of(const regal_hlo_flow *flow,
                        const regal_hlo_value *value) {
  return value->in_slot ? flow->slot[value->buffer].bytes
                        : flow->tensor[value->buffer].bytes;
}

static bool may_take(const regal_hlo_flow *flow, const regal_hlo_value *old,
                     uint32_t position, int64_t bytes) {
  if (old->last != position || old->taken || bytes_of(flow, old) < bytes)
    return false;
  return !old->in_slot || flow->slot[old->buffer].is_writable;
}

/* The new value is in the old one's buffer, which nobody may read any more. */
static regal_status take_over(regal_hlo_flow *flow, uint32_t op,
                              regal_hlo_value *old, regal_hlo_value *new) {
  old->taken = true;
  new->in_slot = old->in_slot;
  new->buffer = old->buffer;
  new->wait = op;
  flow->in_place++;
  if (!old->in_slot)
    join(flow, op, flow->tensor[old->buffer].op);
  for (uint32_t r = old->readers; r != REGAL_NONE; r = flow->reader[r].next)
    REGAL_TRY(regal_hlo_flow_add_control(flow, flow->reader[r].op, op));
  return REGAL_OK;
}

static void take(regal_hlo_pairs *pairs, uint32_t output, uint32_t operand,
                 uint32_t leaf) {
  taking *t = (taking *)pairs;
  regal_hlo_flow *flow = t->flow;
  const regal_hlo_instruction *at =
      &flow->computation->instruction[t->position];
  const regal_hlo_instruction *shape = regal_hlo_flow_shape(flow, at);
  if (t->status != REGAL_OK || output >= shape->shape.leaves)
    return;
  regal_hlo_value *old =
      &flow->value[flow->leaf[flow->leaf_begin[at->operand[operand]] + leaf]];
  regal_hlo_value *new =
      &flow->value[flow->leaf[flow->leaf_begin[t->position] + output]];
  if (new->maker == t->position &&new->buffer == REGAL_NONE &&
      may_take(flow, old, t->position, shape->leaf[output]->bytes))
    t->status = take_over(flow, t->op, old, new);
}

/* -- Making ---------------------------------------------------------------- */

/* A barrier shows its first operand, the end of an asynchronous pair what its
 * start made: the same buffers, for readers that wait. */
static void pass_on(regal_hlo_flow *flow, uint32_t op) {
  uint32_t position = flow->op[op].instruction;
  const regal_hlo_instruction *at = &flow->computation->instruction[position];
  uint32_t from = flow->leaf_begin[at->operand[0]];
  for (uint32_t i = 0; i < at->shape.leaves; i++) {
    const regal_hlo_value *old = &flow->value[flow->leaf[from + i]];
    regal_hlo_value *new =
        &flow->value[flow->leaf[flow->leaf_begin[position] + i]];
    new->in_slot = old->in_slot;
    new->buffer = old->buffer;
    new->wait = op;
  }
}

/* An op with more pairs of an output and a value that it reads is none that
 * works element by element. */
#define MOST_PAIRS ((uint64_t)1 << 20)

static bool has_few_pairs(const regal_hlo_flow *flow,
                          const regal_hlo_instruction *at) {
  uint64_t values = 0;
  for (uint32_t i = 0; i < at->operands; i++)
    values += flow->computation->instruction[at->operand[i]].shape.leaves;
  return values * at->shape.leaves <= MOST_PAIRS;
}

/* Puts the inputs over which the output may be written first. */
static bool find_reusable(regal_hlo_flow *flow, uint32_t op, uint32_t output) {
  uint32_t position = flow->op[op].instruction;
  const regal_hlo_instruction *all = flow->computation->instruction;
  const regal_hlo_instruction *at = &all[position];
  bool found = false;
  for (uint32_t i = 0; i < at->operands; i++) {
    const regal_hlo_instruction *from = &all[at->operand[i]];
    uint32_t count = regal_hlo_flow_shape(flow, from)->shape.leaves;
    for (uint32_t k = 0; k < count && from->other_half == REGAL_NONE; k++) {
      const regal_hlo_value *value =
          &flow->value[flow->leaf[flow->leaf_begin[at->operand[i]] + k]];
      if (value->in_slot || value->taken || value->maker != at->operand[i] ||
          !regal_hlo_may_share(flow->module, flow->computation, at, output, i,
                               k))
        continue;
      read_tensor(flow, op, value->buffer);
      found = true;
    }
  }
  return found;
}

static regal_status make_tensors(regal_hlo_flow *flow, uint32_t op) {
  uint32_t position = flow->op[op].instruction;
  const regal_hlo_instruction *at = &flow->computation->instruction[position];
  const regal_hlo_instruction *shape = regal_hlo_flow_shape(flow, at);
  bool shares = shape == at && has_few_pairs(flow, at);
  for (uint32_t i = 0; i < shape->shape.leaves; i++) {
    regal_hlo_value *value =
        &flow->value[flow->leaf[flow->leaf_begin[position] + i]];
    if (value->maker != position || value->buffer != REGAL_NONE)
      continue;
    flow->total_bytes += shape->leaf[i]->bytes;
    if (flow->total_bytes > REGAL_MOST_TOTAL)
      return regal_hlo_fail(flow->module, at,
                            "with its outputs, the values of its computation "
                            "are beyond 2^62 bytes");
    value->buffer = flow->tensors;
    flow->tensor[flow->tensors++] =
        (regal_hlo_tensor){.op = op,
                           .bytes = shape->leaf[i]->bytes,
                           .may_reuse = shares && find_reusable(flow, op, i)};
  }
  return REGAL_OK;
}

static regal_status make_op(regal_hlo_flow *flow, uint32_t position) {
  const regal_hlo_instruction *at = &flow->computation->instruction[position];
  uint32_t op = flow->ops++;
  bool half =
      at->opcode->role == REGAL_HLO_DONE && at->other_half != REGAL_NONE;
  flow->op_of[position] = op;
  flow->op[op] = (regal_hlo_op){.instruction = position,
                                .tensor = flow->tensors,
                                .input = flow->inputs,
                                .slot = flow->slot_uses,
                                .group = op};
  if (half || at->opcode->role == REGAL_HLO_BARRIER) {
    pass_on(flow, op);
    return read_all(flow, op);
  }
  taking taking = {{take}, flow, op, position, REGAL_OK};
  regal_hlo_in_place(flow->module, flow->computation, at, &taking.pairs);
  REGAL_TRY(taking.status);
  REGAL_TRY(make_tensors(flow, op));
  return read_all(flow, op);
}

/* -- All ------------------------------------------------------------------- */

/* Donated parameters are there before anything runs. */
static regal_status begin_with(regal_hlo_flow *flow, uint32_t first) {
  for (uint32_t op = 1; op < first; op++)
    REGAL_TRY(regal_hlo_flow_add_control(flow, op - 1, op));
  for (uint32_t op = first; first && op < flow->ops; op++) {
    bool waits = false;
    for (uint32_t i = flow->op[op].input; i < flow->op[op + 1].input; i++)
      waits |= flow->tensor[flow->input[i]].op >= first;
    if (!waits)
      REGAL_TRY(regal_hlo_flow_add_control(flow, first - 1, op));
  }
  return REGAL_OK;
}

/* Each read of the check's count is at most one input and one use of a slot;
 * the end of an asynchronous pair repeats those of its start. */
static regal_status lay_out(regal_hlo_flow *flow) {
  const regal_hlo_computation *in = flow->computation;
  regal_arena *arena = &flow->module->arena;
  size_t reads = 0;
  for (uint32_t i = 0; i < in->count; i++) {
    const regal_hlo_instruction *at = &in->instruction[i];
    for (uint32_t k = 0; k < at->operands; k++) {
      const regal_hlo_instruction *from = &in->instruction[at->operand[k]];
      size_t leaves = regal_hlo_flow_shape(flow, from)->shape.leaves;
      reads += at->opcode->role == REGAL_HLO_START ? 2 * leaves : leaves;
    }
  }
  flow->op = regal_arena_alloc(arena, (size_t)in->count + 1, sizeof *flow->op);
  flow->op_of = regal_arena_alloc(arena, in->count, sizeof *flow->op_of);
  flow->input = regal_arena_alloc(arena, reads, sizeof *flow->input);
  flow->slot_use = regal_arena_alloc(arena, reads, sizeof *flow->slot_use);
  return arena->failed ? regal_fail_memory(flow->module->context) : REGAL_OK;
}

static bool is_op(const regal_hlo_instruction *at) {
  regal_hlo_role role = at->opcode->role;
  return role != REGAL_HLO_VALUE && role != REGAL_HLO_VIEW &&
         (role != REGAL_HLO_UPDATE || at->other_half == REGAL_NONE);
}

regal_status regal_hlo_flow_make(regal_hlo_module *module,
                                 regal_hlo_computation *computation,
                                 bool is_entry, bool is_body,
                                 regal_hlo_flow *flow) {
  *flow = (regal_hlo_flow){.module = module,
                           .computation = computation,
                           .is_entry = is_entry,
                           .is_body = is_body};
  REGAL_TRY(regal_hlo_flow_values(flow));
  REGAL_TRY(lay_out(flow));
  for (uint32_t i = 0; i < computation->count; i++) {
    flow->op_of[i] = REGAL_NONE;
    if (computation->instruction[i].donated)
      REGAL_TRY(make_op(flow, i));
  }
  uint32_t first = flow->ops;
  for (uint32_t i = 0; i < computation->count; i++)
    if (is_op(&computation->instruction[i]))
      REGAL_TRY(make_op(flow, i));
  flow->op[flow->ops] = (regal_hlo_op){.instruction = REGAL_NONE,
                                       .tensor = flow->tensors,
                                       .input = flow->inputs,
                                       .slot = flow->slot_uses};
  for (uint32_t op = 0; op < flow->ops; op++)
    flow->op[op].group = group_of(flow, op);
  REGAL_TRY(begin_with(flow, first));
  return regal_hlo_flow_results(flow);
}

void regal_hlo_flow_free(regal_hlo_flow *flow) {
  if (!flow->module)
    return;
  regal_release(flow->module->context, flow->control);
  regal_release(flow->module->context, flow->reader);
}
