/* SPDX-License-Identifier: Apache-2.0 */
/* The processes (ranks, in MPI's terms) that work together: one, or those that
 * mpirun started.
 *
 * All ranks hold the same state and take the same decisions. They divide the
 * work among them, and the two calls at the end are their only communication,
 * so that no other file uses MPI. One of ranks_local.c and ranks_mpi.c is
 * built.
 */
#ifndef REGAL_BASE_PARALLEL_RANKS_H
#define REGAL_BASE_PARALLEL_RANKS_H

#include "base/context.h"

#define REGAL_MOST_RANKS 4096

typedef struct regal_ranks {
  int rank, size;
  bool owned; /* this call started MPI, and ends it */
} regal_ranks;

/* Finds the other ranks if mpirun started this process. */
regal_status regal_ranks_join(regal_context *context, regal_ranks *ranks);
/* After success only: a rank that ends without it ends the whole job. */
void regal_ranks_leave(regal_ranks *ranks);

/* The first item of a rank when `items` are divided in order. */
static inline size_t regal_ranks_first(const regal_ranks *ranks, size_t items,
                                       int rank) {
  return items * (size_t)rank / (size_t)ranks->size;
}

/* Items that a rank works on. */
typedef struct regal_share {
  size_t first, end;
} regal_share;

static inline regal_share regal_ranks_share(const regal_ranks *ranks,
                                            size_t items) {
  return (regal_share){regal_ranks_first(ranks, items, ranks->rank),
                       regal_ranks_first(ranks, items, ranks->rank + 1)};
}

/* Each rank has written its own items of the array (from regal_ranks_first on);
 * afterwards all have all. */
regal_status regal_ranks_gather(const regal_ranks *ranks,
                                regal_context *context, void *array,
                                size_t items, size_t item_bytes);

/* The first rank has written the bytes; afterwards all have them. */
regal_status regal_ranks_spread(const regal_ranks *ranks,
                                regal_context *context, void *bytes,
                                size_t size);

#endif
