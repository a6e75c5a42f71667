/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the walk: graphs and names (walk.c), and what a node
 * means (interpret.c). */
#ifndef REGAL_FORMAT_ONNX_WALK_H
#define REGAL_FORMAT_ONNX_WALK_H

#include "format/onnx/ops.h"

/* Decides what the node at which the walk stands is, sets what is known of its
 * outputs, and adds what it reads. */
regal_status regal_onnx_interpret(const regal_onnx_call *call,
                                  regal_onnx_work *work);

/* Gives the node's output 0 a shape, if it has none and follows simply from
 * those of its inputs. */
regal_status regal_onnx_infer_own(const regal_onnx_call *call);

/* The work of a node that has graphs as attributes. */
regal_status regal_onnx_run_bodies(const regal_onnx_call *call,
                                   regal_onnx_work *work);

/* Makes the value a constant with this content. */
regal_status regal_onnx_set_tensor(regal_onnx *onnx, uint32_t value,
                                   const regal_onnx_tensor *tensor);

/* The present node of the main graph reads the value, if it is a constant or a
 * tensor of the main graph. */
regal_status regal_onnx_add_read(regal_onnx *onnx, uint32_t value);

#endif
