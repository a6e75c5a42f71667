/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX models as graphs; docs/onnx.md says what is made of them. */
#ifndef REGAL_FORMAT_ONNX_LOAD_H
#define REGAL_FORMAT_ONNX_LOAD_H

#include "base/context.h"

/* Whether the bytes are an ONNX model rather than any other graph. */
bool regal_onnx_detect(const void *bytes, size_t size);

regal_status regal_onnx_load(regal_context *context, const char *path,
                             const void *bytes, size_t size,
                             const regal_options *options, regal_graph **graph);

#endif
