/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps of a chain of layers on several microbatches: what pipeline
 * schedules are made for.
 *
 * Layer k has three ops for microbatch i. F<i>.<k>, the forward pass, has three
 * outputs: 0 is what layer k + 1 reads, 1 are the activations that B frees, and
 * 2 those that W frees. B<i>.<k>, the gradient of the input, reads the gradient
 * of layer k + 1 (the last layer: its own output 0) and output 1 of F; it makes
 * the gradient for layer k - 1 and one byte that W waits for. W<i>.<k>, the
 * gradient of the weights, reads output 2 of F and that byte. Fused, B does the
 * work of W as well. All ops of a layer read its parameter. O.<k>, the
 * optimizer, waits for the last op of each microbatch by control edges.
 *
 * Ops are in the order of microbatches: forward, then backward.
 */
#ifndef REGAL_DATASET_SYNTHETIC_PIPELINE_H
#define REGAL_DATASET_SYNTHETIC_PIPELINE_H

#include "graph/graph.h"

/* Of one layer; times in nanoseconds, sizes in bytes. */
typedef struct regal_pipeline_shape {
  int64_t layers, microbatches;
  int64_t forward_ns, backward_ns, weight_ns, optimizer_ns;
  int64_t activation_bytes;        /* kept from F to B */
  int64_t weight_activation_bytes; /* kept from F to W */
  int64_t wire_bytes;              /* from layer to layer, and back */
  int64_t parameter_bytes;
  int64_t fused; /* whether W is part of B */
} regal_pipeline_shape;

/* Reads "layers=32,microbatches=16,forward=2ms": the keys of the table in
 * pipeline_shape.c, each at most once. */
regal_status regal_pipeline_shape_read(regal_context *context, const char *text,
                                       regal_pipeline_shape *shape);

/* Time and memory linear in layers * microbatches. */
regal_status regal_pipeline_graph(regal_context *context,
                                  const regal_pipeline_shape *shape,
                                  regal_graph **graph);

#endif
