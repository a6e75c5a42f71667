/* SPDX-License-Identifier: Apache-2.0 */
/* The table of op types: what each computes, and how it uses memory. */
#ifndef REGAL_FORMAT_ONNX_OPS_H
#define REGAL_FORMAT_ONNX_OPS_H

#include "format/onnx/onnx.h"

typedef struct regal_onnx_op_type regal_onnx_op_type;

/* A node with its values; REGAL_NONE stands for one that is left out. */
typedef struct regal_onnx_call {
  regal_onnx *onnx;
  const regal_onnx_node *node;
  const regal_onnx_op_type *row; /* of the node's type, or NULL */
  unsigned traits;               /* of the row */
  uint32_t scope;
  const uint32_t *inputs, *outputs;
} regal_onnx_call;

enum regal_onnx_trait {
  /* Each output element depends on the input elements at its place: an input
   * may be overwritten, and the output has the inputs' (broadcast) shape. */
  REGAL_ONNX_ELEMENTWISE = 1,
  /* The output has the shape of input 0. */
  REGAL_ONNX_LIKE_FIRST = 2,
  /* The output is input 0, seen with another shape. */
  REGAL_ONNX_VIEW = 4,
  /* The output is known when the shape of input 0 is. */
  REGAL_ONNX_OF_SHAPE = 8,
  /* Never the same twice: constant inputs do not make it a constant. */
  REGAL_ONNX_RANDOM = 16,
  /* Reads of input 0 only what it returns. */
  REGAL_ONNX_READS_PART = 32,
  /* Makes truth values, whatever it reads. */
  REGAL_ONNX_BOOLEAN = 64
};

struct regal_onnx_op_type {
  const char *name;
  /* Floating-point operations of a call (a multiplication and an addition are
   * two); negative when a shape that it needs is unknown. */
  double (*flops)(const regal_onnx_call *call);
  double factor; /* what it means is the function's to say */
  unsigned traits;
};

/* The row of a node's type, or NULL. */
const regal_onnx_op_type *regal_onnx_op_type_of(const regal_onnx_node *node);
size_t regal_onnx_op_type_count(void);
const regal_onnx_op_type *regal_onnx_op_type_at(size_t index);

/* -- For the functions of the table ---------------------------------------- */

/* NULL: left out. */
const regal_onnx_value *regal_onnx_in(const regal_onnx_call *call, size_t i);
const regal_onnx_value *regal_onnx_out(const regal_onnx_call *call, size_t i);
/* A dimension, counted from the end if the axis is negative; negative when it
 * is unknown. */
double regal_onnx_dim_at(const regal_onnx_value *value, int axis);

/* -- The functions (flops.c) ----------------------------------------------- */

double regal_onnx_flops_none(const regal_onnx_call *call);
/* `factor` for each element of the output, or of the input. */
double regal_onnx_flops_output(const regal_onnx_call *call);
double regal_onnx_flops_input(const regal_onnx_call *call);
/* One for each element and each input but the first: Sum, Max. */
double regal_onnx_flops_variadic(const regal_onnx_call *call);
/* `factor` is the input that holds the weights. */
double regal_onnx_flops_conv(const regal_onnx_call *call);
double regal_onnx_flops_conv_transpose(const regal_onnx_call *call);
double regal_onnx_flops_gemm(const regal_onnx_call *call);
double regal_onnx_flops_matmul(const regal_onnx_call *call);
/* ai.onnx.ml: the coefficients are an attribute. */
double regal_onnx_flops_linear(const regal_onnx_call *call);
double regal_onnx_flops_einsum(const regal_onnx_call *call);
/* `factor` for each element of a window. */
double regal_onnx_flops_pool(const regal_onnx_call *call);
/* Two for each element of a window, and `factor`. */
double regal_onnx_flops_lrn(const regal_onnx_call *call);
double regal_onnx_flops_recurrent(const regal_onnx_call *call);
/* Attention on projected queries, keys and values; `factor` is the input of
 * the cached keys. */
double regal_onnx_flops_attention(const regal_onnx_call *call);
/* The same with the projection: com.microsoft's Attention. */
double regal_onnx_flops_projected_attention(const regal_onnx_call *call);

#endif
