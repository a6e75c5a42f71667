/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, and the regions of loops and branches, as computations of HLO.
 *
 * A function has a parameter for each argument. A region has one, a tuple: its
 * arguments, then what it reads of the values around it (captures), in the
 * order in which it reads them first. Both regions of a loop share their
 * captures, for HLO passes one tuple to both; the body returns them as they
 * are. How many there are is known at the end of the region, so the shape of
 * the tuple is set then.
 */
#include <string.h>

#include "base/text.h"
#include "format/stablehlo/stablehlo.h"
#include "graph/builder.h"

#define MOST_DEPTH 64

/* -- Computations ---------------------------------------------------------- */

bool regal_mlir_make_room(regal_mlir *m, void **array, uint32_t count,
                          size_t size) {
  uint32_t capacity = count && (count & (count - 1)) == 0 ? count : UINT32_MAX;
  return (count && capacity == UINT32_MAX) ||
         regal_mlir_room(m, array, count, &(uint32_t){count ? capacity : 0},
                         size);
}

regal_status regal_mlir_add_computation(regal_mlir *m, const char *name,
                                        uint32_t *number) {
  regal_hlo_module *module = m->module;
  if (!regal_mlir_make_room(m, (void **)&module->computation, module->count,
                            sizeof *module->computation))
    return regal_fail_memory(module->context);
  *number = module->count;
  module->computation[module->count++] =
      (regal_hlo_computation){.name = name, .line = m->token.line};
  return REGAL_OK;
}

regal_status regal_mlir_add(regal_mlir *m, uint32_t computation,
                            const char *name, const char *opcode,
                            const regal_hlo_shape *shape, uint32_t line,
                            const uint32_t *operand, uint32_t operands,
                            uint32_t *position) {
  regal_hlo_computation *in = &m->module->computation[computation];
  uint32_t *kept = regal_arena_alloc(&m->module->arena, operands, sizeof *kept);
  if (!kept || !regal_mlir_make_room(m, (void **)&in->instruction, in->count,
                                     sizeof *in->instruction))
    return regal_fail_memory(m->module->context);
  if (operands)
    memcpy(kept, operand, operands * sizeof *kept);
  *position = in->count;
  in->instruction[in->count++] =
      (regal_hlo_instruction){.name = name,
                              .opcode_name = opcode,
                              .opcode = regal_hlo_find_opcode(opcode),
                              .shape = *shape,
                              .operand = kept,
                              .operands = operands,
                              .kernel_output = -1,
                              .line = line};
  return REGAL_OK;
}

regal_status regal_mlir_add_part(regal_mlir *m, uint32_t computation,
                                 uint32_t tuple, uint32_t part,
                                 const regal_hlo_shape *shape,
                                 uint32_t *position) {
  const regal_hlo_instruction *of =
      &m->module->computation[computation].instruction[tuple];
  char name[80];
  int length = snprintf(name, sizeof name, "%.60s#%u", of->name, part);
  const char *kept = regal_mlir_keep(m, name, (size_t)length);
  if (!kept)
    return regal_fail_memory(m->module->context);
  REGAL_TRY(regal_mlir_add(m, computation, kept, "get-tuple-element", shape,
                           of->line, &tuple, 1, position));
  m->module->computation[computation].instruction[*position].number = part;
  return REGAL_OK;
}

/* -- Values ---------------------------------------------------------------- */

regal_status regal_mlir_define(regal_mlir *m, const regal_mlir_region *region,
                               const regal_mlir_token *name, uint32_t first,
                               uint32_t count) {
  const char *kept = regal_mlir_keep(m, name->text, name->length);
  size_t key, before = m->names.count;
  if (!kept || !regal_names_add_in(&m->names, region->scope, kept, &key))
    return regal_fail_memory(m->module->context);
  if (key < before)
    return regal_mlir_fail_at(m, name->line, "a second value %s",
                              regal_quote(kept).text);
  if (!REGAL_RESERVE(m->module->context, m->values, key, m->value_capacity))
    return regal_fail_memory(m->module->context);
  m->values[key] = (regal_mlir_value){first, count};
  return REGAL_OK;
}

