/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of instructions that matter: what they call and wait for, and
 * what their work and their memory depend on. */
#include <string.h>

#include "format/hlo_text/hlo_text.h"

/* What an attribute is of. */
typedef struct subject {
  regal_hlo_instruction *to;
  regal_hlo_references *names;
} subject;

/* -- Names ----------------------------------------------------------------- */

static regal_status add_name(regal_hlo_scanner *s) {
  regal_context *context = s->module->context;
  const char *name = NULL;
  REGAL_TRY(regal_hlo_name(s, &name));
  if (!REGAL_RESERVE(context, s->name, s->names, s->name_capacity))
    return regal_fail_memory(context);
  s->name[s->names++] = name;
  return REGAL_OK;
}

/* What the list has already comes first. */
static regal_status keep_names(regal_hlo_scanner *s, regal_hlo_names *list) {
  size_t before = list->count;
  const char **all =
      regal_arena_alloc(&s->module->arena, before + s->names, sizeof *all);
  if (!all)
    return regal_fail_memory(s->module->context);
  if (before)
    memcpy(all, list->name, before * sizeof *all);
  if (s->names)
    memcpy(all + before, s->name, s->names * sizeof *all);
  list->name = all;
  list->count = (uint32_t)(before + s->names);
  return REGAL_OK;
}

regal_status regal_hlo_text_names(regal_hlo_scanner *s, regal_hlo_names *list) {
  s->names = 0;
  if (!regal_hlo_take(s, "{")) {
    REGAL_TRY(add_name(s));
    return keep_names(s, list);
  }
  if (!regal_hlo_take(s, "}")) {
    do
      REGAL_TRY(add_name(s));
    while (regal_hlo_take(s, ","));
    REGAL_TRY(regal_hlo_expect(s, "}"));
  }
  return keep_names(s, list);
}

static regal_status read_calls(regal_hlo_scanner *s, const subject *of) {
  return regal_hlo_text_names(s, &of->names->call);
}

static regal_status read_control(regal_hlo_scanner *s, const subject *of) {
  return regal_hlo_text_names(s, &of->names->control);
}

/* A while's body comes before its condition, whatever the text's order. */
static regal_status read_body(regal_hlo_scanner *s, const subject *of) {
  regal_hlo_names *call = &of->names->call;
  uint32_t before = call->count;
  REGAL_TRY(regal_hlo_text_names(s, call));
  if (call->count == before) /* body={} */
    return REGAL_OK;
  const char *body = call->name[call->count - 1];
  for (uint32_t i = call->count - 1; i > 0; i--)
    call->name[i] = call->name[i - 1];
  call->name[0] = body;
  return REGAL_OK;
}

/* -- Memory ---------------------------------------------------------------- */

/* {0}: (1, {}, may-alias) */
static regal_status read_alias(regal_hlo_scanner *s, regal_hlo_alias *alias) {
  regal_hlo_span ignored;
  REGAL_TRY(regal_hlo_integers(s, &alias->output, &alias->output_length));
  REGAL_TRY(regal_hlo_expect(s, ":"));
  REGAL_TRY(regal_hlo_expect(s, "("));
  REGAL_TRY(regal_hlo_integer(s, &alias->operand));
  if (regal_hlo_take(s, ","))
    REGAL_TRY(regal_hlo_integers(s, &alias->input, &alias->input_length));
  if (regal_hlo_take(s, ","))
    REGAL_TRY(regal_hlo_value_span(s, &ignored));
  return regal_hlo_expect(s, ")");
}

regal_status regal_hlo_text_aliases(regal_hlo_scanner *s,
                                    regal_hlo_alias **list, uint32_t *count) {
  uint32_t room = 0;
  *count = 0;
  REGAL_TRY(regal_hlo_expect(s, "{"));
  if (regal_hlo_take(s, "}"))
    return REGAL_OK;
  do {
    if (*count == room) {
      uint32_t more = room ? 2 * room : 4;
      regal_hlo_alias *grown =
          regal_arena_alloc(&s->module->arena, more, sizeof *grown);
      if (!grown)
        return regal_fail_memory(s->module->context);
      if (room)
        memcpy(grown, *list, room * sizeof *grown);
      *list = grown;
      room = more;
    }
    REGAL_TRY(read_alias(s, &(*list)[(*count)++]));
  } while (regal_hlo_take(s, ","));
  return regal_hlo_expect(s, "}");
}

