/* SPDX-License-Identifier: Apache-2.0 */
/* How many floating-point operations an op does. A multiplication and an
 * addition are two: published figures in "multiply-adds" are half of these.
 * Doubles hold all counts below 2^53 exactly.
 */
#include "format/onnx/ops.h"

#include <ctype.h>

#define UNKNOWN -1.0
#define SOFTMAX_FLOPS 5 /* largest, subtract, exp, add, divide */
#define GATE_FLOPS 4    /* bias, activation, and its part of the state */

static const regal_onnx_value *value_at(const regal_onnx_call *call,
                                        uint32_t value) {
  return value == REGAL_NONE ? NULL : &call->onnx->values[value];
}

const regal_onnx_value *regal_onnx_in(const regal_onnx_call *call, size_t i) {
  return i < call->node->n_input ? value_at(call, call->inputs[i]) : NULL;
}

const regal_onnx_value *regal_onnx_out(const regal_onnx_call *call, size_t i) {
  return i < call->node->n_output ? value_at(call, call->outputs[i]) : NULL;
}

/* The product of the dimensions from `first` on. */
static double product_from(const regal_onnx_value *value, uint32_t first) {
  double product = 1;
  if (!value || !value->shaped)
    return UNKNOWN;
  for (uint32_t i = first; i < value->rank; i++)
    product *= (double)value->dims[i];
  return product;
}

/* Negative: unknown. */
static double elements(const regal_onnx_value *value) {
  return product_from(value, 0);
}

double regal_onnx_dim_at(const regal_onnx_value *value, int axis) {
  if (!value || !value->shaped)
    return UNKNOWN;
  int64_t at = axis < 0 ? (int64_t)value->rank + axis : axis;
  return at >= 0 && at < value->rank ? (double)value->dims[at] : UNKNOWN;
}

/* -- Element by element ---------------------------------------------------- */

double regal_onnx_flops_none(const regal_onnx_call *call) {
  (void)call;
  return 0;
}

double regal_onnx_flops_output(const regal_onnx_call *call) {
  return call->row->factor * elements(regal_onnx_out(call, 0));
}

double regal_onnx_flops_input(const regal_onnx_call *call) {
  return call->row->factor * elements(regal_onnx_in(call, 0));
}

double regal_onnx_flops_variadic(const regal_onnx_call *call) {
  double times = call->node->n_input > 1 ? (double)call->node->n_input - 1 : 1;
  return times * elements(regal_onnx_out(call, 0));
}

/* -- Products -------------------------------------------------------------- */

/* With the addition of input 2 to each output, if there is one. */
static double with_bias(const regal_onnx_call *call, double flops) {
  double outputs = elements(regal_onnx_out(call, 0));
  bool adds = flops >= 0 && outputs > 0 && regal_onnx_in(call, 2);
  return adds ? flops + outputs : flops;
}

/* Both, multiplied by two; UNKNOWN if one of them is. */
static double twice(double a, double b) {
  return a < 0 || b < 0 ? UNKNOWN : 2 * a * b;
}

/* Weights are (outputs, inputs / group, kernel...): each output element needs
 * all but the first. */
double regal_onnx_flops_conv(const regal_onnx_call *call) {
  size_t weights = (size_t)call->row->factor;
  double flops = twice(elements(regal_onnx_out(call, 0)),
                       product_from(regal_onnx_in(call, weights), 1));
  return weights == 1 ? with_bias(call, flops) : flops;
}

/* Weights are (inputs, outputs / group, kernel...): each input element goes to
 * all but the first. */
double regal_onnx_flops_conv_transpose(const regal_onnx_call *call) {
  return with_bias(call, twice(elements(regal_onnx_in(call, 0)),
                               product_from(regal_onnx_in(call, 1), 1)));
}

double regal_onnx_flops_gemm(const regal_onnx_call *call) {
  return with_bias(call, regal_onnx_flops_matmul(call));
}

/* Also of stacks of matrices, broadcast: the output knows how many. */
double regal_onnx_flops_matmul(const regal_onnx_call *call) {
  bool turned = regal_onnx_attribute_int(call->node, "transA", 0) != 0;
  return twice(elements(regal_onnx_out(call, 0)),
               regal_onnx_dim_at(regal_onnx_in(call, 0), turned ? -2 : -1));
}

/* Every row of the input meets each coefficient once; one row may come without
 * its dimension. */
double regal_onnx_flops_linear(const regal_onnx_call *call) {
  const regal_onnx_value *rows = regal_onnx_in(call, 0);
  const regal_onnx_attribute *coefficients =
      regal_onnx_attribute_of(call->node, "coefficients");
  bool one = rows && rows->shaped && rows->rank == 1;
  return twice(one ? 1 : regal_onnx_dim_at(rows, 0),
               coefficients ? (double)coefficients->n_floats : 0);
}

/* -- Einsum ---------------------------------------------------------------- */

typedef struct subscripts {
  double of_letter[256];
  double rest; /* what the largest "..." stands for */
} subscripts;

/* Takes one operand's subscripts, up to ',' or '-'; false if they do not fit
 * its shape. */
static bool take_operand(subscripts *dims, const regal_onnx_value *value,
                         const uint8_t **at, const uint8_t *end) {
  uint32_t letters = 0, axis = 0;
  double rest = 1;
  const uint8_t *begin = *at;
  while (*at < end && **at != ',' && **at != '-')
    letters += isalpha(*(*at)++) != 0;
  if (!value || !value->shaped || letters > value->rank)
    return false;
  for (const uint8_t *c = begin; c < *at; c++) {
    if (isalpha(*c)) {
      double dim = (double)value->dims[axis++];
      if (dims->of_letter[*c] < dim)
        dims->of_letter[*c] = dim;
    } else if (*c == '.' && c + 2 < *at) {
      for (uint32_t n = value->rank - letters; n > 0; n--)
        rest *= (double)value->dims[axis++];
      letters = value->rank;
      c += 2;
    }
  }
  if (rest > dims->rest)
    dims->rest = rest;
  return axis == value->rank;
}

