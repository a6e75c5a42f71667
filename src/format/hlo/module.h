/* SPDX-License-Identifier: Apache-2.0 */
/* A module of XLA's HLO, as both of its readers make it (format/hlo_proto,
 * format/hlo_text), and from which the graph is made.
 *
 * A module is a list of computations, one of which is the entry. A computation
 * is a list of instructions, here in the order in which they run: XLA's
 * schedule, where the module has one. Operands are positions in that list, and
 * come before what reads them. Everything is in the module's arena.
 *
 *   reader -> regal_hlo_module
 *     check.c    references, shapes, calls: what the rest may rely on
 *     work.c     FLOPs, bytes and run times
 *     share.c    which outputs XLA writes over an operand
 *     flow.c     one computation: ops, tensors, who reads what
 *     peak.c     the peak of a body: temporary bytes of what calls it
 *     build.c    the entry as a regal_graph
 */
#ifndef REGAL_FORMAT_HLO_MODULE_H
#define REGAL_FORMAT_HLO_MODULE_H

#include "base/memory/arena.h"
#include "format/hlo/opcodes.h"
#include "graph/graph.h"

/* Tuples nest no deeper. */
#define REGAL_HLO_DEPTH 32

/* -- Shapes: shapes.c ------------------------------------------------------ */

/* Numbers of XLA's PrimitiveType that have rules of their own. */
enum {
  REGAL_HLO_TUPLE_TYPE = 13,
  REGAL_HLO_OPAQUE_TYPE = 14,
  REGAL_HLO_TOKEN_TYPE = 17,
  REGAL_HLO_BUFFER_TYPE = 34
};

typedef struct regal_hlo_shape regal_hlo_shape;
struct regal_hlo_shape {
  uint32_t type; /* XLA's number */
  uint32_t rank, parts, tiled;
  int64_t *dims;           /* [rank] */
  int64_t *minor_to_major; /* [rank], or NULL: the last dimension first */
  int64_t *tile;           /* [tiled] of the minor dimensions, which it pads */
  int64_t element_bits;    /* that the layout gives an element; 0: the type's */
  regal_hlo_shape *part;   /* [parts] of a tuple */

  /* By regal_hlo_measure. */
  int64_t bytes;   /* of all leaves */
  double elements; /* of all leaves */
  uint32_t leaves; /* parts of parts that are no tuples */
  uint32_t first;  /* leaf of the tuple that it is a part of */
};

/* XLA's number of "f32"; 0: there is no such type. */
uint32_t regal_hlo_type_named(const char *name, size_t length);
/* Fills in bytes, elements and leaves. NULL, or what is wrong with the shape.
 */
const char *regal_hlo_measure(regal_hlo_shape *shape);
/* The same type, dimensions and layout. */
bool regal_hlo_same_shape(const regal_hlo_shape *a, const regal_hlo_shape *b);
/* Writes the leaves in order: leaf[leaves]. */
void regal_hlo_flatten(const regal_hlo_shape *shape,
                       const regal_hlo_shape **leaf);
/* The first leaf of the part that a path leads to, and how many it has; false
 * when it leads nowhere. */
bool regal_hlo_leaves_at(const regal_hlo_shape *shape, const int64_t *path,
                         size_t length, uint32_t *first, uint32_t *count);
/* The fastest numbers of a device (format/costs/roofline.h) for this type. */
int regal_hlo_number(uint32_t type);

/* -- Modules --------------------------------------------------------------- */

typedef enum regal_hlo_fusion {
  REGAL_HLO_FUSES_LOOP,
  REGAL_HLO_FUSES_INPUT,
  REGAL_HLO_FUSES_OUTPUT,
  REGAL_HLO_FUSES_CUSTOM
} regal_hlo_fusion;

/* An output that is in the memory of an operand (or, for the module, of a
 * parameter). Paths lead into their shapes. */
typedef struct regal_hlo_alias {
  int64_t *output, *input; /* paths */
  size_t output_length, input_length;
  int64_t operand;
} regal_hlo_alias;

