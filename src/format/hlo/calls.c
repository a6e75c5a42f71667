/* SPDX-License-Identifier: Apache-2.0 */
/* Computations in an order in which what is called comes first, so that no
 * later stage needs recursion, however deep calls nest. There is none if a
 * computation calls itself, directly or not, which XLA does not allow.
 */
#include "base/text.h"
#include "format/hlo/module.h"
#include "graph/builder.h"

typedef struct sorter {
  regal_hlo_module *module;
  uint32_t *stack; /* computations whose calls are being walked */
  uint32_t *next;  /* [computations] the instruction to look at */
  uint32_t *which; /* [computations] and which of its calls */
  uint8_t *state;  /* [computations] */
  uint32_t depth, done;
} sorter;

enum { NEW, OPEN, DONE };

static regal_status
fail_recursion(const sorter *s, const regal_hlo_instruction *at, uint32_t to) {
  return regal_hlo_fail(s->module, at,
                        "calls computation %s, which calls itself",
                        regal_quote(s->module->computation[to].name).text);
}

/* The next computation that the top of the stack calls and that is new;
 * REGAL_NONE: there are no more. */
static regal_status next_call(sorter *s, uint32_t *found) {
  uint32_t top = s->stack[s->depth - 1];
  const regal_hlo_computation *in = &s->module->computation[top];
  *found = REGAL_NONE;
  for (; s->next[top] < in->count; s->next[top]++, s->which[top] = 0) {
    const regal_hlo_instruction *at = &in->instruction[s->next[top]];
    while (s->which[top] < at->calls) {
      uint32_t to = at->call[s->which[top]++];
      if (s->state[to] == OPEN)
        return fail_recursion(s, at, to);
      if (s->state[to] == NEW) {
        *found = to;
        return REGAL_OK;
      }
    }
  }
  return REGAL_OK;
}

static void open(sorter *s, uint32_t computation) {
  s->state[computation] = OPEN;
  s->stack[s->depth++] = computation;
}

static regal_status walk(sorter *s, uint32_t first) {
  open(s, first);
  while (s->depth) {
    uint32_t to = REGAL_NONE;
    REGAL_TRY(next_call(s, &to));
    if (to != REGAL_NONE) {
      open(s, to);
      continue;
    }
    uint32_t finished = s->stack[--s->depth];
    s->state[finished] = DONE;
    s->module->callee_first[s->done++] = finished;
  }
  return REGAL_OK;
}

regal_status regal_hlo_order_calls(regal_hlo_module *module) {
  regal_arena *arena = &module->arena;
  sorter s = {.module = module,
              .stack = regal_arena_alloc(arena, module->count, sizeof *s.stack),
              .next = regal_arena_alloc(arena, module->count, sizeof *s.next),
              .which = regal_arena_alloc(arena, module->count, sizeof *s.which),
              .state =
                  regal_arena_alloc(arena, module->count, sizeof *s.state)};
  module->callee_first =
      regal_arena_alloc(arena, module->count, sizeof *module->callee_first);
  if (!s.stack || !s.next || !s.which || !s.state || !module->callee_first)
    return regal_fail_memory(module->context);
  for (uint32_t i = 0; i < module->count; i++)
    if (s.state[i] == NEW)
      REGAL_TRY(walk(&s, i));
  return REGAL_OK;
}
