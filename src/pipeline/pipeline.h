/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of pipelined training steps: which microbatch an op belongs to, and
 * whether it is part of the forward pass, of the backward pass, or only of the
 * gradient of a weight.
 *
 * The microbatch is part of the op's name. `regal pipeline` writes NAME#3 for
 * the copy of op NAME that microbatch 3 has, `regal generate --pipeline` F3.7,
 * B3.7 and W3.7 for layer 7. Ops with other names run once for all
 * microbatches.
 *
 * The letters F, B and W say the pass. Otherwise it follows from the edges
 * within a microbatch: see passes.c.
 */
#ifndef REGAL_PIPELINE_PIPELINE_H
#define REGAL_PIPELINE_PIPELINE_H

#include "graph/graph.h"

typedef enum regal_pass {
  REGAL_PASS_NONE,     /* runs once, not for a microbatch */
  REGAL_PASS_FORWARD,  /* up to the loss */
  REGAL_PASS_BACKWARD, /* gradients that lead on to others */
  REGAL_PASS_WEIGHT    /* leads to the gradient of one weight only */
} regal_pass;

/* The microbatch in the name of an op, or REGAL_NONE. */
uint32_t regal_microbatch_of_name(const char *name);
/* The pass, where the name says it; else REGAL_PASS_NONE. */
regal_pass regal_pass_of_name(const char *name);
/* How many microbatches a graph has; 0 if it is no pipeline: microbatches are
 * numbered from 0, and all but the first have the same number of ops. O(ops).
 */
uint32_t regal_graph_microbatches(const regal_graph *graph);

typedef struct regal_pipeline {
  regal_context *context;
  uint32_t microbatches;
  uint32_t *microbatch; /* [ops] or REGAL_NONE: the op runs once */
  uint8_t *pass;        /* [ops] a regal_pass */
} regal_pipeline;

/* Reads a pipeline off a graph. REGAL_BAD_INPUT, "not a pipeline graph: ...",
 * if there are no microbatches or if these have no backward pass. */
regal_status regal_pipeline_read(regal_context *context,
                                 const regal_graph *graph,
                                 regal_pipeline **pipeline);
void regal_pipeline_free(regal_pipeline *pipeline);

/* How many ops of each pass there are, and the most results of a part. */
typedef struct regal_pass_counts {
  uint32_t ops[REGAL_PASS_WEIGHT + 1];
  uint32_t results;
} regal_pass_counts;

/* Sorts the ops of every part into passes. Ops are in a part (a microbatch) by
 * number, REGAL_NONE is none; `is_result` marks the ops that make the results
 * of their part. */
regal_status regal_find_passes(regal_context *context, const regal_graph *graph,
                               const uint32_t *part, const uint8_t *is_result,
                               uint8_t *pass, regal_pass_counts *counts);

#endif