/* A value of the region around, as a part of this region's tuple. */
static regal_status capture(regal_mlir *m, regal_mlir_region *region,
                            const regal_mlir_token *name, uint32_t *position) {
  uint32_t outer = 0;
  if (!region->outer)
    return regal_mlir_fail_at(
        m, name->line, "column %u: there is no value %.*s", name->column,
        (int)(name->length > 60 ? 60 : name->length), name->text);
  if (!region->captures) /* the same computation */
    return regal_mlir_find(m, region->outer, name, position);
  REGAL_TRY(regal_mlir_find(m, region->outer, name, &outer));
  regal_mlir_captures *captures = region->captures;
  uint32_t part = region->arguments + captures->count;
  REGAL_TRY(REGAL_MLIR_PUSH(m, captures->position, captures->count,
                            captures->capacity, outer));
  regal_hlo_shape shape = m->module->computation[region->outer->computation]
                              .instruction[outer]
                              .shape;
  REGAL_TRY(
      regal_mlir_add_part(m, region->computation, 0, part, &shape, position));
  return regal_mlir_define(m, region, name, *position, 1);
}

/* %2#1 is the second result of %2. What was captured has its whole text as a
 * name. */
regal_status regal_mlir_find(regal_mlir *m, regal_mlir_region *region,
                             const regal_mlir_token *name, uint32_t *position) {
  const char *hash = memchr(name->text, '#', name->length);
  const char *whole = regal_mlir_keep(m, name->text, name->length);
  const char *plain = regal_mlir_keep(
      m, name->text, hash ? (size_t)(hash - name->text) : name->length);
  if (!whole || !plain)
    return regal_fail_memory(m->module->context);
  size_t key = regal_names_find_in(&m->names, region->scope, whole);
  uint32_t index = 0;
  bool is_number = true;
  if (key == REGAL_NO_NAME) {
    key = regal_names_find_in(&m->names, region->scope, plain);
    if (hash)
      is_number = regal_mlir_read_count(
          hash + 1, strlen(whole) - strlen(plain) - 1, &index);
  }
  if (key == REGAL_NO_NAME)
    return capture(m, region, name, position);
  if (!is_number || index >= m->values[key].count)
    return regal_mlir_fail_at(m, name->line, "%s: there are %u results",
                              regal_quote(whole).text, m->values[key].count);
  *position = m->values[key].first + index;
  return REGAL_OK;
}

/* -- Regions of loops and branches ----------------------------------------- */

/* ^bb0(%a: type, ...): adds the arguments, whose tuple is instruction 0. */
static regal_status read_label(regal_mlir *m, regal_mlir_region *region) {
  REGAL_TRY(regal_mlir_next(m));
  if (regal_mlir_is_mark(m, '(')) {
    do {
      regal_mlir_token name;
      regal_hlo_shape shape;
      uint32_t position = 0;
      REGAL_TRY(regal_mlir_next(m));
      REGAL_TRY(regal_mlir_typed_value(m, "a value", &name, &shape));
      REGAL_TRY(regal_mlir_skip_location(m));
      REGAL_TRY(regal_mlir_add_part(m, region->computation, 0,
                                    region->arguments++, &shape, &position));
      REGAL_TRY(regal_mlir_define(m, region, &name, position, 1));
    } while (regal_mlir_is_mark(m, ','));
    REGAL_TRY(regal_mlir_expect(m, ')'));
  }
  return regal_mlir_expect(m, ':');
}

