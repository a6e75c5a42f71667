/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the pipelines of pipeline.h. Ops are numbered in the order of adding:
 * the F of a microbatch, then its B and W from the last layer to the first. */
#include "dataset/synthetic/pipeline.h"

#include <inttypes.h>

typedef struct pipeline {
  const regal_pipeline_shape *shape;
  regal_builder *builder;
  uint32_t layers, microbatches;
} pipeline;

enum { FORWARD_WIRE, FOR_BACKWARD, FOR_WEIGHT }; /* outputs of F */
enum { BACKWARD_WIRE, TOKEN };                   /* outputs of B */

static uint32_t backward_ops(const pipeline *p) {
  return p->shape->fused ? 1 : 2; /* of a layer */
}

static uint32_t first_of(const pipeline *p, uint32_t microbatch) {
  return microbatch * p->layers * (1 + backward_ops(p));
}

static uint32_t forward_of(const pipeline *p, uint32_t i, uint32_t k) {
  return first_of(p, i) + k;
}

static uint32_t backward_of(const pipeline *p, uint32_t i, uint32_t k) {
  return first_of(p, i) + p->layers + (p->layers - 1 - k) * backward_ops(p);
}

/* Adds an op of layer k with these outputs, the last of them -1. */
static regal_status add_op(const pipeline *p, const char *name, int64_t run_ns,
                           uint32_t k, const int64_t *outputs) {
  uint32_t op;
  REGAL_TRY(regal_builder_add_op(p->builder, name, run_ns, 0, 0, &op));
  for (; *outputs >= 0; outputs++)
    REGAL_TRY(regal_builder_add_output(p->builder, op, *outputs, false));
  return regal_builder_add_parameter_use(p->builder, op, k);
}

static regal_status add_named(const pipeline *p, char kind, uint32_t i,
                              uint32_t k, int64_t run_ns,
                              const int64_t *outputs) {
  char name[48];
  snprintf(name, sizeof name, "%c%" PRIu32 ".%" PRIu32, kind, i, k);
  return add_op(p, name, run_ns, k, outputs);
}

static regal_status add_forward(const pipeline *p, uint32_t i, uint32_t k) {
  const regal_pipeline_shape *shape = p->shape;
  const int64_t outputs[] = {shape->wire_bytes, shape->activation_bytes,
                             shape->weight_activation_bytes, -1};
  REGAL_TRY(add_named(p, 'F', i, k, shape->forward_ns, outputs));
  if (!k)
    return REGAL_OK;
  return regal_builder_add_input(p->builder, forward_of(p, i, k),
                                 forward_of(p, i, k - 1), FORWARD_WIRE);
}

/* What B reads, fused or not. */
static regal_status add_backward_inputs(const pipeline *p, uint32_t i,
                                        uint32_t k) {
  uint32_t op = backward_of(p, i, k), forward = forward_of(p, i, k);
  bool last = k == p->layers - 1;
  REGAL_TRY(regal_builder_add_input(p->builder, op,
                                    last ? forward : backward_of(p, i, k + 1),
                                    last ? FORWARD_WIRE : BACKWARD_WIRE));
  return regal_builder_add_input(p->builder, op, forward, FOR_BACKWARD);
}

static regal_status add_fused(const pipeline *p, uint32_t i, uint32_t k) {
  const regal_pipeline_shape *shape = p->shape;
  const int64_t outputs[] = {shape->wire_bytes, -1};
  REGAL_TRY(
      add_named(p, 'B', i, k, shape->backward_ns + shape->weight_ns, outputs));
  REGAL_TRY(add_backward_inputs(p, i, k));
  return regal_builder_add_input(p->builder, backward_of(p, i, k),
                                 forward_of(p, i, k), FOR_WEIGHT);
}

static regal_status add_split(const pipeline *p, uint32_t i, uint32_t k) {
  const regal_pipeline_shape *shape = p->shape;
  const int64_t outputs[] = {shape->wire_bytes, 1, -1}, none[] = {-1};
  uint32_t backward = backward_of(p, i, k);
  REGAL_TRY(add_named(p, 'B', i, k, shape->backward_ns, outputs));
  REGAL_TRY(add_backward_inputs(p, i, k));
  REGAL_TRY(add_named(p, 'W', i, k, shape->weight_ns, none));
  REGAL_TRY(regal_builder_add_input(p->builder, backward + 1,
                                    forward_of(p, i, k), FOR_WEIGHT));
  return regal_builder_add_input(p->builder, backward + 1, backward, TOKEN);
}

static regal_status add_microbatch(const pipeline *p, uint32_t i) {
  for (uint32_t k = 0; k < p->layers; k++)
    REGAL_TRY(add_forward(p, i, k));
  for (uint32_t k = p->layers; k-- > 0;)
    REGAL_TRY(p->shape->fused ? add_fused(p, i, k) : add_split(p, i, k));
  return REGAL_OK;
}

static regal_status add_optimizer(const pipeline *p, uint32_t k) {
  const int64_t none[] = {-1};
  char name[32];
  uint32_t op = first_of(p, p->microbatches) + k;
  snprintf(name, sizeof name, "O.%" PRIu32, k);
  REGAL_TRY(add_op(p, name, p->shape->optimizer_ns, k, none));
  for (uint32_t i = 0; i < p->microbatches; i++)
    REGAL_TRY(regal_builder_add_control(
        p->builder, backward_of(p, i, k) + backward_ops(p) - 1, op));
  return REGAL_OK;
}

static regal_status add_all(const pipeline *p) {
  for (uint32_t k = 0; k < p->layers; k++)
    REGAL_TRY(regal_builder_add_parameter(p->builder, p->shape->parameter_bytes,
                                          NULL));
  for (uint32_t i = 0; i < p->microbatches; i++)
    REGAL_TRY(add_microbatch(p, i));
  for (uint32_t k = 0; k < p->layers; k++)
    REGAL_TRY(add_optimizer(p, k));
  return REGAL_OK;
}

regal_status regal_pipeline_graph(regal_context *context,
                                  const regal_pipeline_shape *shape,
                                  regal_graph **graph) {
  pipeline p = {.shape = shape,
                .layers = (uint32_t)shape->layers,
                .microbatches = (uint32_t)shape->microbatches};
  REGAL_TRY(regal_builder_create(context, &p.builder));
  return regal_builder_end(p.builder, add_all(&p), graph);
}
