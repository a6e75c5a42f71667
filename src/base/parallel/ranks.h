/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that train together: one, or the ranks of mpirun.
 *
 * All of them hold the same parameters and do the same updates; they share out
 * the episodes, and gather is the only thing that they say to each other. So
 * nothing else knows MPI. One of team_local.c and team_mpi.c is built.
 */
#ifndef REGAL_BASE_PARALLEL_RANKS_H
#define REGAL_BASE_PARALLEL_RANKS_H

#include "base/context.h"

#define REGAL_MOST_RANKS 4096

typedef struct regal_ranks {
  int rank, size;
  bool owned; /* MPI was started by us */
} regal_ranks;

/* Joins the other ranks if mpirun started this process. */
regal_status regal_ranks_join(regal_context *context, regal_ranks *ranks);
/* After success only: a rank that ends without it ends the whole job. */
void regal_ranks_leave(regal_ranks *ranks);

/* The first item of a rank when `items` are shared out in order. */
static inline size_t regal_ranks_first(const regal_ranks *ranks, size_t items,
                                       int rank) {
  return items * (size_t)rank / (size_t)ranks->size;
}

/* Each rank has written its own items of the array (from regal_ranks_first on);
 * afterwards all have all. */
regal_status regal_ranks_gather(const regal_ranks *ranks,
                                regal_context *context, void *array,
                                size_t items, size_t item_bytes);

#endif
