/* SPDX-License-Identifier: Apache-2.0 */
#include "auto/limit.h"
#include "auto/auto.h"

#include <math.h>

#include "anneal/driver/anneal.h"
#include "anneal/driver/annealers.h"
#include "anneal/order/memory.h"
#include "anneal/schedules.h"

/* Of what is left of the budget: for a plan that ignores the memory limit, and
 * for one that fits at all. */
#define UNLIMITED_SHARE 0.15
#define FITTING_SHARE 0.4
/* Who has this long may not want to wait for a plan that fits until the fast
 * ones are there. */
#define LONG_SECONDS 2
#define EARLY_SHARE 0.05

/* How a fast plan is made to fit: whether it does is also luck, and costs a
 * part of what is left. Temperatures are in mean run times of ops; much more
 * would throw away what is good about the plan, but where transfers cost, moves
 * cost more. Chosen by bench_quality on training graphs (14 to 28, one or two
 * seeds, 0.1 to 1 s). */
typedef struct shrinking {
  double share;
  uint32_t tries;
  double hot, cold;
  double refine_hot, refine_cold; /* to go on with, once it fits */
} shrinking;

static const shrinking shrinking_fast = {0.2, 2, 0.3, 0.1, 0.1, 0.003};
static const shrinking shrinking_costly = {0.1, 1, 1, 0.3, 0.5, 0.003};
static const shrinking shrinking_slow = {0.1, 2, 0.3, 0.1, 0.1, 0.003};

/* By how moves are costed, and what they cost. */
static const shrinking *shrinking_for(const regal_problem *problem) {
  if (!problem->machine->overlapped && !problem->free_transfers)
    return &shrinking_costly;
  return regal_order_memory_suits(problem) ? &shrinking_fast : &shrinking_slow;
}

static bool plan_fits(regal_search *search, const regal_plan *plan) {
  regal_cost cost;
  regal_simulate(search->simulator, plan, &cost);
  return regal_fitness_of(search->problem, &cost).excess == 0;
}

/* All of `auto` for another view of the problem, with a share of what is left;
 * its best plan. */
static regal_status run_view(regal_search *search, const regal_problem *view,
                             const regal_bound *bound, double share,
                             regal_plan **best) {
  regal_context *context = search->context;
  regal_progress_fn progress = context->progress;
  regal_options options = *search->options;
  regal_anneal_job grant;
  regal_anneal_grant(search, share, &grant);
  regal_search other = *search;
  options.target = 0; /* of this problem's objective, within its limit */
  regal_schedule_forget(&options);
  other.options = &options;
  other.problem = view;
  other.bound = *bound;
  other.best = NULL;
  other.best_fitness = other.plan_fitness = REGAL_FITNESS_WORST;
  other.evaluations = 0;
  other.budget = grant.evaluations;
  other.deadline = grant.deadline;
  context->progress = NULL; /* of another problem */
  regal_status status = regal_simulator_create(context, view, &other.simulator);
  if (status == REGAL_OK) {
    status = regal_method_auto(&other);
    regal_simulator_free(other.simulator);
  }
  context->progress = progress;
  search->evaluations += other.evaluations;
  *best = status == REGAL_OK ? other.best : NULL;
  if (status != REGAL_OK)
    regal_plan_free(other.best);
  return status;
}

/* What knows no memory is far faster. Where the limit hardly matters, this is
 * the best plan with it. */
static regal_status run_unlimited(regal_search *search, regal_account *account,
                                  regal_plan **fast, bool *fits) {
  regal_problem view = regal_problem_unlimited(search->problem);
  regal_plan *copy;
  REGAL_TRY(run_view(search, &view, &search->bound, UNLIMITED_SHARE, fast));
  REGAL_TRY(regal_plan_copy(search->context, *fast, &copy));
  *fits = plan_fits(search, copy);
  REGAL_TRY(regal_search_offer(search, copy));
  regal_account_add(account, search, "without the limit");
  return REGAL_OK;
}

/* What an annealing finds is offered to the search, which knows what it is
 * worth. `fits` may be NULL. */
static regal_status run_job(regal_search *search, regal_anneal_job *job,
                            double share, bool *fits) {
  regal_plan *best;
  regal_anneal_grant(search, share, job);
  REGAL_TRY(regal_anneal(job, &best));
  if (fits)
    *fits = plan_fits(search, best);
  return regal_search_offer(search, best);
}

