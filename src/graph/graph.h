/* SPDX-License-Identifier: Apache-2.0 */
/* The computation graph: flat arrays, 32-bit indices, immutable once made.
 *
 * Ops are numbered 0 .. ops-1 in a topological order (the file's own order, as
 * far as it is one). The tensors of an op are numbered consecutively, so that
 * port p of op j is tensor output_begin[j] + p. A CSR array X_begin has one
 * entry more than its rows: row i is X[X_begin[i]] .. X[X_begin[i+1] - 1].
 */
#ifndef REGAL_GRAPH_GRAPH_H
#define REGAL_GRAPH_GRAPH_H

#include "base/context.h"
#include "graph/rows.h"

/* A text that some ops have, in the graph's names; distinct ones are numbered.
 */
typedef struct regal_labels {
  uint32_t count;
  size_t *begin; /* [count] offset into names */
  uint32_t *of;  /* [ops] the number of its text, or REGAL_NONE; NULL when no
                    op has one */
} regal_labels;

struct regal_graph {
  regal_context *context;
  uint32_t ops, tensors, uses, controls;
  uint32_t file_nodes; /* nodes in the file; some may not be ops */

  int64_t *run_ns;          /* [ops] */
  int64_t *temporary_bytes; /* [ops] */
  int64_t *resident_bytes;  /* [ops] */
  uint32_t *id;             /* [ops] position in the file */
  uint32_t *op_of_id;       /* [file_nodes] or REGAL_NONE */
  size_t *name_begin;       /* [ops] offset into names */
  char *names;              /* zero-terminated, one after the other */

  uint32_t *output_begin; /* [ops+1] tensors that an op produces */
  uint32_t *producer;     /* [tensors] */
  int64_t *bytes;         /* [tensors] */
  uint8_t *is_final;      /* [tensors] lives to the end */
  uint8_t *may_reuse;     /* [tensors] may take over an input that dies */
  uint8_t *unknown;       /* [tensors] its bytes, 0, are not known */

  uint32_t *input_begin; /* [ops+1] */
  uint32_t *input;       /* [uses] distinct tensors that an op reads */
  uint32_t *use_begin;   /* [tensors+1] */
  uint32_t *consumer;    /* [uses] ops that read a tensor, ascending */

  uint32_t *control_in_begin;  /* [ops+1] */
  uint32_t *control_in;        /* [controls] ops that must end before */
  uint32_t *control_out_begin; /* [ops+1] */
  uint32_t *control_out;       /* [controls] ops that wait for this one */

  /* What several ops may read: each device that runs one of its readers holds
   * a parameter, once, for the whole plan. */
  uint32_t parameters;
  int64_t *parameter_bytes;  /* [parameters] */
  uint32_t *parameter_begin; /* [ops+1] */
  uint32_t *parameter;       /* parameters that an op reads, ascending */

  /* What the graph asks of the machine: a device (number or name) for an op,
   * and ops that share one. */
  regal_labels device, group;

  uint64_t checksum;
  uint32_t reusing_tensors; /* with may_reuse */
  int64_t work_ns, critical_ns, tensor_bytes;
  int64_t total_resident_bytes; /* of ops, and once each parameter read */

  /* Sizes that the reader could not find out. Where the user has given bytes
   * for them, no tensor is `unknown`, but no bound means anything either. */
  uint32_t unknown_tensors;
  uint64_t assumed_sizes;
  /* The order of ops is the schedule of the compiler that wrote the file. Its
   * peak on one device, and what the compiler itself reports as such (0: it
   * does not); both with resident bytes. */
  bool has_schedule;
  int64_t schedule_peak_bytes, reported_peak_bytes;
  char *source;      /* what messages call its file, or NULL */
  char *size_advice; /* what the user can do about unknown ones, or NULL */

  struct regal_note *notes; /* texts are owned */
  size_t note_count, note_capacity;
};

/* The arrays with their lengths, for what is done to all of them alike; names
 * and parameters come after these. */
