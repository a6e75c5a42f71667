/* SPDX-License-Identifier: Apache-2.0 */
/* `auto`: heuristics first, so that there is a plan at once; then BRKGA where a
 * decoder is strong; then annealing by the recipe that was tuned for problems
 * of this kind and size and for this budget (anneal/schedules.h).
 */
#include <math.h>
#include <string.h>

#include "anneal/driver/anneal.h"
#include "anneal/schedules.h"
#include "auto/auto.h"
#include "auto/limit.h"
#include "evolve/evolve.h"
#include "heuristic/heuristics.h"

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
  regal_account_add(account, search, best);
  return REGAL_OK;
}

/* On wide graphs the clock decoder is near the bound at once, and annealing
 * goes on from there; elsewhere annealing soon leaves it behind
 * (docs/results.md). */
#define WIDE_SHARE 0.3
#define NARROW_SHARE 0.1
#define MOST_DECODES 20000.0 /* where the budget is evaluations */

static double brkga_share(const regal_problem *problem) {
  return regal_is_wide(problem) ? WIDE_SHARE : NARROW_SHARE;
}

static bool wants_brkga(const regal_search *search) {
  const regal_problem *problem = search->problem;
  return problem->objective == REGAL_RUNTIME && !problem->machine->overlapped &&
         problem->free_transfers && problem->run_step == 0 &&
         !problem->limited && problem->devices > 1;
}

/* BRKGA with a share of what is left of the budget. */
static regal_status run_brkga(regal_search *search, regal_account *account) {
  const regal_options *given = search->options;
  uint64_t budget = search->budget;
  double deadline = search->deadline, now = regal_seconds();
  double share = brkga_share(search->problem);
  char what[64];
  regal_options options = *given;
  if (!options.decoder[0]) {
    strcpy(options.decoder, "clock");
    /* few and soon: measured on synthetic graphs at a twentieth of a second */
    options.population = 30;
    options.elites = 0.3;
    options.mutants = 0.1;
  }
  snprintf(what, sizeof what, "brkga on %.40s", options.decoder);
  search->options = &options;
  if (budget != UINT64_MAX) {
    /* a decode takes as long as many moves */
    double most = share * (double)(budget - search->evaluations);
    search->budget = search->evaluations + (uint64_t)fmin(most, MOST_DECODES);
  }
  if (given->time > 0)
    search->deadline = now + share * (deadline - now);
  regal_status status = regal_method_brkga(search);
  search->options = given;
  search->budget = budget;
  search->deadline = deadline;
  if (status == REGAL_OK)
    regal_account_add(account, search, what);
  return status;
}

static regal_status run_annealing(regal_search *search,
                                  regal_account *account) {
  regal_schedule recipe;
  const regal_annealer *annealer = regal_schedule_for(search, &recipe);
  if (!annealer)
    return REGAL_OK;
  REGAL_TRY(regal_anneal_by(search, &recipe, annealer, false));
  regal_account_add(account, search, search->account);
  return REGAL_OK;
}

regal_status regal_method_auto(regal_search *search) {
  regal_account account = {.length = 0};
  REGAL_TRY(run_quick(search, &account));
  if (wants_brkga(search) && !regal_search_should_stop(search))
    REGAL_TRY(run_brkga(search, &account));
  if (search->problem->limited && !regal_search_should_stop(search))
    REGAL_TRY(regal_auto_within_limit(search, &account));
  if (!regal_search_should_stop(search))
    REGAL_TRY(run_annealing(search, &account));
  regal_search_account(search, "%s", account.text);
  return REGAL_OK;
}
