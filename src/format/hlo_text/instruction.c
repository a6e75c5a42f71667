/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction of a text. */
#include <string.h>

#include "base/text.h"
#include "format/hlo_text/hlo_text.h"

/* -- Operands -------------------------------------------------------------- */

/* Whether a shape stands here: a tuple, or a type and a bracket. */
static bool at_shape(regal_hlo_scanner *s) {
  regal_hlo_skip(s);
  if (s->at < s->end && *s->at == '(')
    return true;
  const char *at = s->at;
  while (at < s->end &&
         ((*at >= 'a' && *at <= 'z') || (regal_is_digit(*at) && at > s->at)))
    at++;
  return at > s->at && at < s->end && *at == '[';
}

static regal_status add_operand(regal_hlo_scanner *s) {
  regal_context *context = s->module->context;
  regal_hlo_shape ignored = {0};
  const char *name = NULL;
  if (at_shape(s))
    REGAL_TRY(regal_hlo_text_shape(s, 0, &ignored));
  REGAL_TRY(regal_hlo_name(s, &name));
  if (!REGAL_RESERVE(context, s->name, s->names, s->name_capacity))
    return regal_fail_memory(context);
  s->name[s->names++] = name;
  return REGAL_OK;
}

static regal_status read_operands(regal_hlo_scanner *s, regal_hlo_names *list) {
  s->names = 0;
  if (!regal_hlo_take(s, ")")) {
    do
      REGAL_TRY(add_operand(s));
    while (regal_hlo_take(s, ","));
    REGAL_TRY(regal_hlo_expect(s, ")"));
  }
  list->count = (uint32_t)s->names;
  list->name =
      regal_arena_alloc(&s->module->arena, s->names, sizeof *list->name);
  if (!list->name)
    return regal_fail_memory(s->module->context);
  if (s->names)
    memcpy(list->name, s->name, s->names * sizeof *list->name);
  return REGAL_OK;
}

/* The value of a constant: everything up to its parenthesis. */
static regal_status skip_literal(regal_hlo_scanner *s) {
  regal_hlo_span part;
  while (!regal_hlo_take(s, ")")) {
    const char *before = s->at;
    REGAL_TRY(regal_hlo_value_span(s, &part));
    if (s->at < s->end && *s->at == ',')
      s->at++;
    if (s->at == before)
      return regal_hlo_scan_fail(s, "the end of a constant");
  }
  return REGAL_OK;
}

static regal_status read_arguments(regal_hlo_scanner *s,
                                   regal_hlo_instruction *to,
                                   regal_hlo_references *names) {
  REGAL_TRY(regal_hlo_expect(s, "("));
  if (to->opcode->opcode == REGAL_HLO_CONSTANT)
    return skip_literal(s);
  if (to->opcode->opcode != REGAL_HLO_PARAMETER)
    return read_operands(s, &names->operand);
  REGAL_TRY(regal_hlo_integer(s, &to->number));
  return regal_hlo_expect(s, ")");
}

/* -- All ------------------------------------------------------------------- */

static regal_status read_attributes(regal_hlo_scanner *s,
                                    regal_hlo_instruction *to,
                                    regal_hlo_references *names) {
  uint32_t seen = 0;
  while (regal_hlo_take(s, ",")) {
    regal_hlo_span key = regal_hlo_word(s);
    if (key.begin == key.end)
      return regal_hlo_scan_fail(s, "an attribute");
    REGAL_TRY(regal_hlo_expect(s, "="));
    REGAL_TRY(regal_hlo_text_attribute(s, key, to, names, &seen));
  }
  return REGAL_OK;
}

regal_status regal_hlo_text_instruction(regal_hlo_scanner *s,
                                        regal_hlo_instruction *to,
                                        regal_hlo_references *names) {
  regal_hlo_skip(s);
  to->line = s->line;
  to->kernel_output = -1;
  REGAL_TRY(regal_hlo_name(s, &to->name));
  REGAL_TRY(regal_hlo_expect(s, "="));
  REGAL_TRY(regal_hlo_text_shape(s, 0, &to->shape));
  REGAL_TRY(regal_hlo_name(s, &to->opcode_name));
  to->opcode = regal_hlo_find_opcode(to->opcode_name);
  REGAL_TRY(read_arguments(s, to, names));
  return read_attributes(s, to, names);
}
