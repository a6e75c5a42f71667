/* SPDX-License-Identifier: Apache-2.0 */
/* Whom to tell when an op has ended, laid out for the decoders' inner loops.
 *
 * An edge leads to a consumer of one of the op's tensors, or to an op that
 * waits for it (a control edge). The edges of an op are adjacent, tensor by
 * tensor, then the waiters.
 */
#ifndef REGAL_DECODE_EDGES_H
#define REGAL_DECODE_EDGES_H

#include "base/carve.h"
#include "cost/model/problem.h"

typedef uint32_t regal_edge; /* op << 1 | whether it is a control edge */

static inline uint32_t regal_edge_op(regal_edge edge) {
  return edge >> 1;
}

static inline uint32_t regal_edge_waits(regal_edge edge) {
  return edge & 1;
}

typedef struct regal_edges {
  regal_edge *edge;
  uint32_t *of_op;     /* [ops+1] where an op's edges begin */
  uint32_t *of_tensor; /* [tensors] where a tensor's consumers begin */
} regal_edges;

static inline void regal_edges_layout(regal_edges *edges, regal_carver *carver,
                                      const regal_problem *problem) {
  size_t count = (size_t)problem->uses + problem->wait_begin[problem->ops];
  edges->edge = regal_carve(carver, count, sizeof(regal_edge));
  edges->of_op = regal_carve(carver, (size_t)problem->ops + 1, 4);
  edges->of_tensor = regal_carve(carver, problem->tensors, 4);
}

static inline void regal_edges_fill(regal_edges *edges,
                                    const regal_problem *problem) {
  uint32_t count = 0;
  for (uint32_t op = 0; op < problem->ops; op++) {
    edges->of_op[op] = count;
    for (REGAL_ROW(t, problem->output_begin, op)) {
      edges->of_tensor[t] = count;
      for (REGAL_ROW(u, problem->use_begin, t))
        edges->edge[count++] = problem->consumer[u] << 1;
    }
    for (REGAL_ROW(w, problem->wait_begin, op))
      edges->edge[count++] = problem->waiter[w] << 1 | 1;
  }
  edges->of_op[problem->ops] = count;
}

#endif
