/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of StableHLO. Functions that call each other twice fill the limit
 * on what is inlined. */
#include "fuzz/fuzz_reader.h"

#include "format/stablehlo/stablehlo.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const fuzz_reader reader = {regal_stablehlo_detect,
                                     regal_stablehlo_load, 4000, 512 << 20};
  return fuzz_read(&reader, bytes, size);
}
