/* SPDX-License-Identifier: Apache-2.0 */
/* The table of opcodes, sorted by name. Which opcodes are element-wise is what
 * XLA says (HloInstruction::IsOpElementwise), except where this depends on the
 * operand, as for dynamic-update-slice: share.c has those. */
#include "format/hlo/opcodes.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define OPCODES(ROW) \
  ROW("abs", OTHER, ELEMENTWISE) \
  ROW("acos", OTHER, ELEMENTWISE) \
  ROW("acosh", OTHER, ELEMENTWISE) \
  ROW("add", ADD, ELEMENTWISE) \
  ROW("add-dependency", OTHER, BARRIER) \
  ROW("after-all", OTHER, MOVES) \
  ROW("all-gather", OTHER, MOVES) \
  ROW("all-gather-done", OTHER, DONE) \
  ROW("all-gather-start", OTHER, START) \
  ROW("all-reduce", OTHER, COMPUTES) \
  ROW("all-reduce-done", OTHER, DONE) \
  ROW("all-reduce-start", ALL_REDUCE_START, START) \
  ROW("all-to-all", OTHER, MOVES) \
  ROW("and", OTHER, ELEMENTWISE) \
  ROW("asin", OTHER, ELEMENTWISE) \
  ROW("asinh", OTHER, ELEMENTWISE) \
  ROW("async-done", OTHER, DONE) \
  ROW("async-start", OTHER, START) \
  ROW("async-update", OTHER, UPDATE) \
  ROW("atan2", OTHER, ELEMENTWISE) \
  ROW("atanh", OTHER, ELEMENTWISE) \
  ROW("batch-norm-grad", OTHER, COMPUTES) \
  ROW("batch-norm-inference", OTHER, COMPUTES) \
  ROW("batch-norm-training", OTHER, COMPUTES) \
  ROW("bitcast", OTHER, VIEW) \
  ROW("bitcast-convert", BITCAST_CONVERT, ELEMENTWISE) \
  ROW("broadcast", OTHER, MOVES) \
  ROW("call", CALL, COMPUTES) \
  ROW("cbrt", OTHER, ELEMENTWISE) \
  ROW("ceil", OTHER, ELEMENTWISE) \
  ROW("cholesky", OTHER, COMPUTES) \
  ROW("clamp", OTHER, ELEMENTWISE) \
  ROW("collective-broadcast", OTHER, MOVES) \
  ROW("collective-permute", OTHER, MOVES) \
  ROW("collective-permute-done", OTHER, DONE) \
  ROW("collective-permute-start", OTHER, START) \
  ROW("collective-reduce", OTHER, COMPUTES) \
  ROW("compare", OTHER, ELEMENTWISE) \
  ROW("complex", OTHER, ELEMENTWISE) \
  ROW("concatenate", OTHER, MOVES) \
  ROW("conditional", CONDITIONAL, COMPUTES) \
  ROW("constant", CONSTANT, VALUE) \
  ROW("convert", OTHER, ELEMENTWISE) \
  ROW("convolution", CONVOLUTION, COMPUTES) \
  ROW("copy", COPY, ELEMENTWISE) \
  ROW("copy-done", OTHER, DONE) \
  ROW("copy-start", OTHER, START) \
  ROW("cosh", OTHER, ELEMENTWISE) \
  ROW("cosine", OTHER, ELEMENTWISE) \
  ROW("count-leading-zeros", OTHER, ELEMENTWISE) \
  ROW("custom-call", CUSTOM_CALL, MOVES) \
  ROW("divide", OTHER, ELEMENTWISE) \
  ROW("domain", OTHER, VIEW) \
  ROW("dot", DOT, COMPUTES) \
  ROW("dynamic-reshape", OTHER, MOVES) \
  ROW("dynamic-slice", SLICE, MOVES) \
  ROW("dynamic-update-slice", DYNAMIC_UPDATE_SLICE, MOVES) \
  ROW("erf", OTHER, ELEMENTWISE) \
  ROW("exponential", OTHER, ELEMENTWISE) \
  ROW("exponential-minus-one", OTHER, ELEMENTWISE) \
  ROW("fft", OTHER, COMPUTES) \
  ROW("floor", OTHER, ELEMENTWISE) \
  ROW("fusion", FUSION, COMPUTES) \
  ROW("gather", SLICE, MOVES) \
  ROW("get-dimension-size", OTHER, MOVES) \
  ROW("get-tuple-element", GET_TUPLE_ELEMENT, VIEW) \
  ROW("imag", OTHER, ELEMENTWISE) \
  ROW("infeed", OTHER, MOVES) \
  ROW("iota", OTHER, MOVES) \
  ROW("is-finite", OTHER, ELEMENTWISE) \
  ROW("log", OTHER, ELEMENTWISE) \
  ROW("log-plus-one", OTHER, ELEMENTWISE) \
  ROW("logistic", OTHER, ELEMENTWISE) \
  ROW("map", OTHER, COMPUTES) \
  ROW("maximum", OTHER, ELEMENTWISE) \
  ROW("minimum", OTHER, ELEMENTWISE) \
  ROW("mulhi", OTHER, ELEMENTWISE) \
  ROW("multiply", OTHER, ELEMENTWISE) \
  ROW("negate", OTHER, ELEMENTWISE) \
  ROW("not", OTHER, ELEMENTWISE) \
  ROW("opt-barrier", OTHER, BARRIER) \
  ROW("or", OTHER, ELEMENTWISE) \
  ROW("outfeed", OTHER, MOVES) \
  ROW("pad", OTHER, MOVES) \
  ROW("parameter", PARAMETER, VALUE) \
  ROW("partition-id", OTHER, MOVES) \
  ROW("popcnt", OTHER, ELEMENTWISE) \
  ROW("power", OTHER, ELEMENTWISE) \
  ROW("ragged-all-to-all", OTHER, MOVES) \
  ROW("ragged-dot", DOT, COMPUTES) \
  ROW("real", OTHER, ELEMENTWISE) \
  ROW("recv", OTHER, START) \
  ROW("recv-done", OTHER, DONE) \
  ROW("reduce", REDUCE, COMPUTES) \
  ROW("reduce-precision", OTHER, ELEMENTWISE) \
  ROW("reduce-scatter", OTHER, COMPUTES) \
  ROW("reduce-window", REDUCE, COMPUTES) \
  ROW("remainder", OTHER, ELEMENTWISE) \
  ROW("replica-id", OTHER, MOVES) \
  ROW("reshape", OTHER, MOVES) \
  ROW("reverse", OTHER, MOVES) \
  ROW("rng", OTHER, COMPUTES) \
  ROW("rng-bit-generator", OTHER, COMPUTES) \
  ROW("rng-get-and-update-state", OTHER, COMPUTES) \
  ROW("round-nearest-afz", OTHER, ELEMENTWISE) \
  ROW("round-nearest-even", OTHER, ELEMENTWISE) \
  ROW("rsqrt", OTHER, ELEMENTWISE) \
  ROW("scaled-dot", DOT, COMPUTES) \
  ROW("scan", OTHER, COMPUTES) \
  ROW("scatter", SCATTER, COMPUTES) \
  ROW("select", OTHER, ELEMENTWISE) \
  ROW("select-and-scatter", REDUCE, COMPUTES) \
  ROW("send", OTHER, START) \
  ROW("send-done", OTHER, DONE) \
  ROW("set-dimension-size", SET_DIMENSION_SIZE, MOVES) \
  ROW("shift-left", OTHER, ELEMENTWISE) \
  ROW("shift-right-arithmetic", OTHER, ELEMENTWISE) \
  ROW("shift-right-logical", OTHER, ELEMENTWISE) \
  ROW("sign", OTHER, ELEMENTWISE) \
  ROW("sine", OTHER, ELEMENTWISE) \
  ROW("sinh", OTHER, ELEMENTWISE) \
  ROW("slice", SLICE, MOVES) \
  ROW("sort", SORT, COMPUTES) \
  ROW("sqrt", OTHER, ELEMENTWISE) \
  ROW("stochastic-convert", OTHER, ELEMENTWISE) \
  ROW("subtract", OTHER, ELEMENTWISE) \
  ROW("tan", OTHER, ELEMENTWISE) \
  ROW("tanh", OTHER, ELEMENTWISE) \
  ROW("topk", OTHER, COMPUTES) \
  ROW("transpose", OTHER, MOVES) \
  ROW("triangular-solve", TRIANGULAR_SOLVE, COMPUTES) \
  ROW("tuple", TUPLE, VIEW) \
  ROW("while", WHILE, COMPUTES) \
  ROW("xor", OTHER, ELEMENTWISE)
