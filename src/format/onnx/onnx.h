/* SPDX-License-Identifier: Apache-2.0 */
/* An ONNX model on its way to a graph. docs/onnx.md says what is made of it.
 *
 * The stages, each in its file:
 *   read.c     bytes -> message, without the contents of large tensors
 *   dims.c     numbers for symbolic dimensions, input_shapes.c for nameless
 *   walk.c     each node: folded, a view, or an op with its run time
 *   infer.c    shapes that the file does not have, and walk again
 *   advice.c   too many sizes that remain unknown, and what to do about it
 *   measured.c run times measured by the user
 *   build.c    the graph
 *   notes.c    what was done, in words
 *
 * A value is what ONNX knows by a name: an input, an initializer or a node's
 * output. Names are looked up in the graph that a node is in (a scope: the main
 * graph, or a body of If, Loop or Scan) and in the ones around it.
 */
#ifndef REGAL_FORMAT_ONNX_ONNX_H
#define REGAL_FORMAT_ONNX_ONNX_H

#include "base/memory/arena.h"
#include "base/names.h"
#include "format/costs/roofline.h"
#include "format/onnx_shapes/shapes.h"
#include "graph/graph.h"
#include "onnx.pb-c.h"

typedef RegalOnnx__ModelProto regal_onnx_model;
typedef RegalOnnx__GraphProto regal_onnx_graph;
typedef RegalOnnx__NodeProto regal_onnx_node;
typedef RegalOnnx__AttributeProto regal_onnx_attribute;
typedef RegalOnnx__TensorProto regal_onnx_tensor;
typedef RegalOnnx__TypeProto regal_onnx_type_proto;

#define REGAL_ONNX_MAIN 0 /* the scope of the main graph */

typedef struct regal_onnx_value {
  const char *name;
  const regal_onnx_tensor *tensor; /* a constant's content, if in the file */
  int64_t *dims;                   /* [rank], if shaped */
  int64_t bytes;                   /* 0 while unknown */
  uint32_t scope, rank;
  uint32_t node;      /* of its graph, that makes it; REGAL_NONE: none does */
  uint32_t root;      /* the value in whose memory it is, mostly itself */
  uint32_t port;      /* of a tensor: which output of its op */
  uint32_t parameter; /* of a constant: in the builder, or REGAL_NONE */
  uint8_t type;       /* TensorProto.DataType; 0: unknown */
  bool made;          /* false: so far only its type is known */
  bool no_tensor;     /* a sequence, a map or an optional value */
  bool shaped;        /* dims, type and bytes are known */
  bool constant;      /* known before the model runs */
  bool is_final;
  bool own_shape; /* the shape is our own inference's */
  bool counted;   /* among those whose size matters */
} regal_onnx_value;

/* What a node, or all of a body, computes. */
typedef struct regal_onnx_work {
  double flops;
  int64_t run_ns;
  double launch_ns;        /* of it, for launches alone */
  int64_t temporary_bytes; /* held by a body while it runs */
  bool is_op;              /* else folded, or a view */
  bool may_reuse;
} regal_onnx_work;

typedef struct regal_onnx_op {
  regal_onnx_work work;
  size_t read_begin, read_end; /* of reads */
} regal_onnx_op;

/* Up to a few names, to be named in a note, and how many there are in all. */
#define REGAL_ONNX_NAMED 5
typedef struct regal_onnx_names {
  const char *name[REGAL_ONNX_NAMED];
  uint64_t times[REGAL_ONNX_NAMED];
  uint64_t count;
} regal_onnx_names;

typedef struct regal_onnx_counts {
  uint64_t folded, views;
  regal_onnx_names unknown_types; /* op types without a row in the table */
  regal_onnx_names unshaped_ops;  /* ops whose FLOPs need a shape */
  uint64_t sized;                 /* values whose sizes matter */
  regal_onnx_names missing;       /* of these, tensors without a shape */
  regal_onnx_names no_tensors;    /* of these, sequences and maps */
  regal_onnx_names unbounded;     /* loops of unknown length */
  double flops;
} regal_onnx_counts;

