/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes: a BRKGA run of one problem on one proposal, on one thread.
 */
#ifndef REGAL_LEARN_EPISODE_H
#define REGAL_LEARN_EPISODE_H

#include "base/parallel/workers.h"
#include "learn/guide/brkga_features.h"
#include "learn/guide/draft.h"

/* What comes out depends on this alone. */
typedef struct regal_episode {
  const regal_problem *problem;
  const regal_brkga_settings *settings; /* with a decoder */
  const regal_proposal *proposal;       /* NULL: uniform, the standard BRKGA */
  uint64_t seed, evaluations;
  uint32_t best_of;
} regal_episode;

/* The mean of the `best_of` best costs of `evaluations`, which is the best cost
 * for 1. More than the elites are a mean over the last population instead. */
regal_status regal_episode_run(const regal_worker *worker,
                               const regal_episode *episode, double *cost);
/* The features of a problem, as a search with this seed computes them. */
regal_status regal_episode_features(const regal_worker *worker,
                                    const regal_episode *episode,
                                    regal_brkga_features **features);
regal_status regal_episode_draft(const regal_worker *worker,
                                 const regal_episode *episode,
                                 regal_draft **draft);
/* A cost as one number: what is beyond a memory limit is added. */
double regal_episode_cost(regal_fitness fitness);

#endif
