/* The processes that train together: one, or the ranks of mpirun.
 *
 * All of them hold the same parameters and do the same updates; they share out
 * the episodes, and gather is the only thing that they say to each other. So
 * nothing else knows MPI. One of team_local.c and team_mpi.c is built.
 */
#ifndef REGAL_LEARN_TEAM_H
#define REGAL_LEARN_TEAM_H

#include "base/context.h"

#define REGAL_MOST_RANKS 4096

typedef struct regal_team {
  int rank, size;
  bool owned; /* MPI was started by us */
} regal_team;

/* Joins the other ranks if mpirun started this process. */
regal_status regal_team_join(regal_context *context, regal_team *team);
/* After success only: a rank that ends without it ends the whole job. */
void regal_team_leave(regal_team *team);

/* The first item of a rank when `items` are shared out in order. */
static inline size_t regal_team_first(const regal_team *team, size_t items,
                                      int rank) {
  return items * (size_t)rank / (size_t)team->size;
}

/* Each rank has written its own items of the array (from regal_team_first on);
 * afterwards all have all. */
regal_status regal_team_gather(const regal_team *team, regal_context *context,
                               void *array, size_t items, size_t item_bytes);

#endif
