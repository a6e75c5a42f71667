/* SPDX-License-Identifier: Apache-2.0 */
/* The BRKGA-based features: what a short standard BRKGA, with uniform genes,
 * says about each op.
 *
 * Where the paper is silent: the aggregate is the plain mean over the final
 * population (elites, children and mutants that were evaluated, each once); the
 * order is that of the decoded plan, so that it means the same for every
 * decoder, counting ops only and divided by their number; interchangeable
 * devices are renamed so that the largest op (problem->pinned) is on device 0.
 * The run has random numbers of its own, so that what follows does not begin
 * with the same chromosomes.
 */
#ifndef REGAL_LEARN_GUIDE_BRKGA_FEATURES_H
#define REGAL_LEARN_GUIDE_BRKGA_FEATURES_H

#include "evolve/settings.h"

#define REGAL_FEATURE_EVALUATIONS 400

typedef struct regal_brkga_features {
  const regal_problem *problem;
  uint32_t chromosomes;       /* that the means are over */
  uint64_t evaluations;       /* that the run took */
  float *placement;           /* [ops * devices] share of each device */
  float *position;            /* [ops] mean place in the order, in [0, 1) */
  regal_plan *best;           /* the best plan of the run, or NULL; owned */
  regal_fitness best_fitness; /* of it */
} regal_brkga_features;

/* Runs up to `evaluations`, which the search's budget may cut short, in a child
 * search without restarts. The search's best plan neither serves as a start nor
 * changes. */
regal_status regal_brkga_features_run(regal_search *search,
                                      const regal_brkga_settings *settings,
                                      uint64_t evaluations,
                                      regal_brkga_features **features);
void regal_brkga_features_free(regal_context *context,
                               regal_brkga_features *features);

#endif
