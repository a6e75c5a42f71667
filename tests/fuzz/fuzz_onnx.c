/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of ONNX models. Shapes are inferred by ONNX's own code where this
 * build has it. */
#include "fuzz/fuzz_reader.h"

#include "format/onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const fuzz_reader reader = {regal_onnx_detect, regal_onnx_load, 2000,
                                     1 << 20};
  return fuzz_read(&reader, bytes, size);
}
