/* SPDX-License-Identifier: Apache-2.0 */
/* `local`: the paper's local search (section 5.2, and its appendix, baselines):
 * "starts with a random placement and schedule and greedily improves it by
 * moving an op across devices or changing an op's order in the current
 * schedule". A schedule is a total order of ops and transfers there.
 *
 * Each start is the file's topological order with a uniformly random device for
 * each op (or group). Then the best of all neighbours is taken until none is
 * better, and the search starts anew: steepest descent with restarts. Every
 * neighbour is one evaluation, and so is every start. One search on one thread:
 * the plan depends on the seed alone.
 *
 * What the paper leaves open: that the best neighbour is taken, that an op's
 * order changes by one place, and where a new transfer goes (--send). With
 * these choices the result on synthetic graphs is the paper's
 * (docs/algorithm.md). `climb` is our own variant.
 */
#include "anneal/local/descent.h"
#include "base/random.h"
#include "search/search.h"

#define BATCH 256 /* neighbours between looks at the clock */

enum { SEND_LATE, SEND_EAGER }; /* as in regal_options.h */

typedef struct local {
  regal_search *search;
  regal_descent *descent;
  regal_plan *best;
  regal_fitness best_fitness;
  regal_random random;
  uint64_t starts, moves;
  uint32_t *order;    /* [ops] */
  uint8_t *placement; /* [ops] */
} local;

static void layout(local *l, regal_carver *carver) {
  l->order = regal_carve(carver, l->search->problem->ops, 4);
  l->placement = regal_carve(carver, l->search->problem->ops, 1);
}

static uint32_t random_device(uint64_t devices, regal_random *random) {
  uint32_t count = (uint32_t)__builtin_popcountll(devices);
  for (uint64_t k = regal_random_below(random, count); k; k--)
    devices &= devices - 1;
  return (uint32_t)__builtin_ctzll(devices);
}

/* Ops are numbered in a topological order. */
static void start_at_random(local *l) {
  const regal_problem *problem = l->search->problem;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t leader = regal_problem_leader(problem, op);
    l->order[op] = op;
    l->placement[op] =
        leader != op ? l->placement[leader]
                     : (uint8_t)random_device(problem->allowed[op], &l->random);
  }
  regal_descent_begin(l->descent, l->order, l->placement);
}

static void start(local *l) {
  if (l->starts == 0 && l->search->start)
    regal_descent_begin_plan(l->descent, l->search->start);
  else
    start_at_random(l);
  l->starts++;
  l->search->budget.used++;
}

/* Within one start the present solution is the best. */
static void keep_best(local *l) {
  if (l->best->step_count &&
      !regal_descent_better(l->descent->fitness, l->best_fitness))
    return;
  l->best_fitness = l->descent->fitness;
  regal_descent_write(l->descent, l->best);
}

/* Some neighbours; a move, or a new start, after the last one. */
static void run_batch(local *l) {
  regal_budget *budget = &l->search->budget;
  uint64_t left = regal_budget_left(budget);
  uint64_t most = left < BATCH ? left : BATCH;
  uint64_t tried = regal_descent_scan(l->descent, most);
  budget->used += tried;
  if (tried == most)
    return;
  if (regal_descent_move_on(l->descent)) {
    l->moves++;
    return;
  }
  keep_best(l);
  start(l);
}

static void note(local *l) {
  regal_fitness noted = l->descent->fitness;
  if (l->search->problem->objective == REGAL_MEMORY)
    noted.tie = INT64_MAX; /* not known yet */
  regal_search_note(l->search, noted);
  regal_search_report(l->search, false);
}

static regal_status run(local *l) {
  start(l);
  for (note(l); !regal_search_should_stop(l->search); note(l))
    run_batch(l);
  l->moves += regal_descent_move_on(l->descent);
  keep_best(l);
  regal_search_account(l->search, "local search: %llu start%s, %llu move%s",
                       (unsigned long long)l->starts, l->starts == 1 ? "" : "s",
                       (unsigned long long)l->moves, l->moves == 1 ? "" : "s");
  regal_plan *best = l->best;
  l->best = NULL;
  return regal_search_offer(l->search, best);
}

static regal_status search_with(local *l) {
  regal_search *search = l->search;
  const regal_problem *problem = search->problem;
  bool eager = search->options->send == SEND_EAGER;
  l->random.key = regal_random_key(search->seed, REGAL_PURPOSE_LOCAL, 0, 0);
  REGAL_TRY(regal_descent_create(search->context, problem, eager, &l->descent));
  REGAL_TRY(regal_plan_create(search->context, regal_plan_most_steps(problem),
                              &l->best));
  return run(l);
}

regal_status regal_method_local(regal_search *search) {
  local l = {.search = search};
  regal_carver carver = {NULL, 0};
  REGAL_TRY(REGAL_CARVE_BLOCK(search->context, carver, layout(&l, &carver)));
  regal_status status = search_with(&l);
  regal_plan_free(l.best);
  regal_descent_free(l.descent);
  regal_release(search->context, carver.base);
  return status;
}
