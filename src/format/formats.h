/* SPDX-License-Identifier: Apache-2.0 */
/* The table of graph formats. A new one is one file (or a folder of format/, if
 * it is large) and one row in formats.c: docs/contributing.md has an example.
 */
#ifndef REGAL_FORMAT_FORMATS_H
#define REGAL_FORMAT_FORMATS_H

#include "base/text.h"
#include "graph/graph.h"

#define REGAL_MOST_ENDINGS 2

/* Whether the bytes, which are not compressed, are of this format. */
typedef bool regal_format_detect_fn(const void *bytes, size_t size);
/* `name` stands for the path in messages. `options` is not NULL. */
typedef regal_status regal_format_load_fn(regal_context *context,
                                          const char *name, const void *bytes,
                                          size_t size,
                                          const regal_options *options,
                                          regal_graph **graph);
/* Appends the graph to `out`. */
typedef regal_status regal_format_save_fn(regal_context *context,
                                          const char *path,
                                          const regal_graph *graph,
                                          regal_text *out);

typedef struct regal_format {
  const char *name; /* as --format has it */
  /* Of files. The first one is the ending that we write, and by which graphs
   * are found in folders and archives; the second serves only for writing. */
  const char *endings[REGAL_MOST_ENDINGS];
  regal_format_detect_fn *detect;
  regal_format_load_fn *load;
  regal_format_save_fn *save; /* NULL: the format is only read */
  /* What the reader heeds of the options of the group "reading": "a|b|c". Of
   * the others that are given a note says that they have no effect; only costs
   * are then put in by the names of ops. */
  const char *options;
} regal_format;

/* The rows in order; NULL behind the last. */
const regal_format *regal_format_at(size_t row);
/* A regal_graph_format is the number of a row: that row, or NULL when there is
 * none or it is only read. */
const regal_format *regal_format_written(regal_graph_format format);
/* The format in which a file is written, by its ending; false when none has
 * it. */
bool regal_format_by_ending(const char *path, regal_graph_format *format);

/* Reads a graph of any format; `options` may be NULL. */
regal_status regal_format_load(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               const regal_options *options,
                               regal_graph **graph);
/* The same for bytes that may be compressed. */
regal_status regal_format_load_packed(regal_context *context, const char *name,
                                      const void *bytes, size_t size,
                                      const regal_options *options,
                                      regal_graph **graph);

#endif
