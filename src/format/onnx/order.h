/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of a graph's nodes in which each node comes after those whose outputs
 * it, or a body of it, reads.
 */
#ifndef REGAL_FORMAT_ONNX_ORDER_H
#define REGAL_FORMAT_ONNX_ORDER_H

#include "base/names.h"
#include "format/onnx/onnx.h"

typedef struct regal_onnx_sorter {
  regal_context *context;
  const regal_onnx_graph *graph;
  uint32_t *order; /* [count] nodes that were taken */
  uint32_t count;
  uint32_t *rank;    /* [nodes] in the order that was made first */
  uint8_t *state;    /* [nodes] */
  regal_names names; /* of outputs */
  uint32_t *maker;   /* [names] */
  uint32_t *stack;   /* nodes that wait for others */
  size_t stacked, stack_capacity;
} regal_onnx_sorter;

/* Fails only for want of memory; to be freed in any case. */
regal_status regal_onnx_sorter_open(regal_onnx_sorter *sorter,
                                    regal_context *context,
                                    const regal_onnx_graph *graph);
void regal_onnx_sorter_free(regal_onnx_sorter *sorter);

/* Takes the node, after all that it needs, if it was not taken yet. */
regal_status regal_onnx_sorter_take(regal_onnx_sorter *sorter, uint32_t node);

/* The nodes in `order`: as in the file if that is such an order, which ONNX
 * demands; not every writer obeys, and onnxruntime does not mind. A cycle stays
 * for the walk to find. */
regal_status regal_onnx_sort(regal_context *context,
                             const regal_onnx_graph *graph, uint32_t *order);

#endif