#define REGAL_GRAPH_ARRAYS(ROW, graph)                                         \
  ROW(run_ns, (graph)->ops)                                                    \
  ROW(temporary_bytes, (graph)->ops)                                           \
  ROW(resident_bytes, (graph)->ops)                                            \
  ROW(id, (graph)->ops)                                                        \
  ROW(op_of_id, (graph)->file_nodes)                                           \
  ROW(name_begin, (graph)->ops)                                                \
  ROW(output_begin, (size_t)(graph)->ops + 1)                                  \
  ROW(producer, (graph)->tensors)                                              \
  ROW(bytes, (graph)->tensors)                                                 \
  ROW(is_final, (graph)->tensors)                                              \
  ROW(may_reuse, (graph)->tensors)                                             \
  ROW(unknown, (graph)->tensors)                                               \
  ROW(input_begin, (size_t)(graph)->ops + 1)                                   \
  ROW(input, (graph)->uses)                                                    \
  ROW(use_begin, (size_t)(graph)->tensors + 1)                                 \
  ROW(consumer, (graph)->uses)                                                 \
  ROW(control_in_begin, (size_t)(graph)->ops + 1)                              \
  ROW(control_in, (graph)->controls)                                           \
  ROW(control_out_begin, (size_t)(graph)->ops + 1)                             \
  ROW(control_out, (graph)->controls)                                          \
  ROW(parameter_bytes, (graph)->parameters)                                    \
  ROW(parameter_begin, (size_t)(graph)->ops + 1)

static inline const char *regal_graph_name(const regal_graph *graph,
                                           uint32_t op) {
  return graph->names + graph->name_begin[op];
}

/* The op's text, or NULL. */
static inline const char *regal_graph_label(const regal_graph *graph,
                                            const regal_labels *labels,
                                            uint32_t op) {
  if (!labels->of || labels->of[op] == REGAL_NONE)
    return NULL;
  return graph->names + labels->begin[labels->of[op]];
}

/* Fails unless all names are UTF-8, which `format` needs; `path` is for the
 * message. */
regal_status regal_graph_check_utf8(regal_context *context, const char *path,
                                    const regal_graph *graph,
                                    const char *format);

/* Fails if a tensor of `chosen` ([tensors], such as graph->unknown) is chosen:
 * "2 tensors of unknown size WHAT: NAMES; ADVICE". */
regal_status regal_graph_check_sizes(regal_context *context,
                                     const regal_graph *graph,
                                     const uint8_t *chosen, const char *what);

/* Adds a note; the text is formatted and copied. */
regal_status regal_graph_add_note(regal_graph *graph, regal_note_kind kind,
                                  const char *format, ...) REGAL_FORMAT(3, 4);

/* -- Used by readers, which know more about a file than the public builder - */

/* Where finish says that a node stands: writes "model.pb:12" or the like for
 * the id-th added op, which may be the one that is just being added. NULL:
 * messages name ops only. */
typedef void (*regal_locate_fn)(const void *state, uint32_t id, char *text,
                                size_t capacity);
void regal_builder_set_locator(regal_builder *builder, regal_locate_fn locate,
                               const void *state);
/* The next op's position in the file, when it is not the count of ops so far
 * (each position once, in any order), and the number of nodes in the file. */
void regal_builder_set_next_id(regal_builder *builder, uint32_t id);
void regal_builder_set_file_nodes(regal_builder *builder, uint32_t nodes);
/* Nobody knows the bytes of the output that was added last. */
void regal_builder_set_unknown(regal_builder *builder);
/* Finishes the graph if `status`, that of filling the builder, is fine;
 * otherwise frees the builder and hands the status on. */
static inline regal_status regal_builder_end(regal_builder *builder,
                                             regal_status status,
                                             regal_graph **graph) {
  if (status == REGAL_OK)
    return regal_builder_finish(builder, graph);
  regal_builder_free(builder);
  return status;
}

/* A 64-bit checksum of all that makes a graph what it is: names, positions,
 * costs and edges. The same on every machine; notes do not count. */
uint64_t regal_graph_checksum(const regal_graph *graph);

/* A copy that may be changed before it is used: everything except the notes.
 * O(size of the graph). */
regal_status regal_graph_copy(regal_context *context, const regal_graph *graph,
                              regal_graph **copy);

/* Computes totals, critical path and checksum anew, after times or sizes were
 * changed; REGAL_BAD_INPUT when a sum is too large. */
regal_status regal_graph_settle(regal_graph *graph);

#endif
