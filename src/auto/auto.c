/* SPDX-License-Identifier: Apache-2.0 */
/* `auto`, the default method: a portfolio in a fixed order, each stage from the
 * best plan of those before it.
 *
 *   1. Heuristics that take milliseconds (heuristic/quick.c), so that there is
 *      a plan at once, and annealing has a start.
 *   2. With a handful of ops, all plans (enumerate/enumerate.h).
 *   3. BRKGA on the decoder `clock` with a share of the budget: only for run
 *      time with free, blocking transfers, where this decoder is strong. On
 *      wide graphs it is near the bound after a few generations. For the
 *      memory of several devices on the decoder `closure` (decodes.c).
 *   4. Under a memory limit a search of its own (limit.c).
 *   5. Annealing with all that is left, by the schedule that was tuned for
 *      problems of this kind and size and for this budget (anneal/schedules.c).
 *   6. On small graphs, and where transfers block on several devices, the end
 *      of the budget is for annealing of all steps, transfers too (steps.c).
 *   7. Where transfers overlap, the links of the best plan are sorted anew
 *      (links.c).
 *
 * A long budget is divided: 2 to 5 run first with a tenth of it, and from some
 * seconds on several times with different random numbers; the best plan is
 * continued.
 *
 * Why no bandit that learns which stage pays: budgets are short, a second or
 * less, and the order and the shares were measured on training graphs. Fixed
 * shares of what is left also keep the plan a function of graph, machine, seed
 * and evaluations. Any stage may end the search by meeting the lower bound.
 */
#include <stdio.h>

#include "anneal/driver/anneal.h"
#include "anneal/schedules.h"
#include "auto/auto.h"
#include "auto/decodes.h"
#include "auto/limit.h"
#include "auto/links.h"
#include "auto/steps.h"
#include "auto/whole.h"
#include "base/random.h"
#include "enumerate/enumerate.h"
#include "evolve/methods.h"
#include "heuristic/heuristics.h"
#include "tidy/tidy.h"

/* From here on a run begins with a shorter one, so that more time does not give
 * a worse plan: the shares of stages and the temperatures of annealing follow
 * from the budget, and now and then a short one is lucky. */
#define LONG_SECONDS 0.8
#define FIRST_SHARE 0.1
/* From here on there are several starts with about a quarter of it each, and
 * the best plan is continued with the rest. */
#define STARTS_SECONDS 4
#define MORE_STARTS 2

/* Tells which heuristic led. */
static regal_status run_quick(regal_search *search, regal_account *account) {
  const char *best = search->best ? "the given plan" : "";
  for (const regal_quick_method *quick = regal_quick_methods; quick->name;
       quick++) {
    regal_fitness before = search->best_fitness;
    REGAL_TRY(quick->run(search));
    if (regal_fitness_less(search->best_fitness, before))
      best = quick->name;
  }
  regal_fitness before = search->best_fitness;
  REGAL_TRY(regal_start_pipelines(search));
  if (regal_fitness_less(search->best_fitness, before))
    best = "a pipeline schedule";
  before = search->best_fitness;
  REGAL_TRY(regal_start_units(search));
  if (regal_fitness_less(search->best_fitness, before))
    best = "stages of units";
  regal_account_add(account, search, best);
  return REGAL_OK;
}

/* Of the budget; it takes less, as a rule. */
#define ENUMERATION_SHARE 0.3

/* What all plans were compared with is optimal: that ends the search. */
static regal_status run_enumeration(regal_search *search,
                                    regal_account *account) {
  regal_search stage;
  bool complete = false, memory = search->problem->objective == REGAL_MEMORY;
  regal_search_stage(search, ENUMERATION_SHARE, &stage);
  regal_status status = regal_enumerate(&stage, &complete);
  regal_search_close(&stage);
  if (status != REGAL_OK)
    return status;
  search->never_fits |= complete && search->plan_fitness.excess > 0;
  if (complete && !search->never_fits)
    *(memory ? &search->bound.peak_bytes : &search->bound.runtime_ns) =
        search->plan_fitness.value;
  regal_account_add(account, search, complete ? "all plans" : "some plans");
  return REGAL_OK;
}

/* On wide graphs the clock decoder is near the bound at once, and annealing
 * goes on from there; elsewhere annealing soon leaves it behind
 * (docs/results.md). */
#define WIDE_SHARE 0.3
#define NARROW_SHARE 0.1
/* Where the budget is evaluations, so many decodes as take so long, or their
 * share of the budget if that is more. A decode takes so long for each op and
 * device. */
#define DECODES_SECONDS 0.2
#define DECODE_SECONDS_PER_OP 7e-8
#define MOST_DECODES 20000

static double brkga_share(const regal_problem *problem) {
  return regal_is_wide(problem) ? WIDE_SHARE : NARROW_SHARE;
}

