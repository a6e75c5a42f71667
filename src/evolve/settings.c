/* SPDX-License-Identifier: Apache-2.0 */
/* BRKGA with settings from outside: what `regal tune` tries, and what method
 * `tuned` runs.
 */
#include "evolve/settings.h"
#include "evolve/evolve.h"

#include <math.h>

#include "base/options.h"
#include "evolve/brkga.h"

regal_settings regal_settings_standard(const regal_decoder *decoder) {
  regal_options options;
  regal_options_init(&options);
  regal_settings settings = {.decoder = decoder,
                             .population = (uint32_t)options.population,
                             .islands = (uint32_t)options.islands,
                             .elites = options.elites,
                             .mutants = options.mutants,
                             .elite_bias = options.elite_bias};
  for (size_t c = 0; c < REGAL_MOST_CLASSES; c++)
    settings.beta[c] = (regal_beta_shape){1, 1};
  return settings;
}

void regal_settings_apply(const regal_settings *settings,
                          regal_options *options) {
  if (!regal_option_given(options, "population"))
    options->population = settings->population;
  if (!regal_option_given(options, "islands"))
    options->islands = settings->islands;
  if (!regal_option_given(options, "elites"))
    options->elites = settings->elites;
  if (!regal_option_given(options, "mutants"))
    options->mutants = settings->mutants;
  if (!regal_option_given(options, "elite-bias"))
    options->elite_bias = settings->elite_bias;
}

regal_status regal_settings_propose(regal_context *context,
                                    const regal_problem *problem,
                                    const regal_settings *settings,
                                    regal_proposal **proposal) {
  const regal_decoder *decoder = settings->decoder;
  regal_proposal *made;
  REGAL_TRY(regal_proposal_create(context, problem, decoder->name, &made));
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++) {
    regal_beta_shape shape = settings->beta[c];
    if (shape.a == 1 && shape.b == 1)
      continue;
    regal_status status = regal_proposal_set_beta(
        made, decoder->classes[c].name, SIZE_MAX, shape.a, shape.b);
    if (status != REGAL_OK) {
      regal_proposal_free(made);
      return status;
    }
  }
  *proposal = made;
  return REGAL_OK;
}

regal_status regal_settings_run(regal_search *search,
                                const regal_settings *settings) {
  const regal_options *given = search->options;
  const regal_proposal *before = search->proposal;
  regal_options options = *given;
  regal_proposal *proposal;
  REGAL_TRY(regal_settings_propose(search->context, search->problem, settings,
                                   &proposal));
  regal_settings_apply(settings, &options);
  search->options = &options;
  search->proposal = proposal;
  regal_status status = regal_method_brkga(search);
  search->proposal = before;
  search->options = given;
  regal_proposal_free(proposal);
  return status;
}

regal_status regal_settings_try(regal_context *context,
                                const regal_problem *problem,
                                const regal_options *options, regal_pool *pool,
                                const regal_settings *settings, uint64_t budget,
                                regal_fitness *found, bool *complete) {
  regal_options applied = *options;
  regal_proposal *proposal;
  regal_brkga *brkga;
  REGAL_TRY(regal_settings_propose(context, problem, settings, &proposal));
  regal_settings_apply(settings, &applied);
  regal_search search = {.context = context,
                         .problem = problem,
                         .options = &applied,
                         .proposal = proposal,
                         .pool = pool,
                         .budget = budget,
                         .deadline = INFINITY,
                         .best_fitness = REGAL_FITNESS_WORST};
  regal_status status = regal_brkga_create(&search, settings->decoder, &brkga);
  if (status == REGAL_OK) {
    while (regal_brkga_step(brkga))
      ;
    *found = brkga->best_fitness;
    *complete = search.stop != REGAL_STOP_INTERRUPT;
    regal_brkga_free(brkga);
  }
  regal_proposal_free(proposal);
  return status;
}