/* Beyond the memory limit: less memory, from the best plan so far, until it is
 * within. */
static regal_status reduce_memory(regal_search *search, regal_account *account,
                                  double share) {
  regal_problem view = *search->problem; /* owns nothing */
  view.objective = REGAL_MEMORY;
  const regal_annealer *annealer = regal_annealer_for(&view);
  if (!annealer)
    return REGAL_OK;
  regal_anneal_job job = {.search = search,
                          .problem = &view,
                          .annealer = annealer,
                          .start = search->best,
                          .hot = annealer->hot,
                          .cold = annealer->cold,
                          .until_fits = true,
                          .stream = UINT32_MAX};
  REGAL_TRY(run_job(search, &job, share, NULL));
  regal_account_add(account, search, "memory annealing");
  return REGAL_OK;
}

/* The same from anywhere. */
static regal_status find_less_memory(regal_search *search,
                                     regal_account *account, double share) {
  regal_problem view = *search->problem; /* owns nothing */
  regal_bound enough = search->bound;
  regal_plan *best;
  view.objective = REGAL_MEMORY;
  for (uint32_t a = 0; a < view.devices; a++)
    if (enough.peak_bytes < view.limit[a])
      enough.peak_bytes = view.limit[a];
  REGAL_TRY(run_view(search, &view, &enough, share, &best));
  REGAL_TRY(regal_search_offer(search, best));
  regal_account_add(account, search, "search for less memory");
  return REGAL_OK;
}

static bool wants_fit(regal_search *search) {
  return search->best_fitness.excess > 0 && !regal_search_should_stop(search);
}

/* From a plan that is faster than the limit allows to one within it. */
static regal_status shrink(regal_search *search, regal_account *account,
                           const regal_plan *fast, uint32_t attempt,
                           bool *fits) {
  const shrinking *by = shrinking_for(search->problem);
  regal_anneal_job job = {.search = search,
                          .problem = search->problem,
                          .annealer = regal_annealer_for(search->problem),
                          .start = fast,
                          .hot = by->hot,
                          .cold = by->cold,
                          .until_fits = true,
                          .stream = UINT32_MAX - 2 - attempt};
  REGAL_TRY(run_job(search, &job, by->share, fits));
  regal_account_add(account, search, "fitting of that");
  return REGAL_OK;
}

/* All that is left of the budget for a plan that was fast and now fits. */
static regal_status refine(regal_search *search, regal_account *account) {
  const shrinking *by = shrinking_for(search->problem);
  regal_anneal_job job = {.search = search,
                          .problem = search->problem,
                          .annealer = regal_annealer_for(search->problem),
                          .start = search->best,
                          .hot = by->refine_hot,
                          .cold = by->refine_cold,
                          .stream = UINT32_MAX - 1};
  REGAL_TRY(run_job(search, &job, 1, NULL));
  regal_account_add(account, search, "annealing of that");
  return REGAL_OK;
}

/* For a fast plan there may be a way into the limit, and then the best plans
 * are there; else what fits at all is a start for the rest of `auto`. */
static regal_status run_fast(regal_search *search, regal_account *account) {
  uint32_t tries = shrinking_for(search->problem)->tries;
  regal_plan *fast = NULL;
  bool fits = false;
  regal_status status = run_unlimited(search, account, &fast, &fits);
  for (uint32_t i = 0; i < tries && status == REGAL_OK && !fits &&
                       !regal_search_should_stop(search);
       i++)
    status = shrink(search, account, fast, i, &fits);
  regal_plan_free(fast);
  REGAL_TRY(status);
  return fits && !regal_search_should_stop(search) ? refine(search, account)
                                                   : REGAL_OK;
}

regal_status regal_auto_within_limit(regal_search *search,
                                     regal_account *account) {
  const regal_problem *problem = search->problem;
  if (problem->objective != REGAL_RUNTIME)
    return REGAL_OK; /* annealing itself looks for less */
  double seconds = search->deadline - regal_seconds();
  if (wants_fit(search) && seconds > LONG_SECONDS && isfinite(seconds))
    REGAL_TRY(reduce_memory(search, account, EARLY_SHARE));
  if (regal_annealer_for(problem))
    REGAL_TRY(run_fast(search, account));
  if (wants_fit(search))
    REGAL_TRY(reduce_memory(search, account, FITTING_SHARE));
  if (wants_fit(search))
    REGAL_TRY(find_less_memory(search, account, FITTING_SHARE));
  return REGAL_OK;
}
