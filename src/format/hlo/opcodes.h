/* SPDX-License-Identifier: Apache-2.0 */
/* XLA's opcodes, and what regal must know about each to count its memory. */
#ifndef REGAL_FORMAT_HLO_OPCODES_H
#define REGAL_FORMAT_HLO_OPCODES_H

#include <stdbool.h>

/* Opcodes with rules of their own; the others differ by their role only. */
typedef enum regal_hlo_opcode {
  REGAL_HLO_OTHER,
  REGAL_HLO_UNKNOWN, /* not in the table */
  REGAL_HLO_PARAMETER,
  REGAL_HLO_CONSTANT,
  REGAL_HLO_TUPLE,
  REGAL_HLO_GET_TUPLE_ELEMENT,
  REGAL_HLO_ADD,
  REGAL_HLO_BITCAST_CONVERT,
  REGAL_HLO_COPY,
  REGAL_HLO_FUSION,
  REGAL_HLO_CALL,
  REGAL_HLO_WHILE,
  REGAL_HLO_CONDITIONAL,
  REGAL_HLO_CUSTOM_CALL,
  REGAL_HLO_DOT,
  REGAL_HLO_CONVOLUTION,
  REGAL_HLO_SORT,
  REGAL_HLO_SCATTER,
  REGAL_HLO_DYNAMIC_UPDATE_SLICE,
  REGAL_HLO_SLICE, /* reads as much as it writes; a gather too */
  REGAL_HLO_REDUCE,
  REGAL_HLO_TRIANGULAR_SOLVE,
  REGAL_HLO_SET_DIMENSION_SIZE,
  REGAL_HLO_ALL_REDUCE_START
} regal_hlo_opcode;

typedef enum regal_hlo_role {
  REGAL_HLO_COMPUTES,    /* an op like any other */
  REGAL_HLO_ELEMENTWISE, /* one element of each operand gives one of the
                            output, so that it can be written in place */
  REGAL_HLO_MOVES,       /* no arithmetic: a transpose, a broadcast */
  REGAL_HLO_VALUE,       /* a parameter or a constant: nothing runs */
  REGAL_HLO_VIEW,        /* another name for (part of) its operands */
  REGAL_HLO_BARRIER,     /* a view whose readers must wait for it */
  REGAL_HLO_START,       /* the first half of an asynchronous pair */
  REGAL_HLO_UPDATE,      /* between both halves */
  REGAL_HLO_DONE,        /* the second half */
} regal_hlo_role;

typedef struct regal_hlo_opcode_info {
  const char *name;
  regal_hlo_opcode opcode;
  regal_hlo_role role;
} regal_hlo_opcode_info;

/* Never NULL: of an unknown name REGAL_HLO_UNKNOWN. */
const regal_hlo_opcode_info *regal_hlo_find_opcode(const char *name);

#endif