/* Arguments that the op itself names, with the types of its values. */
static regal_status add_arguments(regal_mlir *m, regal_mlir_region *region,
                                  const regal_mlir_op *op) {
  if (op->arguments > op->types.count)
    return regal_mlir_fail_at(m, op->name.line, "%u values of a loop, %u types",
                              op->arguments, op->types.count);
  for (uint32_t i = 0; i < op->arguments; i++) {
    uint32_t position = 0;
    REGAL_TRY(regal_mlir_add_part(m, region->computation, 0, i,
                                  &op->types.shape[i], &position));
    REGAL_TRY(regal_mlir_define(m, region, &op->argument[i], position, 1));
  }
  region->arguments = op->arguments;
  return REGAL_OK;
}

regal_status regal_mlir_check_depth(const regal_mlir *m,
                                    const regal_mlir_region *region) {
  if (region->depth > MOST_DEPTH)
    return regal_mlir_fail_at(m, m->token.line,
                              "regions nest more than %d deep", MOST_DEPTH);
  return REGAL_OK;
}

/* The computation of a region, with its tuple as instruction 0. */
static regal_status begin_region(regal_mlir *m, const regal_mlir_op *op,
                                 regal_mlir_region *region) {
  regal_hlo_shape none = {.type = REGAL_HLO_TUPLE_TYPE};
  uint32_t position;
  REGAL_TRY(regal_mlir_check_depth(m, region));
  REGAL_TRY(regal_mlir_add_computation(m, op->opcode, &region->computation));
  REGAL_TRY(regal_mlir_add(m, region->computation, "region", "parameter", &none,
                           m->token.line, NULL, 0, &position));
  return add_arguments(m, region, op);
}

regal_status regal_mlir_read_region(regal_mlir *m, regal_mlir_region *outer,
                                    regal_mlir_op *op) {
  bool is_loop_body = regal_mlir_is_op(op, "while") && op->regions > 0;
  regal_mlir_captures captures = {0};
  if (is_loop_body) /* shared with the condition */
    captures = op->captures[0];
  regal_mlir_region region = {.outer = outer,
                              .scope = ++m->scopes,
                              .depth = outer->depth + 1,
                              .captures = &captures,
                              .returns_captures = is_loop_body,
                              .returns_tuple = is_loop_body};
  REGAL_TRY(begin_region(m, op, &region));
  REGAL_TRY(regal_mlir_expect(m, '{'));
  if (m->token.kind == REGAL_MLIR_LABEL)
    REGAL_TRY(read_label(m, &region));
  REGAL_TRY(regal_mlir_read_body(m, &region));
  REGAL_TRY(REGAL_MLIR_PUSH(m, op->captures, op->captured, op->capture_capacity,
                            captures));
  return REGAL_MLIR_PUSH(m, op->region, op->regions, op->region_capacity,
                         region.computation);
}

/* -- Their calls ----------------------------------------------------------- */

regal_status regal_mlir_add_tuple(regal_mlir *m,
                                  const regal_mlir_region *region,
                                  const regal_mlir_op *op, uint32_t count,
                                  const regal_mlir_captures *captures,
                                  uint32_t *position) {
  const regal_hlo_computation *in =
      &m->module->computation[region->computation];
  uint32_t *parts = NULL, all = 0, capacity = 0;
  regal_mlir_types types = {0};
  for (uint32_t i = 0; i < count + captures->count; i++) {
    uint32_t part = i < count ? op->operand[i] : captures->position[i - count];
    REGAL_TRY(REGAL_MLIR_PUSH(m, parts, all, capacity, part));
    REGAL_TRY(regal_mlir_add_type(m, &types, &in->instruction[part].shape));
  }
  regal_hlo_shape shape = regal_mlir_tuple(&types);
  return regal_mlir_add(m, region->computation, "values", "tuple", &shape,
                        op->name.line, parts, all, position);
}

static void set_parameter(regal_mlir *m, uint32_t computation,
                          const regal_hlo_shape *shape) {
  m->module->computation[computation].instruction[0].shape = *shape;
}

