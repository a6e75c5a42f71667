/* SPDX-License-Identifier: Apache-2.0 */
/* `auto` within a memory limit.
 *
 * Reducing the memory of a fast plan gives better plans than reducing the run
 * time of one that fits. So `auto` first runs without the limit, with a share
 * of the budget: annealing that needs no memory makes far more moves, and where
 * the limit hardly matters its plan already fits. If not, annealing with a
 * price on the excess shrinks it, and the rest of the budget refines what fits.
 * If that fails, too, less memory becomes the objective: first from the best
 * plan, then from anywhere. Each of these is a view of the same problem, in a
 * child search.
 *
 * Before that, list schedules that keep the limits (heuristic/place) give a
 * plan that fits at once, on many devices, with pins or with shared parameters
 * often the best one; then only annealing of it is left to do.
 */
#include "auto/limit.h"
#include "auto/auto.h"
#include "auto/whole.h"

#include <math.h>

#include "anneal/driver/anneal.h"
#include "anneal/driver/annealers.h"
#include "anneal/order/memory.h"
#include "anneal/phase/held.h"
#include "anneal/schedules.h"
#include "cost/model/running_cost.h"
#include "heuristic/heuristics.h"

/* Of what is left of the budget: for a plan that ignores the memory limit, and
 * for one that fits at all. */
#define UNLIMITED_SHARE 0.15
#define FITTING_SHARE 0.4
#define LARGE_SHARE 0.9
/* To approach the limit by phases: of what is left, with how much of the limit,
 * how hot. More of the limit leaves too much to do for orders, less costs run
 * time. Then by orders. Chosen on two graphs of 1200 and 1500 ops (0.1 s, five
 * seeds); on others it gains and loses alike (docs/results.md). */
#define APPROACH_SIZE 3.3 /* a graph is large from 2 on */
#define SHORT_TRY 0.6     /* of a try's share, before that */
#define APPROACH_SHARE 0.6
#define APPROACH_LIMIT 0.9
#define APPROACH_HOT 1
#define APPROACH_COLD 0.01
#define ARRIVE_SHARE 0.6
#define ARRIVE_HOT 0.1
#define ARRIVE_COLD 0.03
#define NEAR_LIMIT 0.02
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
/* A plan that fits and is so near the bound is not looked for without it. */
#define NEAR_BOUND 0.03

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

/* What all parts of it share. */
typedef struct limit_run {
  regal_search *search;
  const regal_brkga_settings *brkga;
  regal_account *account;
  const shrinking *by;
  bool large;  /* the graph, for the time */
  bool phases; /* it is so large that phases approach the limit */
} limit_run;

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

static regal_status offer_copy(regal_search *search, const regal_plan *plan) {
  regal_plan *copy;
  REGAL_TRY(regal_plan_copy(search->context, plan, &copy));
  return regal_search_offer(search, copy);
}

/* All of `auto` for another view of the problem, with a share of what is left;
 * its best plan. What the user said about annealing is not about this view.
 * Where its heuristics' plan is not given, they are run. */
static regal_status run_view(const limit_run *run, const regal_problem *view,
                             const regal_bound *bound, double share,
                             const regal_plan *quick, regal_plan **best) {
  regal_auto_settings settings = {*run->brkga, regal_schedule_none};
  regal_search child;
  regal_search_child(run->search, view, share, &child);
  child.bound = *bound;
  regal_status status = quick ? offer_copy(&child, quick) : REGAL_OK;
  if (status == REGAL_OK)
    status = regal_auto(&child, &settings);
  if (status == REGAL_OK) {
    *best = child.best;
    child.best = NULL;
  }
  regal_search_close(&child);
  return status;
}

/* What knows no memory is far faster. Where the limit hardly matters, this is
 * the best plan with it. */
static regal_status run_unlimited(const limit_run *run, regal_plan **fast,
                                  bool *fits) {
  regal_search *search = run->search;
  regal_problem view = regal_problem_unlimited(search->problem);
  regal_plan *copy;
  REGAL_TRY(run_view(run, &view, &search->bound, UNLIMITED_SHARE, search->fast,
                     fast));
  REGAL_TRY(regal_plan_copy(search->context, *fast, &copy));
  REGAL_TRY(offer(search, copy, fits));
  regal_account_add(run->account, search, "without the limit");
  return REGAL_OK;
}

/* What an annealing of the problem, or of a view of it, finds is offered to the
 * search, which knows what it is worth. */
static regal_status run_job(const limit_run *run, const regal_problem *problem,
                            double share, const regal_anneal_job *job,
                            const char *what, bool *fits) {
  regal_plan *best;
  REGAL_TRY(regal_anneal(run->search, problem, share, job, &best));
  REGAL_TRY(offer(run->search, best, fits));
  regal_account_add(run->account, run->search, what);
  return REGAL_OK;
}

/* Beyond the memory limit: less memory, from the best plan so far, until it is
 * within. A plan near the limit is changed less if it begins cold. */
static regal_status reduce_memory(const limit_run *run, double share,
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
  return run_job(run, &view, share, &job, "memory annealing", &fits);
}

