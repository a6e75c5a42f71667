/* SPDX-License-Identifier: Apache-2.0 */
/* An episode: BRKGA on one problem, started from a proposal. Where the
 * evaluations do not go beyond the first population, only its chromosomes are
 * drawn and decoded: the same numbers, without the population. */
#include "learn/episode.h"

#include <stdlib.h>

#include "evolve/brkga.h"

double regal_episode_cost(regal_fitness fitness) {
  return (double)fitness.value + (double)fitness.excess;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts, so that the sum does not depend on who came first. */
static double mean_of_best(double *costs, size_t count, uint32_t best_of) {
  double sum = 0;
  size_t used = best_of < count ? best_of : count;
  qsort(costs, count, sizeof *costs, compare);
  for (size_t i = 0; i < used; i++)
    sum += costs[i];
  return sum / (double)used;
}

/* -- Only the initial population ------------------------------------------- */

typedef struct draws {
  regal_gene *genes;
  double *costs;
  void *scratch;
} draws;

static regal_status make_draws(const regal_runner *runner,
                               const regal_problem *problem,
                               const regal_decoder *decoder,
                               uint64_t evaluations, draws *d) {
  *d = (draws){regal_alloc(runner->context,
                           regal_decoder_genes(decoder, problem),
                           sizeof(regal_gene)),
               regal_alloc(runner->context, evaluations, sizeof(double)), NULL};
  if (!d->genes || !d->costs)
    return regal_fail_memory(runner->context);
  return decoder->create_scratch(runner->context, problem, &d->scratch);
}

static void free_draws(const regal_runner *runner, draws *d) {
  regal_release(runner->context, d->scratch);
  regal_release(runner->context, d->costs);
  regal_release(runner->context, d->genes);
}

/* The same chromosomes that BRKGA begins with, without its population. */
static regal_status draw_population(const regal_runner *runner,
                                    const regal_problem *problem,
                                    const regal_decoder *decoder,
                                    const regal_proposal *proposal,
                                    uint64_t seed, uint64_t evaluations,
                                    uint32_t best_of, double *cost) {
  draws d;
  regal_status status = make_draws(runner, problem, decoder, evaluations, &d);
  for (uint64_t i = 0; i < evaluations && status == REGAL_OK; i++) {
    regal_proposal_sample(
        proposal, regal_random_key(seed >> 1, REGAL_PURPOSE_SAMPLE, 0, i),
        d.genes);
    d.costs[i] =
        regal_episode_cost(decoder->decode(problem, d.scratch, d.genes, NULL));
  }
  if (status == REGAL_OK)
    *cost = mean_of_best(d.costs, evaluations, best_of);
  free_draws(runner, &d);
  return status;
}

/* -- Generations ----------------------------------------------------------- */

static regal_status mean_of_population(const regal_brkga *brkga,
                                       uint32_t best_of, double *cost) {
  regal_context *context = brkga->search->context;
  size_t count = (size_t)brkga->islands * brkga->population, made = 0;
  double *costs = regal_alloc(context, count, sizeof *costs);
  if (!costs)
    return regal_fail_memory(context);
  for (size_t i = 0; i < count; i++) {
    regal_fitness fitness = brkga->fitness[brkga->ranked[i]];
    if (fitness.excess != INT64_MAX)
      costs[made++] = regal_episode_cost(fitness);
  }
  *cost = made ? mean_of_best(costs, made, best_of) : 0;
  regal_release(context, costs);
  return REGAL_OK;
}

static regal_status
evolve(const regal_runner *runner, const regal_problem *problem,
       const regal_decoder *decoder, const regal_proposal *proposal,
       uint64_t seed, uint64_t evaluations, uint32_t best_of, double *cost) {
  regal_brkga_settings settings = runner->settings->brkga;
  regal_search search;
  regal_brkga *brkga;
  settings.decoder = decoder;
  regal_search_open(&search, runner->context, problem, runner->single,
                    seed >> 1, evaluations);
  REGAL_TRY(regal_brkga_create(&search, &settings, proposal, &brkga));
  while (regal_brkga_step(brkga))
    ;
  regal_status status = REGAL_OK;
  if (best_of == 1)
    *cost = regal_episode_cost(brkga->best_fitness);
  else
    status = mean_of_population(brkga, best_of, cost);
  regal_brkga_free(brkga);
  return status;
}

regal_status regal_episode_run(const regal_runner *runner,
                               const regal_problem *problem,
                               const regal_decoder *decoder,
                               const regal_proposal *proposal, uint64_t seed,
                               uint64_t evaluations, uint32_t best_of,
                               double *cost) {
  const regal_brkga_settings *settings = &runner->settings->brkga;
  if (proposal && settings->islands == 1 && evaluations <= settings->population)
    return draw_population(runner, problem, decoder, proposal, seed,
                           evaluations, best_of, cost);
  return evolve(runner, problem, decoder, proposal, seed, evaluations, best_of,
                cost);
}

regal_status regal_episode_features(const regal_runner *runner,
                                    const regal_problem *problem,
                                    const regal_decoder *decoder, uint64_t seed,
                                    uint64_t evaluations,
                                    regal_brkga_features **features) {
  regal_brkga_settings settings = runner->settings->brkga;
  regal_search search;
  settings.decoder = decoder;
  regal_search_open(&search, runner->context, problem, runner->single,
                    seed >> 1, evaluations);
  regal_status status =
      regal_brkga_features_run(&search, &settings, evaluations, features);
  regal_search_close(&search);
  return status;
}
