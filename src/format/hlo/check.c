/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a module is found here, and said with the name of the
 * instruction, so that later stages need not ask: operands come before what
 * reads them, views have as many values as what they show, a call has as many
 * operands as its computation has parameters, and no computation calls itself.
 */
#include <string.h>

#include "base/text.h"
#include "format/hlo/module.h"
#include "graph/builder.h"

/* Values that all instructions make, or read, together: a tuple of thousands of
 * values that thousands of instructions read is no program. So counts of values
 * have 32 bits. */
#define MOST_VALUES ((uint64_t)1 << 26)

typedef struct checker {
  regal_hlo_module *module;
  regal_hlo_computation *computation;
  uint64_t made, read; /* values so far */
} checker;

static regal_hlo_instruction *
operand_of(const checker *c, const regal_hlo_instruction *at, uint32_t index) {
  return &c->computation->instruction[at->operand[index]];
}

/* -- Shapes ---------------------------------------------------------------- */

static regal_status check_count(const checker *c,
                                const regal_hlo_instruction *at, uint64_t count,
                                const char *what) {
  if (count <= MOST_VALUES)
    return REGAL_OK;
  return regal_hlo_fail(c->module, at, "up to here, more than %llu values %s",
                        (unsigned long long)MOST_VALUES, what);
}

static regal_status measure(checker *c, regal_hlo_instruction *at) {
  const char *wrong = regal_hlo_measure(&at->shape);
  if (wrong)
    return regal_hlo_fail(c->module, at, "%s", wrong);
  c->made += at->shape.leaves;
  REGAL_TRY(check_count(c, at, c->made, "are made"));
  at->leaf =
      regal_arena_alloc(&c->module->arena, at->shape.leaves, sizeof *at->leaf);
  if (!at->leaf)
    return regal_fail_memory(c->module->context);
  regal_hlo_flatten(&at->shape, at->leaf);
  return REGAL_OK;
}

static regal_status expect_leaves(const checker *c,
                                  const regal_hlo_instruction *at,
                                  const char *what, uint32_t found) {
  if (found == at->shape.leaves)
    return REGAL_OK;
  return regal_hlo_fail(
      c->module, at, "its shape has %u value%s, but %s has %u",
      at->shape.leaves, regal_plural(at->shape.leaves), what, found);
}

static regal_status expect_operands(const checker *c,
                                    const regal_hlo_instruction *at,
                                    uint32_t least) {
  if (at->operands >= least)
    return REGAL_OK;
  return regal_hlo_fail(c->module, at, "%s with %u operand%s, expected %u",
                        at->opcode_name, at->operands,
                        regal_plural(at->operands), least);
}

/* -- Views ----------------------------------------------------------------- */

static regal_status check_tuple(const checker *c,
                                const regal_hlo_instruction *at) {
  if (at->shape.type != REGAL_HLO_TUPLE_TYPE || at->shape.parts != at->operands)
    return regal_hlo_fail(
        c->module, at, "a tuple of %u operand%s, but its shape has %u part%s",
        at->operands, regal_plural(at->operands), at->shape.parts,
        regal_plural(at->shape.parts));
  for (uint32_t i = 0; i < at->operands; i++)
    if (operand_of(c, at, i)->shape.leaves != at->shape.part[i].leaves)
      return regal_hlo_fail(c->module, at,
                            "operand %u has %u value%s, part %u of its shape "
                            "has %u",
                            i, operand_of(c, at, i)->shape.leaves,
                            regal_plural(operand_of(c, at, i)->shape.leaves), i,
                            at->shape.part[i].leaves);
  return REGAL_OK;
}

static regal_status check_element(const checker *c,
                                  const regal_hlo_instruction *at) {
  REGAL_TRY(expect_operands(c, at, 1));
  const regal_hlo_shape *shape = &operand_of(c, at, 0)->shape;
  if (shape->type != REGAL_HLO_TUPLE_TYPE || at->number < 0 ||
      at->number >= shape->parts)
    return regal_hlo_fail(
        c->module, at, "index %lld of %s, which has %u part%s",
        (long long)at->number, regal_quote(operand_of(c, at, 0)->name).text,
        shape->parts, regal_plural(shape->parts));
  return expect_leaves(c, at, "the part of the tuple",
                       shape->part[at->number].leaves);
}

static regal_status check_view(const checker *c,
                               const regal_hlo_instruction *at) {
  if (at->opcode->opcode == REGAL_HLO_TUPLE)
    return check_tuple(c, at);
  if (at->opcode->opcode == REGAL_HLO_GET_TUPLE_ELEMENT)
    return check_element(c, at);
  REGAL_TRY(expect_operands(c, at, 1));
  return expect_leaves(c, at, "its operand",
                       operand_of(c, at, 0)->shape.leaves);
}

/* -- Calls ----------------------------------------------------------------- */