/* The same from anywhere. */
static regal_status find_less_memory(const limit_run *run, double share) {
  regal_search *search = run->search;
  regal_problem view = *search->problem; /* owns nothing */
  regal_bound enough = search->bound;
  regal_plan *best;
  view.objective = REGAL_MEMORY;
  for (uint32_t a = 0; a < view.devices; a++)
    if (enough.peak_bytes < view.limit[a])
      enough.peak_bytes = view.limit[a];
  REGAL_TRY(run_view(run, &view, &enough, share, NULL, &best));
  REGAL_TRY(regal_search_offer(search, best));
  regal_account_add(run->account, search, "search for less memory");
  return REGAL_OK;
}

static bool wants_fit(regal_search *search) {
  return search->best_fitness.excess > 0 && !regal_search_should_stop(search);
}

/* From a plan that is faster than the limit allows to one within it. */
static regal_status shrink(const limit_run *run, const regal_plan *fast,
                           uint32_t attempt, bool *fits) {
  const regal_problem *problem = run->search->problem;
  regal_anneal_job job = {.annealer = regal_annealer_for(problem),
                          .start = fast,
                          .hot = run->by->hot,
                          .cold = run->by->cold,
                          .until_fits = true,
                          .stream = REGAL_STREAM_SHRINK - attempt};
  double share = run->by->share * (run->phases ? SHORT_TRY : 1);
  return run_job(run, problem, share, &job, "fitting of that", fits);
}

/* The graph is large for the time that is left. */
static bool is_large(const regal_search *search) {
  return 2 * regal_schedule_seconds(search) <
         REGAL_SECONDS_PER_OP * search->problem->ops;
}

/* A large graph whose fast plan does not come within the limit at once: the
 * schedule for such graphs, on its coarser levels first, is likelier to find
 * what fits than more tries. It begins anew, as a plan just beyond the limit
 * would replace what the coarser levels find. */
static regal_status anneal_large(const limit_run *run, bool *fits) {
  regal_search child;
  regal_schedule schedule;
  regal_search_anew(run->search, LARGE_SHARE, &child);
  const regal_annealer *annealer =
      regal_schedule_for(&child, &regal_schedule_none, &schedule);
  regal_status status = regal_anneal_by(&child, &schedule, annealer, false);
  regal_plan *best = child.best;
  child.best = NULL;
  regal_search_close(&child);
  if (status != REGAL_OK) {
    regal_plan_free(best);
    return status;
  }
  REGAL_TRY(regal_search_offer(run->search, best));
  *fits = run->search->best_fitness.excess == 0;
  regal_account_add(run->account, run->search, "annealing with the limit");
  return REGAL_OK;
}

/* Smaller graphs get better plans from orders, from nothing; some large ones,
 * too. */
static bool wants_phases(const regal_search *search) {
  const regal_problem *problem = search->problem;
  regal_problem view = regal_problem_towards_limits(problem, APPROACH_LIMIT);
  return APPROACH_SIZE * regal_schedule_seconds(search) <
             REGAL_SECONDS_PER_OP * problem->ops &&
         regal_order_memory_suits(problem) && !problem->shared &&
         regal_annealer_phase.suits(&view) && regal_phase_heeds(&view);
}

/* From a plan near the limit to one within it, by orders. */
static regal_status arrive(const limit_run *run, const regal_plan *near,
                           uint32_t attempt, bool *fits) {
  const regal_problem *problem = run->search->problem;
  regal_anneal_job job = {.annealer = regal_annealer_for(problem),
                          .start = near,
                          .hot = ARRIVE_HOT,
                          .cold = ARRIVE_COLD,
                          .until_fits = true,
                          .stream = REGAL_STREAM_APPROACH + attempt};
  return run_job(run, problem, ARRIVE_SHARE, &job, "approaching the limit",
                 fits);
}

/* As anneal_large, where phases know about memory: with far more moves than
 * orders allow they bring the fast plan near the limit, and only the rest is
 * left to orders. */
static regal_status approach(const limit_run *run, const regal_plan *fast,
                             bool *fits) {
  regal_search *search = run->search;
  regal_problem view =
      regal_problem_towards_limits(search->problem, APPROACH_LIMIT);
  regal_plan *near;
  regal_anneal_job job = {.annealer = &regal_annealer_phase,
                          .start = fast,
                          .hot = APPROACH_HOT,
                          .cold = APPROACH_COLD,
                          .stream = REGAL_STREAM_APPROACH};
  REGAL_TRY(regal_anneal(search, &view, APPROACH_SHARE, &job, &near));
  regal_status status = arrive(run, near, 0, fits);
  regal_plan_free(near);
  if (status == REGAL_OK && wants_fit(search))
    status = arrive(run, search->best, 1, fits);
  if (status == REGAL_OK && wants_fit(search))
    status = reduce_memory(run, ARRIVE_SHARE, true);
  *fits = search->best_fitness.excess == 0;
  return status;
}

/* List schedules within the limits: at once a plan that fits, where one is
 * found at all. They end by themselves when more of them find nothing better.
 */
