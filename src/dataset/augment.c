/* SPDX-License-Identifier: Apache-2.0 */
/* Augmented copies (paper, TensorFlow dataset): each tensor size and each op's
 * run time is multiplied by a number of its own, uniform in (0.5, 1.5).
 *
 * The numbers are counter-based: number i of the stream of (graph, seed, copy),
 * i a tensor, or the tensors' count and an op. So a copy is the same wherever
 * and whenever it is made, and needs no room. The graph counts by its checksum.
 */
#include "regal_data.h"

#include <math.h>

#include "base/random.h"
#include "graph/graph.h"

/* (0.5, 1.5), both ends excluded: the middles of 2^53 equal parts. */
static double factor(uint64_t key, uint64_t i) {
  return 0.5 + ((double)(regal_random_at(key, i) >> 11) + 0.5) * 0x1p-53;
}

/* What was something stays something. */
static int64_t scale(int64_t value, double by) {
  if (value <= 0)
    return value;
  double product = (double)value * by;
  if (product >= 0x1p62)
    return INT64_C(1) << 62; /* settling refuses it */
  return product < 1 ? 1 : (int64_t)llround(product);
}

regal_status regal_graph_augment(regal_context *context,
                                 const regal_graph *graph, uint64_t seed,
                                 uint32_t copy, regal_graph **augmented) {
  regal_graph *made;
  if (!context)
    return REGAL_MISUSE;
  if (!graph || !augmented)
    return regal_fail(context, REGAL_MISUSE,
                      "augmenting needs a graph and a place for the copy");
  REGAL_TRY(regal_graph_copy(context, graph, &made));
  if (copy) {
    uint64_t key =
        regal_random_key(seed, REGAL_PURPOSE_AUGMENT, graph->checksum, copy);
    for (uint32_t t = 0; t < made->tensors; t++)
      made->bytes[t] = scale(made->bytes[t], factor(key, t));
    for (uint32_t op = 0; op < made->ops; op++)
      made->run_ns[op] =
          scale(made->run_ns[op], factor(key, (uint64_t)made->tensors + op));
    regal_status status = regal_graph_settle(made);
    if (status != REGAL_OK) {
      regal_graph_free(made);
      return status;
    }
  }
  *augmented = made;
  return REGAL_OK;
}
