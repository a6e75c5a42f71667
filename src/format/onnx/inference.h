/* SPDX-License-Identifier: Apache-2.0 */
/* What shapes.c asks of the one file in C++, inference.cc. */
#ifndef REGAL_FORMAT_ONNX_INFERENCE_H
#define REGAL_FORMAT_ONNX_INFERENCE_H

#include "format/onnx/shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes some bytes of the inferred model; false when it can take no more. */
typedef bool (*regal_onnx_write_fn)(void *state, const void *bytes,
                                    size_t size);

/* regal_onnx_infer_shapes in this process, which it may crash. `follow_sizes`:
 * also compute sizes that the model computes (ONNX: data propagation). On
 * failure `message`, of at least 1 byte, says why. No exception leaves it. */
regal_status regal_onnx_run_inference(const void *model, size_t size,
                                      bool follow_sizes,
                                      regal_onnx_write_fn write, void *state,
                                      char *message, size_t capacity);

/* The newest opset of ONNX's own ops that the linked libonnx knows. */
int64_t regal_onnx_newest_opset(void);

#ifdef __cplusplus
}
#endif

#endif
