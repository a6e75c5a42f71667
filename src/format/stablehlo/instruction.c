/* SPDX-License-Identifier: Apache-2.0 */
/* An op that has been read becomes an instruction of HLO, and the names of its
 * results become known; a return becomes the root of its computation. */
#include <string.h>

#include "base/text.h"
#include "format/stablehlo/stablehlo.h"

static regal_hlo_instruction *at(regal_mlir *m, uint32_t computation,
                                 uint32_t position) {
  return &m->module->computation[computation].instruction[position];
}

/* A key of functions, until all of these are read. */
static regal_status set_callee(regal_mlir *m, const regal_mlir_op *op,
                               regal_hlo_instruction *to) {
  size_t key;
  if (!op->callee.length)
    return regal_mlir_fail_at(m, op->name.line, "a call without a function");
  const char *name = regal_mlir_keep(m, op->callee.text, op->callee.length);
  to->call = regal_arena_alloc(&m->module->arena, 1, sizeof *to->call);
  if (!name || !to->call || !regal_names_add(&m->functions, name, &key))
    return regal_fail_memory(m->module->context);
  to->calls = 1;
  to->call[0] = (uint32_t)key;
  return REGAL_OK;
}

static regal_status set_attributes(regal_mlir *m, const regal_mlir_op *op,
                                   regal_hlo_instruction *to) {
  to->contracting = op->contracting;
  to->contracted = op->contracted;
  to->kernel_output = op->kernel_output;
  to->number = op->scalar; /* count_trips asks constants for it */
  to->trips = op->trips;
  if (op->is_less && regal_mlir_is_op(op, "compare"))
    to->opcode_name = REGAL_MLIR_LESS;
  if (op->callee.length && regal_mlir_is_op(op, "custom-call")) {
    const char *target = regal_mlir_keep(m, op->callee.text, op->callee.length);
    if (!target)
      return regal_fail_memory(m->module->context);
    to->multiplies = regal_hlo_is_product(target);
  }
  if (regal_mlir_is_op(op, "call"))
    return set_callee(m, op, to);
  to->call = op->region;
  to->calls = op->regions;
  return REGAL_OK;
}

static regal_status define_results(regal_mlir *m, regal_mlir_region *region,
                                   const regal_mlir_op *op, uint32_t position,
                                   bool is_tuple) {
  uint32_t results = op->types.count, first = position, each;
  for (uint32_t i = 0; is_tuple && i < results; i++) {
    REGAL_TRY(regal_mlir_add_part(m, region->computation, position, i,
                                  &op->types.shape[i], &each));
    first = i ? first : each;
  }
  if (op->promised != results && op->results)
    return regal_mlir_fail_at(
        m, op->name.line, "%u result%s of an op with %u type%s", op->promised,
        regal_plural(op->promised), results, regal_plural(results));
  if (op->results == 1)
    return regal_mlir_define(m, region, op->result, first, results);
  for (uint32_t i = 0; i < op->results; i++)
    REGAL_TRY(regal_mlir_define(m, region, &op->result[i], first + i, 1));
  return REGAL_OK;
}

/* A barrier of several values is one of their tuple. */
static regal_status join_operands(regal_mlir *m, regal_mlir_region *region,
                                  regal_mlir_op *op) {
  static const regal_mlir_captures none;
  uint32_t tuple = 0;
  if (!op->operands)
    return regal_mlir_fail_at(m, op->name.line, "a barrier without values");
  REGAL_TRY(regal_mlir_add_tuple(m, region, op, op->operands, &none, &tuple));
  op->operand[0] = tuple;
  op->operands = 1;
  return REGAL_OK;
}

regal_status regal_mlir_finish_op(regal_mlir *m, regal_mlir_region *region,
                                  regal_mlir_op *op) {
  uint32_t results = op->types.count, position = 0;
  if (regal_mlir_is_manual(op)) {
    REGAL_TRY(regal_mlir_add_results(m, region, op, &position));
    return define_results(m, region, op, position, false);
  }
  bool is_loop = regal_mlir_is_op(op, "while");
  bool is_tuple = is_loop || results != 1;
  const char *name =
      op->results ? regal_mlir_keep(m, op->result->text, op->result->length)
                  : op->opcode;
  if (!name)
    return regal_fail_memory(m->module->context);
  regal_hlo_shape shape =
      is_tuple ? regal_mlir_tuple(&op->types) : op->types.shape[0];
  if (regal_mlir_is_op(op, "opt-barrier") && is_tuple)
    REGAL_TRY(join_operands(m, region, op));
  if (regal_mlir_has_regions(op)) {
    REGAL_TRY(regal_mlir_close_regions(m, region, op));
    if (is_loop)
      shape = at(m, region->computation, op->operand[0])->shape;
  }
  REGAL_TRY(regal_mlir_add(m, region->computation, name, op->opcode, &shape,
                           op->name.line, op->operand, op->operands,
                           &position));
  REGAL_TRY(set_attributes(m, op, at(m, region->computation, position)));
  return define_results(m, region, op, position, is_tuple);
}

/* -- Return ---------------------------------------------------------------- */

static regal_status add_captures(regal_mlir *m, regal_mlir_region *region,
                                 regal_mlir_op *op) {
  for (uint32_t i = 0; i < region->captures->count; i++) {
    uint32_t outer = region->outer->computation, position = 0;
    regal_hlo_shape shape = at(m, outer, region->captures->position[i])->shape;
    REGAL_TRY(regal_mlir_add_part(m, region->computation, 0,
                                  region->arguments + i, &shape, &position));
    REGAL_TRY(REGAL_MLIR_PUSH(m, op->operand, op->operands,
                              op->operand_capacity, position));
  }
  return REGAL_OK;
}

regal_status regal_mlir_finish_return(regal_mlir *m, regal_mlir_region *region,
                                      regal_mlir_op *op) {
  regal_hlo_computation *in = &m->module->computation[region->computation];
  regal_mlir_types types = {0};
  region->is_closed = true;
  if (region->outer && !region->captures) {
    region->returned = op->operand;
    region->returns = op->operands;
    return REGAL_OK;
  }
  if (region->returns_captures)
    REGAL_TRY(add_captures(m, region, op));
  in = &m->module->computation[region->computation];
  if (op->operands == 1 && !region->returns_tuple) {
    in->root = op->operand[0];
    return REGAL_OK;
  }
  for (uint32_t i = 0; i < op->operands; i++)
    REGAL_TRY(
        regal_mlir_add_type(m, &types, &in->instruction[op->operand[i]].shape));
  regal_hlo_shape shape = regal_mlir_tuple(&types);
  uint32_t root = 0;
  REGAL_TRY(regal_mlir_add(m, region->computation, "return", "tuple", &shape,
                           op->name.line, op->operand, op->operands, &root));
  m->module->computation[region->computation].root = root;
  return REGAL_OK;
}
