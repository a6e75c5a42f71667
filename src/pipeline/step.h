/* SPDX-License-Identifier: Apache-2.0 */
/* The training step of one microbatch, and the step of several made from it.
 *
 * Every op of the step has a role. Ops that depend on the data of the
 * microbatch are copied for each microbatch. What depends on no data is shared:
 * it runs once, before. The optimizer runs once, after. Gradients are what the
 * optimizer reads, or without one the final tensors that nobody reads: they are
 * added up over microbatches.
 */
#ifndef REGAL_PIPELINE_STEP_H
#define REGAL_PIPELINE_STEP_H

#include "pipeline/pipeline.h"

typedef enum regal_role {
  REGAL_ROLE_SHARED,     /* runs once, before the microbatches */
  REGAL_ROLE_MICROBATCH, /* runs for each of them */
  REGAL_ROLE_OPTIMIZER   /* runs once, after them */
} regal_role;

typedef struct regal_step_roles {
  regal_context *context;
  uint8_t *role;        /* [ops] a regal_role */
  uint8_t *is_gradient; /* [tensors] is added up over microbatches */
  uint32_t *gradients;  /* [ops] how many of them it makes */
  uint8_t *is_result;   /* [ops] makes one, or the optimizer waits for it */
  uint8_t *pass;        /* [ops] a regal_pass, of ops of the microbatch */
  uint32_t gradient_count;
  uint32_t ops[3]; /* of each role */
} regal_step_roles;

/* Reads roles off a graph, by options inputs, gradients and optimizer.
 * REGAL_BAD_INPUT if there is no backward pass. */
regal_status regal_step_read(regal_context *context, const regal_graph *graph,
                             const regal_options *options,
                             regal_step_roles **roles);
void regal_step_free(regal_step_roles *roles);

/* Calls `add` for each pair of ops that are tied where the backward pass is not
 * split: the gradient of a weight, and an op of the backward pass that reads
 * the same gradient and then has to wait. The ties together make no cycle. */
typedef regal_status (*regal_tie_fn)(void *state, uint32_t before,
                                     uint32_t after);
regal_status regal_step_ties(regal_context *context, const regal_graph *graph,
                             const regal_step_roles *roles, regal_tie_fn add,
                             void *state);

#endif
