/* SPDX-License-Identifier: Apache-2.0 */
/* A search: opened with a budget, offered plans, asked whether to stop, closed.
 *
 * Children and stages (search.h) count their own evaluations. The parent learns
 * of them when they are closed; what is reported while they run is the sum over
 * all searches above. Only the simulator is shared, as long as the problem is
 * the same: it is scratch memory.
 */
#include "search/search.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

#define REPORTS_PER_SECOND 5

/* -- Opening and closing --------------------------------------------------- */

void regal_search_open(regal_search *search, regal_context *context,
                       const regal_problem *problem, regal_pool *pool,
                       uint64_t seed, uint64_t evaluations) {
  *search = (regal_search){.context = context,
                           .problem = problem,
                           .pool = pool,
                           .budget = regal_budget_of(context, evaluations),
                           .seed = seed,
                           .plan_fitness = REGAL_FITNESS_WORST,
                           .best_fitness = REGAL_FITNESS_WORST,
                           .began = regal_seconds()};
}

void regal_search_child(regal_search *parent, const regal_problem *problem,
                        double share, regal_search *child) {
  bool same = problem == parent->problem;
  regal_search_open(child, parent->context, problem, parent->pool, parent->seed,
                    0);
  child->budget = regal_budget_share(&parent->budget, share);
  child->parent = parent;
  child->began = parent->began;
  if (same) {
    child->bound = parent->bound;
    child->never_fits = parent->never_fits;
    child->best_fitness = parent->best_fitness;
    child->simulator = parent->simulator;
    child->fast = parent->fast;
  } else {
    child->budget.target = 0; /* of the parent's objective */
  }
}

void regal_search_anew(regal_search *parent, double share,
                       regal_search *child) {
  regal_search_child(parent, parent->problem, share, child);
  child->best_fitness = REGAL_FITNESS_WORST;
}

void regal_search_stage(regal_search *parent, double share,
                        regal_search *stage) {
  regal_search_child(parent, parent->problem, share, stage);
  stage->stage = true;
  stage->best = parent->best;
  stage->plan_fitness = parent->plan_fitness;
  parent->best = NULL;
}

static void return_to(regal_search *parent, regal_search *search) {
  parent->budget.used += search->budget.used;
  if (search->problem == parent->problem) {
    parent->simulator = search->simulator;
    search->simulator = NULL;
  }
  if (search->stage) {
    parent->best = search->best;
    parent->plan_fitness = search->plan_fitness;
    parent->best_fitness = search->best_fitness;
    search->best = NULL;
  }
  if (search->stop != REGAL_STOP_DONE)
    regal_search_should_stop(parent);
}

void regal_search_close(regal_search *search) {
  if (search->parent)
    return_to(search->parent, search);
  regal_simulator_free(search->simulator);
  regal_plan_free(search->best);
  search->simulator = NULL;
  search->best = NULL;
}

/* -- Plans ----------------------------------------------------------------- */

regal_status regal_search_cost(regal_search *search, const regal_plan *plan,
                               regal_cost *cost) {
  if (!search->simulator)
    REGAL_TRY(regal_simulator_create(search->context, search->problem,
                                     &search->simulator));
  regal_simulate(search->simulator, plan, cost);
  return REGAL_OK;
}

/* By cost, and among equals by transfers. */
static bool is_better(const regal_search *search, const regal_plan *plan,
                      regal_fitness fitness) {
  if (regal_fitness_less(fitness, search->plan_fitness))
    return true;
  return !regal_fitness_less(search->plan_fitness, fitness) &&
         regal_crossings_less(
             regal_plan_crossings(search->problem, plan),
             regal_plan_crossings(search->problem, search->best));
}

/* The other search gets a copy if it is the fastest so far. */
static regal_status offer_unlimited(regal_search *search,
                                    const regal_plan *plan,
                                    const regal_cost *cost) {
  regal_search *other = search->unlimited;
  regal_fitness fitness = {0, cost->runtime_ns, 0};
  regal_plan *copy;
  if (!other || !regal_fitness_less(fitness, other->plan_fitness))
    return REGAL_OK;
  REGAL_TRY(regal_plan_copy(search->context, plan, &copy));
  regal_plan_free(other->best);
  other->best = copy;
  other->plan_fitness = other->best_fitness = fitness;
  return REGAL_OK;
}

regal_status regal_search_offer(regal_search *search, regal_plan *plan) {
  regal_cost cost;
  regal_status status = regal_search_cost(search, plan, &cost);
  if (status == REGAL_OK)
    status = offer_unlimited(search, plan, &cost);
  if (status != REGAL_OK) {
    regal_plan_free(plan);
    return status;
  }
  regal_fitness fitness = regal_fitness_of(search->problem, &cost);
  if (search->best && !is_better(search, plan, fitness)) {
    regal_plan_free(plan);
    return REGAL_OK;
  }
  regal_plan_free(search->best);
  search->best = plan;
  search->plan_fitness = fitness;
  regal_search_note(search, fitness);
  return REGAL_OK;
}

