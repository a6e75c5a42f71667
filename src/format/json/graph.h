/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as JSON; docs/formats.md and docs/graph.schema.json have the schema.
 */
#ifndef REGAL_FORMAT_JSON_GRAPH_H
#define REGAL_FORMAT_JSON_GRAPH_H

#include "base/text.h"
#include "graph/graph.h"

/* The members of the file, of an op, of an output and of a parameter; each list
 * ends with NULL. */
extern const char *const regal_json_graph_keys[];
extern const char *const regal_json_op_keys[];
extern const char *const regal_json_output_keys[];
extern const char *const regal_json_parameter_keys[];

regal_status regal_json_graph_load(regal_context *context, const char *name,
                                   const void *bytes, size_t size,
                                   const regal_options *options,
                                   regal_graph **graph);
/* Appends the graph to `out`, an op on each line, in the order of their ids and
 * with what is not the default: reading it gives the same graph, and writing
 * that the same bytes. `path` is for messages. */
regal_status regal_json_graph_save(regal_context *context, const char *path,
                                   const regal_graph *graph, regal_text *out);

#endif
