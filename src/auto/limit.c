/* SPDX-License-Identifier: Apache-2.0 */
/* `auto` within a memory limit.
 *
 * Reducing the memory of a fast plan often gives better plans than reducing the
 * run time of one that fits. So `auto` runs without the limit, with a share of
 * the budget: annealing that needs no memory makes far more moves, and where
 * the limit hardly matters its plan already fits. If not, annealing with a
 * price on the excess shrinks it, and the rest of the budget refines what fits
 * (limit_fast.c). Where transfers cost, or on more than two devices, annealing
 * with the limit from the beginning is better as often: with time for both,
 * both are tried. If all that fails, less memory becomes the objective: first
 * from the best plan, then from anywhere. Each of these is a view of the same
 * problem, in a child search (limit_jobs.c).
 *
 * Before that, BRKGA on a decoder (decodes.c) and list schedules that keep the
 * limits (heuristic/place) give a plan that fits at once, on many devices, with
 * pins or with shared parameters often the best one; then only annealing of it
 * is left to do.
 */
#include "auto/limit.h"

#include <math.h>

#include "anneal/order/memory.h"
#include "anneal/schedules.h"
#include "auto/decodes.h"
#include "auto/limit_fast.h"
#include "auto/whole.h"
#include "heuristic/heuristics.h"

/* Of what is left of the budget, for a plan that fits at all. */
#define FITTING_SHARE 0.4
/* Two ways to a good plan where there is so much time: with the limit from the
 * beginning, on levels, and from a fast plan. Of what is left, each; the better
 * plan gets the rest. */
#define BOTH_SECONDS 0.5
#define WITHIN_SHARE 0.35
#define FAST_SHARE 0.65
/* Who has this long may not want to wait for a plan that fits until the fast
 * ones are there. */
#define LONG_SECONDS 2
#define EARLY_SHARE 0.05
/* For list schedules, which have no use for more; and where the budget is
 * evaluations, so many passes at most. */
#define FIT_SHARE 0.3
#define LARGE_FIT_SHARE 0.7 /* little else helps a large graph in time */
#define MOST_PASSES 500
#define PASSES_SECONDS 0.5
#define PASS_SECONDS_PER_OP 1.5e-6
#define PASS_OPS 10000 /* larger graphs take far more than in proportion */
/* Larger graphs have time for a handful of decodes, and these do not fit. */
#define MOST_DECODED_OPS 10000
/* A plan that fits and is so near the bound is not looked for without it. */
#define NEAR_BOUND 0.03

/* The same from anywhere. */
static regal_status find_less_memory(const regal_limit_run *run, double share) {
  regal_search *search = run->search;
  regal_problem view = *search->problem; /* owns nothing */
  regal_bound enough = search->bound;
  regal_plan *best;
  view.objective = REGAL_MEMORY;
  for (uint32_t a = 0; a < view.devices; a++)
    if (enough.peak_bytes < view.limit[a])
      enough.peak_bytes = view.limit[a];
  REGAL_TRY(regal_limit_view(run, &view, &enough, share, NULL, &best));
  REGAL_TRY(regal_search_offer(search, best));
  regal_account_add(run->account, search, "search for less memory");
  return REGAL_OK;
}

/* Where a graph is large for the time and transfers take some, annealing has
 * too few moves to bring a fast plan within the limits and keep it fast. */
static bool wants_decodes(const regal_limit_run *run) {
  const regal_problem *problem = run->search->problem;
  return run->large && problem->devices > 1 && !problem->free_transfers &&
         problem->ops <= MOST_DECODED_OPS;
}

/* List schedules within the limits: at once a plan that fits, where one is
 * found at all. They end by themselves when more of them find nothing better.
 */
static regal_status run_fit(const regal_limit_run *run) {
  regal_search stage;
  bool little_else = run->large && !wants_decodes(run);
  regal_search_stage(run->search, little_else ? LARGE_FIT_SHARE : FIT_SHARE,
                     &stage);
  double slower = fmax(1, (double)stage.problem->ops / PASS_OPS);
  regal_auto_cap_plans(&stage, PASSES_SECONDS,
                       slower * slower * PASS_SECONDS_PER_OP, MOST_PASSES);
  regal_status status = regal_fit_within_limits(&stage, true);
  regal_search_close(&stage);
  if (status == REGAL_OK)
    regal_account_add(run->account, run->search, "list schedules that fit");
  return status;
}

