/* SPDX-License-Identifier: Apache-2.0 */
/* The module: functions between braces, or without any around them. */
#include <string.h>

#include "base/text.h"
#include "format/stablehlo/stablehlo.h"
#include "graph/builder.h"

/* -- Detection ------------------------------------------------------------- */

static bool begins_with(const char *at, const char *end, const char *word) {
  size_t length = strlen(word);
  return (size_t)(end - at) >= length && !memcmp(at, word, length);
}

/* Protobuf's text format, the other text, has neither of these. */
bool regal_stablehlo_detect(const void *bytes, size_t size) {
  static const char *const words[] = {"module @", "module attributes",
                                      "module {", "func.func ",
                                      "#loc",     "\"builtin.module\""};
  const char *at = bytes, *end = at + size;
  for (; at < end; at++) {
    if (begins_with(at, end, "//"))
      while (at + 1 < end && at[1] != '\n')
        at++;
    else if (!*at || !strchr(" \t\r\n", *at))
      break;
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins_with(at, end, words[i]))
      return true;
  return false;
}

/* -- The module ------------------------------------------------------------ */

/* #loc1 = loc(...), sdy.mesh @mesh = <...> {...}: of no use here. */
static regal_status skip_definition(regal_mlir *m) {
  while (!regal_mlir_is_mark(m, '=') && m->token.kind != REGAL_MLIR_END)
    REGAL_TRY(regal_mlir_next(m));
  REGAL_TRY(regal_mlir_expect(m, '='));
  if (m->token.kind == REGAL_MLIR_WORD || m->token.kind == REGAL_MLIR_ALIAS)
    REGAL_TRY(regal_mlir_next(m));
  while (regal_mlir_is_opening(m))
    REGAL_TRY(regal_mlir_skip(m));
  return regal_mlir_skip_location(m);
}

static regal_status read_item(regal_mlir *m) {
  if (m->token.kind == REGAL_MLIR_ALIAS || regal_mlir_is_word(m, "sdy.mesh"))
    return skip_definition(m);
  if (m->token.kind == REGAL_MLIR_STRING)
    return regal_mlir_fail(m, "a function in MLIR's own form, not the generic "
                              "one");
  if (!regal_mlir_is_word(m, "func.func"))
    return regal_mlir_fail(m, "func.func");
  REGAL_TRY(regal_mlir_next(m));
  return regal_mlir_read_function(m);
}

/* module @name attributes {...} { */
static regal_status read_opening(regal_mlir *m) {
  REGAL_TRY(regal_mlir_next(m));
  if (m->token.kind == REGAL_MLIR_SYMBOL)
    REGAL_TRY(regal_mlir_next(m));
  if (regal_mlir_is_word(m, "attributes")) {
    REGAL_TRY(regal_mlir_next(m));
    REGAL_TRY(regal_mlir_skip(m));
  }
  return regal_mlir_expect(m, '{');
}

static regal_status read_module(regal_mlir *m) {
  bool is_open = false;
  REGAL_TRY(regal_mlir_next(m));
  while (m->token.kind != REGAL_MLIR_END) {
    if (!is_open && regal_mlir_is_word(m, "module")) {
      REGAL_TRY(read_opening(m));
      is_open = true;
    } else if (is_open && regal_mlir_is_mark(m, '}')) {
      REGAL_TRY(regal_mlir_next(m));
      REGAL_TRY(regal_mlir_skip_location(m));
      is_open = false;
    } else {
      REGAL_TRY(read_item(m));
    }
  }
  return is_open ? regal_mlir_fail(m, "'}', which closes the module")
                 : REGAL_OK;
}

/* From keys of functions to computations. */
static regal_status link_calls(regal_mlir *m) {
  regal_hlo_module *module = m->module;
  for (uint32_t i = 0; i < module->count; i++)
    for (uint32_t k = 0; k < module->computation[i].count; k++) {
      regal_hlo_instruction *at = &module->computation[i].instruction[k];
      if (at->opcode->opcode != REGAL_HLO_CALL)
        continue;
      uint32_t key = at->call[0];
      if (key >= m->function_capacity || !m->function[key])
        return regal_hlo_fail(module, at, "there is no function %s",
                              regal_quote(m->functions.key[key].text).text);
      at->call[0] = m->function[key] - 1;
    }
  return REGAL_OK;
}

/* The result of a function with one is no part of a tuple. */
static void set_alias_paths(regal_hlo_module *module) {
  const regal_hlo_computation *entry = &module->computation[module->entry];
  bool is_tuple =
      entry->instruction[entry->root].shape.type == REGAL_HLO_TUPLE_TYPE;
  for (uint32_t i = 0; i < module->aliases; i++)
    module->alias[i].output_length = is_tuple;
}

static regal_status read_text(regal_mlir *m, const char *bytes, size_t size) {
  const char *text = regal_mlir_keep(m, bytes, size); /* ends with a zero */
  if (!text)
    return regal_fail_memory(m->module->context);
  m->at = m->line_begin = text;
  m->end = text + size;
  m->line = 1;
  m->module->entry = REGAL_NONE;
  m->module->is_text = true;
  REGAL_TRY(read_module(m));
  if (m->module->entry == REGAL_NONE)
    return regal_mlir_fail_at(m, m->line, "there is no function @main");
  REGAL_TRY(link_calls(m));
  set_alias_paths(m->module);
  return regal_mlir_inline(m);
}

regal_status regal_stablehlo_load(regal_context *context, const char *name,
                                  const void *bytes, size_t size,
                                  const regal_options *options,
                                  regal_graph **graph) {
  regal_hlo_module module;
  regal_hlo_init(&module, context, name);
  regal_mlir m = {.module = &module};
  regal_names_init(&m.names, context);
  regal_names_init(&m.functions, context);
  regal_status status = read_text(&m, bytes, size);
  regal_names_free(&m.names);
  regal_names_free(&m.functions);
  regal_release(context, m.values);
  regal_release(context, m.function);
  if (status == REGAL_OK)
    status = regal_hlo_convert(&module, options, graph);
  regal_hlo_free(&module);
  return status;
}
