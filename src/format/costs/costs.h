/* SPDX-License-Identifier: Apache-2.0 */
/* Run times that the user has measured: --costs, a CSV of name,microseconds.
 * They replace those of the file, whatever its format is.
 */
#ifndef REGAL_FORMAT_COSTS_COSTS_H
#define REGAL_FORMAT_COSTS_COSTS_H

#include "graph/graph.h"

#define REGAL_NOT_MEASURED INT64_C(-1)

/* Reads the rows of the file at `path` into run_ns: [count], of the node with
 * this name, or REGAL_NOT_MEASURED. A name that is not among the names, or more
 * than once, is an error, which calls them nodes of `whose`. */
regal_status regal_costs_read(regal_context *context, const char *path,
                              const char *const *names, uint32_t count,
                              const char *whose, int64_t *run_ns);

/* The same for the ops of a graph that has been made; its totals and its
 * checksum are made anew. */
regal_status regal_costs_apply(regal_context *context, const char *path,
                               regal_graph *graph);

/* "run times of 3 ops as measured in ops.csv". */
regal_status regal_costs_add_note(regal_graph *graph, uint64_t measured,
                                  const char *path);

#endif