static const regal_hlo_computation *
called(const checker *c, const regal_hlo_instruction *at, uint32_t index) {
  return &c->module->computation[at->call[index]];
}

static const regal_hlo_instruction *
root_of(const regal_hlo_computation *computation) {
  return &computation->instruction[computation->root];
}

static regal_status expect_calls(const checker *c,
                                 const regal_hlo_instruction *at,
                                 uint32_t least) {
  if (at->calls >= least)
    return REGAL_OK;
  return regal_hlo_fail(c->module, at, "%s without %s computation",
                        at->opcode_name, at->calls ? "a second" : "a");
}

/* Shapes of later computations may not have been measured yet: only counts of
 * parameters are compared here, leaves by check_call_shapes. */
static regal_status expect_parameters(const checker *c,
                                      const regal_hlo_instruction *at,
                                      uint32_t index, uint32_t operands) {
  const regal_hlo_computation *to = called(c, at, index);
  if (to->parameters == operands)
    return REGAL_OK;
  return regal_hlo_fail(c->module, at,
                        "gives %u operand%s to computation %s, which has %u "
                        "parameter%s",
                        operands, regal_plural(operands),
                        regal_quote(to->name).text, to->parameters,
                        regal_plural(to->parameters));
}

static regal_status check_branches(const checker *c,
                                   const regal_hlo_instruction *at) {
  REGAL_TRY(expect_calls(c, at, 1));
  REGAL_TRY(expect_operands(c, at, at->calls + 1));
  for (uint32_t i = 0; i < at->calls; i++)
    REGAL_TRY(expect_parameters(c, at, i, 1));
  return REGAL_OK;
}

static regal_status check_call(const checker *c,
                               const regal_hlo_instruction *at) {
  switch (at->opcode->opcode) {
  case REGAL_HLO_FUSION:
  case REGAL_HLO_CALL:
    REGAL_TRY(expect_calls(c, at, 1));
    return expect_parameters(c, at, 0, at->operands);
  case REGAL_HLO_WHILE:
    REGAL_TRY(expect_calls(c, at, 2));
    REGAL_TRY(expect_operands(c, at, 1));
    REGAL_TRY(expect_parameters(c, at, 0, 1));
    REGAL_TRY(expect_leaves(c, at, "its operand",
                            operand_of(c, at, 0)->shape.leaves));
    return expect_parameters(c, at, 1, 1);
  case REGAL_HLO_CONDITIONAL:
    return check_branches(c, at);
  default:
    return REGAL_OK;
  }
}

/* What a call gives and gets has as many values on both sides. */
static regal_status check_call_shapes(const checker *c,
                                      const regal_hlo_instruction *at) {
  regal_hlo_opcode opcode = at->opcode->opcode;
  bool loop = opcode == REGAL_HLO_WHILE;
  if (opcode != REGAL_HLO_FUSION && opcode != REGAL_HLO_CALL && !loop &&
      opcode != REGAL_HLO_CONDITIONAL)
    return REGAL_OK;
  for (uint32_t i = 0; i < (loop ? 1 : at->calls); i++)
    REGAL_TRY(expect_leaves(c, at, "the result of its computation",
                            root_of(called(c, at, i))->shape.leaves));
  for (uint32_t i = 0; i < at->calls; i++) {
    const regal_hlo_computation *to = called(c, at, i);
    for (uint32_t p = 0; p < to->parameters; p++) {
      uint32_t operand = opcode == REGAL_HLO_CONDITIONAL ? i + 1 : p;
      uint32_t given = operand_of(c, at, operand)->shape.leaves;
      uint32_t taken = to->instruction[to->parameter[p]].shape.leaves;
      if (given != taken)
        return regal_hlo_fail(c->module, at,
                              "operand %u has %u value%s, parameter %u of "
                              "computation %s has %u",
                              operand, given, regal_plural(given), p,
                              regal_quote(to->name).text, taken);
    }
  }
  return REGAL_OK;
}

/* -- Asynchronous pairs ---------------------------------------------------- */

/* A start is one half of a pair if the only reader of its result is a done,
 * perhaps through updates; the pair is then one op at the start. */
static void pair_halves(const checker *c, uint32_t done) {
  regal_hlo_instruction *all = c->computation->instruction, *at = &all[done];
  uint32_t start = at->operands ? at->operand[0] : done;
  while (all[start].opcode->role == REGAL_HLO_UPDATE && all[start].users == 1 &&
         all[start].operands)
    start = all[start].operand[0];
  if (all[start].opcode->role != REGAL_HLO_START || all[start].users != 1)
    return;
  for (uint32_t i = at->operand[0]; i != start; i = all[i].operand[0])
    all[i].other_half = start;
  all[start].other_half = done;
  at->other_half = start;
}

/* -- Instructions ---------------------------------------------------------- */

