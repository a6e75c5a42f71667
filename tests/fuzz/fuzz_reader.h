/* SPDX-License-Identifier: Apache-2.0 */
/* What targets of one graph format share: whatever an input may be, it is read
 * as that format. */
#ifndef REGAL_TESTS_FUZZ_READER_H
#define REGAL_TESTS_FUZZ_READER_H

#include "format/formats.h"
#include "fuzz/fuzz.h"

typedef struct fuzz_reader {
  regal_format_detect_fn *detect;
  regal_format_load_fn *load;
  /* What a reader may hold for each byte of a file, and whatever the size. */
  size_t bytes_per_byte, bytes_always;
} fuzz_reader;

static inline void fuzz_check_graph(const regal_graph *graph) {
  regal_graph_info info;
  regal_graph_describe(graph, &info);
  FUZZ_CHECK(info.ops > 0 && info.work_ns >= info.critical_ns);
  FUZZ_CHECK(info.tensor_bytes >= 0 && info.resident_bytes >= 0);
  for (size_t i = 0; i < regal_graph_note_count(graph); i++)
    FUZZ_CHECK(regal_graph_note(graph, i).text[0]);
}

static inline int fuzz_read(const fuzz_reader *reader, const uint8_t *bytes,
                            size_t size) {
  regal_context *context;
  regal_graph *graph = NULL;
  regal_options options;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  regal_options_init(&options);
  reader->detect(bytes, size);
  regal_status status =
      reader->load(context, "input", bytes, size, &options, &graph);
  fuzz_check_status(context, status);
  FUZZ_CHECK((status == REGAL_OK) == (graph != NULL));
  FUZZ_CHECK(regal_bytes_peak(context) <=
             reader->bytes_always + size * reader->bytes_per_byte);
  if (graph)
    fuzz_check_graph(graph);
  regal_graph_free(graph);
  fuzz_close(context);
  return 0;
}

#endif
