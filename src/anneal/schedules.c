/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: which annealer, how hot, on how many levels, from what start.
 *
 * The best choice depends on the kind of the problem (what transfers cost, and
 * whether memory counts), on the size of the graph and on the time. All three
 * select a row of a table that bench/tune_auto.py found by trials on training
 * graphs; the user may replace single columns. Budgets of evaluations are
 * turned into seconds by a constant, not by the clock, so that the row, and
 * with it the plan, does not depend on the machine.
 */
#include "anneal/schedules.h"
#include "anneal/driver/anneal.h"
#include "heuristic/heuristics.h"

#include <math.h>
#include <string.h>

#include "anneal/levels/multilevel.h"
#include "heuristic/list/orders.h"

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

double regal_schedule_seconds(const regal_search *search) {
  const regal_budget *budget = &search->budget;
  double left = budget->deadline - regal_seconds();
  if (!regal_budget_is_counted(budget))
    return left;
  double moves = (double)regal_budget_left(budget);
  return fmin(left, moves * search->problem->ops * SECONDS_PER_OP);
}

static const regal_schedule *find_row(const regal_search *search) {
  regal_problem_kind kind = kind_of(search->problem);
  double seconds = regal_schedule_seconds(search);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].kind == kind && search->problem->ops <= table[i].most_ops &&
        seconds <= table[i].most_seconds)
      return &table[i];
  return &table[0]; /* not reached: the last row of a kind fits all */
}

const regal_schedule regal_schedule_none = {
    .annealer = "", .coarse_share = -1, .fresh = -1};

regal_schedule regal_schedule_given(const regal_options *options) {
  return (regal_schedule){.annealer = options->annealer,
                          .hot = options->hot,
                          .cold = options->cold,
                          .fall = options->level_cooling,
                          .coarse_share = options->coarse_share,
                          .coarsest = (uint32_t)options->coarsest,
                          .fresh = options->single_start_share};
}

static void replace_given(regal_schedule *schedule,
                          const regal_schedule *given) {
  if (given->hot > 0)
    schedule->hot = given->hot;
  if (given->cold > 0)
    schedule->cold = given->cold;
  if (given->fall > 0)
    schedule->fall = given->fall;
  if (given->coarsest > 0)
    schedule->coarsest = given->coarsest;
  if (given->coarse_share >= 0)
    schedule->coarse_share = given->coarse_share;
  if (given->fresh >= 0)
    schedule->fresh = given->fresh;
}

const regal_annealer *regal_schedule_for(const regal_search *search,
                                         const regal_schedule *given,
                                         regal_schedule *schedule) {
  *schedule = *find_row(search);
  const regal_annealer *annealer = regal_annealer_find(
      given->annealer[0] ? given->annealer : schedule->annealer);
  if (!annealer || !annealer->suits(search->problem)) {
    annealer = regal_annealer_for(search->problem);
    if (annealer) {
      schedule->hot = annealer->hot;
      schedule->cold = annealer->cold;
    }
  }
  replace_given(schedule, given);
  return annealer;
}

/* With a share of what is left; offers what it finds. */
static regal_status run_job(regal_search *search, const regal_anneal_job *job,
                            double share) {
  regal_plan *best;
  REGAL_TRY(regal_anneal(search, search->problem, share, job, &best));
  return regal_search_offer(search, best);
}

/* A good plan is not heated as much as one to begin with. */
#define REHEAT 0.2

regal_status regal_anneal_on(regal_search *search,
                             const regal_schedule *schedule,
                             const regal_annealer *annealer) {
  regal_anneal_job job = {.annealer = annealer,
                          .start = search->best,
                          .hot = fmax(schedule->hot * REHEAT, schedule->cold),
                          .cold = schedule->cold,
                          .stream = REGAL_STREAM_CONTINUE};
  return run_job(search, &job, 1);
}

