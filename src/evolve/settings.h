/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of BRKGA that `regal tune` found on a training set: its sizes, and a
 * Beta for each class of genes. They know nothing of a single graph.
 */
#ifndef REGAL_EVOLVE_SETTINGS_H
#define REGAL_EVOLVE_SETTINGS_H

#include "evolve/proposal.h"
#include "search/search.h"

typedef struct regal_settings {
  const regal_decoder *decoder;
  uint32_t population, islands;
  double elites, mutants, elite_bias;
  regal_beta_shape beta[REGAL_MOST_CLASSES]; /* of each class of the decoder */
} regal_settings;

/* Standard BRKGA: the options' defaults, uniform genes. */
regal_settings regal_settings_standard(const regal_decoder *decoder);

/* Sets the options of BRKGA, except those that were given explicitly. */
void regal_settings_apply(const regal_settings *settings,
                          regal_options *options);

/* A proposal with the Beta of each class; Beta(1, 1) is left uniform. */
regal_status regal_settings_propose(regal_context *context,
                                    const regal_problem *problem,
                                    const regal_settings *settings,
                                    regal_proposal **proposal);

/* BRKGA with these settings, as a method runs. */
regal_status regal_settings_run(regal_search *search,
                                const regal_settings *settings);

/* The same on the calling thread's pool, without the plan: what it finds with
 * so many evaluations. After a stop request *complete is false, and *found of
 * no use. */
regal_status regal_settings_try(regal_context *context,
                                const regal_problem *problem,
                                const regal_options *options, regal_pool *pool,
                                const regal_settings *settings, uint64_t budget,
                                regal_fitness *found, bool *complete);

#endif
