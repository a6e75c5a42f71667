/* SPDX-License-Identifier: Apache-2.0 */
/* The method `cp-sat`: quick plans first, then CP-SAT from the best of them.
 *
 * Every solution is made into a plan and offered like any other, so that its
 * cost is the simulator's. The solver's bound replaces ours where it is larger.
 * CP-SAT tells nothing before it ends: so it is called for longer and longer
 * slices of time, each with the best plan as its hint, and progress is seen
 * between them.
 */
#include <math.h>

#include "auto/auto.h"
#include "exact/exact.h"
#include "exact/formulation.h"
#include "exact/phases.h"
#include "exact/solve.h"
#include "heuristic/heuristics.h"

/* The first slice; each is twice as long as the one before. */
#define FIRST_SLICE 5.0
/* Where a call cannot be stopped, none may take longer than a user waits. */
#define LONGEST_UNSTOPPABLE 2.0
/* Larger problems begin with a share of the time for `auto`. */
#define SMALL_OPS 30
#define AUTO_SHARE 0.1
#define AUTO_SECONDS 5.0
/* Of what is left then, for the model of phases. */
#define PHASES_SHARE 0.6

typedef struct run {
  regal_search *search;
  regal_cp_library library;
  uint32_t calls;
  double slice;
  bool proven;       /* the last model is solved */
  bool partly;       /* it does not have all of the memory limits */
  bool least_excess; /* of all plans, the best one has: proven */
  bool never_fits;   /* no plan is within the limit: proven */
} run;

static bool fits(const regal_search *search) {
  return search->plan_fitness.excess == 0;
}

/* Seconds for the next call; the last one takes all that is left. */
static double next_slice(run *run, double until) {
  double left = until - regal_seconds(), slice = run->slice;
  run->slice *= 2;
  if (!run->library.interruptible && slice > LONGEST_UNSTOPPABLE)
    slice = LONGEST_UNSTOPPABLE;
  else if (left < 2 * slice)
    slice = left;
  return left < slice ? left : slice;
}

static regal_status call(run *run, const regal_cp_model *model, double until,
                         regal_cp_answer *answer) {
  double seconds = next_slice(run, until);
  run->calls++;
  return regal_cp_solve(run->search, &run->library, model,
                        seconds > 0.001 ? seconds : 0.001, answer);
}

/* -- The model of steps ---------------------------------------------------- */

static void raise_bound(run *run, const regal_formulation *form,
                        const regal_cp_answer *answer) {
  regal_bound *bound = &run->search->bound;
  if (answer->bound == INT64_MIN || form->request.excess)
    return; /* the bound is of plans that fit */
  int64_t value = regal_formulation_goal(form, answer->bound);
  if (form->request.goal == REGAL_EXACT_RUNTIME && value > bound->runtime_ns)
    bound->runtime_ns = value;
  if (form->request.goal == REGAL_EXACT_PEAK && value > bound->peak_bytes)
    bound->peak_bytes = value;
  if (form->request.goal == REGAL_EXACT_EXCESS && answer->bound > 0)
    run->never_fits = true;
}

static regal_status take_answer(run *run, const regal_formulation *form,
                                const regal_cp_answer *answer) {
  regal_search *search = run->search;
  if (answer->verdict == REGAL_CP_INFEASIBLE)
    return regal_fail(search->context, REGAL_INTERNAL,
                      "cp-sat: CP-SAT finds that the plan which it was given "
                      "cannot be");
  if (answer->values) {
    regal_plan *plan;
    REGAL_TRY(regal_formulation_plan(form, answer->values, &plan));
    REGAL_TRY(regal_search_offer(search, plan));
  }
  raise_bound(run, form, answer);
  run->proven = answer->verdict == REGAL_CP_OPTIMAL;
  run->partly = form->request.limits && !form->limits_kept;
  return REGAL_OK;
}

static regal_status add_hint(run *run, regal_formulation *form) {
  regal_search *search = run->search;
  regal_cost cost;
  form->model.hint = regal_alloc(search->context, form->model.variables,
                                 sizeof *form->model.hint);
  if (!form->model.hint)
    return regal_fail_memory(search->context);
  REGAL_TRY(regal_search_cost(search, search->best, &cost));
  return regal_formulation_assign(form, search->best, &cost, form->model.hint);
}

static regal_status solve_slice(run *run, const regal_exact_request *request) {
  regal_search *search = run->search;
  regal_formulation form;
  regal_cp_answer answer = {.values = NULL};
  REGAL_TRY(regal_formulate(search->context, search->problem, request, &form));
  regal_status status = add_hint(run, &form);
  if (status == REGAL_OK)
    status = call(run, &form.model, search->budget.deadline, &answer);
  if (status == REGAL_OK)
    status = take_answer(run, &form, &answer);
  regal_release(search->context, answer.values);
  regal_formulation_free(&form);
  return status;
}

static regal_exact_request make_request(const run *run) {
  const regal_search *search = run->search;
  const regal_problem *problem = search->problem;
  regal_fitness known = search->plan_fitness;
  if (known.excess && !run->least_excess)
    return (regal_exact_request){.goal = REGAL_EXACT_EXCESS};
  bool memory = problem->objective == REGAL_MEMORY;
  int64_t bound = memory ? search->bound.peak_bytes : search->bound.runtime_ns;
  return (regal_exact_request){
      .goal = memory ? REGAL_EXACT_PEAK : REGAL_EXACT_RUNTIME,
      .limits = problem->limited,
      .at_least = known.excess ? 0 : bound, /* it is of plans that fit */
      .at_most = known.value,
      .excess = known.excess};
}

