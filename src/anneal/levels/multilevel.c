/* SPDX-License-Identifier: Apache-2.0 */
/* `multilevel`: contract the graph step by step, anneal the coarsest one, and
 * go back level by level, annealing each from what the coarser one found, with
 * less and less heat. A move of a coarse op moves a whole block of ops, which
 * single moves could only do through worse plans. The scheme is that of graph
 * partitioning (Hendrickson and Leland 1995), with annealing for refinement
 * (Walshaw 2004).
 */
#include <math.h>

#include "anneal/levels/multilevel.h"

#define MOST_LEVELS 24
/* A level that keeps more than this share of the ops is not worth its time. */
#define LEAST_SHRINKING 0.9

typedef struct hierarchy {
  regal_search *search;
  const regal_annealer *annealer;
  const regal_multilevel_settings *settings;
  regal_level *levels[MOST_LEVELS]; /* finest first */
  uint32_t count;
} hierarchy;

static const regal_problem *problem_at(const hierarchy *h, uint32_t level) {
  return level ? h->levels[level - 1]->problem : h->search->problem;
}

static regal_status build_levels(hierarchy *h) {
  const regal_problem *fine = h->search->problem;
  uint32_t target = h->settings->target_ops;
  int64_t most_ns = (int64_t)(1.5 * (double)fine->graph->work_ns / target) + 1;
  while (h->count < MOST_LEVELS) {
    const regal_problem *problem = problem_at(h, h->count);
    regal_level *level;
    if (problem->ops <= target)
      break;
    REGAL_TRY(regal_contract(h->search->context, problem, most_ns, &level));
    if (!level)
      break;
    h->levels[h->count++] = level;
    if (level->problem->ops > LEAST_SHRINKING * problem->ops)
      break;
  }
  return REGAL_OK;
}

/* Plans of the coarse problem that need no search; the best of them. */
static regal_status start_coarse(const hierarchy *h, regal_plan **start) {
  regal_search coarse;
  regal_search_child(h->search, problem_at(h, h->count), 1, &coarse);
  coarse.budget.limit = REGAL_NO_LIMIT;
  regal_status status = h->settings->start(&coarse);
  *start = coarse.best;
  coarse.best = NULL;
  regal_search_close(&coarse);
  return status;
}

/* Anneals one level from `plan`, which it replaces. Temperatures are in mean
 * run times of the finest ops, or in peaks, on every level. */
static regal_status anneal_level(const hierarchy *h, uint32_t level,
                                 double share, regal_plan **plan) {
  const regal_multilevel_settings *settings = h->settings;
  const regal_problem *problem = problem_at(h, level);
  bool peaks = problem->objective == REGAL_MEMORY;
  double scale = peaks ? 1 : (double)problem->ops / h->search->problem->ops;
  double halvings = h->count - level;
  regal_anneal_job job = {.annealer = h->annealer,
                          .start = *plan,
                          .hot = settings->hot * pow(settings->fall, halvings),
                          .cold = settings->cold,
                          .stream = REGAL_STREAM_LEVELS + level};
  if (job.hot < job.cold)
    job.hot = job.cold;
  job.hot *= scale;
  job.cold *= scale;
  regal_plan *best;
  REGAL_TRY(regal_anneal(h->search, problem, share, &job, &best));
  regal_plan_free(*plan);
  *plan = best;
  return REGAL_OK;
}

/* The share of what is left that a level gets: the coarse ones have
 * `coarse_share` of all among them, in equal parts. */
static double share_of(const hierarchy *h, uint32_t level) {
  double part = h->settings->coarse_share / h->count;
  double left = 1 - part * (h->count - level);
  return level ? part / left : 1;
}

/* The finest level begins with the best plan that there is; under a memory
 * limit that may be a fast one just beyond it. */
static regal_status choose_start(const hierarchy *h, regal_plan **plan) {
  regal_search *search = h->search;
  const regal_problem *problem = search->problem;
  regal_cost cost;
  if (!search->best)
    return REGAL_OK;
  REGAL_TRY(regal_search_cost(search, *plan, &cost));
  if (regal_search_energy(problem, search->plan_fitness) >=
      regal_search_energy(problem, regal_fitness_of(problem, &cost)))
    return REGAL_OK;
  regal_plan_free(*plan);
  *plan = NULL;
  return regal_plan_copy(search->context, search->best, plan);
}

static regal_status descend(const hierarchy *h, regal_plan **plan) {
  for (uint32_t level = h->count; level > 0; level--) {
    REGAL_TRY(anneal_level(h, level, share_of(h, level), plan));
    regal_plan *finer;
    REGAL_TRY(regal_level_expand(h->levels[level - 1], *plan, &finer));
    regal_plan_free(*plan);
    *plan = finer;
  }
  REGAL_TRY(choose_start(h, plan));
  return anneal_level(h, 0, 1, plan);
}

regal_status regal_multilevel(regal_search *search,
                              const regal_annealer *annealer,
                              const regal_multilevel_settings *settings) {
  hierarchy hierarchy = {search, annealer, settings, {NULL}, 0};
  regal_plan *plan = NULL;
  regal_status status = build_levels(&hierarchy);
  if (status == REGAL_OK)
    status = start_coarse(&hierarchy, &plan);
  if (status == REGAL_OK)
    status = descend(&hierarchy, &plan);
  if (status == REGAL_OK)
    status = regal_search_offer(search, plan);
  else
    regal_plan_free(plan);
  for (uint32_t i = hierarchy.count; i-- > 0;)
    regal_level_free(hierarchy.levels[i]);
  return status;
}
