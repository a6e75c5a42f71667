/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fuzz/graph_target.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A pipe takes what is written whole, up to this. */
#define PIPE_BYTES (1 << 20)
/* Graphs whose text could be larger than that are not written: JSON repeats
 * names. */
#define MOST_BYTES_TO_WRITE (1 << 13)
#define MOST_BYTES_TO_WRITE_JSON (1 << 11)
/* What a reader may hold for each byte of a file that is not compressed, and
 * whatever the size. */
#define BYTES_PER_BYTE 1000
#define BYTES_ALWAYS (1 << 20)

static bool is_compressed(const uint8_t *bytes, size_t size) {
  static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
  return (size >= sizeof gzip && !memcmp(bytes, gzip, sizeof gzip)) ||
         (size >= sizeof zstd && !memcmp(bytes, zstd, sizeof zstd));
}

/* Writes the graph into memory that the caller frees. */
static uint8_t *written(regal_context *context, const regal_graph *graph,
                        regal_graph_format format, size_t *size) {
  int ends[2];
  FUZZ_CHECK(pipe(ends) == 0);
  FUZZ_CHECK(fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) >= PIPE_BYTES);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
  FUZZ_CHECK(regal_graph_save(context, graph, path, format) == REGAL_OK);
  int waiting;
  FUZZ_CHECK(ioctl(ends[0], FIONREAD, &waiting) == 0);
  *size = (size_t)waiting;
  uint8_t *bytes = malloc(*size + 1);
  FUZZ_CHECK(bytes && read(ends[0], bytes, *size) == waiting);
  close(ends[0]);
  close(ends[1]);
  return bytes;
}

static void check_round_trip(regal_context *context, const regal_graph *graph,
                             regal_graph_format format) {
  size_t size, again_size;
  uint8_t *bytes = written(context, graph, format, &size);
  regal_options options;
  regal_options_init(&options);
  regal_graph *again;
  FUZZ_CHECK(regal_graph_load_bytes(context, "again", bytes, size, &options,
                                    &again) == REGAL_OK);
  uint8_t *again_bytes = written(context, again, format, &again_size);
  FUZZ_CHECK(size == again_size && !memcmp(bytes, again_bytes, size));
  regal_graph_info a, b;
  regal_graph_describe(graph, &a);
  regal_graph_describe(again, &b);
  FUZZ_CHECK(a.ops == b.ops && a.tensors == b.tensors);
  FUZZ_CHECK(a.data_edges == b.data_edges);
  FUZZ_CHECK(a.control_edges == b.control_edges);
  FUZZ_CHECK(a.work_ns == b.work_ns && a.critical_ns == b.critical_ns);
  FUZZ_CHECK(a.tensor_bytes == b.tensor_bytes);
  FUZZ_CHECK(a.resident_bytes == b.resident_bytes);
  FUZZ_CHECK(a.parameters == b.parameters);
  FUZZ_CHECK(a.reusing_tensors == b.reusing_tensors);
  FUZZ_CHECK(a.checksum == b.checksum || a.file_nodes != a.ops);
  regal_graph_free(again);
  free(again_bytes);
  free(bytes);
}

static void read_once(const uint8_t *bytes, size_t size,
                      const regal_options *options, regal_graph_format format) {
  regal_context *context;
  regal_graph *graph = NULL;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  regal_status status =
      regal_graph_load_bytes(context, "input", bytes, size, options, &graph);
  fuzz_check_status(context, status);
  FUZZ_CHECK((status == REGAL_OK) == (graph != NULL));
  FUZZ_CHECK(is_compressed(bytes, size) ||
             regal_bytes_peak(context) <= BYTES_ALWAYS + size * BYTES_PER_BYTE);
  if (graph && size <= MOST_BYTES_TO_WRITE)
    check_round_trip(context, graph,
                     format == REGAL_GRAPH_JSON ? REGAL_GRAPH_BINARY : format);
  if (graph && size <= MOST_BYTES_TO_WRITE_JSON && format == REGAL_GRAPH_JSON)
    check_round_trip(context, graph, format);
  regal_graph_free(graph);
  fuzz_close(context);
}

void fuzz_graph(const uint8_t *bytes, size_t size, regal_graph_format format) {
  regal_options options;
  regal_options_init(&options);
  read_once(bytes, size, &options, format);
  options.loops = 1;                         /* cut */
  options.variables = 1;                     /* resident */
  options.aliases = 1 + (int64_t)(size % 3); /* share, reuse or xla */
  read_once(bytes, size, &options, format);
}
