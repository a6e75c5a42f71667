/* SPDX-License-Identifier: Apache-2.0 */
#include "anneal/schedules.h"
#include "anneal/driver/anneal.h"
#include "heuristic/heuristics.h"

#include <math.h>

#include "anneal/levels/multilevel.h"
#include "heuristic/list/placement.h"

static const regal_schedule table[] = {
#include "anneal/schedule_table.h"
};

/* So many seconds does an evaluation of annealing take about, for each op: only
 * to find the row for a budget of evaluations. */
#define SECONDS_PER_OP 5e-9

/* Whether the mean tensor takes longer to send than the mean op to run. */
static bool are_expensive(const regal_problem *problem) {
  double sent = 0, run = 0;
  for (uint32_t t = 0; problem->devices > 1 && t < problem->tensors; t++)
    sent += (double)regal_problem_transfer_ns(problem, t, 0, 1);
  for (uint32_t op = 0; op < problem->ops; op++)
    run += (double)problem->graph->run_ns[op];
  return sent * problem->ops > run * problem->tensors;
}

bool regal_is_wide(const regal_problem *problem) {
  const regal_graph *graph = problem->graph;
  double path = (double)graph->critical_ns * problem->devices;
  return problem->devices == 2 && path < 0.8 * (double)graph->work_ns;
}

static regal_problem_kind kind_of(const regal_problem *problem) {
  if (problem->objective == REGAL_MEMORY)
    return problem->devices == 1 ? REGAL_KIND_ONE : REGAL_KIND_MEMORY;
  if (problem->limited)
    return REGAL_KIND_LIMITED;
  if (problem->machine->overlapped)
    return REGAL_KIND_LINKS;
  if (problem->free_transfers && problem->devices > 2)
    return REGAL_KIND_MANY;
  if (problem->free_transfers)
    return regal_is_wide(problem) ? REGAL_KIND_WIDE : REGAL_KIND_FREE;
  return are_expensive(problem) ? REGAL_KIND_EXPENSIVE : REGAL_KIND_CHEAP;
}

static double seconds_left(const regal_search *search) {
  double left = search->deadline - regal_seconds();
  if (search->budget == UINT64_MAX)
    return left;
  double moves = (double)(search->budget - search->evaluations);
  return fmin(left, moves * search->problem->ops * SECONDS_PER_OP);
}

static const regal_schedule *find_row(const regal_search *search) {
  regal_problem_kind kind = kind_of(search->problem);
  double seconds = seconds_left(search);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].kind == kind && search->problem->ops <= table[i].most_ops &&
        seconds <= table[i].most_seconds)
      return &table[i];
  return &table[0]; /* not reached: the last row of a kind fits all */
}

const regal_annealer *regal_schedule_for(const regal_search *search,
                                         regal_schedule *recipe) {
  const regal_options *options = search->options;
  *recipe = *find_row(search);
  const regal_annealer *annealer = regal_annealer_find(
      options->annealer[0] ? options->annealer : recipe->annealer);
  if (!annealer || !annealer->suits(search->problem)) {
    annealer = regal_annealer_for(search->problem);
    if (annealer) {
      recipe->hot = annealer->hot;
      recipe->cold = annealer->cold;
    }
  }
  if (options->hot > 0)
    recipe->hot = options->hot;
  if (options->cold > 0)
    recipe->cold = options->cold;
  if (options->fall > 0)
    recipe->fall = options->fall;
  if (options->coarsest > 0)
    recipe->coarsest = (uint32_t)options->coarsest;
  if (options->coarse_share >= 0)
    recipe->coarse_share = options->coarse_share;
  if (options->fresh >= 0)
    recipe->fresh = options->fresh;
  return annealer;
}

void regal_schedule_forget(regal_options *options) {
  options->annealer[0] = 0;
  options->hot = options->cold = options->fall = 0;
  options->coarsest = 0;
  options->coarse_share = options->fresh = -1;
}

