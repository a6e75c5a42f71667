/* SPDX-License-Identifier: Apache-2.0 */
/* Between the rows of nodes and the rows of edges: gathering, and sums over
 * segments, always in the order of the edges. Forward and backward in pairs. */
#ifndef REGAL_NN_SEGMENT_H
#define REGAL_NN_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "nn/real.h"

typedef struct regal_message_edges {
  size_t count;
  const uint32_t *from, *to;
} regal_message_edges;

/* The hidden layer of the message of every edge, both ways, summed where it
 * arrives. With r = relu(ends[from][0 .. 2w) + ends[to][2w .. 4w) + edge[e]):
 *   sums[to][0 .. w)   += r[0 .. w)      along the edge
 *   sums[from][w .. 2w) += r[w .. 2w)    against it
 * ends[nodes][4w], edge[edges][2w], sums[nodes][2w]. */
void regal_messages_forward(const regal_message_edges *edges, size_t width,
                            const regal_real *ends, const regal_real *edge,
                            regal_real *sums);
/* Adds to d_ends and d_edge; computes r again. */
void regal_messages_backward(const regal_message_edges *edges, size_t width,
                             const regal_real *ends, const regal_real *edge,
                             const regal_real *d_sums, regal_real *d_ends,
                             regal_real *d_edge);

/* out[0 .. width) = the mean of `rows` rows; 0 for none. */
void regal_mean_forward(size_t rows, size_t width, const regal_real *in,
                        regal_real *out);
/* Adds to d_in. */
void regal_mean_backward(size_t rows, size_t width, const regal_real *d_out,
                         regal_real *d_in);

#endif
