/* SPDX-License-Identifier: Apache-2.0 */
/* What JAX's shard_map leaves: a program for one device, in its place.
 *
 *   %0 = sdy.manual_computation(%a) in_shardings=[...] out_shardings=[...]
 *       manual_axes={"x"} (%b: tensor<4x8xf32>) {
 *     ...
 *     sdy.return %1 : tensor<4x8xf32>
 *   } : (tensor<8x8xf32>) -> tensor<8x8xf32>
 *
 * Its ops become instructions of the computation around. XLA lowers the way in
 * and out to a custom call, from the whole array to a part and back. So there
 * is one for each argument and each result.
 */
#include <string.h>

#include "base/text.h"
#include "format/stablehlo/stablehlo.h"

bool regal_mlir_is_manual(const regal_mlir_op *op) {
  return op->name.kind == REGAL_MLIR_WORD &&
         regal_mlir_is_op(op, "manual-computation");
}

/* (%a, %b) */
static regal_status read_values(regal_mlir *m, regal_mlir_region *region,
                                regal_mlir_op *op) {
  REGAL_TRY(regal_mlir_expect(m, '('));
  while (m->token.kind == REGAL_MLIR_VALUE) {
    uint32_t position = 0;
    REGAL_TRY(regal_mlir_find(m, region, &m->token, &position));
    REGAL_TRY(REGAL_MLIR_PUSH(m, op->operand, op->operands,
                              op->operand_capacity, position));
    REGAL_TRY(regal_mlir_next(m));
    if (regal_mlir_is_mark(m, ','))
      REGAL_TRY(regal_mlir_next(m));
  }
  return regal_mlir_expect(m, ')');
}

/* in_shardings=[...] out_shardings=[...] manual_axes={...} */
static regal_status skip_shardings(regal_mlir *m) {
  while (!regal_mlir_is_mark(m, '(')) {
    if (m->token.kind == REGAL_MLIR_END || regal_mlir_is_closing(m))
      return regal_mlir_fail(m, "'(' and the arguments of the body");
    if (regal_mlir_is_opening(m))
      REGAL_TRY(regal_mlir_skip(m));
    else
      REGAL_TRY(regal_mlir_next(m));
  }
  return regal_mlir_next(m);
}

static regal_status read_argument(regal_mlir *m, regal_mlir_region *body,
                                  const regal_mlir_op *op) {
  regal_mlir_token name;
  regal_hlo_shape shape;
  uint32_t position = 0;
  REGAL_TRY(regal_mlir_typed_value(m, "an argument", &name, &shape));
  REGAL_TRY(regal_mlir_skip_location(m));
  if (body->arguments >= op->operands)
    return regal_mlir_fail_at(m, name.line,
                              "a body with more arguments than its %u value%s",
                              op->operands, regal_plural(op->operands));
  const char *kept = regal_mlir_keep(m, name.text, name.length);
  if (!kept)
    return regal_fail_memory(m->module->context);
  REGAL_TRY(regal_mlir_add(m, body->computation, kept, "custom-call", &shape,
                           name.line, &op->operand[body->arguments++], 1,
                           &position));
  return regal_mlir_define(m, body, &name, position, 1);
}

/* %b: type, ...) */
static regal_status read_arguments(regal_mlir *m, regal_mlir_region *body,
                                   const regal_mlir_op *op) {
  while (!regal_mlir_is_mark(m, ')')) {
    REGAL_TRY(read_argument(m, body, op));
    if (regal_mlir_is_mark(m, ','))
      REGAL_TRY(regal_mlir_next(m));
    else if (!regal_mlir_is_mark(m, ')'))
      return regal_mlir_fail(m, "',' or ')'");
  }
  return regal_mlir_next(m);
}

regal_status regal_mlir_read_manual(regal_mlir *m, regal_mlir_region *region,
                                    regal_mlir_op *op) {
  regal_mlir_region body = {.outer = region,
                            .computation = region->computation,
                            .scope = ++m->scopes,
                            .depth = region->depth + 1};
  REGAL_TRY(regal_mlir_check_depth(m, &body));
  REGAL_TRY(read_values(m, region, op));
  REGAL_TRY(skip_shardings(m));
  REGAL_TRY(read_arguments(m, &body, op));
  REGAL_TRY(regal_mlir_expect(m, '{'));
  REGAL_TRY(regal_mlir_read_body(m, &body));
  op->operand = body.returned;
  op->operands = body.returns;
  return regal_mlir_expect(m, ':');
}

/* "%0", or "%0#1" of several results with one name. */
static const char *name_result(regal_mlir *m, const regal_mlir_op *op,
                               uint32_t result) {
  char name[80];
  if (!op->results)
    return op->opcode;
  const regal_mlir_token *token =
      &op->result[result < op->results ? result : 0];
  int shown = token->length > 60 ? 60 : (int)token->length;
  bool is_shared = op->results == 1 && op->types.count > 1;
  int length =
      is_shared
          ? snprintf(name, sizeof name, "%.*s#%u", shown, token->text, result)
          : snprintf(name, sizeof name, "%.*s", shown, token->text);
  return regal_mlir_keep(m, name, (size_t)length);
}

regal_status regal_mlir_add_results(regal_mlir *m,
                                    const regal_mlir_region *region,
                                    const regal_mlir_op *op, uint32_t *first) {
  if (op->operands != op->types.count)
    return regal_mlir_fail_at(m, op->name.line,
                              "a body that returns %u value%s, %u type%s",
                              op->operands, regal_plural(op->operands),
                              op->types.count, regal_plural(op->types.count));
  for (uint32_t i = 0; i < op->operands; i++) {
    uint32_t position = 0;
    const char *name = name_result(m, op, i);
    if (!name)
      return regal_fail_memory(m->module->context);
    REGAL_TRY(regal_mlir_add(m, region->computation, name, "custom-call",
                             &op->types.shape[i], op->name.line,
                             &op->operand[i], 1, &position));
    *first = i ? *first : position;
  }
  return REGAL_OK;
}
