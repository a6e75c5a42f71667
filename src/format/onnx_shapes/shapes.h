/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of the tensors of an ONNX model, by ONNX's own shape inference.
 *
 * An optional component (CMake: REGAL_ONNX_SHAPES): with Debian's libonnx it is
 * shapes.c with inference.cc, without it shapes_absent.c. Only
 * models that do not carry the shapes of all their tensors need it.
 */
#ifndef REGAL_FORMAT_ONNX_SHAPES_SHAPES_H
#define REGAL_FORMAT_ONNX_SHAPES_SHAPES_H

#include "base/text.h"

/* The newest opset of ONNX's own ops that inference knows; 0 in a build without
 * it. Models
 * of newer ones are inferred as if they were of this one, except for ops that
 * have changed since: what these make has no shape. */
int64_t regal_onnx_known_opset(void);

/* Seconds for inferring the shapes of one model, whatever it takes: the library
 * may be asked more than once. */
#define REGAL_ONNX_SECONDS 60
typedef struct regal_onnx_budget {
  double seconds;
  double deadline; /* 0: not begun */
} regal_onnx_budget;

/* Appends the model (a ModelProto of `size` bytes) with all that can be
 * inferred added to the value_info and output of its graph. Symbolic dimensions
 * should have their numbers before: inference computes with numbers, but loses
 * names (in Mul, Reshape, ...). What cannot be inferred is left as it is; it is
 * an error when shapes in the file contradict each other. */
regal_status regal_onnx_infer_shapes(regal_context *context, const char *name,
                                     const void *model, size_t size,
                                     regal_onnx_budget *budget,
                                     regal_text *inferred);

#endif