/* --dim, and the symbolic dimensions of inputs that it does not name. */
typedef struct regal_onnx_size {
  const char *name;
  int64_t value;
  bool given; /* else counted as 1 */
  bool used;
} regal_onnx_size;

/* --shape: an input and its shape. */
typedef struct regal_onnx_input_shape {
  const char *name;
  int64_t *dims; /* [rank] */
  size_t rank;
  bool used;
} regal_onnx_input_shape;

typedef struct regal_onnx {
  regal_context *context;
  const char *path;
  const regal_options *options;
  regal_roofline roofline;
  bool own_shapes;    /* infer those of simple ops ourselves */
  bool assumes_sizes; /* unknown ones are --assume-unknown-bytes */
  regal_arena arena;  /* the message, dims: until shapes are inferred */
  regal_arena keep;   /* until the end */
  regal_onnx_model *model;
  regal_onnx_budget budget; /* of inference */

  regal_onnx_size *sizes;
  size_t size_count, size_capacity;
  regal_onnx_input_shape *shapes;
  size_t shape_count, shape_capacity;
  uint64_t nameless; /* dimensions of inputs with neither number nor name */
  const char *nameless_shape; /* "x=N,3,N,N", of the first such input */

  regal_onnx_value *values;
  size_t value_count, value_capacity;
  regal_names names; /* values by scope and name */
  uint32_t *parents; /* scope -> the scope around it */
  size_t scope_count, scope_capacity;

  uint32_t *order;    /* [nodes] of the main graph, as they are walked */
  regal_onnx_op *ops; /* [nodes] of the main graph */
  uint32_t *reads;    /* tensors and constants that ops read */
  size_t read_count, read_capacity;
  regal_onnx_counts counts;
  uint64_t measured, not_measured; /* ops with and without a row of --costs */

  /* Where the walk stands, for messages. */
  const regal_onnx_graph *graph;
  const regal_onnx_node *node;
  uint32_t node_index;
} regal_onnx;

/* Whether the bytes are an ONNX model rather than any other graph. */
bool regal_onnx_detect(const void *bytes, size_t size);
regal_status regal_onnx_load(regal_context *context, const char *path,
                             const void *bytes, size_t size,
                             const regal_options *options, regal_graph **graph);

/* -- Writing (reorder.c) --------------------------------------------------- */

/* Where a node of the main graph runs, and at which step; REGAL_NONE: it is no
 * op. */
typedef struct regal_onnx_place {
  uint32_t step, device;
} regal_onnx_place;

typedef struct regal_onnx_order {
  const regal_onnx_place *places; /* [ids] */
  const uint32_t *by_step;        /* [steps] an id, or REGAL_NONE */
  uint32_t ids, steps;            /* ids: nodes, and one for the inputs */
} regal_onnx_order;

/* Appends the model with its nodes in the order of the steps. */
regal_status regal_onnx_reorder(regal_context *context, const char *name,
                                const void *bytes, size_t size,
                                const regal_onnx_order *order, regal_text *out);

/* -- Stages ---------------------------------------------------------------- */

regal_status regal_onnx_read(regal_onnx *onnx, const void *bytes, size_t size);
/* Reads --dim and --shape, and puts numbers in place of names; on a model with
 * inferred shapes the latter alone. */
regal_status regal_onnx_read_sizes(regal_onnx *onnx);
regal_status regal_onnx_read_shapes(regal_onnx *onnx);
regal_status regal_onnx_set_sizes(regal_onnx *onnx);
regal_status regal_onnx_check_sizes(const regal_onnx *onnx);
/* Puts the shapes of --shape into the model's inputs. */
regal_status regal_onnx_set_shapes(regal_onnx *onnx);
/* Fills values, ops, reads and counts again. */
regal_status regal_onnx_walk(regal_onnx *onnx);
/* Has ONNX infer what is missing, as far as it can. */
regal_status regal_onnx_infer(regal_onnx *onnx);
/* Refuses a model of which too many sizes are unknown. */
regal_status regal_onnx_check_known(const regal_onnx *onnx);
/* Tells the graph what is unknown or assumed, and what to do about it. */
regal_status regal_onnx_add_advice(const regal_onnx *onnx, regal_graph *graph);
regal_status regal_onnx_measure(regal_onnx *onnx);
regal_status regal_onnx_build(regal_onnx *onnx, regal_graph **graph);
regal_status regal_onnx_add_notes(const regal_onnx *onnx, regal_graph *graph);