/* Whether it is one of the loop's values: part of the region's tuple. */
static bool is_argument(const regal_hlo_instruction *at,
                        const regal_mlir_op *loop) {
  return at->opcode->opcode == REGAL_HLO_GET_TUPLE_ELEMENT && at->operands &&
         at->operand[0] == 0 && at->number >= 0 && at->number < loop->operands;
}

/* A loop that counts from a number to another, one by one, as JAX writes it:
 * its condition is a comparison of a value with a constant. */
static int64_t count_trips(const regal_mlir *m, const regal_mlir_region *region,
                           const regal_mlir_op *op) {
  const regal_hlo_computation *in = &m->module->computation[op->region[0]];
  const regal_hlo_instruction *all = in->instruction, *test = &all[in->root];
  if (strcmp(test->opcode_name, REGAL_MLIR_LESS) != 0 || test->operands != 2)
    return 0;
  const regal_hlo_instruction *counter = &all[test->operand[0]];
  const regal_hlo_instruction *limit = &all[test->operand[1]];
  if (!is_argument(counter, op) ||
      limit->opcode->opcode != REGAL_HLO_CONSTANT || limit->number < 0)
    return 0;
  const regal_hlo_instruction *from =
      &m->module->computation[region->computation]
           .instruction[op->operand[counter->number]];
  if (from->opcode->opcode != REGAL_HLO_CONSTANT || from->number < 0 ||
      from->number >= limit->number)
    return 0;
  return limit->number - from->number;
}

static regal_status close_loop(regal_mlir *m, regal_mlir_region *region,
                               regal_mlir_op *op) {
  uint32_t tuple = 0;
  if (op->regions != 2 || !op->operands)
    return regal_mlir_fail_at(
        m, op->name.line, "a loop with %u region%s and %u value%s", op->regions,
        regal_plural(op->regions), op->operands, regal_plural(op->operands));
  op->trips = count_trips(m, region, op);
  REGAL_TRY(regal_mlir_add_tuple(m, region, op, op->operands, &op->captures[1],
                                 &tuple));
  const regal_hlo_shape *shape =
      &m->module->computation[region->computation].instruction[tuple].shape;
  set_parameter(m, op->region[0], shape);
  set_parameter(m, op->region[1], shape);
  op->operand[0] = tuple;
  op->operands = 1;
  uint32_t condition = op->region[0]; /* HLO has the body first */
  op->region[0] = op->region[1];
  op->region[1] = condition;
  return REGAL_OK;
}

static regal_status close_branches(regal_mlir *m, regal_mlir_region *region,
                                   regal_mlir_op *op) {
  if (op->operands != 1 || !op->regions)
    return regal_mlir_fail_at(m, op->name.line,
                              "a branch with %u operands and %u regions",
                              op->operands, op->regions);
  for (uint32_t i = 0; i < op->regions; i++) {
    uint32_t tuple = 0;
    REGAL_TRY(regal_mlir_add_tuple(m, region, op, 0, &op->captures[i], &tuple));
    set_parameter(
        m, op->region[i],
        &m->module->computation[region->computation].instruction[tuple].shape);
    REGAL_TRY(REGAL_MLIR_PUSH(m, op->operand, op->operands,
                              op->operand_capacity, tuple));
  }
  return REGAL_OK;
}

regal_status regal_mlir_close_regions(regal_mlir *m, regal_mlir_region *region,
                                      regal_mlir_op *op) {
  return !strcmp(op->opcode, "while") ? close_loop(m, region, op)
                                      : close_branches(m, region, op);
}

regal_status regal_mlir_read_body(regal_mlir *m, regal_mlir_region *region) {
  uint32_t line = m->token.line;
  while (!regal_mlir_is_mark(m, '}'))
    REGAL_TRY(regal_mlir_read_op(m, region));
  if (!region->is_closed)
    return regal_mlir_fail_at(m, line, "what begins here has no return");
  return regal_mlir_next(m);
}