static regal_status anneal_flat(regal_search *search,
                                const regal_schedule *schedule,
                                const regal_annealer *annealer) {
  regal_anneal_job job = {.annealer = annealer,
                          .hot = schedule->hot,
                          .cold = schedule->cold,
                          .stream = REGAL_STREAM_FRESH};
  if (schedule->fresh > 0) {
    /* all ops on one device: where single moves still find improvements */
    regal_plan *single;
    REGAL_TRY(regal_plan_single(search->context, search->problem, &single));
    job.start = single;
    regal_status status = run_job(search, &job, schedule->fresh);
    regal_plan_free(single);
    REGAL_TRY(status);
    job.hot = fmax(job.hot * REHEAT, job.cold);
  }
  if (schedule->fresh >= 1 || regal_search_should_stop(search))
    return REGAL_OK;
  job.start = search->best;
  job.stream = REGAL_STREAM_FLAT;
  return run_job(search, &job, 1);
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
                                  const regal_schedule *schedule,
                                  const regal_annealer *annealer) {
  regal_multilevel_settings settings = {.start = regal_start_quickly,
                                        .hot = schedule->hot,
                                        .cold = schedule->cold,
                                        .fall = schedule->fall,
                                        .coarse_share = schedule->coarse_share,
                                        .target_ops = schedule->coarsest};
  return regal_multilevel(search, annealer, &settings);
}

static regal_status anneal_and_finish(regal_search *search,
                                      const regal_schedule *schedule,
                                      const regal_annealer *annealer) {
  regal_search stage;
  regal_search_stage(search, STAGES_SHARE, &stage);
  regal_status status = anneal_levels(&stage, schedule, annealer);
  regal_search_close(&stage);
  if (status != REGAL_OK || regal_search_should_stop(search))
    return status;
  regal_anneal_job job = {.annealer = &regal_annealer_phase,
                          .start = search->best,
                          .hot = FINISH_HOT,
                          .cold = FINISH_COLD,
                          .stream = REGAL_STREAM_FINISH};
  return run_job(search, &job, 1);
}

regal_status regal_anneal_by(regal_search *search,
                             const regal_schedule *schedule,
                             const regal_annealer *annealer, bool alone) {
  uint64_t before = search->budget.used;
  bool levels = schedule->coarse_share > 0;
  bool finish = levels && !alone && wants_finish(search, annealer);
  REGAL_TRY((finish   ? anneal_and_finish
             : levels ? anneal_levels
                      : anneal_flat)(search, schedule, annealer));
  regal_search_account(search, "%s%s%s annealing, %llu moves",
                       levels ? "multilevel " : "", annealer->name,
                       finish ? " and phase" : "",
                       (unsigned long long)(search->budget.used - before));
  return REGAL_OK;
}

/* -- The methods ----------------------------------------------------------- */

/* One annealer for the whole budget. */
static regal_status anneal(regal_search *search, bool levels) {
  regal_schedule given = regal_schedule_given(search->options), schedule;
  const regal_annealer *annealer =
      regal_schedule_for(search, &given, &schedule);
  if (!search->best)
    REGAL_TRY(regal_method_single(search));
  if (given.annealer[0] &&
      (!annealer || strcmp(annealer->name, given.annealer) != 0))
    return regal_fail(search->context, REGAL_BAD_INPUT,
                      "--annealer: \"%s\" is none of order, phase, memory "
                      "and steps, or not for this problem",
                      given.annealer);
  if (!annealer || regal_search_should_stop(search))
    return REGAL_OK;
  if (!levels)
    schedule.coarse_share = 0;
  else if (schedule.coarse_share <= 0)
    schedule.coarse_share = 0.5;
  return regal_anneal_by(search, &schedule, annealer, given.annealer[0] != 0);
}

regal_status regal_method_anneal(regal_search *search) {
  return anneal(search, false);
}

regal_status regal_method_multilevel(regal_search *search) {
  return anneal(search, true);
}
