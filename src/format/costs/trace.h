/* SPDX-License-Identifier: Apache-2.0 */
/* Run times from a Chrome trace of torch.profiler: --costs trace.json.
 *
 * The trace has an event for each call of an op of ATen, one inside the other
 * (aten::conv2d calls aten::convolution), with the shapes of its inputs; on a
 * GPU also the launches, and the kernels that they started. A graph of
 * regal.torch.capture has the same ops in the same order, but knows neither the
 * events nor all shapes. So:
 *
 *   trace_events.c  the events that matter, out of the JSON
 *   trace_nest.c    which event is inside which, and whose kernels are whose
 *   trace_names.c   what the op of a graph and an event have in common
 *   trace_align.c   the order: which event is which op
 *   trace_apply.c   all of it together, for a graph
 */
#ifndef REGAL_FORMAT_COSTS_TRACE_H
#define REGAL_FORMAT_COSTS_TRACE_H

#include "base/names.h"
#include "format/json/json.h"
#include "graph/graph.h"

typedef enum regal_trace_kind {
  REGAL_TRACE_OP,      /* a call of an op, on the host */
  REGAL_TRACE_LAUNCH,  /* a call of the runtime, which may start a kernel */
  REGAL_TRACE_KERNEL,  /* on the device */
  REGAL_TRACE_OUTSIDE, /* a step of an optimizer, loading of data: what is
                          inside is not the model */
  REGAL_TRACE_KINDS
} regal_trace_kind;

#define REGAL_TRACE_NO_ID INT64_C(-1)

typedef struct regal_trace_event {
  const char *name, *process, *thread; /* in the document */
  int64_t start_ns, end_ns;
  int64_t device_ns;             /* of the kernels that it started */
  int64_t external, correlation; /* ids, or REGAL_TRACE_NO_ID */
  /* Events, or REGAL_NONE: what it is inside of, the op that it is or is inside
   * of, and the outermost event around it that counts as a call. */
  uint32_t parent, op, call;
  uint32_t node;                 /* in the document */
  uint32_t key;                  /* of its name (trace_names.c) */
  uint32_t size_begin, size_end; /* of its inputs, in regal_trace.sizes */
  uint8_t kind;                  /* regal_trace_kind */
  bool is_outside;               /* of the model */
} regal_trace_event;

/* An input of an op. */
typedef struct regal_trace_size {
  int64_t elements;
  int64_t width; /* bytes of an element; 0: not known */
} regal_trace_size;

typedef struct regal_trace {
  regal_context *context;
  const char *path; /* for messages; not owned */
  regal_json json;
  regal_trace_event *events;
  size_t count, capacity;
  regal_trace_size *sizes;
  size_t size_count, size_capacity;
  bool has_kernels;
} regal_trace;

/* The trace in the file at `path`, which is kept in `trace` until it is freed;
 * `*is_trace` is false, and `trace` holds nothing, where the file is no JSON
 * document. */
regal_status regal_trace_open(regal_context *context, const char *path,
                              regal_trace *trace, bool *is_trace);
/* The same for a document in memory. */
regal_status regal_trace_parse(regal_context *context, const char *path,
                               const char *bytes, size_t size,
                               regal_trace *trace);
void regal_trace_free(regal_trace *trace);

/* Puts the times of the trace into the ops of the graph, with notes on how many
 * there are. An error if there is none. */
regal_status regal_trace_apply(regal_trace *trace, regal_graph *graph);

/* -- Parts ----------------------------------------------------------------- */

/* Fills events and sizes from the document. */
regal_status regal_trace_collect(regal_trace *trace);

/* Sorts the events by time, sets parents, and gives each kernel's time to the
 * op that launched it. */
regal_status regal_trace_nest(regal_trace *trace);

#define REGAL_TRACE_NAME 128

/* What is left of a name of the trace or of a graph without namespace, number
 * and the mark of ops that work in place; families of ops have one name. Of an
 * op of a graph without its number as well, if `numbered` is false. */
void regal_trace_plain_name(const char *name, bool numbered,
                            char plain[REGAL_TRACE_NAME]);

/* The calls of a trace in the order of time against the ops of a graph. */
typedef struct regal_alignment {
  regal_context *context;
  const regal_trace *trace;
  const regal_graph *graph;
  const uint32_t *ops; /* [op_count] of the graph, with a key */
  const uint32_t *op_key;
  uint32_t op_count;
  const uint32_t *calls; /* [call_count] events */
  uint32_t call_count;
  uint32_t *match; /* [call_count] a place in `ops`, or REGAL_NONE */
} regal_alignment;

/* Sets `match`. */
regal_status regal_trace_align(const regal_alignment *alignment);

#endif
