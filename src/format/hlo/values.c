/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a computation, and which instruction reads each last: the first
 * of two passes, for what may be written in place depends on later readers. */
#include "format/hlo/flow.h"
#include "format/hlo/share.h"

static bool is_view(const regal_hlo_instruction *at) {
  return at->opcode->role == REGAL_HLO_VIEW ||
         (at->opcode->role == REGAL_HLO_UPDATE && at->other_half != REGAL_NONE);
}

const regal_hlo_instruction *
regal_hlo_flow_shape(const regal_hlo_flow *flow,
                     const regal_hlo_instruction *at) {
  bool half = at->other_half != REGAL_NONE;
  if (!half)
    return at;
  if (at->opcode->role == REGAL_HLO_UPDATE)
    at = &flow->computation->instruction[at->other_half];
  return at->opcode->role == REGAL_HLO_START
             ? &flow->computation->instruction[at->other_half]
             : at;
}

static uint32_t leaves_of(const regal_hlo_flow *flow,
                          const regal_hlo_instruction *at) {
  return regal_hlo_flow_shape(flow, at)->shape.leaves;
}

/* Whether a loop leaves this value as it was: no copy of it is made. */
static uint32_t passed_value(const regal_hlo_flow *flow, uint32_t position,
                             uint32_t leaf) {
  const regal_hlo_instruction *at = &flow->computation->instruction[position];
  if (at->opcode->opcode != REGAL_HLO_WHILE ||
      !regal_hlo_passes(&flow->module->computation[at->call[0]], leaf))
    return REGAL_NONE;
  return flow->leaf[flow->leaf_begin[at->operand[0]] + leaf];
}

/* -- Making ---------------------------------------------------------------- */

static void make_slot(regal_hlo_flow *flow, const regal_hlo_instruction *at,
                      uint32_t leaf, uint32_t value) {
  uint32_t slot = flow->slots++;
  bool constant = at->opcode->opcode == REGAL_HLO_CONSTANT;
  flow->slot[slot] =
      (regal_hlo_slot){.bytes = at->leaf[leaf]->bytes,
                       .value = value,
                       .last = REGAL_NONE,
                       .readers = REGAL_NONE,
                       .number = REGAL_NONE,
                       .is_constant = constant,
                       .is_writable = !constant && !flow->is_entry};
  flow->value[value].in_slot = true;
  flow->value[value].buffer = slot;
}

static void make_values(regal_hlo_flow *flow, uint32_t position) {
  const regal_hlo_instruction *at = &flow->computation->instruction[position];
  uint32_t count = leaves_of(flow, at);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t *leaf = &flow->leaf[flow->leaf_begin[position] + i];
    *leaf = passed_value(flow, position, i);
    if (*leaf != REGAL_NONE)
      continue;
    uint32_t value = flow->values++;
    *leaf = value;
    flow->value[value] = (regal_hlo_value){.maker = position,
                                           .last = REGAL_NONE,
                                           .buffer = REGAL_NONE,
                                           .wait = REGAL_NONE,
                                           .readers = REGAL_NONE};
    if (at->opcode->role == REGAL_HLO_VALUE && !(at->donated && at->donated[i]))
      make_slot(flow, at, i, value);
  }
}

static void copy_leaves(regal_hlo_flow *flow, uint32_t to, uint32_t from,
                        uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    flow->leaf[to + i] = flow->leaf[from + i];
}

static void make_view(regal_hlo_flow *flow, uint32_t position) {
  const regal_hlo_instruction *all = flow->computation->instruction;
  const regal_hlo_instruction *at = &all[position];
  uint32_t to = flow->leaf_begin[position];
  uint32_t operands = at->opcode->opcode == REGAL_HLO_TUPLE ? at->operands : 1;
  flow->views++;
  for (uint32_t i = 0; i < operands; i++) {
    const regal_hlo_instruction *from = &all[at->operand[i]];
    uint32_t begin = flow->leaf_begin[at->operand[i]];
    uint32_t count = leaves_of(flow, from);
    if (at->opcode->opcode == REGAL_HLO_GET_TUPLE_ELEMENT) {
      begin += from->shape.part[at->number].first;
      count = at->shape.leaves;
    }
    copy_leaves(flow, to, begin, count);
    to += count;
  }
}

/* -- Reading --------------------------------------------------------------- */

static void read_leaves(regal_hlo_flow *flow, uint32_t from, uint32_t reader) {
  uint32_t begin = flow->leaf_begin[from];
  uint32_t count = leaves_of(flow, &flow->computation->instruction[from]);
  for (uint32_t i = 0; i < count; i++)
    flow->value[flow->leaf[begin + i]].last = reader;
}

static void read_operands(regal_hlo_flow *flow, uint32_t position) {
  const regal_hlo_instruction *all = flow->computation->instruction;
  const regal_hlo_instruction *at = &all[position];
  for (uint32_t i = 0; i < at->operands; i++)
    read_leaves(flow, at->operand[i], position);
  if (at->opcode->role != REGAL_HLO_DONE || at->other_half == REGAL_NONE)
    return;
  /* What is being sent or copied stays until that is done. */
  const regal_hlo_instruction *start = &all[at->other_half];
  for (uint32_t i = 0; i < start->operands; i++)
    read_leaves(flow, start->operand[i], position);
}

/* -- All ------------------------------------------------------------------- */

static regal_status lay_out(regal_hlo_flow *flow) {
  const regal_hlo_computation *in = flow->computation;
  regal_arena *arena = &flow->module->arena;
  size_t leaves = 0, slots = 0;
  flow->leaf_begin =
      regal_arena_alloc(arena, in->count, sizeof *flow->leaf_begin);
  if (!flow->leaf_begin)
    return regal_fail_memory(flow->module->context);
  for (uint32_t i = 0; i < in->count; i++) {
    flow->leaf_begin[i] = (uint32_t)leaves;
    leaves += leaves_of(flow, &in->instruction[i]);
    if (in->instruction[i].opcode->role == REGAL_HLO_VALUE)
      slots += in->instruction[i].shape.leaves;
  }
  flow->leaf = regal_arena_alloc(arena, leaves, sizeof *flow->leaf);
  flow->value = regal_arena_alloc(arena, leaves, sizeof *flow->value);
  flow->tensor = regal_arena_alloc(arena, leaves, sizeof *flow->tensor);
  flow->tensor_mark =
      regal_arena_alloc(arena, leaves, sizeof *flow->tensor_mark);
  flow->slot = regal_arena_alloc(arena, slots, sizeof *flow->slot);
  flow->slot_mark = regal_arena_alloc(arena, slots, sizeof *flow->slot_mark);
  return arena->failed ? regal_fail_memory(flow->module->context) : REGAL_OK;
}

regal_status regal_hlo_flow_values(regal_hlo_flow *flow) {
  const regal_hlo_computation *in = flow->computation;
  REGAL_TRY(lay_out(flow));
  for (uint32_t i = 0; i < in->count; i++) {
    if (is_view(&in->instruction[i])) {
      make_view(flow, i);
      continue;
    }
    read_operands(flow, i);
    make_values(flow, i);
  }
  read_leaves(flow, in->root, REGAL_HLO_AT_END);
  return REGAL_OK;
}
