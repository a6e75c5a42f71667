/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's data encoding (appendix, "Data encoding"): a graph as the policy
 * reads it.
 *
 * Node features, 9 + d of them, which are the paper's 11 for two devices:
 *   0  sum of input tensor sizes          \
 *   1  sum of output tensor sizes          | divided by the greatest memory
 *   2  memory of the op itself            /  number of the graph
 *   3  1 for the op that uses the most memory, else 0
 *   4  sum of the run times of its direct predecessors  \
 *   5  the same for its direct successors                | divided by the
 *   6  its own run time                                 /  greatest run time
 *   7  1 for the op with the greatest run time, else 0
 *   8 .. 8+d-1  share of chromosomes that place it on device 0, 1, ...
 *   8+d         its mean place in the order, from 0 to 1
 * Features 4 to 7 are 0 for the objective memory, which does not use them.
 *
 * Edge features: size of the tensor, divided as above; 1 for a control edge;
 * number of the hyperedge (a tensor, or the control edges out of an op, by
 * producer), divided by the number of hyperedges.
 *
 * Where the paper is silent: "the greatest memory number" is the largest size
 * of a tensor or of an op's own memory, so that sums may exceed 1, as those of
 * run times do; the op that uses the most memory is the first with the largest
 * sum of inputs, outputs and temporary bytes, the one that is fixed on device 0
 * to break the symmetry.
 */
#ifndef REGAL_POLICY_FEATURES_H
#define REGAL_POLICY_FEATURES_H

#include "policy/policy.h"

/* A graph with what the encoder needs; tensors may include the empty ones that
 * stand for control edges, so that they are numbered as a decoder's are. */
typedef struct regal_encoder_input {
  uint32_t ops, tensors, devices;
  const uint32_t *output_begin;    /* [ops+1] */
  const uint32_t *input_begin;     /* [ops+1] */
  const uint32_t *input;           /* tensors that an op reads */
  const uint32_t *use_begin;       /* [tensors+1] */
  const uint32_t *consumer;        /* ops that read a tensor */
  const int64_t *bytes;            /* [tensors] */
  const uint8_t *control_tensor;   /* [tensors] or NULL: none is */
  const uint32_t *wait_begin;      /* [ops+1] control edges that are none of */
  const uint32_t *waiter;          /* the tensors; NULL: there are none */
  const uint32_t *successor_begin; /* [ops+1] distinct ops after an op */
  const uint32_t *successor;
  const double *run_ns;     /* [ops]; NULL: the objective is memory */
  const int64_t *temporary; /* [ops] bytes while it runs */
  const int64_t *resident;  /* [ops] bytes that its device holds for it */
  const float *placement;   /* [ops * devices] share of each device */
  const float *position;    /* [ops] mean place in the order, 0 to 1 */
} regal_encoder_input;

/* Node features for so many devices. */
static inline uint32_t regal_node_features(uint32_t devices) {
  return REGAL_NODE_FEATURES - 2 + devices;
}

/* Freed by regal_encoding_free. placement and position may be NULL: zeros. */
regal_status regal_encoding_create(regal_context *context,
                                   const regal_encoder_input *input,
                                   regal_encoding **encoding);
void regal_encoding_free(regal_context *context, regal_encoding *encoding);

#endif