/* On two devices with blocking transfers annealing of a fast plan is better,
 * unless parameters or pins decide where ops are; there list schedules are for
 * what nothing else has made fit, if there is time. */
static bool wants_list_schedules(const regal_search *search) {
  const regal_problem *problem = search->problem;
  if (!regal_order_memory_suits(problem) || problem->shared ||
      problem->leader || problem->restricted)
    return true;
  return search->best_fitness.excess > 0 && !regal_limit_is_large(search);
}

/* With less time half of it is not enough for either way, and where transfers
 * between two devices are free the fast plan is the better start. */
static bool wants_both(const regal_search *search) {
  const regal_problem *problem = search->problem;
  bool fast = problem->devices == 2 && problem->free_transfers &&
              !problem->machine->overlapped;
  return !fast && !regal_limit_is_large(search) &&
         regal_schedule_seconds(search) >= BOTH_SECONDS;
}

static bool is_near_bound(const regal_search *search) {
  return search->best_fitness.excess == 0 &&
         (double)search->best_fitness.value <=
             (1 + NEAR_BOUND) * (double)search->bound.runtime_ns;
}

/* With the time for it, both ways, and the better plan goes on: which way that
 * is differs from graph to graph, and one may end far behind the other. Neither
 * fits surely; where the first does not, less memory comes before the second.
 */
static regal_status run_both(const regal_limit_run *run) {
  regal_search *search = run->search;
  REGAL_TRY(regal_limit_apart(run, regal_limit_anneal, WITHIN_SHARE));
  if (regal_limit_wants_fit(search))
    REGAL_TRY(regal_limit_reduce(run, FITTING_SHARE, false));
  if (regal_search_should_stop(search))
    return REGAL_OK;
  if (search->best_fitness.excess > 0)
    return regal_limit_fast(run);
  REGAL_TRY(regal_limit_apart(run, regal_limit_fast, FAST_SHARE));
  return regal_search_should_stop(search) ? REGAL_OK : regal_limit_refine(run);
}

static regal_status run_ways(const regal_limit_run *run) {
  return run->both ? run_both(run) : regal_limit_fast(run);
}

regal_status regal_auto_within_limit(regal_search *search,
                                     const regal_brkga_settings *brkga,
                                     regal_account *account) {
  regal_limit_run run = {search,
                         brkga,
                         account,
                         regal_shrinking_for(search->problem),
                         regal_limit_is_large(search),
                         regal_limit_wants_phases(search),
                         wants_both(search),
                         false};
  if (search->problem->objective != REGAL_RUNTIME)
    return REGAL_OK; /* annealing itself looks for less */
  if (wants_decodes(&run))
    REGAL_TRY(regal_auto_earliest(search, brkga, account));
  if (wants_list_schedules(search) && !regal_search_should_stop(search))
    REGAL_TRY(run_fit(&run));
  if (regal_search_should_stop(search) || is_near_bound(search))
    return REGAL_OK;
  double seconds = search->budget.deadline - regal_seconds();
  if (regal_limit_wants_fit(search) && seconds > LONG_SECONDS &&
      isfinite(seconds))
    REGAL_TRY(regal_limit_reduce(&run, EARLY_SHARE, false));
  run.found = !run.both && search->best_fitness.excess == 0;
  if (regal_annealer_for(search->problem))
    REGAL_TRY(run_ways(&run));
  if (regal_limit_wants_fit(search) && search->problem->devices > 1)
    REGAL_TRY(regal_auto_closures(search, brkga, account));
  if (regal_limit_wants_fit(search))
    REGAL_TRY(regal_limit_reduce(&run, FITTING_SHARE, false));
  if (regal_limit_wants_fit(search))
    REGAL_TRY(find_less_memory(&run, FITTING_SHARE));
  return REGAL_OK;
}
