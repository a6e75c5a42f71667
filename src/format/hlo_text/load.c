/* SPDX-License-Identifier: Apache-2.0 */
/* A text to a module: the header, tables of source positions (skipped), and
 * computations. */
#include <string.h>

#include "format/hlo_text/hlo_text.h"
#include "graph/builder.h"

/* -- Detection ------------------------------------------------------------- */

bool regal_hlo_text_detect(const void *bytes, size_t size) {
  regal_hlo_scanner scanner = {.at = bytes, .end = (const char *)bytes + size};
  if (!regal_hlo_take(&scanner, "HloModule"))
    return false;
  return scanner.at < scanner.end &&
         (*scanner.at == ' ' || *scanner.at == '\t');
}

/* -- The header ------------------------------------------------------------ */

static regal_status read_header_attribute(regal_hlo_scanner *s,
                                          regal_hlo_span key) {
  regal_hlo_span value;
  if (regal_hlo_is(key, "input_output_alias"))
    return regal_hlo_text_aliases(s, &s->module->alias, &s->module->aliases);
  REGAL_TRY(regal_hlo_value_span(s, &value));
  if (regal_hlo_is(key, "is_scheduled"))
    s->module->is_scheduled = regal_hlo_is(value, "true");
  return REGAL_OK;
}

static regal_status read_header(regal_hlo_scanner *s) {
  const char *name;
  REGAL_TRY(regal_hlo_expect(s, "HloModule"));
  REGAL_TRY(regal_hlo_name(s, &name));
  while (regal_hlo_take(s, ",")) {
    regal_hlo_span key = regal_hlo_word(s);
    if (key.begin == key.end)
      return regal_hlo_scan_fail(s, "an attribute of the module");
    REGAL_TRY(regal_hlo_expect(s, "="));
    REGAL_TRY(read_header_attribute(s, key));
  }
  return REGAL_OK;
}

/* FileNames, FunctionNames, FileLocations, StackFrames: a title, then lines
 * that begin with a number. */
static void skip_tables(regal_hlo_scanner *s) {
  static const char *const titles[] = {"FileNames", "FunctionNames",
                                       "FileLocations", "StackFrames"};
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
    if (!regal_hlo_take(s, titles[i]))
      continue;
    for (regal_hlo_skip(s); s->at < s->end && *s->at >= '0' && *s->at <= '9';
         regal_hlo_skip(s))
      while (s->at < s->end && *s->at != '\n')
        s->at++;
  }
}

/* -- Computations ---------------------------------------------------------- */

static regal_status add_instruction(regal_hlo_scanner *s) {
  regal_context *context = s->module->context;
  if (!REGAL_RESERVE(context, s->instruction, s->instructions,
                     s->instruction_capacity) ||
      !REGAL_RESERVE(context, s->reference, s->instructions, s->own_capacity))
    return regal_fail_memory(context);
  regal_hlo_instruction *to = &s->instruction[s->instructions];
  regal_hlo_references *names = &s->reference[s->instructions++];
  *to = (regal_hlo_instruction){0};
  *names = (regal_hlo_references){0};
  return regal_hlo_text_instruction(s, to, names);
}

static regal_status keep_computation(regal_hlo_scanner *s,
                                     regal_hlo_computation *to) {
  regal_context *context = s->module->context;
  size_t count = s->instructions;
  to->count = (uint32_t)count;
  to->instruction =
      regal_arena_alloc(&s->module->arena, count, sizeof *to->instruction);
  regal_hlo_references *names =
      regal_arena_alloc(&s->module->arena, count, sizeof *names);
  if (!to->instruction || !names ||
      !REGAL_RESERVE(context, s->computation, s->computations,
                     s->computation_capacity) ||
      !REGAL_RESERVE(context, s->references, s->computations,
                     s->reference_capacity))
    return regal_fail_memory(context);
  memcpy(to->instruction, s->instruction, count * sizeof *to->instruction);
  memcpy(names, s->reference, count * sizeof *names);
  s->references[s->computations] = names;
  s->computation[s->computations++] = *to;
  return REGAL_OK;
}

