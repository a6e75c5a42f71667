/* SPDX-License-Identifier: Apache-2.0 */
/* Annealers: local search on one representation of a plan each, behind one
 * small table of functions, so that schedules, restarts, threads, levels and
 * budgets are written once (anneal/driver/anneal.h) and a new annealer is one
 * file and one row of REGAL_ANNEALERS (docs/contributing.md has an example).
 *
 * A state is one chain: a present solution, the best one it has seen, and its
 * own random numbers. States of different threads share nothing but the
 * problem. Only `create` allocates.
 */
#ifndef REGAL_ANNEAL_DRIVER_ANNEALER_H
#define REGAL_ANNEAL_DRIVER_ANNEALER_H

#include "cost/model/fitness.h"
#include "cost/model/plan.h"

/* One stretch of moves at a constant temperature. */
typedef struct regal_anneal_stretch {
  double temperature; /* in the annealer's own unit: see `hot` */
  double progress;    /* of the whole run, 0 to 1: for mixes that change */
  uint32_t moves;
  bool until_fits; /* the run ends with the first plan within its limit */
} regal_anneal_stretch;

typedef struct regal_annealer {
  const char *name, *help;
  /* Temperatures at which a run from a middling plan begins and ends, in units
   * of the mean run time of an op (run time) or of the peak (memory). */
  double hot, cold;
  /* Whether it can work on this problem at all. */
  bool (*suits)(const regal_problem *problem);
  regal_status (*create)(regal_context *context, const regal_problem *problem,
                         void **state);
  void (*destroy)(void *state);
  /* A valid plan becomes the present and the best solution (or the nearest
   * that the representation can say); random numbers begin anew from `key`. */
  void (*begin)(void *state, const regal_plan *plan, uint64_t key);
  /* Makes the moves; each is one evaluation. Accepts by Metropolis' rule on the
   * objective's value, to which an excess over memory limits adds a price. */
  void (*run)(void *state, const regal_anneal_stretch *stretch);
  double (*energy)(const void *state); /* of the present solution, in units */
  regal_fitness (*best)(const void *state);
  /* `to` continues from `from`'s present solution; its best and its random
   * numbers stay its own. Both are states of the same problem. */
  void (*copy)(void *to, const void *from);
  /* The best solution as a plan; it has room for regal_plan_most_steps. Its
   * cost is at most `best`. */
  void (*write)(void *state, regal_plan *plan);
} regal_annealer;

#endif
