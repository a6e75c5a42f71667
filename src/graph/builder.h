/* SPDX-License-Identifier: Apache-2.0 */
/* What a builder holds until finish: plain lists in the order of adding.
 *
 * Inside the builder an op is its number in the order of adding; its position
 * in the file is `position`, and only finish turns both into the graph's own
 * numbers.
 */
#ifndef REGAL_GRAPH_BUILDER_H
#define REGAL_GRAPH_BUILDER_H

#include "graph/graph.h"

/* Sums of times and of bytes stay below this, so that the fast code may add
 * two of them without looking. */
#define REGAL_MOST_TOTAL (INT64_C(1) << 62)

typedef struct regal_built_op {
  int64_t run_ns, temporary_bytes, resident_bytes;
  size_t name; /* offset into names */
  uint32_t position, outputs;
} regal_built_op;

typedef struct regal_built_output {
  int64_t bytes;
  uint32_t op, port;
  bool is_final, unknown;
} regal_built_output;

typedef struct regal_built_input {
  uint32_t consumer, producer, port;
} regal_built_input;

typedef struct regal_built_control {
  uint32_t before, after;
} regal_built_control;

typedef struct regal_built_parameter_use {
  uint32_t op, parameter;
} regal_built_parameter_use;

typedef struct regal_built_mark {
  uint32_t op, port;
} regal_built_mark;

typedef struct regal_built_label {
  size_t text; /* offset into names */
  uint32_t op;
} regal_built_label;

struct regal_builder {
  regal_context *context;
  regal_built_op *ops;
  regal_built_output *outputs;
  regal_built_input *inputs;
  regal_built_control *controls;
  int64_t *parameters; /* bytes of each */
  regal_built_parameter_use *parameter_uses;
  regal_built_mark *marks;             /* outputs that may reuse an input */
  regal_built_label *devices, *groups; /* that ops ask for */
  char *names; /* zero-terminated, one after the other */
  size_t op_count, output_count, input_count, control_count, name_bytes;
  size_t op_capacity, output_capacity, input_capacity, control_capacity;
  size_t name_capacity;
  size_t parameter_count, parameter_use_count, mark_count;
  size_t parameter_capacity, parameter_use_capacity, mark_capacity;
  size_t device_count, device_capacity, group_count, group_capacity;
  int64_t work_ns, resident_bytes;
  int64_t total_bytes; /* tensors, temporary, resident, and parameters on
                          as many devices as there can be */
  uint32_t next_id;    /* REGAL_NONE: the count of ops so far */
  uint32_t file_nodes; /* 0: as many as the positions need */
  regal_locate_fn locate;
  const void *locate_state;
};

static inline const char *regal_built_name(const regal_builder *builder,
                                           uint32_t op) {
  return builder->names + builder->ops[op].name;
}

/* Fails with "LOCATION: message", or without a location when there is no
 * locator or `op` is REGAL_NONE. */
regal_status regal_builder_fail(const regal_builder *builder, uint32_t op,
                                regal_status status, const char *format, ...)
    REGAL_FORMAT(4, 5);

/* Checks the counts and the ends of all edges, and that there is an op. */
regal_status regal_builder_check(const regal_builder *builder);
/* The same for what reads parameters and for marks. */
regal_status regal_builder_check_parameters(const regal_builder *builder);
regal_status regal_builder_check_marks(const regal_builder *builder);

/* Makes room for one more op, output, ... in the builder's list of them, if it
 * can still be numbered; `what` is their name in messages. */
#define REGAL_BUILDER_ROOM(builder, part, what)                                \
  regal_builder_room((builder), (what), (builder)->part##_count,               \
                     (void **)&(builder)->part##s,                             \
                     &(builder)->part##_capacity, sizeof *(builder)->part##s)
regal_status regal_builder_room(const regal_builder *builder, const char *what,
                                size_t count, void **list, size_t *capacity,
                                size_t size);

/* Makes room for `size` more bytes of names; false when memory is out. */
bool regal_builder_reserve_text(regal_builder *builder, size_t size);

/* Lay out a graph whose ops and outputs are in place; `number` turns an added
 * op into the graph's. */
regal_status regal_builder_fill_parameters(const regal_builder *builder,
                                           const uint32_t *number,
                                           regal_graph *graph);
regal_status regal_builder_fill_labels(const regal_builder *builder,
                                       const uint32_t *number,
                                       regal_graph *graph);
void regal_builder_fill_marks(const regal_builder *builder,
                              const uint32_t *number, regal_graph *graph);

/* A name in quotes, for messages: long ones are shortened in the middle and
 * control characters, which would break the line, become '?'. */
#define REGAL_QUOTED_CAPACITY 128
typedef struct regal_quoted {
  char text[REGAL_QUOTED_CAPACITY];
} regal_quoted;
regal_quoted regal_quote(const char *name);

#endif
