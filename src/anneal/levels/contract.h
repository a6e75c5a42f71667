/* SPDX-License-Identifier: Apache-2.0 */
/* Coarser problems: clusters of ops become single ops.
 *
 * A cluster's ops run one after the other on one device. Tensors that leave a
 * cluster keep their own bytes and transfer times; what a cluster holds beyond
 * its inputs and outputs while it runs becomes its temporary bytes. Every plan
 * of the coarse problem is one of the fine problem, of about the same cost.
 */
#ifndef REGAL_ANNEAL_LEVELS_CONTRACT_H
#define REGAL_ANNEAL_LEVELS_CONTRACT_H

#include "cost/model/plan.h"

typedef struct regal_level {
  regal_context *context;
  const regal_problem *fine;
  regal_graph *graph;     /* owned, as is all that follows */
  regal_problem *problem; /* the coarse one */
  uint32_t *member_begin; /* [coarse ops + 1] */
  uint32_t *member;       /* [fine ops] of each cluster, in the fine order */
} regal_level;

/* Merges pairs of ops that a tensor connects, the most costly to cut first, as
 * far as the graph stays free of cycles and no cluster gets more than `most_ns`
 * of work. Ops of two groups are never merged; what a group is merged with
 * belongs to it. `level` is NULL when nothing can be merged. */
regal_status regal_contract(regal_context *context, const regal_problem *fine,
                            int64_t most_ns, regal_level **level);
void regal_level_free(regal_level *level);

/* A plan of the coarse problem as one of the fine. */
regal_status regal_level_expand(const regal_level *level,
                                const regal_plan *coarse, regal_plan **fine);

#endif