typedef struct regal_hlo_instruction {
  const char *name, *opcode_name;
  const regal_hlo_opcode_info *opcode;
  regal_hlo_shape shape;
  uint32_t operands, controls, calls, aliases, contracted;
  uint32_t *operand;      /* [operands] */
  uint32_t *control;      /* [controls] that must run before */
  uint32_t *call;         /* [calls] computations; of a while the body first */
  regal_hlo_alias *alias; /* [aliases] of outputs with operands */
  int64_t *contracting;   /* [contracted] dimensions of a dot's first operand */
  int64_t number;         /* of a parameter, or the index into a tuple */
  int64_t kernel_output;  /* a convolution's dimension of output features in
                             its kernel, or -1 */
  int64_t trips;          /* of a while loop; 0: not known */
  regal_hlo_fusion fusion;
  bool multiplies; /* a custom call that is a matrix product */
  uint32_t line;   /* in a text; 0: none */

  /* By regal_hlo_check. */
  const regal_hlo_shape **leaf; /* [shape.leaves] */
  uint8_t *donated; /* [shape.leaves] of a parameter of the entry: a result may
                       be written over it; NULL: over none */
  uint32_t users;   /* instructions that read it, each operand once */
  bool elementwise; /* all that is computed from it, to the end of its
                       computation, is so element by element: share.c */
  uint32_t other_half; /* of an asynchronous pair: the start's done, and the
                          done's start; REGAL_NONE: counts like any other op */
} regal_hlo_instruction;

typedef struct regal_hlo_computation {
  const char *name;
  int64_t id; /* in a binary module */
  uint32_t count, root, parameters;
  uint32_t *parameter;                /* [parameters] instructions, by number */
  regal_hlo_instruction *instruction; /* [count] in the order they run */
  uint32_t line;

  /* By convert.c, work.c and peak.c. */
  bool is_called;       /* and its values need memory: not by a fusion */
  bool is_body;         /* of a while loop */
  double flops;         /* at the rate of fp32 */
  double run_ns;        /* of its ops one after the other */
  int64_t peak_bytes;   /* that its own values need */
  int64_t result_bytes; /* of these, its results */
  double moved_bytes;   /* by a fusion of it */
  int64_t constant_bytes;
} regal_hlo_computation;

typedef struct regal_hlo_module {
  regal_context *context;
  regal_arena arena;
  const char *path; /* for messages */
  uint32_t count, entry;
  regal_hlo_computation *computation; /* [count] */
  uint32_t *callee_first;             /* [count] */
  regal_hlo_alias *alias;             /* [aliases] of results with parameters */
  uint32_t aliases;
  bool is_scheduled;
  bool is_text;
  int64_t reported_bytes; /* XLA's temporaries and results, or -1 */
} regal_hlo_module;

void regal_hlo_init(regal_hlo_module *module, regal_context *context,
                    const char *path);
void regal_hlo_free(regal_hlo_module *module);

/* "PATH:LINE: instruction "NAME": MESSAGE"; the line only in a text. */
regal_status regal_hlo_fail(const regal_hlo_module *module,
                            const regal_hlo_instruction *instruction,
                            const char *format, ...) REGAL_FORMAT(3, 4);

/* Checks all that later stages rely on, and orders computations. */
regal_status regal_hlo_check(regal_hlo_module *module);
/* Sets callee_first: calls.c. */
regal_status regal_hlo_order_calls(regal_hlo_module *module);

/* Checks the module and makes the graph of its entry. `options`: roofline. */
regal_status regal_hlo_convert(regal_hlo_module *module,
                               const regal_options *options,
                               regal_graph **graph);

/* The trip count in a while's backend_config: "known_trip_count":{"n":"8"}; 0:
 * it says none. */
int64_t regal_hlo_trips(const char *config, size_t size);
/* Whether a custom call of this target is a matrix product. */
bool regal_hlo_is_product(const char *target);

#endif
