/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of --costs, a CSV or a trace of torch.profiler, for a small graph
 * whose ops have the names that a capture gives them. */
#include "fuzz/fuzz.h"

#include "base/text.h"

/* What a reader may hold for each byte of a file that is not compressed, and
 * whatever the size. */
#define BYTES_PER_BYTE 400
#define BYTES_ALWAYS (1 << 20)

static const char graph_text[] =
    "{\"regal_graph\": 1, \"ops\": ["
    "{\"name\": \"0:mm\", \"outputs\": [64]},"
    "{\"name\": \"1:relu\", \"outputs\": [64], \"inputs\": [\"0:mm\"]},"
    "{\"name\": \"2:mm_1\", \"outputs\": [32], \"inputs\": [\"1:relu\"]},"
    "{\"name\": \"3:triton_poi_7\", \"inputs\": [\"2:mm_1\"]}]}";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  regal_context *context;
  regal_graph *graph = NULL;
  regal_options options;
  fuzz_file file;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  regal_options_init(&options);
  fuzz_file_open(&file, bytes, size);
  snprintf(options.costs, sizeof options.costs, "%s", file.path);
  regal_status status = regal_graph_load_bytes(
      context, "graph", graph_text, sizeof graph_text - 1, &options, &graph);
  fuzz_check_status(context, status);
  FUZZ_CHECK((status == REGAL_OK) == (graph != NULL));
  FUZZ_CHECK(regal_is_compressed(bytes, size) ||
             regal_bytes_peak(context) <= BYTES_ALWAYS + size * BYTES_PER_BYTE);
  regal_graph_free(graph);
  fuzz_file_close(&file);
  fuzz_close(context);
  return 0;
}
