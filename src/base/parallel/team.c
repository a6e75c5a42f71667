/* SPDX-License-Identifier: Apache-2.0 */
/* Teams. */
#include "base/parallel/team.h"

regal_status regal_team_join(regal_context *context, int threads,
                             regal_team *team) {
  *team = (regal_team){.context = context};
  REGAL_TRY(regal_ranks_join(context, &team->ranks));
  return regal_workers_create(context, threads, &team->workers);
}

void regal_team_leave(regal_team *team, bool finished) {
  regal_workers_free(team->workers);
  team->workers = NULL;
  if (finished)
    regal_ranks_leave(&team->ranks);
}

regal_status regal_team_threads(const regal_team *team, size_t *threads) {
  const regal_ranks *ranks = &team->ranks;
  size_t size = (size_t)ranks->size;
  uint32_t *of_rank = regal_alloc(team->context, size, sizeof *of_rank);
  if (!of_rank)
    return regal_fail_memory(team->context);
  of_rank[ranks->rank] = (uint32_t)regal_workers_threads(team->workers);
  regal_status status =
      regal_ranks_gather(ranks, team->context, of_rank, size, sizeof *of_rank);
  *threads = 0;
  for (size_t i = 0; i < size; i++)
    *threads += of_rank[i];
  regal_release(team->context, of_rank);
  return status;
}

typedef struct shared_job {
  size_t first; /* item of this rank */
  regal_workers_fn run;
  void *state;
} shared_job;

static regal_status run_item(void *state, size_t item,
                             const regal_worker *worker) {
  const shared_job *job = state;
  return job->run(job->state, job->first + item, worker);
}

regal_status regal_team_run(const regal_team *team, size_t items,
                            regal_workers_fn job, void *state, void *results,
                            size_t result_bytes) {
  regal_share mine = regal_ranks_share(&team->ranks, items);
  shared_job shared = {mine.first, job, state};
  REGAL_TRY(regal_workers_run(team->workers, mine.end - mine.first, run_item,
                              &shared));
  return regal_ranks_gather(&team->ranks, team->context, results, items,
                            result_bytes);
}
