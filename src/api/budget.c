/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets where the user gives none, and how long they take.
 *
 * `auto` takes about a second on graphs of up to 30,000 ops: its budget is a
 * number of moves that depends on the problem alone, not on the clock, and so
 * does its plan. How long a move takes depends on how it is costed: with two
 * devices and blocking transfers in a time that hardly grows with the graph;
 * with links, many devices or memory limits a part of the order is simulated,
 * a large part where the graph is wide. The constants were measured on the
 * largest graphs of data/ (bench/default_budget.py).
 */
#include "api/budget.h"

#include <math.h>

#include "api/methods.h"
#include "base/options/options.h"

#define DEFAULT_EVALUATIONS 5000

/* Annealing makes so many moves, times ops, in about a second. */
#define MOVES_PER_SECOND 300000000
#define MOST_MOVES 500000
/* Where the cost of a move grows with the graph, from so many ops on, more so
 * with more than two devices, or links and limits together. */
#define SLOW_OPS 2500
#define SLOWEST 0.5
#define FEWEST_SLOW_MOVES 1000
#define MINUTE 60.0

/* Whether the cost of a move grows with the graph. */
static bool is_slow(const regal_problem *problem) {
  return problem->objective == REGAL_RUNTIME &&
         (problem->machine->overlapped || problem->limited ||
          (problem->devices > 2 && problem->free_transfers));
}

/* About what a second allows. */
static double moves_of_a_second(const regal_problem *problem) {
  double ops = problem->ops, moves = MOVES_PER_SECOND / ops;
  if (!is_slow(problem))
    return fmax(fmin(moves, MOST_MOVES), DEFAULT_EVALUATIONS);
  bool slowest = problem->devices > 2 ||
                 (problem->machine->overlapped && problem->limited);
  double large = fmax(1, ops / SLOW_OPS);
  moves *= slowest ? SLOWEST / large : 1 / sqrt(large);
  return fmax(fmin(moves, MOST_MOVES), FEWEST_SLOW_MOVES);
}

/* The paper's 5000; for `auto`, whose evaluations are mostly single moves, a
 * number that depends on the problem alone, so that the plan does. */
static uint64_t default_evaluations(const regal_search *search) {
  return search->method->by_default == REGAL_BUDGET_SECOND
             ? (uint64_t)moves_of_a_second(search->problem)
             : DEFAULT_EVALUATIONS;
}

void regal_search_set_budget(regal_search *search) {
  const regal_options *options = search->options;
  regal_budget *budget = &search->budget;
  bool minute = search->method->by_default == REGAL_BUDGET_MINUTE;
  if (options->time > 0)
    budget->deadline = search->began + options->time;
  else if (minute)
    budget->deadline = search->began + MINUTE;
  if (minute || (options->time > 0 && options->evaluations == 0))
    budget->limit = REGAL_NO_LIMIT;
  else if (options->evaluations > 0)
    budget->limit = (uint64_t)options->evaluations;
  else
    budget->limit = default_evaluations(search);
  budget->target = options->target;
}

/* Above so many ops: a second for so many, and more than in proportion, as
 * caches are too small. */
#define SECOND_OPS 30000
#define OPS_EXPONENT 1.5

double regal_default_seconds(const regal_graph *graph,
                             const regal_options *options) {
  const regal_method *method = regal_method_find(options->method);
  bool guided = options->policy[0] && !regal_option_given(options, "method");
  if (options->time > 0 || options->evaluations > 0 || !method || guided)
    return 0;
  if (method->by_default == REGAL_BUDGET_MINUTE)
    return MINUTE;
  if (method->by_default != REGAL_BUDGET_SECOND)
    return 0;
  return fmax(1, pow(graph->ops / (double)SECOND_OPS, OPS_EXPONENT));
}