/* -- Values (values.c) ------------------------------------------------ */

void regal_onnx_clear_values(regal_onnx *onnx);
regal_status regal_onnx_open_scope(regal_onnx *onnx, uint32_t parent,
                                   uint32_t *scope);
/* The value of this name in the scope itself; REGAL_NONE: there is none. */
uint32_t regal_onnx_local(const regal_onnx *onnx, uint32_t scope,
                          const char *name);
/* The same, there or around it; only values that are made already. */
uint32_t regal_onnx_lookup(const regal_onnx *onnx, uint32_t scope,
                           const char *name);
/* The value of this name in the scope, new or with its type only. */
regal_status regal_onnx_declare(regal_onnx *onnx, uint32_t scope,
                                const char *name, uint32_t *value);
/* Shapes and sizes. What does not say all leaves the value as it is. */
regal_status regal_onnx_set_type(regal_onnx *onnx, uint32_t value,
                                 const regal_onnx_type_proto *type);
regal_status regal_onnx_set_shape(regal_onnx *onnx, uint32_t value, int type,
                                  const int64_t *dims, size_t rank);
/* The size of this value matters: counts it, once, and what is not known of
 * it. */
void regal_onnx_need_size(regal_onnx *onnx, uint32_t value);
/* Bits of an element, 0 for an unknown type. */
unsigned regal_onnx_bits(int type);
/* The first number of a constant, if it can be read. */
bool regal_onnx_integer(const regal_onnx_value *value, int64_t *number);

/* -- What the stages share ------------------------------------------------- */

/* "FILE: node 3 "x": MESSAGE", for the node where the walk stands. */
regal_status regal_onnx_fail(const regal_onnx *onnx, const char *format, ...)
    REGAL_FORMAT(2, 3);
bool regal_onnx_is(const regal_onnx_node *node, const char *op_type);
/* Nodes need no name; then their first output's stands for it. */
const char *regal_onnx_node_name(const regal_onnx_node *node);
/* The attribute of this name, or NULL. */
const regal_onnx_attribute *regal_onnx_attribute_of(const regal_onnx_node *node,
                                                    const char *name);
int64_t regal_onnx_attribute_int(const regal_onnx_node *node, const char *name,
                                 int64_t fallback);
/* Counts a name; those that occur again are named once. */
void regal_onnx_count(regal_onnx_names *names, const char *name);
/* "Foo" (3 times), "Bar" and 4 more; `most` of them at most. */
void regal_onnx_list(const regal_onnx_names *names, size_t most,
                     regal_text *text);

/* -- Dimensions (dims.c) --------------------------------------------------- */

typedef RegalOnnx__TensorShapeProto__Dimension regal_onnx_dimension;

/* A size from 1 to 2^40; false for anything else. The text ends at `end`. */
bool regal_onnx_parse_size(const char *text, const char *end, int64_t *size);
regal_onnx_size *regal_onnx_find_size(const regal_onnx *onnx, const char *name);
regal_status regal_onnx_add_size(regal_onnx *onnx, const char *name,
                                 size_t length, int64_t value, bool given);
/* Of a dimension such as "floor(n/2) + 1", of dimensions that are given; false
 * for anything else (expressions.c). */
bool regal_onnx_compute_size(const regal_onnx *onnx, const char *expression,
                             int64_t *size);
bool regal_onnx_dim_is_number(const regal_onnx_dimension *dim);
/* "?" is no name: twice, it is two dimensions. */
bool regal_onnx_dim_is_named(const regal_onnx_dimension *dim);
void regal_onnx_dim_set(regal_onnx_dimension *dim, int64_t value);

#endif
