/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of StableHLO. Whatever else an input may be, it is read as such.
 */
#include "fuzz/fuzz.h"

#include "format/stablehlo/stablehlo.h"

/* What a reader may hold for each byte of a file, and whatever the size:
 * functions that call each other twice fill the limit on what is inlined. */
#define BYTES_PER_BYTE 4000
#define BYTES_ALWAYS (512 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  regal_context *context;
  regal_graph *graph = NULL;
  regal_options options;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  regal_options_init(&options);
  regal_stablehlo_detect(bytes, size);
  regal_status status =
      regal_stablehlo_load(context, "input", bytes, size, &options, &graph);
  fuzz_check_status(context, status);
  FUZZ_CHECK((status == REGAL_OK) == (graph != NULL));
  FUZZ_CHECK(regal_bytes_peak(context) <= BYTES_ALWAYS + size * BYTES_PER_BYTE);
  regal_graph_free(graph);
  fuzz_close(context);
  return 0;
}
