/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of binary modules of XLA. */
#include "fuzz/fuzz_reader.h"

#include "format/hlo_proto/hlo_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const fuzz_reader reader = {regal_hlo_proto_detect,
                                     regal_hlo_proto_load, 2000, 1 << 20};
  return fuzz_read(&reader, bytes, size);
}
