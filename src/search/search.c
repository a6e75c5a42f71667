/* SPDX-License-Identifier: Apache-2.0 */
#include "search/search.h"

#include <math.h>
#include <stdarg.h>

#define REPORTS_PER_SECOND 5
/* All of the work for this share of the limit. */
#define EXCESS_PRICE 3.0

regal_status regal_search_offer(regal_search *search, regal_plan *plan) {
  regal_cost cost;
  regal_simulate(search->simulator, plan, &cost);
  regal_fitness fitness = regal_fitness_of(search->problem, &cost);
  if (search->best && !regal_fitness_less(fitness, search->plan_fitness)) {
    regal_plan_free(plan);
    return REGAL_OK;
  }
  regal_plan_free(search->best);
  search->best = plan;
  search->plan_fitness = fitness;
  regal_search_note(search, fitness);
  return REGAL_OK;
}

regal_status regal_search_offer_order(regal_search *search,
                                      const uint32_t *order,
                                      const uint8_t *placement) {
  regal_plan *plan;
  REGAL_TRY(regal_plan_from_order(search->context, search->problem, order,
                                  placement, &plan));
  return regal_search_offer(search, plan);
}

double regal_search_energy(const regal_problem *problem,
                           regal_fitness fitness) {
  double limit = 0;
  for (uint32_t a = 0; a < problem->devices; a++)
    if (problem->limit[a] != REGAL_UNLIMITED)
      limit = fmax(limit, (double)problem->limit[a]);
  double whole = problem->objective == REGAL_MEMORY
                     ? limit
                     : (double)problem->graph->work_ns;
  double price = EXCESS_PRICE * (whole + 1) / (limit + 1);
  return (double)fitness.value + price * (double)fitness.excess;
}

void regal_search_note(regal_search *search, regal_fitness fitness) {
  if (!regal_fitness_less(fitness, search->best_fitness))
    return;
  search->best_fitness = fitness;
  regal_search_report(search, true);
}

static int64_t objective_bound(const regal_search *search) {
  return search->problem->objective == REGAL_MEMORY ? search->bound.peak_bytes
                                                    : search->bound.runtime_ns;
}

static bool ends(regal_search *search, bool condition, regal_stop stop) {
  if (condition)
    search->stop = stop;
  return condition;
}

bool regal_search_should_stop(regal_search *search) {
  const regal_fitness *best = &search->best_fitness;
  bool fits = best->excess == 0;
  return ends(search, regal_stop_requested(search->context),
              REGAL_STOP_INTERRUPT) ||
         ends(search, fits && best->value <= objective_bound(search),
              REGAL_STOP_BOUND) ||
         ends(search, fits && (double)best->value <= search->options->target,
              REGAL_STOP_TARGET) ||
         ends(search, search->evaluations >= search->budget,
              REGAL_STOP_BUDGET) ||
         ends(search, regal_seconds() >= search->deadline, REGAL_STOP_TIME);
}

void regal_search_report(regal_search *search, bool improved) {
  regal_context *context = search->context;
  double now = regal_seconds();
  if (!context->progress ||
      (!improved && now - search->last_report < 1.0 / REPORTS_PER_SECOND))
    return;
  search->last_report = now;
  regal_progress progress = {
      .evaluations = search->evaluations,
      .seconds = now - search->began,
      .best = search->best_fitness.value,
      .bound = objective_bound(search),
      .fits = search->best_fitness.excess == 0,
  };
  context->progress(context->progress_state, &progress);
}

void regal_search_account(regal_search *search, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(search->account, sizeof search->account, format, arguments);
  va_end(arguments);
}