static regal_status read_aliases(regal_hlo_scanner *s, const subject *of) {
  return regal_hlo_text_aliases(s, &of->to->alias, &of->to->aliases);
}

/* -- Work ------------------------------------------------------------------ */

/* b01f_01io->b01f: the letter o among those of the kernel. */
static regal_status read_labels(regal_hlo_scanner *s, const subject *of) {
  regal_hlo_span labels;
  REGAL_TRY(regal_hlo_value_span(s, &labels));
  const char *kernel =
      memchr(labels.begin, '_', (size_t)(labels.end - labels.begin));
  for (const char *at = kernel ? kernel + 1 : labels.end;
       at < labels.end && *at != '-'; at++)
    if (*at == 'o')
      of->to->kernel_output = at - kernel - 1;
  return REGAL_OK;
}

static regal_status read_config(regal_hlo_scanner *s, const subject *of) {
  regal_hlo_span config;
  REGAL_TRY(regal_hlo_value_span(s, &config));
  if (of->to->opcode->opcode == REGAL_HLO_WHILE)
    of->to->trips =
        regal_hlo_trips(config.begin, (size_t)(config.end - config.begin));
  return REGAL_OK;
}

static regal_status read_target(regal_hlo_scanner *s, const subject *of) {
  regal_hlo_span target;
  REGAL_TRY(regal_hlo_value_span(s, &target));
  const char *copy = regal_hlo_copy(s, target);
  if (!copy)
    return regal_fail_memory(s->module->context);
  of->to->multiplies = of->to->opcode->opcode == REGAL_HLO_CUSTOM_CALL &&
                       regal_hlo_is_product(copy);
  return REGAL_OK;
}

static regal_status read_kind(regal_hlo_scanner *s, const subject *of) {
  regal_hlo_span kind = regal_hlo_word(s);
  of->to->fusion = regal_hlo_is(kind, "kInput")    ? REGAL_HLO_FUSES_INPUT
                   : regal_hlo_is(kind, "kOutput") ? REGAL_HLO_FUSES_OUTPUT
                   : regal_hlo_is(kind, "kCustom") ? REGAL_HLO_FUSES_CUSTOM
                                                   : REGAL_HLO_FUSES_LOOP;
  return REGAL_OK;
}

static regal_status read_contracting(regal_hlo_scanner *s, const subject *of) {
  size_t count;
  REGAL_TRY(regal_hlo_integers(s, &of->to->contracting, &count));
  of->to->contracted = (uint32_t)count;
  return REGAL_OK;
}

/* Of a tuple. */
static regal_status read_index(regal_hlo_scanner *s, const subject *of) {
  return regal_hlo_integer(s, &of->to->number);
}

/* -- All ------------------------------------------------------------------- */

typedef struct attribute {
  const char *name;
  regal_status (*read)(regal_hlo_scanner *s, const subject *of);
} attribute;

static const attribute attributes[] = {
    {"calls", read_calls},
    {"to_apply", read_calls},
    {"condition", read_calls},
    {"select", read_calls},
    {"true_computation", read_calls},
    {"branch_computations", read_calls},
    {"scatter", read_calls},
    {"called_computations", read_calls},
    {"false_computation", read_calls},
    {"body", read_body},
    {"control-predecessors", read_control},
    {"index", read_index},
    {"kind", read_kind},
    {"dim_labels", read_labels},
    {"backend_config", read_config},
    {"custom_call_target", read_target},
    {"output_to_operand_aliasing", read_aliases},
    {"lhs_contracting_dims", read_contracting},
};
#define ATTRIBUTES (sizeof attributes / sizeof *attributes)
_Static_assert(ATTRIBUTES <= 32, "`seen` has a bit for each");

regal_status regal_hlo_text_attribute(regal_hlo_scanner *s, regal_hlo_span key,
                                      regal_hlo_instruction *to,
                                      regal_hlo_references *names,
                                      uint32_t *seen) {
  regal_hlo_span ignored;
  size_t i = 0;
  while (i < ATTRIBUTES && !regal_hlo_is(key, attributes[i].name))
    i++;
  if (i == ATTRIBUTES)
    return regal_hlo_value_span(s, &ignored);
  if (*seen >> i & 1)
    return regal_hlo_scan_fail(s, "each attribute once");
  *seen |= UINT32_C(1) << i;
  return attributes[i].read(s, &(subject){to, names});
}
