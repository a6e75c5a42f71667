/* SPDX-License-Identifier: Apache-2.0 */
/* One op.
 *
 * MLIR prints most ops in a form of their own and the others in the generic
 * one:
 *
 *   %4 = stablehlo.add %0, %2 : tensor<32x16xf32>
 *   %5:2 = "stablehlo.sort"(%1, %3) <{dimension = 0}> ({...}) : (...) -> (...)
 *
 * All have in common that values, attributes and regions come first, then a
 * colon outside of all brackets, then types. So a reader of both forms, and of
 * ops that it has never seen, collects the values up to that colon; of types,
 * those behind an arrow are the results', and without an arrow the last, or all
 * of a loop's. Attributes matter for five ops: a product's contracted
 * dimensions, which dimension of a convolution's kernel counts output features,
 * the number of a constant, the index into a tuple, and what a call calls.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/stablehlo/stablehlo.h"

/* -- Names ----------------------------------------------------------------- */

/* StableHLO's names that differ from HLO's, dashes aside. The element-wise ops
 * of CHLO stand for what XLA expands them to: one pass over the elements. */
static const char *const renamed[][2] = {
    {"dot-general", "dot"},
    {"broadcast-in-dim", "broadcast"},
    {"dynamic-broadcast-in-dim", "broadcast"},
    {"reshape", "bitcast"},
    {"case", "conditional"},
    {"if", "conditional"},
    {"composite", "call"},
    {"optimization-barrier", "opt-barrier"},
    {"dynamic-gather", "gather"},
    {"dynamic-conv", "convolution"},
    {"dynamic-iota", "iota"},
    {"dynamic-pad", "pad"},
    {"sharding-constraint", "bitcast"},
    {"top-k", "topk"},
    {"create-token", "after-all"},
    {"cross-replica-sum", "all-reduce"},
    {"erf-inv", "erf"},
    {"erfc", "erf"},
    {"lgamma", "erf"},
    {"digamma", "erf"},
    {"polygamma", "erf"},
    {"zeta", "erf"},
    {"bessel-i1e", "erf"},
    {"next-after", "erf"},
    {"square", "multiply"},
    {"conj", "negate"},
    {"is-inf", "is-finite"},
    {"is-pos-inf", "is-finite"},
    {"is-neg-inf", "is-finite"},
};

static bool is_dialect(const char *name, size_t length) {
  static const char *const dialects[] = {"stablehlo", "chlo", "mhlo", "func",
                                         "sdy"};
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
    if (strlen(dialects[i]) == length && !memcmp(dialects[i], name, length))
      return true;
  return false;
}

static regal_status read_name(regal_mlir *m, regal_mlir_op *op) {
  op->name = m->token;
  if (m->token.kind != REGAL_MLIR_WORD && m->token.kind != REGAL_MLIR_STRING)
    return regal_mlir_fail(m, "an op");
  const char *text = op->name.text;
  const char *dot = memchr(text, '.', op->name.length);
  size_t dialect = dot ? (size_t)(dot - text) : 0;
  if (dot && !is_dialect(text, dialect))
    return regal_mlir_fail(m, "an op of StableHLO");
  size_t length = op->name.length - (dot ? dialect + 1 : 0);
  char *opcode = regal_arena_alloc(&m->module->arena, length + 1, 1);
  if (!opcode)
    return regal_fail_memory(m->module->context);
  memcpy(opcode, text + op->name.length - length, length);
  for (char *c = opcode; *c; c++)
    if (*c == '_')
      *c = '-';
  op->opcode = opcode;
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
    if (!strcmp(opcode, renamed[i][0]))
      op->opcode = renamed[i][1];
  if (regal_mlir_is_op(op, "parameter")) /* HLO's: functions have arguments */
    return regal_mlir_fail(m, "an op of StableHLO");
  return regal_mlir_next(m);
}

bool regal_mlir_is_op(const regal_mlir_op *op, const char *opcode) {
  return !strcmp(op->opcode, opcode);
}

