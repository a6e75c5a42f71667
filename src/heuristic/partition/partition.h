/* SPDX-License-Identifier: Apache-2.0 */
/* Placement by graph partitioning: few bytes between devices, balanced load.
 *
 * Vertices are ops, or groups of ops that share a device; nets are tensors,
 * each with its producer and its readers as pins. The set of devices is halved
 * again and again, and with it the vertices: each bisection keeps the bytes of
 * nets that have pins on both sides low. Summed over all bisections, a tensor
 * counts once for each further device that has it: what a plan sends.
 */
#ifndef REGAL_HEURISTIC_PARTITION_PARTITION_H
#define REGAL_HEURISTIC_PARTITION_PARTITION_H

#include "cost/model/problem.h"

enum { REGAL_SIDE_FREE = 2 }; /* may be on either side */

/* One bisection, in numbers of its own. */
typedef struct regal_bisection {
  uint32_t vertices, nets;
  int64_t *weight;           /* [vertices] at most INT64_MAX / 4 in all */
  uint8_t *fixed;            /* [vertices] 0, 1 or REGAL_SIDE_FREE */
  int64_t *bytes;            /* [nets] more than 0 */
  uint32_t *pin_begin, *pin; /* [nets+1], [pins] vertices of each net: 2 or
                                more, no vertex twice */
  uint32_t *net_begin, *net; /* [vertices+1], [pins] nets of each vertex */
  double share;              /* of the weight that belongs on side 0 */
  uint8_t *side;             /* [vertices] the result: 0 or 1 */
} regal_bisection;

typedef regal_status (*regal_bisect_fn)(regal_context *context,
                                        regal_bisection *bisection,
                                        uint64_t seed);

/* Fiduccia and Mattheyses 1982, from the best of several starts: moves single
 * vertices, the one that saves most bytes first, each at most once in a pass,
 * and goes back to the best point of the pass. The larger side's share is at
 * most REGAL_FM_SLACK of the weight beyond what it should be, or one vertex
 * where vertices are heavier than that, or what fixed vertices force. */
#define REGAL_FM_SLACK 0.03
regal_status regal_bisect_fm(regal_context *context, regal_bisection *bisection,
                             uint64_t seed);
/* Improves the sides that are given, pass by pass; never makes them worse, by
 * imbalance beyond the slack first, then by bytes. */
regal_status regal_bisect_refine(regal_context *context,
                                 regal_bisection *bisection);
/* Kernighan and Lin 1970, from one random start: exchanges pairs of vertices,
 * so that the weights of the sides stay as they are. The cost is that of edges
 * from a tensor's producer to each of its readers. */
regal_status regal_bisect_kl(regal_context *context, regal_bisection *bisection,
                             uint64_t seed);
/* METIS, where it is built in; REGAL_BAD_INPUT otherwise. */
regal_status regal_bisect_metis(regal_context *context,
                                regal_bisection *bisection, uint64_t seed);

/* Bytes of nets with pins on both sides. */
int64_t regal_bisection_cut(const regal_bisection *bisection);
/* Weight beyond the slack on the side that has too much. */
int64_t regal_bisection_imbalance(const regal_bisection *bisection);

/* What is balanced. COST: mean run times, of which fast devices get more; or
 * bytes (of outputs, temporary and resident ones) where the objective is
 * memory. OPS: their number. */
typedef enum regal_load { REGAL_LOAD_COST, REGAL_LOAD_OPS } regal_load;

/* A device for each op, by bisections. */
regal_status regal_partition(regal_context *context,
                             const regal_problem *problem,
                             regal_bisect_fn bisect, regal_load load,
                             uint64_t seed, uint8_t *placement);
/* What a plan with this placement sends. */
int64_t regal_partition_bytes(const regal_problem *problem,
                              const uint8_t *placement);

#endif
