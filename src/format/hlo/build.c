/* SPDX-License-Identifier: Apache-2.0 */
/* From the flow of the entry to a graph. Ops are added in the order of the
 * module: if that is XLA's schedule, the graph's own order is it. An op's id is
 * the position of its instruction. */
#include "format/hlo/build.h"

#include "graph/builder.h"

typedef struct building {
  regal_hlo_flow *flow;
  const regal_roofline *roofline;
  regal_builder *builder;
  uint32_t *constants; /* [computations] parameters for those of a body */
  int64_t parameter_bytes;
} building;

static const regal_hlo_instruction *instruction_of(const building *b,
                                                   uint32_t op) {
  const regal_hlo_flow *flow = b->flow;
  return &flow->computation->instruction[flow->op[op].instruction];
}

static void locate(const void *state, uint32_t op, char *text,
                   size_t capacity) {
  const building *b = state;
  const regal_hlo_instruction *at = instruction_of(b, op);
  if (at->line)
    snprintf(text, capacity, "%s:%u", b->flow->module->path, at->line);
  else
    snprintf(text, capacity, "%s", b->flow->module->path);
}

/* -- Ops and outputs ------------------------------------------------------- */

static regal_status add_outputs(const building *b, uint32_t op) {
  const regal_hlo_flow *flow = b->flow;
  uint32_t begin = flow->op[op].tensor, end = flow->op[op + 1].tensor;
  for (uint32_t t = begin; t < end; t++) {
    const regal_hlo_tensor *tensor = &flow->tensor[t];
    REGAL_TRY(regal_builder_add_output(b->builder, op, tensor->bytes,
                                       tensor->is_final));
    if (tensor->may_reuse)
      REGAL_TRY(regal_builder_set_may_reuse(b->builder, op, t - begin));
  }
  return REGAL_OK;
}

static regal_status add_op(const building *b, uint32_t op) {
  const regal_hlo_flow *flow = b->flow;
  const regal_hlo_instruction *at = instruction_of(b, op);
  int64_t run_ns = 0;
  uint32_t made;
  REGAL_TRY(regal_hlo_run_ns(flow->module, flow->computation, at, b->roofline,
                             &run_ns));
  regal_builder_set_next_id(b->builder, flow->op[op].instruction);
  REGAL_TRY(regal_builder_add_op(b->builder, at->name, run_ns,
                                 regal_hlo_temporary(flow->module, at), 0,
                                 &made));
  return add_outputs(b, op);
}

/* -- Reads ----------------------------------------------------------------- */

/* Each device may hold each parameter, and the sum must not overflow. */
static regal_status add_parameter(building *b, uint32_t op, int64_t bytes,
                                  uint32_t *number) {
  int64_t most = REGAL_MOST_TOTAL / REGAL_MAX_DEVICES;
  if (bytes > most - b->parameter_bytes)
    return regal_hlo_fail(b->flow->module, instruction_of(b, op),
                          "with those that it reads, parameters and constants "
                          "are beyond 2^56 bytes");
  b->parameter_bytes += bytes;
  return regal_builder_add_parameter(b->builder, bytes, number);
}

static regal_status use_parameter(building *b, uint32_t op, int64_t bytes,
                                  uint32_t *number) {
  if (!bytes)
    return REGAL_OK;
  if (*number == REGAL_NONE)
    REGAL_TRY(add_parameter(b, op, bytes, number));
  return regal_builder_add_parameter_use(b->builder, op, *number);
}

/* Constants of what it calls; those of a fusion are part of its code. */
static regal_status use_constants(building *b, uint32_t op) {
  const regal_hlo_instruction *at = instruction_of(b, op);
  regal_hlo_opcode opcode = at->opcode->opcode;
  if (opcode != REGAL_HLO_CALL && opcode != REGAL_HLO_WHILE &&
      opcode != REGAL_HLO_CONDITIONAL)
    return REGAL_OK;
  for (uint32_t i = 0; i < at->calls; i++)
    REGAL_TRY(use_parameter(
        b, op, b->flow->module->computation[at->call[i]].constant_bytes,
        &b->constants[at->call[i]]));
  return REGAL_OK;
}

static regal_status add_reads(building *b, uint32_t op) {
  const regal_hlo_flow *flow = b->flow;
  for (uint32_t i = flow->op[op].input; i < flow->op[op + 1].input; i++) {
    uint32_t producer = flow->tensor[flow->input[i]].op;
    REGAL_TRY(regal_builder_add_input(
        b->builder, op, producer, flow->input[i] - flow->op[producer].tensor));
  }
  for (uint32_t i = flow->op[op].slot; i < flow->op[op + 1].slot; i++) {
    regal_hlo_slot *slot = &flow->slot[flow->slot_use[i]];
    REGAL_TRY(use_parameter(b, op, slot->bytes, &slot->number));
  }
  return use_constants(b, op);
}

/* Whether the op reads what another makes, and so waits for it anyway. */
static bool reads_from(const regal_hlo_flow *flow, uint32_t op,
                       uint32_t producer) {
  for (uint32_t i = flow->op[op].input; i < flow->op[op + 1].input; i++)
    if (flow->tensor[flow->input[i]].op == producer)
      return true;
  return false;
}

static regal_status add_controls(const building *b) {
  const regal_hlo_flow *flow = b->flow;
  for (size_t i = 0; i < flow->controls; i++)
    if (!reads_from(flow, flow->control[i].after, flow->control[i].before))
      REGAL_TRY(regal_builder_add_control(b->builder, flow->control[i].before,
                                          flow->control[i].after));
  return REGAL_OK;
}

/* -- All ------------------------------------------------------------------- */

/* Ops that write into the buffer of another share its device. */
static regal_status add_groups(const building *b) {
  const regal_hlo_flow *flow = b->flow;
  for (uint32_t op = 0; op < flow->ops; op++) {
    uint32_t group = flow->op[op].group;
    if (group == op)
      continue;
    const char *name = instruction_of(b, group)->name;
    REGAL_TRY(regal_builder_set_group(b->builder, group, name));
    REGAL_TRY(regal_builder_set_group(b->builder, op, name));
  }
  return REGAL_OK;
}

static regal_status add_all(building *b) {
  const regal_hlo_flow *flow = b->flow;
  if (!flow->ops)
    return regal_fail(flow->module->context, REGAL_BAD_INPUT,
                      "%s: nothing runs: the entry computation %s has only "
                      "parameters, constants and views of them",
                      flow->module->path,
                      regal_quote(flow->computation->name).text);
  regal_builder_set_locator(b->builder, locate, b);
  regal_builder_set_file_nodes(b->builder, flow->computation->count);
  for (uint32_t op = 0; op < flow->ops; op++)
    REGAL_TRY(add_op(b, op));
  for (uint32_t op = 0; op < flow->ops; op++)
    REGAL_TRY(add_reads(b, op));
  REGAL_TRY(add_controls(b));
  return add_groups(b);
}

regal_status regal_hlo_build(regal_hlo_flow *flow,
                             const regal_roofline *roofline,
                             regal_graph **graph) {
  regal_hlo_module *module = flow->module;
  building b = {.flow = flow, .roofline = roofline};
  b.constants =
      regal_arena_alloc(&module->arena, module->count, sizeof *b.constants);
  if (!b.constants)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < module->count; i++)
    b.constants[i] = REGAL_NONE;
  REGAL_TRY(regal_builder_create(module->context, &b.builder));
  return regal_builder_end(b.builder, add_all(&b), graph);
}