bool regal_mlir_has_regions(const regal_mlir_op *op) {
  return regal_mlir_is_op(op, "while") || regal_mlir_is_op(op, "conditional");
}

/* -- Attributes ------------------------------------------------------------ */

static regal_status read_contracting(regal_mlir *m, regal_mlir_op *op) {
  uint32_t capacity = 0;
  REGAL_TRY(regal_mlir_next(m));
  if (!regal_mlir_is_mark(m, '='))
    return REGAL_OK;
  REGAL_TRY(regal_mlir_next(m));
  if (!regal_mlir_is_mark(m, '['))
    return REGAL_OK;
  REGAL_TRY(regal_mlir_next(m));
  for (op->contracted = 0; m->token.kind == REGAL_MLIR_NUMBER;) {
    int64_t dim = strtoll(m->token.text, NULL, 10);
    REGAL_TRY(
        REGAL_MLIR_PUSH(m, op->contracting, op->contracted, capacity, dim));
    REGAL_TRY(regal_mlir_next(m));
    if (regal_mlir_is_mark(m, ','))
      REGAL_TRY(regal_mlir_next(m));
  }
  return regal_mlir_expect(m, ']');
}

/* [b, 0, 1, f]x[0, 1, i, o]->...: behind the x are the kernel's dimensions. */
static regal_status read_kernel(regal_mlir *m, regal_mlir_op *op) {
  REGAL_TRY(regal_mlir_next(m));
  if (!regal_mlir_is_mark(m, '['))
    return REGAL_OK;
  REGAL_TRY(regal_mlir_next(m));
  for (int64_t dim = 0; !regal_mlir_is_mark(m, ']'); dim++) {
    if (regal_mlir_is_word(m, "o"))
      op->kernel_output = dim;
    REGAL_TRY(regal_mlir_next(m));
    if (regal_mlir_is_mark(m, ','))
      REGAL_TRY(regal_mlir_next(m));
    else if (!regal_mlir_is_mark(m, ']'))
      return regal_mlir_fail(m, "',' or ']'");
  }
  return regal_mlir_next(m);
}

/* dense<4>: the number is kept, for the length of loops. */
static regal_status read_dense(regal_mlir *m, regal_mlir_op *op) {
  REGAL_TRY(regal_mlir_next(m));
  if (!regal_mlir_is_mark(m, '<'))
    return REGAL_OK;
  const char *from = m->at;
  char *end;
  REGAL_TRY(regal_mlir_skip(m));
  if (m->at <= from || !regal_is_digit(*from))
    return REGAL_OK;
  long long number = strtoll(from, &end, 10);
  if (*end == '>')
    op->scalar = number;
  return REGAL_OK;
}

/* %0[1], or index = 1 */
static regal_status read_number(regal_mlir *m, regal_mlir_op *op) {
  if (regal_mlir_is_op(op, "get-tuple-element") && op->scalar < 0)
    op->scalar = strtoll(m->token.text, NULL, 10);
  return regal_mlir_next(m);
}

static regal_status read_word(regal_mlir *m, regal_mlir_op *op) {
  if (regal_mlir_is_op(op, "dot") &&
      (regal_mlir_is_word(m, "contracting_dims") ||
       regal_mlir_is_word(m, "lhs_contracting_dimensions")))
    return read_contracting(m, op);
  if (regal_mlir_is_op(op, "convolution") && regal_mlir_is_word(m, "x"))
    return read_kernel(m, op);
  if (regal_mlir_is_op(op, "constant") && regal_mlir_is_word(m, "dense"))
    return read_dense(m, op);
  op->is_less = op->is_less || regal_mlir_is_word(m, "LT");
  return regal_mlir_next(m);
}

/* -- Operands -------------------------------------------------------------- */

