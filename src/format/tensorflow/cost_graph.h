/* SPDX-License-Identifier: Apache-2.0 */
/* From a CostGraphDef to a graph. A file that TensorFlow wrote needs a number
 * of readings (docs/formats.md lists them), each a stage of its own, between
 * which the file's nodes are held as follows.
 */
#ifndef REGAL_FORMAT_TENSORFLOW_COST_GRAPH_H
#define REGAL_FORMAT_TENSORFLOW_COST_GRAPH_H

#include "base/memory/arena.h"
#include "base/text.h"
#include "cost_graph.pb-c.h"
#include "graph/graph.h"

typedef Regal__CostGraphDef__Node regal_cost_node;
typedef Regal__CostGraphDef__Node__InputInfo regal_cost_input;
typedef Regal__CostGraphDef__Node__OutputInfo regal_cost_output;

/* An output of a node, by the node's position in the file. */
typedef struct regal_source {
  uint32_t node; /* REGAL_NONE: the edge was dropped */
  uint32_t port;
} regal_source;

/* `after` waits for the end of `before`. */
typedef struct regal_wait {
  uint32_t before, after;
} regal_wait;

/* The choices of --aliases. */
enum {
  REGAL_ALIASES_IGNORE,
  REGAL_ALIASES_SHARE,
  REGAL_ALIASES_REUSE,
  REGAL_ALIASES_XLA
};

/* What the stages assumed, dropped and joined; becomes the graph's notes. */
typedef struct regal_cost_counts {
  uint64_t unmeasured;                /* outputs of negative size */
  uint64_t shaped, shaped_bytes;      /* outputs sized by shape and type */
  uint64_t constants, constant_bytes; /* outputs already counted resident */
  uint64_t cut;                       /* edges that left NextIteration nodes */
  uint64_t joined;                    /* pairs of _Send and _Recv */
  uint64_t merged;                    /* sources and sinks of later parts */
  uint64_t parts;                     /* parts without an edge between them */
  uint64_t reads, handles, variable_bytes; /* --variables resident */
  uint64_t aliases, alias_bytes;           /* --aliases share */
  uint64_t reusing, reusing_bytes;         /* --aliases reuse or xla */
  uint64_t larger;   /* aliases larger than what they alias */
  uint64_t results;  /* tensors that are final because of _retval_ nodes */
  uint64_t measured; /* nodes with a row of --costs */
} regal_cost_counts;

typedef struct regal_cost_graph {
  regal_context *context;
  const char *path;
  const regal_options *options;
  regal_arena arena; /* holds everything below */
  const Regal__CostGraphDef *def;
  const uint32_t *lines; /* [nodes] where each begins; NULL: not a text */

  uint32_t nodes, partitions;
  uint32_t *partition;     /* [nodes] */
  uint32_t *input_begin;   /* [nodes+1] as in the file, none merged */
  regal_source *input;     /* [inputs] */
  uint32_t *control_begin; /* [nodes+1] */
  uint32_t *control;       /* [controls] nodes to wait for */
  uint32_t *output_begin;  /* [nodes+1] */
  int64_t *bytes;          /* [outputs] */
  uint8_t *is_final;       /* [outputs] */
  uint8_t *may_reuse;      /* [outputs] may be written over an input */
  int64_t *run_ns;         /* [nodes] */
  int64_t *resident;       /* [nodes] */
  uint32_t *becomes;       /* [nodes] itself; the node into which it was merged;
                            * REGAL_NONE: dropped */
  regal_wait *waits;       /* control edges that are not in the file */
  size_t wait_count, wait_room;
  regal_cost_counts counts;
} regal_cost_graph;

/* -- Stages, in this order ------------------------------------------------- */

/* Bytes to def and lines, binary or text by content (read.c). */
regal_status regal_cost_read(regal_cost_graph *cost, const void *bytes,
                             size_t size);
/* Partitions, and ids to positions (ids.c). */
regal_status regal_cost_resolve(regal_cost_graph *cost);
/* Times and sizes (sizes.c). */
regal_status regal_cost_measure(regal_cost_graph *cost);
/* Times that the user has measured (measured.c). */
regal_status regal_cost_replace_times(regal_cost_graph *cost);
/* Back edges of while loops, with --loops cut (ids.c). */
void regal_cost_cut_loops(regal_cost_graph *cost);
/* Partitions made one (partitions.c). */
regal_status regal_cost_join(regal_cost_graph *cost);
/* Aliases: what each output shares, sizes that cannot be, and with --aliases
 * share one tensor for all of them (aliases.c). Between the two come
 * constants and variables, which need the former and change sizes. */
regal_status regal_cost_find_aliases(regal_cost_graph *cost, uint32_t **root);
regal_status regal_cost_share_aliases(regal_cost_graph *cost,
                                      const uint32_t *root);
/* Constants and variables that are resident (residents.c). */
void regal_cost_settle_constants(regal_cost_graph *cost);
regal_status regal_cost_settle_variables(regal_cost_graph *cost,
                                         const uint32_t *root);
/* What lives to the end (sizes.c). */
void regal_cost_mark_results(regal_cost_graph *cost);
/* Outputs that may be written over an input (reuse.c). */
void regal_cost_mark_reuse(regal_cost_graph *cost);
/* The counts as notes of the graph (notes.c). */
regal_status regal_cost_add_notes(const regal_cost_graph *cost,
                                  regal_graph *graph);

/* -- What the stages share --------------------------------------------------*/

static inline const regal_cost_node *
regal_cost_node_at(const regal_cost_graph *cost, uint32_t node) {
  return cost->def->node[node];
}

/* Number of a tensor among all outputs of the file. */
static inline uint32_t regal_cost_tensor(const regal_cost_graph *cost,
                                         regal_source source) {
  return cost->output_begin[source.node] + source.port;
}

/* Adds up; what overflows becomes too much for the builder, which says so. */
static inline void regal_cost_add_up(int64_t *total, int64_t amount) {
  if (__builtin_add_overflow(*total, amount, total))
    *total = INT64_MAX;
}

/* The input that an output aliases; node REGAL_NONE when it aliases none. */
regal_source regal_cost_aliased_input(const regal_cost_graph *cost,
                                      uint32_t node, size_t port);

/* Whether tensors that a node of this name reads are results of the graph. */
bool regal_cost_is_result_reader(const char *name);

/* "FILE:12: node "x": MESSAGE", or "FILE: node 3 "x": MESSAGE" where there are
 * no lines. */
regal_status regal_cost_fail(const regal_cost_graph *cost, uint32_t node,
                             const char *format, ...) REGAL_FORMAT(3, 4);

/* Adds a control edge that is not in the file; none from a node to itself. */
regal_status regal_cost_add_wait(regal_cost_graph *cost, uint32_t before,
                                 uint32_t after);

/* -- The format as a whole ------------------------------------------------- */

/* Whether the bytes begin as a binary file does, and are not a text that begins
 * with a line feed. */
bool regal_cost_is_binary(const void *bytes, size_t size);
/* Whether they may be a text; any word may begin one. */
bool regal_cost_is_text(const void *bytes, size_t size);

regal_status regal_cost_graph_load(regal_context *context, const char *path,
                                   const void *bytes, size_t size,
                                   const regal_options *options,
                                   regal_graph **graph);
/* Append the graph to `out`. `path` is for messages. */
regal_status regal_cost_graph_save_binary(regal_context *context,
                                          const char *path,
                                          const regal_graph *graph,
                                          regal_text *out);
regal_status regal_cost_graph_save_text(regal_context *context,
                                        const char *path,
                                        const regal_graph *graph,
                                        regal_text *out);

#endif
