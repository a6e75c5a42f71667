/* SPDX-License-Identifier: Apache-2.0 */
/* Text of StableHLO in MLIR's syntax, as jax.jit(f).lower(x).as_text() and
 * torch_xla print it: a module of functions, of which `main` is the entry.
 *
 * The text becomes a module of HLO (format/hlo/module.h), which has all that
 * follows: work, memory, calls, loops, the graph.
 *
 *   lex.c       characters to tokens
 *   types.c     tensor<4x8xf32>
 *   ops.c       one op: operands, attributes, types of its results
 *   instruction.c  and what it becomes
 *   functions.c, regions.c   what is inside braces: functions, loops, branches
 *   manual.c    the program of one device, in its place
 *   inline.c    calls of functions, put in their place
 *   load.c      the module
 *
 * HLO has no values that are known outside of a computation, and its loops and
 * branches take one tuple. So a region gets its arguments, and what it reads of
 * the values around it, as one tuple: regions.c. An op with several results is
 * a tuple as well, and its results are views of it.
 */
#ifndef REGAL_FORMAT_STABLEHLO_STABLEHLO_H
#define REGAL_FORMAT_STABLEHLO_STABLEHLO_H

#include "base/names.h"
#include "format/hlo/module.h"

bool regal_stablehlo_detect(const void *bytes, size_t size);
regal_status regal_stablehlo_load(regal_context *context, const char *name,
                                  const void *bytes, size_t size,
                                  const regal_options *options,
                                  regal_graph **graph);

/* -- Tokens ---------------------------------------------------------------- */

typedef enum regal_mlir_kind {
  REGAL_MLIR_END,
  REGAL_MLIR_VALUE,  /* %0, %arg1, %2#1 */
  REGAL_MLIR_SYMBOL, /* @main */
  REGAL_MLIR_WORD,   /* stablehlo.add, dims, tensor */
  REGAL_MLIR_NUMBER,
  REGAL_MLIR_STRING, /* without its quotes */
  REGAL_MLIR_ALIAS,  /* #loc1, #stablehlo.dot */
  REGAL_MLIR_LABEL,  /* ^bb0 */
  REGAL_MLIR_ARROW,  /* -> */
  REGAL_MLIR_MARK    /* any other character */
} regal_mlir_kind;

typedef struct regal_mlir_token {
  regal_mlir_kind kind;
  const char *text; /* in the file */
  size_t length;
  uint32_t line, column;
} regal_mlir_token;

/* Results of an op, or an argument: instructions `first`, first + 1, ... */
typedef struct regal_mlir_value {
  uint32_t first, count;
} regal_mlir_value;

typedef struct regal_mlir {
  regal_hlo_module *module;
  const char *at, *end, *line_begin;
  uint32_t line;
  regal_mlir_token token; /* the next one */
  regal_names names;      /* of values, by region */
  regal_mlir_value *values;
  size_t value_capacity;
  regal_names functions;
  uint32_t *function; /* [functions] computation + 1, or 0: not read yet */
  size_t function_capacity;
  uint64_t scopes; /* regions so far */
} regal_mlir;

/* Reads the next token. */
regal_status regal_mlir_next(regal_mlir *m);
bool regal_mlir_is_mark(const regal_mlir *m, char mark);
bool regal_mlir_is_word(const regal_mlir *m, const char *word);
/* Brackets of any kind. */
bool regal_mlir_is_opening(const regal_mlir *m);
bool regal_mlir_is_closing(const regal_mlir *m);
/* Digits and nothing else, below 2^32. */
bool regal_mlir_read_count(const char *digits, size_t length, uint32_t *count);
/* Fails with "FILE:LINE:COLUMN: found ..., expected ...". */
regal_status regal_mlir_fail(const regal_mlir *m, const char *expected);
/* The same about something that is not a token. */
regal_status regal_mlir_fail_at(const regal_mlir *m, uint32_t line,
                                const char *format, ...) REGAL_FORMAT(3, 4);
regal_status regal_mlir_expect(regal_mlir *m, char mark);
/* From an opening bracket to behind the one that closes it. */
regal_status regal_mlir_skip(regal_mlir *m);
/* loc(...), where there is one. */
regal_status regal_mlir_skip_location(regal_mlir *m);
/* Text in the module's arena; NULL when memory is out. */
const char *regal_mlir_keep(regal_mlir *m, const char *text, size_t length);

/* -- Types ----------------------------------------------------------------- */

typedef struct regal_mlir_types {
  regal_hlo_shape *shape;
  uint32_t count, capacity;
} regal_mlir_types;

regal_status regal_mlir_type(regal_mlir *m, regal_hlo_shape *shape);
regal_status regal_mlir_add_type(regal_mlir *m, regal_mlir_types *types,
                                 const regal_hlo_shape *shape);
/* Types with commas between them. */
regal_status regal_mlir_type_list(regal_mlir *m, regal_mlir_types *types);
regal_hlo_shape regal_mlir_tuple(const regal_mlir_types *types);
/* %a: type. `expected` is what a message calls it. */
regal_status regal_mlir_typed_value(regal_mlir *m, const char *expected,
                                    regal_mlir_token *name,
                                    regal_hlo_shape *shape);

/* -- Regions --------------------------------------------------------------- */

/* Values around a region that it reads: instructions of the computation that it
 * is in. */
typedef struct regal_mlir_captures {
  uint32_t *position;
  uint32_t count, capacity;
} regal_mlir_captures;