static regal_status run_fit(const limit_run *run) {
  regal_search stage;
  regal_search_stage(
      run->search, is_large(run->search) ? LARGE_FIT_SHARE : FIT_SHARE, &stage);
  double slower = fmax(1, (double)stage.problem->ops / PASS_OPS);
  regal_auto_cap_plans(&stage, PASSES_SECONDS,
                       slower * slower * PASS_SECONDS_PER_OP, MOST_PASSES);
  regal_status status = regal_fit_within_limits(&stage, true);
  regal_search_close(&stage);
  if (status == REGAL_OK)
    regal_account_add(run->account, run->search, "list schedules that fit");
  return status;
}

/* All that is left of the budget for a plan that was fast and now fits. */
static regal_status refine(const limit_run *run) {
  const regal_problem *problem = run->search->problem;
  regal_anneal_job job = {.annealer = regal_annealer_for(problem),
                          .start = run->search->best,
                          .hot = run->by->refine_hot,
                          .cold = run->by->refine_cold,
                          .stream = REGAL_STREAM_REFINE};
  bool fits;
  return run_job(run, problem, 1, &job, "annealing of that", &fits);
}

/* Whether devices hold more shared parameters than they may for the whole plan:
 * then no order of its ops helps, and hardly any number of single moves, as all
 * readers of a parameter would have to leave. */
static regal_status is_hopeless(regal_search *search, const regal_plan *plan,
                                bool *hopeless) {
  const regal_problem *problem = search->problem;
  if (!problem->shared)
    return REGAL_OK;
  uint8_t *placement = regal_alloc(search->context, problem->ops, 1);
  regal_running_cost held;
  if (!placement)
    return regal_fail_memory(search->context);
  regal_plan_ops(plan, NULL, placement);
  regal_running_cost_hold(&held, problem, placement);
  for (uint32_t a = 0; a < problem->devices; a++)
    *hopeless |= held.memory[a] > problem->limit[a];
  regal_release(search->context, placement);
  return REGAL_OK;
}

/* A large graph gets another try only if the one before came near. */
static bool wants_try(const limit_run *run, uint32_t tried) {
  double excess = (double)run->search->best_fitness.excess;
  bool near = excess <= NEAR_LIMIT * (double)run->search->problem->limit[0];
  return (!run->large || !tried || near) &&
         !regal_search_should_stop(run->search);
}

/* For a fast plan there may be a way into the limit, and then the best plans
 * are there; else what fits at all is a start for the rest of `auto`. */
static regal_status run_fast(const limit_run *run) {
  regal_search *search = run->search;
  regal_plan *fast = NULL;
  bool fits = false, hopeless = false;
  regal_status status = run_unlimited(run, &fast, &fits);
  if (status == REGAL_OK && search->best_fitness.excess == 0)
    status = is_hopeless(search, fast, &hopeless);
  for (uint32_t i = 0; i < run->by->tries && status == REGAL_OK && !fits &&
                       !hopeless && wants_try(run, i);
       i++)
    status = shrink(run, fast, i, &fits);
  if (status == REGAL_OK && run->large && wants_fit(search))
    status =
        run->phases ? approach(run, fast, &fits) : anneal_large(run, &fits);
  regal_plan_free(fast);
  REGAL_TRY(status);
  return (fits || hopeless) && !regal_search_should_stop(search) ? refine(run)
                                                                 : REGAL_OK;
}

/* On two devices with blocking transfers annealing of a fast plan is better,
 * unless parameters or pins decide where ops are; there list schedules are for
 * what nothing else has made fit, if there is time. */
static bool wants_list_schedules(const regal_search *search) {
  const regal_problem *problem = search->problem;
  if (!regal_order_memory_suits(problem) || problem->shared ||
      problem->leader || problem->restricted)
    return true;
  return search->best_fitness.excess > 0 && !is_large(search);
}

static bool is_near_bound(const regal_search *search) {
  return search->best_fitness.excess == 0 &&
         (double)search->best_fitness.value <=
             (1 + NEAR_BOUND) * (double)search->bound.runtime_ns;
}

regal_status regal_auto_within_limit(regal_search *search,
                                     const regal_brkga_settings *brkga,
                                     regal_account *account) {
  limit_run run = {search,           brkga,
                   account,          shrinking_for(search->problem),
                   is_large(search), wants_phases(search)};
  if (search->problem->objective != REGAL_RUNTIME)
    return REGAL_OK; /* annealing itself looks for less */
  if (wants_list_schedules(search))
    REGAL_TRY(run_fit(&run));
  if (regal_search_should_stop(search) || is_near_bound(search))
    return REGAL_OK;
  double seconds = search->budget.deadline - regal_seconds();
  if (wants_fit(search) && seconds > LONG_SECONDS && isfinite(seconds))
    REGAL_TRY(reduce_memory(&run, EARLY_SHARE, false));
  if (regal_annealer_for(search->problem))
    REGAL_TRY(run_fast(&run));
  if (wants_fit(search))
    REGAL_TRY(reduce_memory(&run, FITTING_SHARE, false));
  if (wants_fit(search))
    REGAL_TRY(find_less_memory(&run, FITTING_SHARE));
  return REGAL_OK;
}
