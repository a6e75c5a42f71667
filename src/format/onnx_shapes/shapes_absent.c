/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for shapes.c in a build without libonnx. */
#include "format/onnx_shapes/shapes.h"

int64_t regal_onnx_known_opset(void) {
  return 0;
}

regal_status regal_onnx_infer_shapes(regal_context *context, const char *name,
                                     const void *model, size_t size,
                                     regal_onnx_budget *budget,
                                     regal_text *inferred) {
  (void)model, (void)size, (void)budget, (void)inferred;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s: the model lacks shapes, and this regal was built "
                    "without ONNX's shape inference: install libonnx-dev and "
                    "g++ and build it again, or add the shapes in Python with "
                    "onnx.shape_inference.infer_shapes_path",
                    name);
}
