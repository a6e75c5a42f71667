/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as computations: a parameter for each argument. */
#include <stdlib.h>
#include <string.h>

#include "format/stablehlo/stablehlo.h"
#include "graph/builder.h"

static regal_status add_alias(regal_mlir *m, int64_t argument, int64_t result) {
  regal_hlo_module *module = m->module;
  int64_t *output = regal_arena_alloc(&module->arena, 1, sizeof *output);
  if (!output || !regal_mlir_make_room(m, (void **)&module->alias,
                                       module->aliases, sizeof *module->alias))
    return regal_fail_memory(module->context);
  *output = result;
  module->alias[module->aliases++] = (regal_hlo_alias){
      .output = output, .output_length = 1, .operand = argument};
  return REGAL_OK;
}

/* {tf.aliasing_output = 1 : i32}: a result is written over the argument. */
static regal_status read_argument_attributes(regal_mlir *m, int64_t argument) {
  while (!regal_mlir_is_mark(m, '}') && m->token.kind != REGAL_MLIR_END) {
    bool is_alias = regal_mlir_is_word(m, "tf.aliasing_output");
    if (regal_mlir_is_opening(m)) {
      REGAL_TRY(regal_mlir_skip(m));
      continue;
    }
    REGAL_TRY(regal_mlir_next(m));
    if (!is_alias || !regal_mlir_is_mark(m, '='))
      continue;
    REGAL_TRY(regal_mlir_next(m));
    if (m->token.kind == REGAL_MLIR_NUMBER)
      REGAL_TRY(add_alias(m, argument, strtoll(m->token.text, NULL, 10)));
  }
  return regal_mlir_expect(m, '}');
}

static regal_status read_argument(regal_mlir *m, regal_mlir_region *region,
                                  bool is_entry) {
  regal_mlir_token name;
  regal_hlo_shape shape;
  uint32_t position = 0;
  REGAL_TRY(regal_mlir_typed_value(m, "an argument", &name, &shape));
  const char *kept = regal_mlir_keep(m, name.text, name.length);
  if (!kept)
    return regal_fail_memory(m->module->context);
  REGAL_TRY(regal_mlir_add(m, region->computation, kept, "parameter", &shape,
                           name.line, NULL, 0, &position));
  m->module->computation[region->computation].instruction[position].number =
      region->arguments;
  if (regal_mlir_is_mark(m, '{') && !is_entry)
    REGAL_TRY(regal_mlir_skip(m));
  if (regal_mlir_is_mark(m, '{')) {
    REGAL_TRY(regal_mlir_next(m));
    REGAL_TRY(read_argument_attributes(m, region->arguments));
  }
  region->arguments++;
  REGAL_TRY(regal_mlir_skip_location(m));
  return regal_mlir_define(m, region, &name, position, 1);
}

/* (...) -> (...) attributes {...} {: from the arguments to the body. */
static regal_status read_head(regal_mlir *m, regal_mlir_region *region,
                              bool is_entry) {
  REGAL_TRY(regal_mlir_expect(m, '('));
  while (!regal_mlir_is_mark(m, ')')) {
    REGAL_TRY(read_argument(m, region, is_entry));
    if (regal_mlir_is_mark(m, ','))
      REGAL_TRY(regal_mlir_next(m));
    else if (!regal_mlir_is_mark(m, ')'))
      return regal_mlir_fail(m, "',' or ')'");
  }
  REGAL_TRY(regal_mlir_next(m));
  if (m->token.kind == REGAL_MLIR_ARROW) {
    regal_hlo_shape ignored;
    REGAL_TRY(regal_mlir_next(m));
    if (regal_mlir_is_mark(m, '('))
      REGAL_TRY(regal_mlir_skip(m));
    else
      REGAL_TRY(regal_mlir_type(m, &ignored));
  }
  if (regal_mlir_is_word(m, "attributes")) {
    REGAL_TRY(regal_mlir_next(m));
    REGAL_TRY(regal_mlir_skip(m));
  }
  return regal_mlir_expect(m, '{');
}

static regal_status name_function(regal_mlir *m, const regal_mlir_token *name,
                                  uint32_t *computation) {
  const char *kept = regal_mlir_keep(m, name->text, name->length);
  size_t key;
  if (!kept || !regal_names_add(&m->functions, kept, &key))
    return regal_fail_memory(m->module->context);
  while (m->function_capacity <= key)
    if (!regal_reserve(m->module->context, (void **)&m->function,
                       &m->function_capacity, sizeof *m->function))
      return regal_fail_memory(m->module->context);
  if (m->function[key])
    return regal_mlir_fail_at(m, name->line, "a second function %s",
                              regal_quote(kept).text);
  REGAL_TRY(regal_mlir_add_computation(m, kept, computation));
  m->function[key] = *computation + 1;
  return REGAL_OK;
}

regal_status regal_mlir_read_function(regal_mlir *m) {
  if (regal_mlir_is_word(m, "public") || regal_mlir_is_word(m, "private") ||
      regal_mlir_is_word(m, "nested"))
    REGAL_TRY(regal_mlir_next(m));
  regal_mlir_token name = m->token;
  regal_mlir_region region = {.scope = ++m->scopes};
  if (name.kind != REGAL_MLIR_SYMBOL)
    return regal_mlir_fail(m, "the name of a function");
  bool is_entry = name.length == 5 && !memcmp(name.text, "@main", 5);
  REGAL_TRY(name_function(m, &name, &region.computation));
  if (is_entry)
    m->module->entry = region.computation;
  REGAL_TRY(regal_mlir_next(m));
  REGAL_TRY(read_head(m, &region, is_entry));
  REGAL_TRY(regal_mlir_read_body(m, &region));
  return regal_mlir_skip_location(m);
}