static bool wants_brkga(const regal_search *search) {
  const regal_problem *problem = search->problem;
  return problem->objective == REGAL_RUNTIME && !problem->machine->overlapped &&
         problem->free_transfers && problem->run_step == 0 &&
         !problem->limited && problem->devices > 1;
}

/* A few generations soon: measured on synthetic graphs at a twentieth of a
 * second. A decoder that the user names has the user's settings, too. */
static regal_brkga_settings choose_brkga(const regal_brkga_settings *given) {
  regal_brkga_settings chosen = *given;
  if (!given->decoder) {
    chosen.decoder = &regal_decoder_clock;
    chosen.population = 30;
    chosen.elites = 0.3;
    chosen.mutants = 0.1;
  }
  return chosen;
}

static regal_status run_brkga(regal_search *search,
                              const regal_brkga_settings *given,
                              regal_account *account) {
  regal_brkga_settings settings = choose_brkga(given);
  regal_search stage;
  char what[64];
  snprintf(what, sizeof what, "brkga on %.40s", settings.decoder->name);
  regal_search_stage(search, brkga_share(search->problem), &stage);
  regal_auto_cap_plans(&stage, DECODES_SECONDS,
                       DECODE_SECONDS_PER_OP * stage.problem->devices,
                       MOST_DECODES);
  regal_status status = regal_brkga_run(&stage, &settings, NULL);
  regal_search_close(&stage);
  if (status == REGAL_OK)
    regal_account_add(account, search, what);
  return status;
}

/* So little time for each op that single moves are too few. */
#define FEW_MOVES_SECONDS_PER_OP 3e-5

/* Memory of several devices where annealing is slow: a single move copies
 * shared parameters, and a large graph gets too few moves. */
static bool wants_closures(const regal_search *search) {
  const regal_problem *problem = search->problem;
  return problem->objective == REGAL_MEMORY && problem->devices > 1 &&
         (problem->shared || regal_schedule_seconds(search) <
                                 FEW_MOVES_SECONDS_PER_OP * problem->ops);
}

static regal_status run_annealing(regal_search *search,
                                  const regal_schedule *given,
                                  regal_account *account) {
  regal_schedule schedule;
  const regal_annealer *annealer = regal_schedule_for(search, given, &schedule);
  if (!annealer)
    return REGAL_OK;
  REGAL_TRY(regal_anneal_by(search, &schedule, annealer, false));
  regal_account_add(account, search, search->account);
  return REGAL_OK;
}

regal_auto_settings regal_auto_settings_of(const regal_options *options) {
  return (regal_auto_settings){regal_brkga_settings_of(options),
                               regal_schedule_given(options)};
}

/* Only at the end of all: what a search inside a search finds goes on. */
static regal_status finish(regal_search *search, const regal_budget *whole,
                           regal_account *account) {
  char what[64];
  REGAL_TRY(regal_auto_sort_links(search, account));
  REGAL_TRY(regal_tidy(search, whole, what, sizeof what));
  if (what[0])
    regal_account_add(account, search, what);
  return REGAL_OK;
}

/* What needs a budget. */
static regal_status run_searches(regal_search *search,
                                 const regal_auto_settings *settings,
                                 regal_account *account) {
  if (wants_brkga(search) && !regal_search_should_stop(search))
    REGAL_TRY(run_brkga(search, &settings->brkga, account));
  if (wants_closures(search) && !regal_search_should_stop(search))
    REGAL_TRY(regal_auto_closures(search, &settings->brkga, account));
  if (search->problem->limited && !regal_search_should_stop(search))
    REGAL_TRY(regal_auto_within_limit(search, &settings->brkga, account));
  if (!regal_search_should_stop(search))
    REGAL_TRY(run_annealing(search, &settings->annealing, account));
  return REGAL_OK;
}

/* The same with a part of the budget, the end of it for all steps. */
static regal_status run_then_steps(regal_search *search, double share,
                                   const regal_auto_settings *settings,
                                   regal_account *account) {
  regal_search stage;
  regal_search_stage(search, 1 - share, &stage);
  regal_status status = run_searches(&stage, settings, account);
  regal_search_close(&stage);
  if (status != REGAL_OK || regal_search_should_stop(search))
    return status;
  return regal_auto_anneal_steps(search, account);
}

/* One start, from the best plan so far to the end of its budget. */
static regal_status run_once(regal_search *search,
                             const regal_auto_settings *settings,
                             regal_account *account) {
  double share = regal_auto_steps_share(search->problem);
  if (share > 0 && !regal_search_should_stop(search))
    return run_then_steps(search, share, settings, account);
  return run_searches(search, settings, account);
}

static regal_status run_starts(regal_search *search,
                               const regal_auto_settings *settings,
                               regal_account *account);

/* What all starts have in common: the heuristics' best plan, too. */
typedef struct start_run {
  regal_search *search;
  const regal_auto_settings *settings;
  const regal_plan *quick;
  regal_account *account;
} start_run;

