/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of modules of XLA as text: an input is read as one, whatever it
 * is. */
#include "fuzz/fuzz.h"

#include "format/hlo_text/hlo_text.h"

/* What a reader may hold for each byte of a file, and whatever the size. */
#define BYTES_PER_BYTE 2000
#define BYTES_ALWAYS (1 << 20)

static void check_graph(const regal_graph *graph) {
  regal_graph_info info;
  regal_graph_describe(graph, &info);
  FUZZ_CHECK(info.ops > 0 && info.work_ns >= info.critical_ns);
  FUZZ_CHECK(info.tensor_bytes >= 0 && info.resident_bytes >= 0);
  for (size_t i = 0; i < regal_graph_note_count(graph); i++)
    FUZZ_CHECK(regal_graph_note(graph, i).text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  regal_context *context;
  regal_graph *graph = NULL;
  regal_options options;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  regal_options_init(&options);
  regal_hlo_text_detect(bytes, size);
  regal_status status =
      regal_hlo_text_load(context, "input", bytes, size, &options, &graph);
  fuzz_check_status(context, status);
  FUZZ_CHECK((status == REGAL_OK) == (graph != NULL));
  FUZZ_CHECK(regal_bytes_peak(context) <= BYTES_ALWAYS + size * BYTES_PER_BYTE);
  if (graph)
    check_graph(graph);
  regal_graph_free(graph);
  fuzz_close(context);
  return 0;
}
