/* SPDX-License-Identifier: Apache-2.0 */
/* One computation as ops and tensors: who makes, reads and overwrites what.
 *
 * Each leaf of an instruction's shape is a value, in a buffer: either a tensor
 * that an op makes, or a slot that is there from the start (a parameter or a
 * constant). Views give values further names. An op that writes in place makes
 * a new value in an old buffer: its readers read that buffer and wait for the
 * op, and everything that reads the old value must run before it.
 */
#ifndef REGAL_FORMAT_HLO_FLOW_H
#define REGAL_FORMAT_HLO_FLOW_H

#include "format/hlo/module.h"

/* The instruction that reads a value last; of a result: */
#define REGAL_HLO_AT_END (UINT32_MAX - 1)

typedef struct regal_hlo_value {
  uint32_t maker;   /* instruction */
  uint32_t last;    /* instruction that reads it; REGAL_NONE: none does */
  uint32_t buffer;  /* tensor, or slot if in_slot */
  uint32_t wait;    /* op that made it in an old buffer, or REGAL_NONE */
  uint32_t readers; /* list in flow->reader, or REGAL_NONE */
  bool in_slot;
  bool taken; /* its buffer has another value now */
} regal_hlo_value;

typedef struct regal_hlo_control {
  uint32_t before, after; /* ops */
} regal_hlo_control;

/* A list of ops. */
typedef struct regal_hlo_reader {
  uint32_t op, next;
} regal_hlo_reader;

typedef struct regal_hlo_slot {
  int64_t bytes;
  uint32_t value;
  uint32_t last;    /* instruction that reads any value in it */
  uint32_t readers; /* of any value in it: a list */
  uint32_t number;  /* of the graph's parameter, when it has one */
  bool is_constant;
  bool is_writable; /* ops may write results here */
} regal_hlo_slot;

typedef struct regal_hlo_tensor {
  uint32_t op, uses;
  int64_t bytes;
  bool is_final, may_reuse;
} regal_hlo_tensor;

typedef struct regal_hlo_op {
  uint32_t instruction;
  uint32_t tensor; /* its first; the next op's first ends them */
  uint32_t input;  /* its first in flow->input */
  uint32_t slot;   /* its first in flow->slot_use */
  uint32_t group;  /* op with which it must share a device: union-find */
} regal_hlo_op;

typedef struct regal_hlo_flow {
  regal_hlo_module *module;
  regal_hlo_computation *computation;
  bool is_entry, is_body; /* of a while loop: results go to its parameters */
  uint32_t *leaf_begin;   /* [instructions] into leaf */
  uint32_t *leaf;         /* values */
  regal_hlo_value *value;
  regal_hlo_slot *slot;
  regal_hlo_tensor *tensor;
  regal_hlo_op *op;   /* one more than ops, to end the lists of the last */
  uint32_t *input;    /* tensors that an op reads, those to reuse first */
  uint32_t *slot_use; /* slots that an op reads */
  regal_hlo_control *control; /* may repeat */
  regal_hlo_reader *reader;
  uint32_t *op_of;       /* [instructions] or REGAL_NONE */
  uint32_t *tensor_mark; /* [tensors] the op + 1 that was seen last */
  uint32_t *slot_mark;   /* [slots] */
  size_t control_capacity, controls, reader_capacity, readers;
  uint32_t values, slots, tensors, ops, inputs, slot_uses;
  int64_t total_bytes; /* of tensors */

  uint32_t views, in_place, donated; /* for notes */
} regal_hlo_flow;

/* Fills `flow` with the computation. All is in the module's arena except
 * `control` and `reader`, which regal_hlo_flow_free frees, also after a
 * failure. */
regal_status regal_hlo_flow_make(regal_hlo_module *module,
                                 regal_hlo_computation *computation,
                                 bool is_entry, bool is_body,
                                 regal_hlo_flow *flow);
void regal_hlo_flow_free(regal_hlo_flow *flow);

/* The instructions' values: values.c. Sets leaf_begin, leaf, value (maker,
 * last), slot. */
regal_status regal_hlo_flow_values(regal_hlo_flow *flow);
/* Results of the computation: which tensors live to the end, and which are
 * written over a parameter: results.c. */
regal_status regal_hlo_flow_results(regal_hlo_flow *flow);
regal_status regal_hlo_flow_add_control(regal_hlo_flow *flow, uint32_t before,
                                        uint32_t after);

/* How many values an instruction makes: of a start, those of its done. */
const regal_hlo_instruction *
regal_hlo_flow_shape(const regal_hlo_flow *flow,
                     const regal_hlo_instruction *instruction);

/* The peak of the computation's own values, in the order of its instructions:
 * peak.c. */
regal_status regal_hlo_flow_peak(const regal_hlo_flow *flow, int64_t *bytes);
/* Bytes that the instruction needs besides its operands and results: those of
 * what it calls, which has been measured. */
int64_t regal_hlo_temporary(const regal_hlo_module *module,
                            const regal_hlo_instruction *instruction);

#endif
