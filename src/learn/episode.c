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

static regal_status make_draws(regal_context *context,
                               const regal_episode *episode, draws *d) {
  const regal_decoder *decoder = episode->settings->decoder;
  const regal_problem *problem = episode->problem;
  d->genes = regal_alloc(context, regal_decoder_genes(decoder, problem),
                         sizeof *d->genes);
  d->costs = regal_alloc(context, episode->evaluations, sizeof *d->costs);
  if (!d->genes || !d->costs)
    return regal_fail_memory(context);
  return decoder->create_scratch(context, problem, &d->scratch);
}

/* The same chromosomes that BRKGA begins with, without its population. */
static regal_status draw_population(regal_context *context,
                                    const regal_episode *episode,
                                    double *cost) {
  draws d = {NULL, NULL, NULL};
  regal_status status = make_draws(context, episode, &d);
  for (uint64_t i = 0; i < episode->evaluations && status == REGAL_OK; i++) {
    regal_proposal_sample(
        episode->proposal,
        regal_random_key(episode->seed >> 1, REGAL_PURPOSE_SAMPLE, 0, i),
        d.genes);
    d.costs[i] = regal_episode_cost(episode->settings->decoder->decode(
        episode->problem, d.scratch, d.genes, NULL));
  }
  if (status == REGAL_OK)
    *cost = mean_of_best(d.costs, episode->evaluations, episode->best_of);
  regal_release(context, d.scratch);
  regal_release(context, d.costs);
  regal_release(context, d.genes);
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

static void open_search(const regal_worker *worker,
                        const regal_episode *episode, regal_search *search) {
  regal_search_open(search, worker->context, episode->problem, worker->single,
                    episode->seed >> 1, episode->evaluations);
}

regal_status regal_episode_run(const regal_worker *worker,
                               const regal_episode *episode, double *cost) {
  const regal_brkga_settings *settings = episode->settings;
  regal_status status = REGAL_OK;
  regal_search search;
  regal_brkga *brkga;
  if (episode->proposal && settings->islands == 1 &&
      episode->evaluations <= settings->population)
    return draw_population(worker->context, episode, cost);
  open_search(worker, episode, &search);
  REGAL_TRY(regal_brkga_create(&search, settings, episode->proposal, &brkga));
  while (regal_brkga_step(brkga))
    ;
  if (episode->best_of == 1)
    *cost = regal_episode_cost(brkga->best_fitness);
  else
    status = mean_of_population(brkga, episode->best_of, cost);
  regal_brkga_free(brkga);
  return status;
}

regal_status regal_episode_features(const regal_worker *worker,
                                    const regal_episode *episode,
                                    regal_brkga_features **features) {
  regal_search search;
  open_search(worker, episode, &search);
  regal_status status = regal_brkga_features_run(
      &search, episode->settings, episode->evaluations, features);
  regal_search_close(&search);
  return status;
}

regal_status regal_episode_draft(const regal_worker *worker,
                                 const regal_episode *episode,
                                 regal_draft **draft) {
  regal_search search;
  open_search(worker, episode, &search);
  regal_status status =
      regal_draft_run(&search, episode->settings, episode->evaluations, draft);
  regal_search_close(&search);
  return status;
}