typedef struct regal_mlir_region {
  struct regal_mlir_region *outer; /* NULL: a function */
  uint32_t computation;
  uint64_t scope;
  uint32_t arguments, depth;
  regal_mlir_captures *captures; /* NULL: it has no computation of its own, or
                                    is a function */
  uint32_t *returned;            /* without a computation of its own */
  uint32_t returns;
  bool returns_captures; /* the body of a loop */
  bool returns_tuple;    /* even of one value */
  bool is_closed;        /* its return was read */
} regal_mlir_region;

/* An op that is being read. */
typedef struct regal_mlir_op {
  regal_mlir_token name;
  const char *opcode; /* HLO's name of it */
  const regal_mlir_token *result;
  uint32_t results, promised; /* names, and how many values they say */
  uint32_t *operand;
  uint32_t operands, operand_capacity;
  regal_mlir_token *argument; /* names of a loop's values */
  uint32_t arguments, argument_capacity;
  uint32_t *region; /* computations */
  uint32_t regions, region_capacity;
  regal_mlir_captures *captures; /* of each region */
  uint32_t captured, capture_capacity;
  regal_mlir_token callee;
  int64_t *contracting;
  uint32_t contracted;
  int64_t kernel_output;
  int64_t scalar; /* of a constant, or the index into a tuple; or -1 */
  int64_t trips;  /* of a loop, or 0 */
  bool is_less;   /* a comparison LT */
  regal_mlir_types types;
} regal_mlir_op;

bool regal_mlir_is_op(const regal_mlir_op *op, const char *opcode);
/* A loop or a branch. */
bool regal_mlir_has_regions(const regal_mlir_op *op);
/* Adds the instruction, and defines its results: instruction.c. */
regal_status regal_mlir_finish_op(regal_mlir *m, regal_mlir_region *region,
                                  regal_mlir_op *op);
regal_status regal_mlir_finish_return(regal_mlir *m, regal_mlir_region *region,
                                      regal_mlir_op *op);
/* Reads one op, or the return that closes the region. */
regal_status regal_mlir_read_op(regal_mlir *m, regal_mlir_region *region);
/* Ops up to the closing brace. */
regal_status regal_mlir_read_body(regal_mlir *m, regal_mlir_region *region);
/* A function from behind its keyword. */
regal_status regal_mlir_read_function(regal_mlir *m);
/* A region of an op, from its opening brace; arguments are those of `op` or
 * those that its label declares. */
regal_status regal_mlir_read_region(regal_mlir *m, regal_mlir_region *outer,
                                    regal_mlir_op *op);
/* Completes the arguments of the regions of a loop or a branch, and makes the
 * tuples that they are called with the operands. */
regal_status regal_mlir_close_regions(regal_mlir *m, regal_mlir_region *region,
                                      regal_mlir_op *op);

/* Fails where regions nest too deep. */
regal_status regal_mlir_check_depth(const regal_mlir *m,
                                    const regal_mlir_region *region);

/* sdy.manual_computation, in MLIR's own form. */
bool regal_mlir_is_manual(const regal_mlir_op *op);
/* Reads it up to its types. Its operands are then what its body returns. */
regal_status regal_mlir_read_manual(regal_mlir *m, regal_mlir_region *region,
                                    regal_mlir_op *op);
/* Adds an instruction for each of its results. */
regal_status regal_mlir_add_results(regal_mlir *m,
                                    const regal_mlir_region *region,
                                    const regal_mlir_op *op, uint32_t *first);

/* The instruction that a value is, in the region's computation. */
regal_status regal_mlir_find(regal_mlir *m, regal_mlir_region *region,
                             const regal_mlir_token *name, uint32_t *position);
regal_status regal_mlir_define(regal_mlir *m, const regal_mlir_region *region,
                               const regal_mlir_token *name, uint32_t first,
                               uint32_t count);
/* A new instruction at the end of a computation; its opcode is HLO's name. */
regal_status regal_mlir_add(regal_mlir *m, uint32_t computation,
                            const char *name, const char *opcode,
                            const regal_hlo_shape *shape, uint32_t line,
                            const uint32_t *operand, uint32_t operands,
                            uint32_t *position);
/* A part of a tuple. */
regal_status regal_mlir_add_part(regal_mlir *m, uint32_t computation,
                                 uint32_t tuple, uint32_t part,
                                 const regal_hlo_shape *shape,
                                 uint32_t *position);
/* A tuple of the first `count` operands and what a region captures. */
regal_status regal_mlir_add_tuple(regal_mlir *m,
                                  const regal_mlir_region *region,
                                  const regal_mlir_op *op, uint32_t count,
                                  const regal_mlir_captures *captures,
                                  uint32_t *position);
regal_status regal_mlir_add_computation(regal_mlir *m, const char *name,
                                        uint32_t *number);

/* How a comparison "less than" is called: the condition of loops that count. */
#define REGAL_MLIR_LESS "compare LT"

/* Appends to an array in the arena that holds `count` items. */
#define REGAL_MLIR_PUSH(m, array, count, capacity, item)                       \
  (regal_mlir_room((m), (void **)&(array), (count), &(capacity),               \
                   sizeof *(array))                                            \
       ? ((array)[(count)++] = (item), REGAL_OK)                               \
       : regal_fail_memory((m)->module->context))
/* The same for arrays that have room for the next power of two. */
bool regal_mlir_make_room(regal_mlir *m, void **array, uint32_t count,
                          size_t size);
bool regal_mlir_room(regal_mlir *m, void **array, uint32_t count,
                     uint32_t *capacity, size_t size);

/* Puts what functions compute in the place of their calls in the entry. */
regal_status regal_mlir_inline(regal_mlir *m);

#endif
