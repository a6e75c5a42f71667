/* SPDX-License-Identifier: Apache-2.0 */
/* The table of graph formats. A new one is a folder of format/ with a header
 * that declares its functions, and a row in formats.c. One that can be written
 * also needs a value in regal_graph_format and a choice of --format.
 */
#ifndef REGAL_FORMAT_FORMATS_H
#define REGAL_FORMAT_FORMATS_H

#include "base/text.h"
#include "graph/graph.h"

#define REGAL_MOST_ENDINGS 2

typedef struct regal_format {
  const char *name; /* as --format has it */
  /* Of files. The first one is the ending that we write, and by which graphs
   * are found in folders and archives; the second serves only for writing. */
  const char *endings[REGAL_MOST_ENDINGS];
  /* Whether the bytes, which are not compressed, are of this format. */
  bool (*detect)(const void *bytes, size_t size);
  /* `name` stands for the path in messages. `options` is not NULL. */
  regal_status (*load)(regal_context *context, const char *name,
                       const void *bytes, size_t size,
                       const regal_options *options, regal_graph **graph);
  /* Appends the graph to `out`; NULL: the format is only read. */
  regal_status (*save)(regal_context *context, const char *path,
                       const regal_graph *graph, regal_text *out);
  regal_graph_format written_as; /* where there is `save` */
} regal_format;

/* The rows in order; NULL behind the last. */
const regal_format *regal_format_at(size_t row);
/* The row that is written as `format`; NULL when there is none. */
const regal_format *regal_format_written(regal_graph_format format);
/* The format in which a file is written, by its ending; NULL when none has
 * it. */
const regal_format *regal_format_by_ending(const char *path);

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