double regal_onnx_flops_einsum(const regal_onnx_call *call) {
  const regal_onnx_attribute *equation =
      regal_onnx_attribute_of(call->node, "equation");
  subscripts dims = {.rest = 1};
  if (!equation || !equation->s.len)
    return UNKNOWN;
  for (int c = 0; c < 256; c++)
    dims.of_letter[c] = UNKNOWN;
  const uint8_t *at = equation->s.data, *end = at + equation->s.len;
  for (size_t i = 0; i < call->node->n_input; i++) {
    if (!take_operand(&dims, regal_onnx_in(call, i), &at, end))
      return UNKNOWN;
    at += at < end && *at == ',';
  }
  double flops = (call->node->n_input > 1 ? 2 : 1) * dims.rest;
  for (int c = 0; c < 256; c++)
    if (dims.of_letter[c] >= 0)
      flops *= dims.of_letter[c];
  return flops;
}

/* -- Windows --------------------------------------------------------------- */

double regal_onnx_flops_pool(const regal_onnx_call *call) {
  const regal_onnx_attribute *kernel =
      regal_onnx_attribute_of(call->node, "kernel_shape");
  double window = call->row->factor;
  for (size_t i = 0; kernel && i < kernel->n_ints; i++)
    window *= (double)kernel->ints[i];
  return window < 0 ? UNKNOWN : window * elements(regal_onnx_out(call, 0));
}

double regal_onnx_flops_lrn(const regal_onnx_call *call) {
  int64_t size = regal_onnx_attribute_int(call->node, "size", 1);
  double each = 2 * (double)size + call->row->factor;
  return size < 0 ? UNKNOWN : each * elements(regal_onnx_out(call, 0));
}

/* -- Sequences ------------------------------------------------------------- */

/* X is (steps, batch, inputs) or (batch, steps, inputs), W (directions, gates,
 * inputs), R (directions, gates, hidden). */
double regal_onnx_flops_recurrent(const regal_onnx_call *call) {
  const regal_onnx_value *x = regal_onnx_in(call, 0);
  const regal_onnx_value *w = regal_onnx_in(call, 1);
  const regal_onnx_value *r = regal_onnx_in(call, 2);
  double first = regal_onnx_dim_at(x, 0), second = regal_onnx_dim_at(x, 1);
  double inputs = elements(w), states = elements(r);
  double directions = regal_onnx_dim_at(w, 0), gates = regal_onnx_dim_at(w, 1);
  if (first < 0 || second < 0 || inputs < 0 || states < 0 || gates < 0)
    return UNKNOWN;
  return first * second *
         (2 * (inputs + states) + GATE_FLOPS * directions * gates);
}

/* Steps of a sequence: (batch, steps, hidden), (batch, heads, steps, size), or
 * with queries, keys and values together (batch, steps, heads, 3, size). */
static double steps_of(const regal_onnx_value *value) {
  return regal_onnx_dim_at(value, value && value->rank == 5 ? 1 : -2);
}

/* Rows of the matrix of scores: one for each query and head. */
static double score_rows(const regal_onnx_call *call,
                         const regal_onnx_value *query) {
  int64_t heads = regal_onnx_attribute_int(call->node, "num_heads", 0);
  heads = regal_onnx_attribute_int(call->node, "q_num_heads", heads);
  if (query && query->shaped && query->rank == 4)
    heads = query->dims[1];
  double batch = regal_onnx_dim_at(query, 0), steps = steps_of(query);
  return batch < 0 || steps < 0 || heads < 0 ? UNKNOWN
                                             : batch * steps * (double)heads;
}

/* The products with keys (over all elements of the queries) and with values
 * (over all elements of the output), and the softmax between. */
static double attention(double queries, double outputs, double keys,
                        double rows) {
  if (queries < 0 || outputs < 0 || keys < 0 || rows < 0)
    return UNKNOWN;
  return keys * (2 * queries + 2 * outputs + SOFTMAX_FLOPS * rows);
}

double regal_onnx_flops_attention(const regal_onnx_call *call) {
  const regal_onnx_value *query = regal_onnx_in(call, 0);
  const regal_onnx_value *key = regal_onnx_in(call, 1);
  const regal_onnx_value *past = regal_onnx_in(call, (size_t)call->row->factor);
  double outputs = elements(regal_onnx_out(call, 0));
  double queries = key ? elements(query) : outputs;
  double keys = steps_of(key ? key : query);
  if (past && keys >= 0 && steps_of(past) >= 0)
    keys += steps_of(past);
  return attention(queries, outputs, keys, score_rows(call, query));
}

/* Input (batch, steps, inputs), weights (inputs, queries + keys + values), and
 * at the row's factor the cached keys and values (2, batch, heads, steps,
 * size). */
double regal_onnx_flops_projected_attention(const regal_onnx_call *call) {
  const regal_onnx_value *input = regal_onnx_in(call, 0);
  double outputs = elements(regal_onnx_out(call, 0));
  double keys = steps_of(input);
  double past =
      regal_onnx_dim_at(regal_onnx_in(call, (size_t)call->row->factor), -2);
  double projection =
      twice(elements(input), regal_onnx_dim_at(regal_onnx_in(call, 1), 1));
  double core = attention(outputs, outputs, past > 0 ? keys + past : keys,
                          score_rows(call, input));
  return projection < 0 || core < 0 ? UNKNOWN : projection + core;
}