/* The signature repeats what the instructions say. */
static regal_status skip_parameters(regal_hlo_scanner *s) {
  size_t depth = 1;
  const char *at = s->at;
  for (; depth && at < s->end; at++) {
    depth += *at == '(';
    depth -= *at == ')';
  }
  if (depth)
    return regal_hlo_scan_fail(s, "brackets that are closed");
  regal_hlo_pass(s, at);
  return REGAL_OK;
}

static regal_status skip_signature(regal_hlo_scanner *s) {
  regal_hlo_shape result = {0};
  if (regal_hlo_take(s, "("))
    REGAL_TRY(skip_parameters(s));
  if (regal_hlo_take(s, "->"))
    REGAL_TRY(regal_hlo_text_shape(s, 0, &result));
  return regal_hlo_expect(s, "{");
}

static regal_status read_instructions(regal_hlo_scanner *s,
                                      regal_hlo_computation *to) {
  bool rooted = false;
  s->instructions = 0;
  while (!regal_hlo_take(s, "}")) {
    bool root = regal_hlo_take(s, "ROOT ");
    if (root && rooted)
      return regal_hlo_scan_fail(s, "one ROOT in a computation");
    if (root || !rooted)
      to->root = (uint32_t)s->instructions;
    rooted |= root;
    REGAL_TRY(add_instruction(s));
  }
  if (!s->instructions)
    return regal_hlo_scan_fail(s, "an instruction before");
  return REGAL_OK;
}

static regal_status read_computation(regal_hlo_scanner *s) {
  regal_hlo_computation to = {0};
  regal_hlo_span ignored;
  if (regal_hlo_take(s, "HloModule "))
    return regal_hlo_scan_fail(s, "one module in a file");
  bool entry = regal_hlo_take(s, "ENTRY ");
  to.line = s->line;
  if (entry && s->module->entry != REGAL_NONE)
    return regal_hlo_scan_fail(s, "one ENTRY in a module");
  if (entry)
    s->module->entry = (uint32_t)s->computations;
  REGAL_TRY(regal_hlo_name(s, &to.name));
  REGAL_TRY(skip_signature(s));
  REGAL_TRY(read_instructions(s, &to));
  while (regal_hlo_take(s, ",")) /* execution_thread="..." */
    REGAL_TRY(regal_hlo_value_span(s, &ignored));
  return keep_computation(s, &to);
}

/* -- The module ------------------------------------------------------------ */

static regal_status read_module(regal_hlo_scanner *s) {
  regal_hlo_module *module = s->module;
  module->entry = REGAL_NONE;
  REGAL_TRY(read_header(s));
  skip_tables(s);
  for (regal_hlo_skip(s); s->at < s->end; regal_hlo_skip(s))
    REGAL_TRY(read_computation(s));
  if (!s->computations)
    return regal_hlo_scan_fail(s, "a computation");
  if (module->entry == REGAL_NONE)
    module->entry = (uint32_t)s->computations - 1;
  module->count = (uint32_t)s->computations;
  module->computation = s->computation;
  return regal_hlo_text_link(s);
}

regal_status regal_hlo_text_load(regal_context *context, const char *name,
                                 const void *bytes, size_t size,
                                 const regal_options *options,
                                 regal_graph **graph) {
  regal_hlo_module module;
  regal_hlo_init(&module, context, name);
  regal_hlo_scanner s = {.module = &module,
                         .begin = bytes,
                         .at = bytes,
                         .end = (const char *)bytes + size,
                         .line = 1};
  regal_status status = read_module(&s);
  if (status == REGAL_OK)
    status = regal_hlo_convert(&module, options, graph);
  regal_release(context, s.computation);
  regal_release(context, s.references);
  regal_release(context, s.instruction);
  regal_release(context, s.reference);
  regal_release(context, s.number);
  regal_release(context, s.name);
  regal_hlo_free(&module);
  return status;
}
