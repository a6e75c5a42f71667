/* SPDX-License-Identifier: Apache-2.0 */
/* `multilevel`: contract the graph step by step, anneal the coarsest one, and
 * go back level by level, annealing each from what the coarser one found, with
 * less and less heat. Coarse moves take whole blocks of ops along, which single
 * moves would have to carry uphill one by one.
 */
#include <math.h>

#include "anneal/levels/multilevel.h"

#define MOST_LEVELS 24
/* A level that keeps more than this share of the ops is not worth its time. */
#define LEAST_SHRINKING 0.9

typedef struct tower {
  regal_search *search;
  const regal_annealer *annealer;
  const regal_multilevel_settings *settings;
  regal_level *levels[MOST_LEVELS]; /* finest first */
  uint32_t count;
} tower;

static const regal_problem *problem_at(const tower *tower, uint32_t level) {
  return level ? tower->levels[level - 1]->problem : tower->search->problem;
}

static regal_status build_levels(tower *tower) {
  const regal_problem *fine = tower->search->problem;
  uint32_t target = tower->settings->target_ops;
  int64_t most_ns = (int64_t)(1.5 * (double)fine->graph->work_ns / target) + 1;
  while (tower->count < MOST_LEVELS) {
    const regal_problem *problem = problem_at(tower, tower->count);
    regal_level *level;
    if (problem->ops <= target)
      break;
    REGAL_TRY(regal_contract(tower->search->context, problem, most_ns, &level));
    if (!level)
      break;
    tower->levels[tower->count++] = level;
    if (level->problem->ops > LEAST_SHRINKING * problem->ops)
      break;
  }
  return REGAL_OK;
}

/* Plans of the coarse problem that need no search; the best of them. */
static regal_status start_coarse(const tower *tower, regal_plan **start) {
  const regal_search *given = tower->search;
  regal_search coarse = {.context = given->context,
                         .problem = problem_at(tower, tower->count),
                         .options = given->options,
                         .pool = given->pool,
                         .budget = UINT64_MAX,
                         .deadline = given->deadline,
                         .best_fitness = REGAL_FITNESS_WORST};
  REGAL_TRY(regal_simulator_create(coarse.context, coarse.problem,
                                   &coarse.simulator));
  regal_progress_fn progress = coarse.context->progress;
  coarse.context->progress = NULL; /* of another problem */
  regal_status status = tower->settings->start(&coarse);
  coarse.context->progress = progress;
  regal_simulator_free(coarse.simulator);
  *start = coarse.best;
  return status;
}

/* Anneals one level from `plan`, which it replaces. Temperatures are in mean
 * run times of the finest ops, or in peaks, on every level. */
static regal_status anneal_level(const tower *tower, uint32_t level,
                                 double share, regal_plan **plan) {
  const regal_multilevel_settings *settings = tower->settings;
  const regal_problem *problem = problem_at(tower, level);
  bool peaks = problem->objective == REGAL_MEMORY;
  double scale = peaks ? 1 : (double)problem->ops / tower->search->problem->ops;
  double halvings = tower->count - level;
  regal_anneal_job job = {.search = tower->search,
                          .problem = problem,
                          .annealer = tower->annealer,
                          .start = *plan,
                          .hot = settings->hot * pow(settings->fall, halvings),
                          .cold = settings->cold,
                          .stream = settings->stream + level};
  if (job.hot < job.cold)
    job.hot = job.cold;
  job.hot *= scale;
  job.cold *= scale;
  regal_anneal_grant(tower->search, share, &job);
  regal_plan *best;
  REGAL_TRY(regal_anneal(&job, &best));
  regal_plan_free(*plan);
  *plan = best;
  return REGAL_OK;
}

/* The share of what is left that a level gets: the coarse ones have
 * `coarse_share` of all among them, in equal parts. */
static double share_of(const tower *tower, uint32_t level) {
  double part = tower->settings->coarse_share / tower->count;
  double left = 1 - part * (tower->count - level);
  return level ? part / left : 1;
}

/* The finest level begins with the best plan that there is; under a memory
 * limit that may be a fast one just beyond it. */
static regal_status choose_start(const tower *tower, regal_plan **plan) {
  regal_search *search = tower->search;
  const regal_problem *problem = search->problem;
  regal_cost cost;
  if (!search->best)
    return REGAL_OK;
  regal_simulate(search->simulator, *plan, &cost);
  if (regal_search_energy(problem, search->plan_fitness) >=
      regal_search_energy(problem, regal_fitness_of(problem, &cost)))
    return REGAL_OK;
  regal_plan_free(*plan);
  *plan = NULL;
  return regal_plan_copy(search->context, search->best, plan);
}

static regal_status descend(const tower *tower, regal_plan **plan) {
  for (uint32_t level = tower->count; level > 0; level--) {
    REGAL_TRY(anneal_level(tower, level, share_of(tower, level), plan));
    regal_plan *finer;
    REGAL_TRY(regal_level_expand(tower->levels[level - 1], *plan, &finer));
    regal_plan_free(*plan);
    *plan = finer;
  }
  REGAL_TRY(choose_start(tower, plan));
  return anneal_level(tower, 0, 1, plan);
}

regal_status regal_multilevel(regal_search *search,
                              const regal_annealer *annealer,
                              const regal_multilevel_settings *settings) {
  tower tower = {search, annealer, settings, {NULL}, 0};
  regal_plan *plan = NULL;
  regal_status status = build_levels(&tower);
  if (status == REGAL_OK)
    status = start_coarse(&tower, &plan);
  if (status == REGAL_OK)
    status = descend(&tower, &plan);
  if (status == REGAL_OK)
    status = regal_search_offer(search, plan);
  else
    regal_plan_free(plan);
  for (uint32_t i = tower.count; i-- > 0;)
    regal_level_free(tower.levels[i]);
  return status;
}