/* A loop names its values: (%iterArg = %arg0, ...). */
static regal_status read_value(regal_mlir *m, regal_mlir_region *region,
                               regal_mlir_op *op) {
  regal_mlir_token name = m->token;
  uint32_t position = 0;
  REGAL_TRY(regal_mlir_next(m));
  if (regal_mlir_is_op(op, "while") && regal_mlir_is_mark(m, '=')) {
    REGAL_TRY(REGAL_MLIR_PUSH(m, op->argument, op->arguments,
                              op->argument_capacity, name));
    return regal_mlir_next(m);
  }
  REGAL_TRY(regal_mlir_find(m, region, &name, &position));
  return REGAL_MLIR_PUSH(m, op->operand, op->operands, op->operand_capacity,
                         position);
}

/* ({ ... }, { ... }). What a reduction does with two numbers is passed over. */
static regal_status read_regions(regal_mlir *m, regal_mlir_region *region,
                                 regal_mlir_op *op) {
  while (regal_mlir_is_mark(m, '{')) {
    if (regal_mlir_has_regions(op))
      REGAL_TRY(regal_mlir_read_region(m, region, op));
    else
      REGAL_TRY(regal_mlir_skip(m));
    if (regal_mlir_is_mark(m, ','))
      REGAL_TRY(regal_mlir_next(m));
  }
  return regal_mlir_expect(m, ')');
}

static regal_status read_mark(regal_mlir *m, regal_mlir_region *region,
                              regal_mlir_op *op, int *depth) {
  bool opens = regal_mlir_is_opening(m), closes = regal_mlir_is_closing(m);
  bool is_parenthesis = regal_mlir_is_mark(m, '(');
  if (closes && !*depth)
    return regal_mlir_fail(m, "':' and the types of the op");
  REGAL_TRY(regal_mlir_next(m));
  if (is_parenthesis && regal_mlir_is_mark(m, '{'))
    return read_regions(m, region, op);
  *depth += opens - closes;
  return REGAL_OK;
}

/* Everything up to the colon. An op without types ends where a return or
 * another op begins. */
static regal_status read_operands(regal_mlir *m, regal_mlir_region *region,
                                  regal_mlir_op *op) {
  for (int depth = 0; depth || !regal_mlir_is_mark(m, ':');) {
    switch (m->token.kind) {
    case REGAL_MLIR_END:
      return regal_mlir_fail(m, "':' and the types of the op");
    case REGAL_MLIR_VALUE:
      REGAL_TRY(read_value(m, region, op));
      break;
    case REGAL_MLIR_WORD:
      REGAL_TRY(read_word(m, op));
      break;
    case REGAL_MLIR_NUMBER:
      REGAL_TRY(read_number(m, op));
      break;
    case REGAL_MLIR_MARK:
      REGAL_TRY(read_mark(m, region, op, &depth));
      break;
    case REGAL_MLIR_SYMBOL:
      if (!op->callee.length)
        op->callee = m->token;
      /* fall through */
    default:
      REGAL_TRY(regal_mlir_next(m));
    }
  }
  return regal_mlir_next(m);
}

/* -- Types ----------------------------------------------------------------- */

/* -> type, or -> (type, ...) */
static regal_status read_arrow(regal_mlir *m, regal_mlir_op *op) {
  op->types = (regal_mlir_types){0};
  if (m->token.kind != REGAL_MLIR_ARROW)
    return regal_mlir_fail(m, "'->'");
  REGAL_TRY(regal_mlir_next(m));
  if (!regal_mlir_is_mark(m, '(')) {
    regal_hlo_shape shape;
    REGAL_TRY(regal_mlir_type(m, &shape));
    return regal_mlir_add_type(m, &op->types, &shape);
  }
  REGAL_TRY(regal_mlir_next(m));
  if (!regal_mlir_is_mark(m, ')'))
    REGAL_TRY(regal_mlir_type_list(m, &op->types));
  return regal_mlir_expect(m, ')');
}

/* The results' types are behind an arrow. Without one they are those of the
 * operands: all of a loop's, else the last. */
