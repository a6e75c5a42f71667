/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of XLA as text, as --xla_dump_to writes and JAX prints them.
 *
 *   HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}) },
 * ...
 *
 *   %fused (p: f32[8]) -> f32[8] {
 *     %p = f32[8]{0} parameter(0)
 *     ROOT %tanh.1 = f32[8]{0} tanh(%p), metadata={op_name="..."}
 *   }
 *
 *   ENTRY %main (x: f32[8]) -> (f32[8]) {
 *     %x = f32[8]{0} parameter(0)
 *     %y = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
 *     ROOT %t = (f32[8]{0}) tuple(%y)
 *   }
 *
 * Operands may have their shapes before them, and names no percent sign.
 * Comments are skipped, attributes that do not matter are passed over by their
 * brackets.
 */
#ifndef REGAL_FORMAT_HLO_TEXT_HLO_TEXT_H
#define REGAL_FORMAT_HLO_TEXT_HLO_TEXT_H

#include "base/name_index.h"
#include "format/hlo/module.h"

bool regal_hlo_text_detect(const void *bytes, size_t size);
regal_status regal_hlo_text_load(regal_context *context, const char *name,
                                 const void *bytes, size_t size,
                                 const regal_options *options,
                                 regal_graph **graph);

/* A part of the text. */
typedef struct regal_hlo_span {
  const char *begin, *end;
} regal_hlo_span;

/* Names that an instruction refers to, until all are known. */
typedef struct regal_hlo_names {
  const char **name;
  uint32_t count;
} regal_hlo_names;

typedef struct regal_hlo_references {
  regal_hlo_names operand, control, call;
} regal_hlo_references;

typedef struct regal_hlo_scanner {
  regal_hlo_module *module;
  const char *begin, *at, *end;
  uint32_t line; /* of `at` */

  /* Lists that grow; what is whole is copied to the module's arena. */
  regal_hlo_computation *computation;
  size_t computations, computation_capacity;
  regal_hlo_references **references; /* [computations] of each instruction */
  size_t reference_capacity;
  regal_hlo_instruction *instruction; /* of the computation at hand */
  size_t instructions, instruction_capacity;
  regal_hlo_references *reference; /* the same */
  size_t own_capacity;
  int64_t *number;
  size_t numbers, number_capacity;
  const char **name;
  size_t names, name_capacity;
} regal_hlo_scanner;

/* -- scan.c: the text ------------------------------------------------------ */

regal_status regal_hlo_scan_fail(const regal_hlo_scanner *scanner,
                                 const char *expected);
/* Goes on to a place further on in the text. */
void regal_hlo_pass(regal_hlo_scanner *scanner, const char *to);
/* Blanks, line ends and comments. */
void regal_hlo_skip(regal_hlo_scanner *scanner);
/* Whether the text goes on like this, after blanks; then passes it. */
bool regal_hlo_take(regal_hlo_scanner *scanner, const char *text);
regal_status regal_hlo_expect(regal_hlo_scanner *scanner, const char *text);
/* A word of letters, digits and "_.-", without its percent sign. Empty if there
 * is none. */
regal_hlo_span regal_hlo_word(regal_hlo_scanner *scanner);
bool regal_hlo_is(regal_hlo_span span, const char *text);
/* A zero-terminated copy in the arena; NULL when memory is out. */
const char *regal_hlo_copy(regal_hlo_scanner *scanner, regal_hlo_span span);
/* A word as a name. */
regal_status regal_hlo_name(regal_hlo_scanner *scanner, const char **name);
regal_status regal_hlo_integer(regal_hlo_scanner *scanner, int64_t *number);
/* Passes what an attribute may be: up to a comma or the end of the line that
 * stands in no brackets and in no quotes. */
regal_status regal_hlo_value_span(regal_hlo_scanner *scanner,
                                  regal_hlo_span *value);
/* {1,2,3}, copied to the arena. */
regal_status regal_hlo_integers(regal_hlo_scanner *scanner, int64_t **list,
                                size_t *count);

/* -- shape.c, attributes.c, instruction.c ---------------------------------- */

regal_status regal_hlo_text_shape(regal_hlo_scanner *scanner, unsigned depth,
                                  regal_hlo_shape *shape);
/* One attribute of an instruction, after its "key=". `seen` has those that were
 * read before: none may come twice. */
regal_status regal_hlo_text_attribute(regal_hlo_scanner *scanner,
                                      regal_hlo_span key,
                                      regal_hlo_instruction *to,
                                      regal_hlo_references *names,
                                      uint32_t *seen);
/* {{0}: (1, {}), ...}: outputs and the operands (or parameters) that they
 * share memory with. */
regal_status regal_hlo_text_aliases(regal_hlo_scanner *scanner,
                                    regal_hlo_alias **list, uint32_t *count);
/* "%name = shape opcode(operands), attributes". */
regal_status regal_hlo_text_instruction(regal_hlo_scanner *scanner,
                                        regal_hlo_instruction *to,
                                        regal_hlo_references *names);
/* Names become positions: link.c. */
regal_status regal_hlo_text_link(regal_hlo_scanner *scanner);
/* {%a, %b} or %a, added to the list. */
regal_status regal_hlo_text_names(regal_hlo_scanner *scanner,
                                  regal_hlo_names *list);

#endif
