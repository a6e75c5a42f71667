/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in the place of their calls.
 *
 * JAX makes a function of every jnp.where and every relu, and XLA puts them in
 * place before it does anything else. Computations are gone through with
 * callees first, so what is copied has no calls any more. Calls whose copies
 * would make the module too large stay calls, which count as one op.
 */
#include <string.h>

#include "format/stablehlo/stablehlo.h"

#define MOST_INSTRUCTIONS (1u << 18)

typedef struct copier {
  regal_mlir *m;
  uint32_t computation; /* what is copied to */
  const regal_hlo_computation *from;
  uint32_t *to; /* [instructions of `from`] positions */
} copier;

static uint32_t *new_map(regal_mlir *m, const regal_hlo_computation *of) {
  return regal_arena_alloc(&m->module->arena, of->count, sizeof(uint32_t));
}

/* "%4/%1": of the call, and of the instruction. */
static const char *name_in(regal_mlir *m, const char *call, const char *name) {
  char both[160];
  int length = snprintf(both, sizeof both, "%.70s/%.70s", call, name);
  return regal_mlir_keep(m, both, (size_t)length);
}

static regal_status copy_one(const copier *c, uint32_t position,
                             const char *name) {
  const regal_hlo_instruction *one = &c->from->instruction[position];
  uint32_t *target = &c->to[position];
  REGAL_TRY(regal_mlir_add(c->m, c->computation, name, one->opcode_name,
                           &one->shape, one->line, one->operand, one->operands,
                           target));
  regal_hlo_instruction *made =
      &c->m->module->computation[c->computation].instruction[*target];
  uint32_t *operand = made->operand;
  *made = *one;
  made->name = name;
  made->operand = operand;
  for (uint32_t i = 0; i < one->operands; i++)
    operand[i] = c->to[one->operand[i]];
  return REGAL_OK;
}

/* Parameters are the call's operands, which `outer` has copied. */
static regal_status copy_callee(const copier *outer,
                                const regal_hlo_instruction *call,
                                uint32_t *result) {
  regal_mlir *m = outer->m;
  copier c = {m, outer->computation, &m->module->computation[call->call[0]],
              NULL};
  regal_hlo_computation callee = *c.from;
  c.from = &callee;
  c.to = new_map(m, &callee);
  if (!c.to)
    return regal_fail_memory(m->module->context);
  for (uint32_t i = 0; i < callee.count; i++) {
    const regal_hlo_instruction *one = &callee.instruction[i];
    if (one->opcode->opcode == REGAL_HLO_PARAMETER) {
      c.to[i] = outer->to[call->operand[one->number]];
      continue;
    }
    const char *name = name_in(m, call->name, one->name);
    if (!name)
      return regal_fail_memory(m->module->context);
    REGAL_TRY(copy_one(&c, i, name));
  }
  *result = c.to[callee.root];
  return REGAL_OK;
}

/* A function begins with them. */
static uint32_t count_parameters(const regal_hlo_computation *of) {
  uint32_t count = 0;
  while (count < of->count &&
         of->instruction[count].opcode->opcode == REGAL_HLO_PARAMETER)
    count++;
  return count;
}

/* Whether the call can be replaced; what is wrong with others, check.c says. */
static bool is_inlined(const regal_mlir *m, const regal_hlo_instruction *one,
                       uint64_t *total) {
  if (one->opcode->opcode != REGAL_HLO_CALL)
    return false;
  const regal_hlo_computation *callee = &m->module->computation[one->call[0]];
  const regal_hlo_shape *result = &callee->instruction[callee->root].shape;
  if (count_parameters(callee) != one->operands ||
      result->parts != one->shape.parts ||
      *total + callee->count > MOST_INSTRUCTIONS)
    return false;
  *total += callee->count;
  return true;
}

static regal_status inline_calls(regal_mlir *m, uint32_t number,
                                 uint64_t *total) {
  regal_hlo_computation old = m->module->computation[number];
  copier c = {m, number, &old, new_map(m, &old)};
  if (!c.to)
    return regal_fail_memory(m->module->context);
  m->module->computation[number].instruction = NULL;
  m->module->computation[number].count = 0;
  for (uint32_t i = 0; i < old.count; i++) {
    const regal_hlo_instruction *one = &old.instruction[i];
    if (is_inlined(m, one, total))
      REGAL_TRY(copy_callee(&c, one, &c.to[i]));
    else
      REGAL_TRY(copy_one(&c, i, one->name));
  }
  m->module->computation[number].root = c.to[old.root];
  return REGAL_OK;
}

regal_status regal_mlir_inline(regal_mlir *m) {
  regal_hlo_module *module = m->module;
  uint64_t total = 0;
  REGAL_TRY(regal_hlo_order_calls(module));
  const uint32_t *callee_first = module->callee_first;
  for (uint32_t i = 0; i < module->count; i++)
    REGAL_TRY(inline_calls(m, callee_first[i], &total));
  return REGAL_OK;
}
