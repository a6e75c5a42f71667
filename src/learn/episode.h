/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes: a BRKGA run of one problem on one proposal, on one thread.
 *
 * What comes out depends on the problem, the proposal, the seed and the number
 * of evaluations alone.
 */
#ifndef REGAL_LEARN_EPISODE_H
#define REGAL_LEARN_EPISODE_H

#include "auto/auto.h"
#include "learn/guide/brkga_features.h"

/* What one thread runs episodes with. */
typedef struct regal_runner {
  regal_context *context;              /* the thread's own */
  regal_pool *single;                  /* a pool of one thread */
  const regal_auto_settings *settings; /* of BRKGA, and of the teacher */
} regal_runner;

/* The mean of the `best_of` best costs of `evaluations`, which is the best cost
 * for 1. A NULL proposal is uniform: the standard BRKGA. More than the elites
 * are a mean over the last population instead. */
regal_status regal_episode_run(const regal_runner *runner,
                               const regal_problem *problem,
                               const regal_decoder *decoder,
                               const regal_proposal *proposal, uint64_t seed,
                               uint64_t evaluations, uint32_t best_of,
                               double *cost);
/* The features of a problem, as a search with this seed computes them. */
regal_status regal_episode_features(const regal_runner *runner,
                                    const regal_problem *problem,
                                    const regal_decoder *decoder, uint64_t seed,
                                    uint64_t evaluations,
                                    regal_brkga_features **features);
/* A cost as one number: what is beyond a memory limit is added. */
double regal_episode_cost(regal_fitness fitness);

#endif
