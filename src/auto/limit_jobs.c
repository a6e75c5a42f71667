/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways to a plan within the limits are made of: other views of the
 * problem, annealing from a plan, and searches that begin anew
 * (auto/limit_jobs.h).
 */
#include "auto/limit_jobs.h"

#include "anneal/schedules.h"
#include "auto/auto.h"

/* Of what a search with the limit has, where its schedule knows no levels. */
#define LEVELS_SHARE 0.5

bool regal_limit_wants_fit(regal_search *search) {
  return search->best_fitness.excess > 0 && !regal_search_should_stop(search);
}

bool regal_limit_is_large(const regal_search *search) {
  return 2 * regal_schedule_seconds(search) <
         REGAL_SECONDS_PER_OP * search->problem->ops;
}

/* Whether the plan is within the limit; offers it. */
static regal_status offer(regal_search *search, regal_plan *plan, bool *fits) {
  regal_cost cost;
  regal_status status = regal_search_cost(search, plan, &cost);
  if (status != REGAL_OK) {
    regal_plan_free(plan);
    return status;
  }
  *fits = regal_fitness_of(search->problem, &cost).excess == 0;
  return regal_search_offer(search, plan);
}

regal_status regal_limit_offer(regal_search *search, const regal_plan *plan,
                               bool *fits) {
  regal_plan *copy;
  REGAL_TRY(regal_plan_copy(search->context, plan, &copy));
  return offer(search, copy, fits);
}

regal_status regal_limit_view(const regal_limit_run *run,
                              const regal_problem *view,
                              const regal_bound *bound, double share,
                              const regal_plan *quick, regal_plan **best) {
  regal_auto_settings settings = {*run->brkga, regal_schedule_none};
  regal_search child;
  regal_search_child(run->search, view, share, &child);
  child.bound = *bound;
  bool fits;
  regal_status status =
      quick ? regal_limit_offer(&child, quick, &fits) : REGAL_OK;
  if (status == REGAL_OK)
    status = regal_auto(&child, &settings);
  if (status == REGAL_OK) {
    *best = child.best;
    child.best = NULL;
  }
  regal_search_close(&child);
  return status;
}

regal_status regal_limit_job(const regal_limit_run *run,
                             const regal_problem *problem, double share,
                             const regal_anneal_job *job, const char *what,
                             bool *fits) {
  regal_plan *best;
  REGAL_TRY(regal_anneal(run->search, problem, share, job, &best));
  REGAL_TRY(offer(run->search, best, fits));
  regal_account_add(run->account, run->search, what);
  return REGAL_OK;
}

regal_status regal_limit_reduce(const regal_limit_run *run, double share,
                                bool near) {
  regal_problem view = *run->search->problem; /* owns nothing */
  view.objective = REGAL_MEMORY;
  const regal_annealer *annealer = regal_annealer_for(&view);
  bool fits;
  if (!annealer)
    return REGAL_OK;
  regal_anneal_job job = {.annealer = annealer,
                          .start = run->search->best,
                          .hot = near ? annealer->cold : annealer->hot,
                          .cold = annealer->cold,
                          .until_fits = true,
                          .stream = REGAL_STREAM_REDUCE};
  return regal_limit_job(run, &view, share, &job, "memory annealing", &fits);
}

regal_status regal_limit_apart(const regal_limit_run *run, regal_limit_way way,
                               double share) {
  regal_search child;
  regal_limit_run own = *run;
  own.search = &child;
  regal_search_anew(run->search, share, &child);
  return regal_search_hand_over(&child, way(&own));
}

regal_status regal_limit_anneal(const regal_limit_run *run) {
  regal_search *search = run->search;
  regal_schedule schedule;
  const regal_annealer *annealer =
      regal_schedule_for(search, &regal_schedule_none, &schedule);
  if (run->both && schedule.coarse_share <= 0)
    schedule.coarse_share = LEVELS_SHARE;
  REGAL_TRY(regal_anneal_by(search, &schedule, annealer, false));
  regal_account_add(run->account, search, "annealing with the limit");
  return REGAL_OK;
}
