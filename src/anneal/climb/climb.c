/* SPDX-License-Identifier: Apache-2.0 */
/* `climb`: hill climbing by random moves. Each start is a topological order,
 * the file's, with a uniformly random device for each op (or group). A move
 * takes a random op to another device, or to another place in the order. For
 * run time it is kept when the plan gets better; for memory, or under a limit,
 * also when it stays as good: a peak is at one step, and most moves leave it
 * alone. After --climb-restart moves for each op without gain the search starts
 * anew.
 *
 * Every move is one evaluation, and so is every start. One chain, on one
 * thread: the plan depends on the seed alone.
 *
 * The paper's own local search is `local` (anneal/local/local.c), whose
 * schedules order transfers, too. Here these follow from the order of ops,
 * batched at the first need with blocking transfers, each just before its first
 * reader with overlapped ones and for memory. So a move can be costed where it
 * changes something (anneal/order/order.h, anneal/peak/peak.h) rather than by
 * simulating all of the plan.
 */
#include "anneal/climb/climb.h"

#include <string.h>

#include "anneal/driver/annealers.h"
#include "anneal/order/order.h"
#include "search/search.h"

#define BATCH 256 /* moves between looks at the clock */

typedef struct climb {
  regal_search *search;
  const regal_problem *problem;
  regal_climb_solution solution;
  regal_random random;
  regal_fitness present, best;
  uint64_t starts, patience, idle; /* idle: moves since the last gain */
  uint32_t *order, *best_order;    /* [ops] */
  uint8_t *placement;              /* [ops] */
  uint8_t *best_placement;         /* [ops] */
  regal_walk walk;                 /* for the plan */
} climb;

static void layout(climb *l, regal_carver *carver) {
  size_t ops = l->problem->ops;
  l->order = regal_carve(carver, ops, 4);
  l->best_order = regal_carve(carver, ops, 4);
  l->placement = regal_carve(carver, ops, 1);
  l->best_placement = regal_carve(carver, ops, 1);
  regal_walk_layout(&l->walk, carver, l->problem);
}

/* -- Moves ----------------------------------------------------------------- */

regal_status regal_climb_create(regal_context *context,
                                const regal_problem *problem,
                                regal_climb_solution *s) {
  *s = (regal_climb_solution){.problem = problem, .engine = &regal_climb_order};
  if (regal_annealer_memory.suits(problem))
    s->engine = &regal_climb_peak;
  return s->engine->create(context, s);
}

/* To another device, or elsewhere in the order, each half of the time where
 * both are possible. False: this op can do nothing. */
static bool change(regal_climb_solution *s, regal_random *random) {
  uint64_t drawn = regal_random_next(random);
  /* the upper half for the op, the lowest bit for the kind */
  uint32_t op = (uint32_t)((drawn >> 32) * s->problem->ops >> 32), first, last;
  uint64_t present = UINT64_C(1) << s->placement[op];
  uint64_t others = s->problem->allowed[op] & ~present;
  bool flips = others && (drawn & 1);
  if (!flips) {
    regal_order_range(s->problem, s->position, op, &first, &last);
    if (first == last && !others)
      return false;
    flips = first == last;
  }
  if (flips) {
    s->engine->flip(s->state, op, regal_climb_pick(others, random));
    return true;
  }
  uint32_t to = first + (uint32_t)regal_random_below(random, last - first);
  s->engine->shift(s->state, op, to + (to >= s->position[op]));
  return true;
}

bool regal_climb_step(regal_climb_solution *s, regal_random *random,
                      regal_fitness *fitness) {
  return change(s, random) && s->engine->settle(s->state, fitness);
}

/* -- Starts ---------------------------------------------------------------- */

/* Ops are numbered in a topological order. */
static void start_at_random(climb *l) {
  const regal_problem *problem = l->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    l->order[op] = op;
    if (problem->leader && problem->leader[op] != op)
      l->placement[op] = l->placement[problem->leader[op]];
    else
      l->placement[op] =
          (uint8_t)regal_climb_pick(problem->allowed[op], &l->random);
  }
}

static void start(climb *l) {
  if (l->starts == 0 && l->search->start)
    regal_plan_ops(l->search->start, l->order, l->placement);
  else
    start_at_random(l);
  l->solution.engine->begin(l->solution.state, l->order, l->placement,
                            &l->present);
  l->starts++;
  l->idle = 0;
  l->search->budget.used++;
}

/* Within one start the present solution is the best. */
static void keep_best(climb *l) {
  if (regal_climb_compare(&l->present, &l->best) >= 0)
    return;
  l->best = l->present;
  memcpy(l->best_order, l->solution.order, l->problem->ops * 4);
  memcpy(l->best_placement, l->solution.placement, l->problem->ops);
}

/* -- Search ---------------------------------------------------------------- */

static void run_batch(climb *l) {
  regal_search *search = l->search;
  uint64_t left = regal_budget_left(&search->budget);
  uint64_t moves = left < BATCH ? left : BATCH;
  for (uint64_t i = 0; i < moves; i++) {
    if (l->idle >= l->patience) {
      keep_best(l);
      start(l);
      continue;
    }
    bool better = regal_climb_step(&l->solution, &l->random, &l->present);
    l->idle = better ? 0 : l->idle + 1;
    search->budget.used++;
  }
}

static void run(climb *l) {
  regal_search *search = l->search;
  start(l);
  do {
    regal_fitness noted = l->present;
    if (l->problem->objective == REGAL_MEMORY)
      noted.tie = INT64_MAX; /* not known yet */
    regal_search_note(search, noted);
    regal_search_report(search, false);
    if (regal_search_should_stop(search))
      break;
    run_batch(l);
  } while (true);
  keep_best(l);
}

static regal_status offer(climb *l) {
  regal_plan *plan;
  REGAL_TRY(regal_plan_create(l->search->context,
                              regal_plan_most_steps(l->problem), &plan));
  regal_order_walk(l->problem, &l->walk, l->best_order, l->best_placement,
                   plan);
  return regal_search_offer(l->search, plan);
}

static regal_status search_with(climb *l) {
  regal_search *search = l->search;
  int64_t given = search->options->climb_restart;
  uint64_t moves =
      given >= 0 ? (uint64_t)given : regal_climb_restart(l->problem);
  l->patience = moves ? moves * l->problem->ops : UINT64_MAX;
  l->random.key = regal_random_key(search->seed, REGAL_PURPOSE_CLIMB, 0, 0);
  REGAL_TRY(regal_climb_create(search->context, l->problem, &l->solution));
  run(l);
  l->solution.engine->destroy(l->solution.state);
  regal_search_account(search, "hill climbing: %llu start%s",
                       (unsigned long long)l->starts,
                       l->starts == 1 ? "" : "s");
  return offer(l);
}

regal_status regal_method_climb(regal_search *search) {
  climb l = {.search = search,
             .problem = search->problem,
             .best = REGAL_FITNESS_WORST};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(search->context, carver, layout(&l, &carver)));
  regal_status status = search_with(&l);
  regal_release(search->context, carver.base);
  return status;
}
