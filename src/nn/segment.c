/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of edges summed at nodes, and means of rows, forward and backward.
 *
 * This is the part of the graph network that runs once for each edge, so it has
 * only additions and a maximum (policy/network_gnn.c says why). Edges are taken
 * in their order, one at a time: sums do not depend on threads. */
#include "nn/segment.h"

#include <string.h>

#include "nn/target.h"

REGAL_INLINE void messages_forward_body(const regal_message_edges *edges,
                                        size_t width, const regal_real *ends,
                                        const regal_real *edge,
                                        regal_real *sums) {
  for (size_t e = 0; e < edges->count; e++) {
    size_t from = edges->from[e], to = edges->to[e];
    const regal_real *restrict a = ends + 4 * width * from;
    const regal_real *restrict b = ends + 4 * width * to + 2 * width;
    const regal_real *restrict c = edge + 2 * width * e;
    for (int side = 0; side < 2; side++) {
      regal_real *restrict sum = sums + 2 * width * (side ? from : to);
      for (size_t j = side * width; j < (side + 1) * width; j++) {
        regal_real r = a[j] + b[j] + c[j];
        sum[j] += r > 0 ? r : 0;
      }
    }
  }
}
REGAL_KERNEL(regal_messages_forward, messages_forward,
             (const regal_message_edges *edges, size_t width,
              const regal_real *ends, const regal_real *edge, regal_real *sums),
             (edges, width, ends, edge, sums))

REGAL_INLINE void messages_backward_body(const regal_message_edges *edges,
                                         size_t width, const regal_real *ends,
                                         const regal_real *edge,
                                         const regal_real *d_sums,
                                         regal_real *d_ends,
                                         regal_real *d_edge) {
  for (size_t e = 0; e < edges->count; e++) {
    size_t from = edges->from[e], to = edges->to[e];
    const regal_real *a = ends + 4 * width * from;
    const regal_real *b = ends + 4 * width * to + 2 * width;
    const regal_real *c = edge + 2 * width * e;
    regal_real *restrict da = d_ends + 4 * width * from;
    regal_real *restrict db = d_ends + 4 * width * to + 2 * width;
    regal_real *restrict dc = d_edge + 2 * width * e;
    for (int side = 0; side < 2; side++) {
      const regal_real *d = d_sums + 2 * width * (side ? from : to);
      for (size_t j = side * width; j < (side + 1) * width; j++) {
        regal_real kept = a[j] + b[j] + c[j] > 0 ? d[j] : 0;
        da[j] += kept;
        db[j] += kept;
        dc[j] += kept;
      }
    }
  }
}
REGAL_KERNEL(regal_messages_backward, messages_backward,
             (const regal_message_edges *edges, size_t width,
              const regal_real *ends, const regal_real *edge,
              const regal_real *d_sums, regal_real *d_ends, regal_real *d_edge),
             (edges, width, ends, edge, d_sums, d_ends, d_edge))

void regal_mean_forward(size_t rows, size_t width, const regal_real *in,
                        regal_real *out) {
  memset(out, 0, width * sizeof *out);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < width; j++)
      out[j] += in[i * width + j];
  for (size_t j = 0; rows && j < width; j++)
    out[j] /= (regal_real)rows;
}

void regal_mean_backward(size_t rows, size_t width, const regal_real *d_out,
                         regal_real *d_in) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < width; j++)
      d_in[i * width + j] += d_out[j] / (regal_real)rows;
}