/* A start of its own with a share of what is left, from the heuristics' plan:
 * with that of an earlier start, multilevel annealing would discard what its
 * coarse levels find. The first start is what a run with that budget would have
 * been; others have random numbers of their own. */
static regal_status run_start(const start_run *run, uint32_t number,
                              double share) {
  regal_search *search = run->search, child;
  regal_account own = {.length = 0};
  regal_plan *quick;
  char what[32];
  if (regal_search_should_stop(search))
    return REGAL_OK;
  snprintf(what, sizeof what, "start %u", number + 1);
  REGAL_TRY(regal_plan_copy(search->context, run->quick, &quick));
  regal_search_anew(search, share, &child);
  child.seed += number * REGAL_GOLDEN;
  regal_status status = regal_search_offer(&child, quick);
  if (status == REGAL_OK)
    status = (number ? run_once : run_starts)(&child, run->settings, &own);
  REGAL_TRY(regal_search_hand_over(&child, status));
  regal_account_add(run->account, search, what);
  return REGAL_OK;
}

static regal_status continue_best(const start_run *run) {
  regal_search *search = run->search;
  regal_schedule schedule;
  const regal_annealer *annealer =
      regal_schedule_for(search, &run->settings->annealing, &schedule);
  if (!annealer || regal_search_should_stop(search))
    return REGAL_OK;
  REGAL_TRY(regal_anneal_on(search, &schedule, annealer));
  regal_account_add(run->account, search, "the best continued");
  return REGAL_OK;
}

static regal_status run_all_starts(const start_run *run, double seconds) {
  REGAL_TRY(run_start(run, 0, FIRST_SHARE));
  if (seconds < STARTS_SECONDS)
    return run_start(run, 1, 1);
  for (uint32_t k = 1; k <= MORE_STARTS; k++)
    REGAL_TRY(run_start(run, k, 1.0 / (MORE_STARTS + 3 - k)));
  return continue_best(run);
}

/* Another view of a problem, and a graph that is large for the time, get one
 * start: heuristics alone take a good part of the budget. A plan that the user
 * gives is where the search is to begin. */
static bool wants_starts(const regal_search *search, double seconds) {
  bool view = search->parent && search->parent->problem != search->problem;
  return !view && !search->start && seconds >= LONG_SECONDS &&
         seconds >= REGAL_SECONDS_PER_OP * search->problem->ops;
}

static regal_status run_starts(regal_search *search,
                               const regal_auto_settings *settings,
                               regal_account *account) {
  double seconds = regal_schedule_seconds(search);
  regal_plan *quick;
  if (!wants_starts(search, seconds))
    return run_once(search, settings, account);
  REGAL_TRY(regal_plan_copy(search->context, search->best, &quick));
  start_run run = {search, settings, quick, account};
  regal_status status = run_all_starts(&run, seconds);
  regal_plan_free(quick);
  return status;
}

static bool wants_fast(const regal_problem *problem) {
  return problem->limited && problem->objective == REGAL_RUNTIME;
}

/* Under a memory limit also the fastest plan, for the search without it. */
static regal_status run_heuristics(regal_search *search, regal_search *fast,
                                   regal_account *account) {
  search->unlimited = wants_fast(search->problem) ? fast : NULL;
  regal_status status = run_quick(search, account);
  search->unlimited = NULL;
  search->fast = fast->best;
  return status;
}

static regal_status run_all(regal_search *search,
                            const regal_auto_settings *settings,
                            regal_account *account) {
  if (!search->parent && regal_can_enumerate(search->problem) &&
      !regal_search_should_stop(search))
    REGAL_TRY(run_enumeration(search, account));
  return run_starts(search, settings, account);
}

/* A search inside a search may have the heuristics' plan already. */
regal_status regal_auto(regal_search *search,
                        const regal_auto_settings *settings) {
  regal_account account = {.length = 0};
  regal_budget whole = search->budget;
  regal_problem unlimited = regal_problem_unlimited(search->problem);
  regal_search fast;
  if (!search->parent)
    whole = regal_tidy_reserve(search);
  regal_search_child(search, &unlimited, 0, &fast);
  regal_status status = REGAL_OK;
  if (!search->parent || !search->best)
    status = run_heuristics(search, &fast, &account);
  if (status == REGAL_OK)
    status = run_all(search, settings, &account);
  search->fast = NULL;
  regal_search_close(&fast);
  if (status == REGAL_OK && !search->parent)
    status = finish(search, &whole, &account);
  if (status == REGAL_OK)
    regal_search_account(search, "%s", account.text);
  return status;
}

regal_status regal_method_auto(regal_search *search) {
  regal_auto_settings settings = regal_auto_settings_of(search->options);
  return regal_auto(search, &settings);
}