static regal_status check_operands(checker *c, uint32_t position) {
  regal_hlo_instruction *at = &c->computation->instruction[position];
  for (uint32_t i = 0; i < at->operands + at->controls; i++) {
    bool data = i < at->operands;
    uint32_t from = data ? at->operand[i] : at->control[i - at->operands];
    if (from >= position)
      return regal_hlo_fail(
          c->module, at, "%s %s, which does not come before it",
          data ? "reads" : "waits for",
          regal_quote(c->computation->instruction[from].name).text);
    if (!data)
      continue;
    c->computation->instruction[from].users++;
    c->read += c->computation->instruction[from].shape.leaves;
  }
  return REGAL_OK;
}

static regal_status check_instruction(checker *c, uint32_t position) {
  regal_hlo_instruction *at = &c->computation->instruction[position];
  at->other_half = REGAL_NONE;
  REGAL_TRY(measure(c, at));
  REGAL_TRY(check_operands(c, position));
  REGAL_TRY(check_count(c, at, c->read, "are read"));
  regal_hlo_role role = at->opcode->role;
  if (role == REGAL_HLO_VIEW || role == REGAL_HLO_BARRIER)
    REGAL_TRY(check_view(c, at));
  return check_call(c, at);
}

static regal_status check_computation(checker *c) {
  for (uint32_t i = 0; i < c->computation->count; i++)
    REGAL_TRY(check_instruction(c, i));
  for (uint32_t i = 0; i < c->computation->count; i++)
    if (c->computation->instruction[i].opcode->role == REGAL_HLO_DONE)
      pair_halves(c, i);
  return REGAL_OK;
}

/* -- Parameters ------------------------------------------------------------ */

static regal_status set_parameter(const checker *c, uint32_t position) {
  regal_hlo_computation *in = c->computation;
  const regal_hlo_instruction *at = &in->instruction[position];
  if (at->number < 0 || at->number >= in->parameters)
    return regal_hlo_fail(c->module, at,
                          "parameter %lld of a computation with %u",
                          (long long)at->number, in->parameters);
  uint32_t *place = &in->parameter[at->number];
  if (*place != REGAL_NONE)
    return regal_hlo_fail(c->module, at, "parameter %lld is also %s",
                          (long long)at->number,
                          regal_quote(in->instruction[*place].name).text);
  *place = position;
  return REGAL_OK;
}

static regal_status number_parameters(const checker *c) {
  regal_hlo_computation *in = c->computation;
  in->parameters = 0;
  for (uint32_t i = 0; i < in->count; i++)
    in->parameters += in->instruction[i].opcode->opcode == REGAL_HLO_PARAMETER;
  in->parameter = regal_arena_alloc(&c->module->arena, in->parameters,
                                    sizeof *in->parameter);
  if (!in->parameter)
    return regal_fail_memory(c->module->context);
  for (uint32_t i = 0; i < in->parameters; i++)
    in->parameter[i] = REGAL_NONE;
  for (uint32_t i = 0; i < in->count; i++)
    if (in->instruction[i].opcode->opcode == REGAL_HLO_PARAMETER)
      REGAL_TRY(set_parameter(c, i));
  return REGAL_OK;
}

/* -- Donated parameters ---------------------------------------------------- */

static regal_status mark_donated(const checker *c,
                                 const regal_hlo_alias *alias) {
  const regal_hlo_computation *in = c->computation;
  uint32_t first, count;
  if (alias->operand < 0 || alias->operand >= in->parameters)
    return REGAL_OK;
  regal_hlo_instruction *at = &in->instruction[in->parameter[alias->operand]];
  if (!regal_hlo_leaves_at(&at->shape, alias->input, alias->input_length,
                           &first, &count))
    return REGAL_OK;
  if (!at->donated)
    at->donated = regal_arena_alloc(&c->module->arena, at->shape.leaves, 1);
  if (!at->donated)
    return regal_fail_memory(c->module->context);
  memset(at->donated + first, 1, count);
  return REGAL_OK;
}

/* -- The module ------------------------------------------------------------ */

regal_status regal_hlo_check(regal_hlo_module *module) {
  checker c = {.module = module};
  for (uint32_t i = 0; i < module->count; i++) {
    c.computation = &module->computation[i];
    REGAL_TRY(number_parameters(&c));
  }
  for (uint32_t i = 0; i < module->count; i++) {
    c.computation = &module->computation[i];
    REGAL_TRY(check_computation(&c));
  }
  for (uint32_t i = 0; i < module->count; i++) {
    c.computation = &module->computation[i];
    for (uint32_t k = 0; k < c.computation->count; k++)
      REGAL_TRY(check_call_shapes(&c, &c.computation->instruction[k]));
  }
  c.computation = &module->computation[module->entry];
  for (uint32_t i = 0; i < module->aliases; i++)
    REGAL_TRY(mark_donated(&c, &module->alias[i]));
  return regal_hlo_order_calls(module);
}