/* First, if need be, into the memory limits, or as near as can be; then to the
 * objective. */
static regal_status solve_steps(run *run) {
  regal_search *search = run->search;
  run->slice = FIRST_SLICE;
  while (!regal_search_should_stop(search)) {
    regal_exact_request request = make_request(run);
    REGAL_TRY(solve_slice(run, &request));
    if (run->proven && request.goal != REGAL_EXACT_EXCESS)
      break;
    run->least_excess = run->proven && !fits(search);
  }
  return REGAL_OK;
}

/* -- The model of phases --------------------------------------------------- */

static regal_status try_phases(run *run, const regal_phases *phases,
                               double until, bool *proven) {
  regal_search *search = run->search;
  regal_cp_answer answer = {.values = NULL};
  regal_plan *plan;
  REGAL_TRY(call(run, &phases->model, until, &answer));
  *proven = answer.verdict == REGAL_CP_OPTIMAL ||
            answer.verdict == REGAL_CP_INFEASIBLE;
  if (!answer.values)
    return REGAL_OK;
  regal_status status = regal_phases_plan(phases, answer.values, &plan);
  regal_release(search->context, answer.values);
  return status == REGAL_OK ? regal_search_offer(search, plan) : status;
}

static regal_status solve_phases(run *run) {
  regal_search *search = run->search;
  double until = regal_budget_share(&search->budget, PHASES_SHARE).deadline;
  bool proven = false;
  run->slice = FIRST_SLICE;
  while (!proven && !regal_search_should_stop(search) &&
         regal_seconds() < until) {
    regal_phases phases;
    REGAL_TRY(regal_phases_create(search->context, search->problem,
                                  search->best, &phases));
    regal_status status = try_phases(run, &phases, until, &proven);
    regal_phases_free(&phases);
    REGAL_TRY(status);
  }
  return REGAL_OK;
}

/* -- All of it ------------------------------------------------------------- */

static regal_status start(regal_search *search) {
  REGAL_TRY(regal_method_single(search));
  REGAL_TRY(regal_heft(search));
  if (regal_problem_needs_memory(search->problem)) {
    REGAL_TRY(regal_method_lpmf(search));
    REGAL_TRY(regal_method_xla_list(search));
  }
  if (search->problem->ops <= SMALL_OPS || regal_search_should_stop(search))
    return REGAL_OK;
  regal_search stage;
  regal_search_stage(search, AUTO_SHARE, &stage);
  stage.budget.deadline =
      fmin(stage.budget.deadline, regal_seconds() + AUTO_SECONDS);
  if (search->options->evaluations > 0)
    stage.budget.limit = (uint64_t)search->options->evaluations;
  regal_auto_settings settings = regal_auto_settings_of(search->options);
  regal_status status = regal_auto(&stage, &settings);
  regal_search_close(&stage);
  return status;
}

/* A model that has only a part of the memory limits proves a bound, and its
 * plan may be beyond the limits. The rest of the time is for `auto`, from a
 * seed of its own, which may reach that bound. */
static regal_status search_on(run *run) {
  regal_search stage;
  regal_search_stage(run->search, 1, &stage);
  stage.seed++;
  stage.budget.limit = REGAL_NO_LIMIT;
  regal_auto_settings settings = regal_auto_settings_of(run->search->options);
  regal_status status = regal_auto(&stage, &settings);
  regal_search_close(&stage);
  return status;
}

static bool is_proven(const regal_search *search) {
  bool memory = search->problem->objective == REGAL_MEMORY;
  int64_t bound = memory ? search->bound.peak_bytes : search->bound.runtime_ns;
  return fits(search) && search->plan_fitness.value <= bound;
}

static const char *verdict_of(const run *run) {
  if (run->never_fits)
    return "no plan fits the limit: proven";
  if (!run->proven)
    return "not solved to the end";
  if (!run->partly || is_proven(run->search))
    return "solved";
  return "solved without the memory of tensors, which proves the bound only";
}

static void tell(run *run, regal_fitness before) {
  regal_search *search = run->search;
  if (!run->calls) {
    regal_search_account(search, "the quick plans were enough: CP-SAT was not "
                                 "called");
    return;
  }
  double gain = before.value && before.excess == search->plan_fitness.excess
                    ? 100.0 *
                          (double)(before.value - search->plan_fitness.value) /
                          (double)before.value
                    : 0;
  regal_search_account(search,
                       "CP-SAT, %u call%s from the best of the quick plans: "
                       "%s, %.1f%% better",
                       run->calls, run->calls == 1 ? "" : "s", verdict_of(run),
                       gain);
}

regal_status regal_method_cp_sat(regal_search *search) {
  run run = {.search = search};
  search->never_fits = false; /* the least excess is wanted all the same */
  REGAL_TRY(regal_cp_library_open(search->context, search->options->ortools,
                                  &run.library));
  REGAL_TRY(start(search));
  regal_fitness before = search->plan_fitness;
  if (search->problem->ops > SMALL_OPS && regal_phases_apply(search->problem))
    REGAL_TRY(solve_phases(&run));
  REGAL_TRY(solve_steps(&run));
  if (run.proven && run.partly && !regal_search_should_stop(search))
    REGAL_TRY(search_on(&run));
  tell(&run, before);
  return REGAL_OK;
}