bool regal_search_could_keep(const regal_search *search, int64_t runtime_ns) {
  const regal_fitness *best = &search->plan_fitness;
  const regal_search *other = search->unlimited;
  if (search->problem->objective == REGAL_MEMORY || best->excess ||
      best->value >= runtime_ns)
    return true;
  return other && other->plan_fitness.value >= runtime_ns;
}

regal_status regal_search_hand_over(regal_search *child, regal_status status) {
  regal_search *parent = child->parent;
  regal_plan *best = child->best;
  child->best = NULL;
  regal_search_close(child);
  if (status == REGAL_OK && best)
    return regal_search_offer(parent, best);
  regal_plan_free(best);
  return status;
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
  double price = REGAL_EXCESS_PRICE * (whole + 1) / (limit + 1);
  return (double)fitness.value + price * (double)fitness.excess;
}

/* -- Progress and the end -------------------------------------------------- */

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

bool regal_search_should_stop(regal_search *search) {
  int64_t value = search->best_fitness.value;
  bool fits = search->best_fitness.excess == 0;
  regal_stop stop = regal_budget_stop(&search->budget, value, fits);
  if (stop != REGAL_STOP_INTERRUPT && fits && value <= objective_bound(search))
    stop = REGAL_STOP_BOUND;
  if (stop != REGAL_STOP_INTERRUPT && search->never_fits &&
      regal_fitness_less(search->best_fitness, REGAL_FITNESS_WORST))
    stop = REGAL_STOP_NO_FIT;
  if (stop != REGAL_STOP_DONE)
    search->stop = stop;
  return stop != REGAL_STOP_DONE;
}

/* -- Reports --------------------------------------------------------------- */

int64_t regal_search_known_bound(const regal_search *search) {
  return search->problem->graph->assumed_sizes ? 0 : objective_bound(search);
}

static regal_search *root_of(regal_search *search) {
  while (search->parent)
    search = search->parent;
  return search;
}

uint64_t regal_search_evaluations(const regal_search *search) {
  uint64_t sum = 0;
  for (; search; search = search->parent)
    sum += search->budget.used;
  return sum;
}

/* The part of the user's budget that is used, by what ends first. */
static double share_used(const regal_search *root, uint64_t evaluations,
                         double now) {
  const regal_budget *whole = &root->whole;
  double share = 0;
  if (whole->limit && regal_budget_is_counted(whole))
    share = (double)evaluations / (double)whole->limit;
  if (whole->deadline > root->began && whole->deadline < INFINITY)
    share = fmax(share, (now - root->began) / (whole->deadline - root->began));
  return fmin(share, 1);
}

/* The best of a coarser graph, where the search is on one. */
static void tell_coarse(const regal_search *search, const regal_search *root,
                        regal_progress *progress) {
  if (search->problem->ops >= root->problem->ops ||
      !regal_fitness_less(search->best_fitness, REGAL_FITNESS_WORST))
    return;
  progress->coarse_ops = search->problem->ops;
  progress->coarse_best = search->best_fitness.value;
}

void regal_search_doing(regal_search *search, const char *stage) {
  regal_search *root = root_of(search);
  bool changed = !root->doing || strcmp(root->doing, stage) != 0;
  root->doing = stage;
  if (changed)
    root->last_report = 0;
  regal_search_report(search, false);
}

void regal_search_report(regal_search *search, bool improved) {
  regal_context *context = search->context;
  regal_search *root = root_of(search), *shown = search;
  if (!context->progress && !root->history)
    return;
  /* a search for another problem, such as a coarser one, shows the one that it
   * works for */
  while (shown->problem != root->problem)
    shown = shown->parent;
  /* one that began anew may be behind what is known */
  regal_fitness best = shown->best_fitness;
  for (const regal_search *above = shown->parent; above; above = above->parent)
    if (above->problem == root->problem &&
        regal_fitness_less(above->best_fitness, best)) {
      best = above->best_fitness;
      improved = false;
    }
  if (!regal_fitness_less(best, REGAL_FITNESS_WORST))
    return; /* there is no plan yet */
  double now = regal_seconds();
  bool due = now - root->last_report >= 1.0 / REPORTS_PER_SECOND;
  improved = improved && shown == search;
  if (!due && !improved)
    return;
  root->last_report = now;
  regal_progress progress = {
      .evaluations = regal_search_evaluations(search),
      .seconds = now - root->began,
      .best = best.value,
      .bound = regal_search_known_bound(shown),
      .fits = best.excess == 0,
      .stage = root->doing ? root->doing : "",
  };
  progress.share = share_used(root, progress.evaluations, now);
  tell_coarse(search, root, &progress);
  if (improved)
    regal_history_add(root->history, &progress, "");
  if (context->progress)
    context->progress(context->progress_state, &progress);
}

void regal_search_mark(regal_search *search, const char *what) {
  regal_progress progress = {
      .evaluations = regal_search_evaluations(search),
      .seconds = regal_seconds() - root_of(search)->began,
      .best = search->best_fitness.value,
      .bound = regal_search_known_bound(search),
      .fits = search->best_fitness.excess == 0,
      .stage = "",
  };
  regal_history_add(root_of(search)->history, &progress, what);
}

void regal_search_account(regal_search *search, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(search->account, sizeof search->account, format, arguments);
  va_end(arguments);
}
