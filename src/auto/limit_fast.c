/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan that is faster than the limits allow to one within them
 * (auto/limit_fast.h): annealing with a price on the excess shrinks it, and the
 * rest refines what fits.
 */
#include "auto/limit_fast.h"

#include "anneal/driver/anneal.h"
#include "anneal/driver/annealers.h"
#include "anneal/order/memory.h"
#include "anneal/phase/held.h"
#include "anneal/schedules.h"
#include "cost/model/running_cost.h"

/* Of what is left of the budget: for a plan that ignores the memory limit, and
 * on a large graph for one from nothing. */
#define UNLIMITED_SHARE 0.15
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

/* Chosen by bench_quality on training graphs (14 to 28, one or two seeds, 0.1
 * to 1 s). */
static const regal_shrinking shrinking_fast = {0.2, 2, 0.3, 0.1, 0.1, 0.003};
static const regal_shrinking shrinking_costly = {0.1, 1, 1, 0.3, 0.5, 0.003};
static const regal_shrinking shrinking_slow = {0.1, 2, 0.3, 0.1, 0.1, 0.003};

const regal_shrinking *regal_shrinking_for(const regal_problem *problem) {
  if (!problem->machine->overlapped && !problem->free_transfers)
    return &shrinking_costly;
  return regal_order_memory_suits(problem) ? &shrinking_fast : &shrinking_slow;
}

/* What knows no memory is far faster. Where the limit hardly matters, this is
 * the best plan with it. */
static regal_status run_unlimited(const regal_limit_run *run, regal_plan **fast,
                                  bool *fits) {
  regal_search *search = run->search;
  regal_problem view = regal_problem_unlimited(search->problem);
  REGAL_TRY(regal_limit_view(run, &view, &search->bound, UNLIMITED_SHARE,
                             search->fast, fast));
  REGAL_TRY(regal_limit_offer(search, *fast, fits));
  regal_account_add(run->account, search, "without the limit");
  return REGAL_OK;
}

/* From a plan that is faster than the limit allows to one within it. */
static regal_status shrink(const regal_limit_run *run, const regal_plan *fast,
                           uint32_t attempt, bool *fits) {
  const regal_problem *problem = run->search->problem;
  regal_anneal_job job = {.annealer = regal_annealer_for(problem),
                          .start = fast,
                          .hot = run->by->hot,
                          .cold = run->by->cold,
                          .until_fits = true,
                          .stream = REGAL_STREAM_SHRINK - attempt};
  double share = run->by->share * (run->phases ? SHORT_TRY : 1);
  return regal_limit_job(run, problem, share, &job, "fitting of that", fits);
}

/* Where the fast plan does not come within the limit at once. */
static regal_status anneal_large(const regal_limit_run *run, bool *fits) {
  REGAL_TRY(regal_limit_apart(run, regal_limit_anneal, LARGE_SHARE));
  *fits = run->search->best_fitness.excess == 0;
  return REGAL_OK;
}

bool regal_limit_wants_phases(const regal_search *search) {
  const regal_problem *problem = search->problem;
  regal_problem view = regal_problem_towards_limits(problem, APPROACH_LIMIT);
  return APPROACH_SIZE * regal_schedule_seconds(search) <
             REGAL_SECONDS_PER_OP * problem->ops &&
         regal_order_memory_suits(problem) && !problem->shared &&
         regal_annealer_phase.suits(&view) && regal_phase_heeds(&view);
}

/* From a plan near the limit to one within it, by orders. */
static regal_status arrive(const regal_limit_run *run, const regal_plan *near,
                           uint32_t attempt, bool *fits) {
  const regal_problem *problem = run->search->problem;
  regal_anneal_job job = {.annealer = regal_annealer_for(problem),
                          .start = near,
                          .hot = ARRIVE_HOT,
                          .cold = ARRIVE_COLD,
                          .until_fits = true,
                          .stream = REGAL_STREAM_APPROACH + attempt};
  return regal_limit_job(run, problem, ARRIVE_SHARE, &job,
                         "approaching the limit", fits);
}

/* As anneal_large, where phases know about memory: with far more moves than
 * orders allow they bring the fast plan near the limit, and only the rest is
 * left to orders. */
static regal_status approach(const regal_limit_run *run, const regal_plan *fast,
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
  if (status == REGAL_OK && regal_limit_wants_fit(search))
    status = arrive(run, search->best, 1, fits);
  if (status == REGAL_OK && regal_limit_wants_fit(search))
    status = regal_limit_reduce(run, ARRIVE_SHARE, true);
  *fits = search->best_fitness.excess == 0;
  return status;
}

regal_status regal_limit_refine(const regal_limit_run *run) {
  const regal_problem *problem = run->search->problem;
  regal_anneal_job job = {.annealer = regal_annealer_for(problem),
                          .start = run->search->best,
                          .hot = run->by->refine_hot,
                          .cold = run->by->refine_cold,
                          .stream = REGAL_STREAM_REFINE};
  bool fits;
  return regal_limit_job(run, problem, 1, &job, "annealing of that", &fits);
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
static bool wants_try(const regal_limit_run *run, uint32_t tried) {
  double excess = (double)run->search->best_fitness.excess;
  bool near = excess <= NEAR_LIMIT * (double)run->search->problem->limit[0];
  return (!run->large || !tried || near) &&
         !regal_search_should_stop(run->search);
}

regal_status regal_limit_fast(const regal_limit_run *run) {
  regal_search *search = run->search;
  regal_plan *fast = NULL;
  bool fits = false, hopeless = false;
  regal_status status = run_unlimited(run, &fast, &fits);
  if (status == REGAL_OK && run->found)
    status = is_hopeless(search, fast, &hopeless);
  for (uint32_t i = 0; i < run->by->tries && status == REGAL_OK && !fits &&
                       !hopeless && wants_try(run, i);
       i++)
    status = shrink(run, fast, i, &fits);
  if (status == REGAL_OK && run->large && regal_limit_wants_fit(search))
    status =
        run->phases ? approach(run, fast, &fits) : anneal_large(run, &fits);
  regal_plan_free(fast);
  REGAL_TRY(status);
  bool done = (fits || hopeless) && search->best_fitness.excess == 0;
  return done && !regal_search_should_stop(search) ? regal_limit_refine(run)
                                                   : REGAL_OK;
}
