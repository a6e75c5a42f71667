/* SPDX-License-Identifier: Apache-2.0 */
/* What shapes.c asks of the files in C++. */
#ifndef REGAL_FORMAT_ONNX_SHAPES_INFERENCE_H
#define REGAL_FORMAT_ONNX_SHAPES_INFERENCE_H

#include "format/onnx_shapes/shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* regal_onnx_infer_shapes in this process, which it may crash; the inferred
 * model is written to the open `file`. `follow_sizes`: also compute sizes that
 * the model computes (ONNX: data propagation). On failure `message`, of at
 * least 1 byte, says why. No exception leaves it. */
regal_status regal_onnx_run_inference(const void *model, size_t size,
                                      bool follow_sizes, int file,
                                      char *message, size_t capacity);

/* The newest opset of ONNX's own ops that the linked libonnx knows. */
int64_t regal_onnx_newest_opset(void);

#ifdef __cplusplus
}
#endif

#endif
