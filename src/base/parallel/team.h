/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of all ranks as one team, for work that is done in chunks.
 *
 * A chunk is an array of results, one for each item. Every rank fills in its
 * share on its own threads, and then all ranks have all results: so all hold
 * the same state and take the same decisions, whoever did the work.
 */
#ifndef REGAL_BASE_PARALLEL_TEAM_H
#define REGAL_BASE_PARALLEL_TEAM_H

#include "base/parallel/ranks.h"
#include "base/parallel/workers.h"

typedef struct regal_team {
  regal_context *context;
  regal_ranks ranks;
  regal_workers *workers;
} regal_team;

/* Finds the other ranks, and starts this rank's threads (0: one per core). A
 * team that failed to join is left, too. */
regal_status regal_team_join(regal_context *context, int threads,
                             regal_team *team);
/* Ends the threads. `finished` if this rank's work was done: a rank that leaves
 * unfinished ends the whole job. */
void regal_team_leave(regal_team *team, bool finished);

/* The threads of all ranks together. */
regal_status regal_team_threads(const regal_team *team, size_t *threads);

/* Calls job(state, item, worker) for each item; the job sets results[item]. The
 * items of a rank are those of regal_ranks_share. */
regal_status regal_team_run(const regal_team *team, size_t items,
                            regal_workers_fn job, void *state, void *results,
                            size_t result_bytes);

#endif
