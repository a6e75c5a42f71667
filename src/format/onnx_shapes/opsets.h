/* SPDX-License-Identifier: Apache-2.0 */
/* The part of shape inference in C++ that knows how ONNX's ops have changed. */
#ifndef REGAL_FORMAT_ONNX_SHAPES_OPSETS_H
#define REGAL_FORMAT_ONNX_SHAPES_OPSETS_H

#include <onnx/onnx_pb.h>

extern "C" {

/* Changes the model so that the library accepts it, and infers nothing wrong
 * from ops that it does not know yet. Returns whether the model is newer than
 * the library. */
bool regal_onnx_make_fit(onnx::ModelProto *model);

/* Only the newest ops follow sizes that are computed (Shape, Gather, Mul, ...
 * Reshape). Makes them of a model's older ops: since opset 9 attributes have
 * become inputs, but hardly any op has changed its meaning; what has, does not
 * fit. False: they cannot be raised, and the model is of no use any more. */
bool regal_onnx_raise_opset(onnx::ModelProto *model);
}

#endif
