/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of modules of XLA as text. */
#include "fuzz/fuzz_reader.h"

#include "format/hlo_text/hlo_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const fuzz_reader reader = {regal_hlo_text_detect, regal_hlo_text_load,
                                     2000, 1 << 20};
  return fuzz_read(&reader, bytes, size);
}
