/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of BRKGA: from options, from what `regal tune` found, and runs with
 * them. An option that the user gives wins over a file.
 */
#include "evolve/settings.h"
#include "evolve/methods.h"

#include "base/options/options.h"
#include "evolve/brkga.h"

regal_brkga_settings regal_brkga_settings_of(const regal_options *options) {
  return (regal_brkga_settings){
      .decoder =
          options->decoder[0] ? regal_decoder_find(options->decoder) : NULL,
      .population = (uint32_t)options->population,
      .islands = (uint32_t)options->islands,
      .elites = options->elites,
      .mutants = options->mutants,
      .elite_bias = options->elite_bias,
      .exchange = (uint32_t)options->exchange,
      .restart = (uint32_t)options->restart};
}

regal_settings regal_settings_standard(const regal_decoder *decoder) {
  regal_options options;
  regal_options_init(&options);
  regal_settings settings = {.brkga = regal_brkga_settings_of(&options)};
  settings.brkga.decoder = decoder;
  for (size_t c = 0; c < REGAL_MOST_CLASSES; c++)
    settings.beta[c] = (regal_beta_shape){1, 1};
  return settings;
}

regal_brkga_settings regal_settings_apply(const regal_settings *settings,
                                          const regal_options *options) {
  regal_brkga_settings applied = regal_brkga_settings_of(options);
  applied.decoder = settings->brkga.decoder;
  if (!regal_option_given(options, "population"))
    applied.population = settings->brkga.population;
  if (!regal_option_given(options, "islands"))
    applied.islands = settings->brkga.islands;
  if (!regal_option_given(options, "elites"))
    applied.elites = settings->brkga.elites;
  if (!regal_option_given(options, "mutants"))
    applied.mutants = settings->brkga.mutants;
  if (!regal_option_given(options, "elite-bias"))
    applied.elite_bias = settings->brkga.elite_bias;
  return applied;
}

/* A proposal with the Beta of each class; Beta(1, 1) is left uniform. */
static regal_status make_proposal(const regal_search *search,
                                  const regal_settings *settings,
                                  regal_proposal **proposal) {
  const regal_decoder *decoder = settings->brkga.decoder;
  regal_proposal *made;
  REGAL_TRY(regal_proposal_create(search->context, search->problem,
                                  decoder->name, &made));
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
  regal_brkga_settings applied =
      regal_settings_apply(settings, search->options);
  regal_proposal *proposal;
  REGAL_TRY(make_proposal(search, settings, &proposal));
  regal_status status = regal_brkga_run(search, &applied, proposal);
  regal_proposal_free(proposal);
  return status;
}

regal_status regal_settings_try(regal_search *search,
                                const regal_settings *settings,
                                regal_fitness *found) {
  regal_brkga_settings applied =
      regal_settings_apply(settings, search->options);
  regal_proposal *proposal;
  regal_brkga *brkga;
  REGAL_TRY(make_proposal(search, settings, &proposal));
  regal_status status = regal_brkga_create(search, &applied, proposal, &brkga);
  if (status == REGAL_OK) {
    while (regal_brkga_step(brkga))
      ;
    *found = brkga->best_fitness;
    regal_brkga_free(brkga);
  }
  regal_proposal_free(proposal);
  return status;
}