static regal_status read_types(regal_mlir *m, regal_mlir_op *op) {
  if (regal_mlir_is_mark(m, '(')) {
    REGAL_TRY(regal_mlir_skip(m));
    return read_arrow(m, op);
  }
  REGAL_TRY(regal_mlir_type_list(m, &op->types));
  if (m->token.kind == REGAL_MLIR_ARROW)
    return read_arrow(m, op);
  if (regal_mlir_is_op(op, "while") || regal_mlir_is_op(op, "opt-barrier"))
    return REGAL_OK;
  op->types.shape += op->types.count - 1;
  op->types.count = op->types.capacity = 1;
  return REGAL_OK;
}

/* What may come behind the types: a loop's regions, a reduction's. */
static regal_status read_tail(regal_mlir *m, regal_mlir_region *region,
                              regal_mlir_op *op) {
  if (regal_mlir_is_word(m, "attributes")) {
    REGAL_TRY(regal_mlir_next(m));
    REGAL_TRY(regal_mlir_skip(m));
  }
  if (regal_mlir_is_word(m, "reducer")) {
    REGAL_TRY(regal_mlir_next(m));
    while (regal_mlir_is_mark(m, '('))
      REGAL_TRY(regal_mlir_skip(m));
    if (!regal_mlir_is_mark(m, '{'))
      return regal_mlir_fail(m, "'{'");
    REGAL_TRY(regal_mlir_skip(m));
  }
  while (regal_mlir_is_op(op, "while") &&
         (regal_mlir_is_word(m, "cond") || regal_mlir_is_word(m, "do"))) {
    REGAL_TRY(regal_mlir_next(m));
    REGAL_TRY(regal_mlir_read_region(m, region, op));
  }
  return regal_mlir_skip_location(m);
}

/* -- All of it ------------------------------------------------------------- */

/* A return of nothing may have no types. */
static regal_status read_return(regal_mlir *m, regal_mlir_region *region,
                                regal_mlir_op *op) {
  bool is_bare = m->token.kind != REGAL_MLIR_VALUE &&
                 !regal_mlir_is_mark(m, '(') && !regal_mlir_is_mark(m, ':');
  if (!is_bare) {
    REGAL_TRY(read_operands(m, region, op));
    REGAL_TRY(read_types(m, op));
  }
  REGAL_TRY(regal_mlir_skip_location(m));
  return regal_mlir_finish_return(m, region, op);
}

/* %0 =, %0:3 = or %0, %1 = */
static regal_status read_results(regal_mlir *m, regal_mlir_op *op) {
  regal_mlir_token *names = NULL;
  uint32_t capacity = 0;
  while (m->token.kind == REGAL_MLIR_VALUE) {
    REGAL_TRY(REGAL_MLIR_PUSH(m, names, op->results, capacity, m->token));
    REGAL_TRY(regal_mlir_next(m));
    op->promised++;
    if (regal_mlir_is_mark(m, ':')) {
      REGAL_TRY(regal_mlir_next(m));
      if (m->token.kind != REGAL_MLIR_NUMBER || op->results > 1 ||
          !regal_mlir_read_count(m->token.text, m->token.length, &op->promised))
        return regal_mlir_fail(m, "a number of results");
      REGAL_TRY(regal_mlir_next(m));
    }
    if (regal_mlir_is_mark(m, ','))
      REGAL_TRY(regal_mlir_next(m));
  }
  op->result = names;
  return op->results ? regal_mlir_expect(m, '=') : REGAL_OK;
}

regal_status regal_mlir_read_op(regal_mlir *m, regal_mlir_region *region) {
  regal_mlir_op op = {.kernel_output = -1, .scalar = -1};
  if (region->is_closed)
    return regal_mlir_fail(m, "'}' behind a return");
  REGAL_TRY(read_results(m, &op));
  REGAL_TRY(read_name(m, &op));
  if (regal_mlir_is_op(&op, "return"))
    return read_return(m, region, &op);
  if (regal_mlir_is_manual(&op))
    REGAL_TRY(regal_mlir_read_manual(m, region, &op));
  else
    REGAL_TRY(read_operands(m, region, &op));
  REGAL_TRY(read_types(m, &op));
  REGAL_TRY(read_tail(m, region, &op));
  return regal_mlir_finish_op(m, region, &op);
}