/* All ops on one device: where single moves can still lead anywhere. */
static regal_status make_single(const regal_search *search, regal_plan **plan) {
  regal_context *context = search->context;
  uint32_t ops = search->problem->ops;
  uint32_t *order = regal_alloc(context, ops, sizeof *order);
  uint8_t *placement = regal_alloc(context, ops, 1);
  regal_status status =
      order && placement ? REGAL_OK : regal_fail_memory(context);
  if (status == REGAL_OK) {
    for (uint32_t op = 0; op < ops; op++)
      order[op] = op;
    regal_place_single(search->problem, placement);
    status =
        regal_plan_from_order(context, search->problem, order, placement, plan);
  }
  regal_release(context, placement);
  regal_release(context, order);
  return status;
}

/* From a plan, with a share of what is left. */
static regal_status anneal_from(regal_search *search,
                                const regal_annealer *annealer,
                                const regal_plan *start, double hot,
                                double cold, double share, uint64_t stream) {
  regal_anneal_job job = {.search = search,
                          .problem = search->problem,
                          .annealer = annealer,
                          .start = start,
                          .hot = hot,
                          .cold = cold,
                          .stream = stream};
  regal_plan *best;
  regal_anneal_grant(search, share, &job);
  REGAL_TRY(regal_anneal(&job, &best));
  return regal_search_offer(search, best);
}

/* A good plan is not heated as much as one to begin with. */
#define REHEAT 0.2

static regal_status anneal_flat(regal_search *search,
                                const regal_schedule *recipe,
                                const regal_annealer *annealer) {
  double hot = recipe->hot, cold = recipe->cold;
  if (recipe->fresh > 0) {
    regal_plan *single;
    REGAL_TRY(make_single(search, &single));
    regal_status status =
        anneal_from(search, annealer, single, hot, cold, recipe->fresh, 1);
    regal_plan_free(single);
    REGAL_TRY(status);
    hot = hot * REHEAT > cold ? hot * REHEAT : cold;
  }
  if (recipe->fresh >= 1 || regal_search_should_stop(search))
    return REGAL_OK;
  return anneal_from(search, annealer, search->best, hot, cold, 1, 2);
}

/* Where transfers block and cost, order annealing finds the better stages and
 * phase annealing, with ten times the moves, the better plan from there. */
#define STAGES_SHARE 0.6
#define FINISH_HOT 4
#define FINISH_COLD 0.0015

static bool wants_finish(const regal_search *search,
                         const regal_annealer *annealer) {
  return annealer == &regal_annealer_order &&
         !search->problem->free_transfers &&
         regal_annealer_phase.suits(search->problem);
}

static regal_status anneal_levels(regal_search *search,
                                  const regal_schedule *recipe,
                                  const regal_annealer *annealer, bool finish) {
  regal_multilevel_settings settings = {.start = regal_start_quickly,
                                        .hot = recipe->hot,
                                        .cold = recipe->cold,
                                        .fall = recipe->fall,
                                        .coarse_share = recipe->coarse_share,
                                        .target_ops = recipe->coarsest};
  if (!finish)
    return regal_multilevel(search, annealer, &settings);
  uint64_t budget = search->budget;
  double deadline = search->deadline, now = regal_seconds();
  if (budget != UINT64_MAX)
    search->budget =
        search->evaluations +
        (uint64_t)(STAGES_SHARE * (double)(budget - search->evaluations));
  if (!isinf(deadline))
    search->deadline = now + STAGES_SHARE * (deadline - now);
  regal_status status = regal_multilevel(search, annealer, &settings);
  search->budget = budget;
  search->deadline = deadline;
  if (status != REGAL_OK || regal_search_should_stop(search))
    return status;
  return anneal_from(search, &regal_annealer_phase, search->best, FINISH_HOT,
                     FINISH_COLD, 1, UINT32_MAX - 2);
}

regal_status regal_anneal_by(regal_search *search, const regal_schedule *recipe,
                             const regal_annealer *annealer, bool alone) {
  uint64_t before = search->evaluations;
  bool levels = recipe->coarse_share > 0;
  bool finish = levels && !alone && wants_finish(search, annealer);
  REGAL_TRY(levels ? anneal_levels(search, recipe, annealer, finish)
                   : anneal_flat(search, recipe, annealer));
  regal_search_account(search, "%s%s%s annealing, %llu moves",
                       levels ? "multilevel " : "", annealer->name,
                       finish ? " and phase" : "",
                       (unsigned long long)(search->evaluations - before));
  return REGAL_OK;
}