/* clang-format on */

#define DEFINE(name, opcode, role) {name, REGAL_HLO_##opcode, REGAL_HLO_##role},

static const regal_hlo_opcode_info opcodes[] = {OPCODES(DEFINE)};

static const regal_hlo_opcode_info unknown = {"unknown", REGAL_HLO_UNKNOWN,
                                              REGAL_HLO_COMPUTES};

/* A text may call the halves of any asynchronous op by its name: slice-start.
 */
static const regal_hlo_opcode_info halves[] = {
    {"-start", REGAL_HLO_OTHER, REGAL_HLO_START},
    {"-update", REGAL_HLO_OTHER, REGAL_HLO_UPDATE},
    {"-done", REGAL_HLO_OTHER, REGAL_HLO_DONE}};

static const regal_hlo_opcode_info *find_half(const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
    size_t tail = strlen(halves[i].name);
    if (length > tail && !strcmp(name + length - tail, halves[i].name))
      return &halves[i];
  }
  return &unknown;
}

static int compare(const void *name, const void *row) {
  return strcmp(name, ((const regal_hlo_opcode_info *)row)->name);
}

const regal_hlo_opcode_info *regal_hlo_find_opcode(const char *name) {
  const regal_hlo_opcode_info *found =
      bsearch(name, opcodes, sizeof opcodes / sizeof *opcodes, sizeof *opcodes,
              compare);
  return found ? found : find_half(name);
}
