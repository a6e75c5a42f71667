/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the walk: graphs and names (walk.c), and what a node
 * means (interpret.c). */
#ifndef REGAL_FORMAT_ONNX_WALK_H
#define REGAL_FORMAT_ONNX_WALK_H

#include "format/onnx/ops.h"

typedef struct regal_onnx_work {
  double flops;
  int64_t run_ns;
  int64_t temporary_bytes; /* held by a body while it runs */
  bool is_op;              /* else folded, or a view */
  bool may_reuse;
} regal_onnx_work;

/* Decides what the node at which the walk stands is, sets what is known of its
 * outputs, and adds what it reads. */
regal_status regal_onnx_interpret(regal_onnx *onnx, uint32_t scope,
                                  const regal_onnx_call *call,
                                  regal_onnx_work *work);

/* Gives the node's output 0 a shape, if it has none and follows simply from
 * those of its inputs. */
regal_status regal_onnx_infer_own(regal_onnx *onnx, const regal_onnx_call *call,
                                  const regal_onnx_op_type *row);

/* The work of a node that has graphs as attributes. */
regal_status regal_onnx_run_bodies(regal_onnx *onnx, uint32_t scope,
                                   const regal_onnx_call *call,
                                   const regal_onnx_op_type *row,
                                   regal_onnx_work *work);

/* Makes the value a constant with this content. */
regal_status regal_onnx_set_tensor(regal_onnx *onnx, uint32_t value,
                                   const regal_onnx_tensor *tensor);

/* The present node of the main graph reads the value, if it is a constant or a
 * tensor of the main graph. */
regal_status regal_onnx_add_read(regal_onnx *onnx, uint32_t value);

#endif
