/* SPDX-License-Identifier: Apache-2.0 */
/* From names to positions, when the whole text is read: a computation may call
 * one that comes later, and an instruction must not read one that does (which
 * is checked afterwards). */
#include "format/hlo_text/hlo_text.h"
#include "graph/builder.h"

typedef struct linker {
  regal_hlo_scanner *scanner;
  regal_name_index computations, instructions;
} linker;

static regal_status link(linker *l, const regal_hlo_instruction *at,
                         const regal_name_index *index, const char *what,
                         const regal_hlo_names *from, uint32_t **to,
                         uint32_t *count) {
  regal_hlo_module *module = l->scanner->module;
  *count = from->count;
  *to = regal_arena_alloc(&module->arena, from->count, sizeof **to);
  if (!*to)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < from->count; i++) {
    (*to)[i] = regal_name_index_find(index, from->name[i]);
    if ((*to)[i] == REGAL_NAME_ABSENT)
      return regal_hlo_fail(module, at, "%s %s, which is not there", what,
                            regal_quote(from->name[i]).text);
  }
  return REGAL_OK;
}

static regal_status link_instruction(linker *l, regal_hlo_instruction *to,
                                     const regal_hlo_references *from) {
  if (regal_name_index_find(&l->instructions, to->name) == REGAL_NAME_AMBIGUOUS)
    return regal_hlo_fail(l->scanner->module, to,
                          "its computation has another of this name");
  REGAL_TRY(link(l, to, &l->instructions, "reads", &from->operand, &to->operand,
                 &to->operands));
  REGAL_TRY(link(l, to, &l->instructions, "waits for", &from->control,
                 &to->control, &to->controls));
  return link(l, to, &l->computations, "calls computation", &from->call,
              &to->call, &to->calls);
}

static regal_status link_computation(linker *l, uint32_t number) {
  regal_hlo_module *module = l->scanner->module;
  regal_hlo_computation *in = &module->computation[number];
  const char **names =
      regal_arena_alloc(&module->arena, in->count, sizeof *names);
  if (!names)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < in->count; i++)
    names[i] = in->instruction[i].name;
  REGAL_TRY(regal_name_index_create(module->context, names, in->count,
                                    &l->instructions));
  regal_status status = REGAL_OK;
  for (uint32_t i = 0; i < in->count && status == REGAL_OK; i++)
    status = link_instruction(l, &in->instruction[i],
                              &l->scanner->references[number][i]);
  regal_name_index_free(&l->instructions);
  return status;
}

static regal_status check_names(const linker *l, uint32_t number) {
  const regal_hlo_module *module = l->scanner->module;
  const regal_hlo_computation *in = &module->computation[number];
  if (regal_name_index_find(&l->computations, in->name) != REGAL_NAME_AMBIGUOUS)
    return REGAL_OK;
  return regal_fail(module->context, REGAL_BAD_INPUT,
                    "%s:%u: there is another computation %s", module->path,
                    in->line, regal_quote(in->name).text);
}

regal_status regal_hlo_text_link(regal_hlo_scanner *scanner) {
  regal_hlo_module *module = scanner->module;
  linker l = {.scanner = scanner};
  const char **names =
      regal_arena_alloc(&module->arena, module->count, sizeof *names);
  if (!names)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < module->count; i++)
    names[i] = module->computation[i].name;
  REGAL_TRY(regal_name_index_create(module->context, names, module->count,
                                    &l.computations));
  regal_status status = REGAL_OK;
  for (uint32_t i = 0; i < module->count && status == REGAL_OK; i++) {
    status = check_names(&l, i);
    if (status == REGAL_OK)
      status = link_computation(&l, i);
  }
  regal_name_index_free(&l.computations);
  return status;
}
