/* SPDX-License-Identifier: Apache-2.0 */
/* What a method works on: the problem, the budget, and the best plan so far.
 *
 * A method is a function from a search to a status. It offers plans, asks
 * whether it should stop, and says in one line what it did. Methods are rows of
 * one table, in api/methods.c.
 */
#ifndef REGAL_SEARCH_SEARCH_H
#define REGAL_SEARCH_SEARCH_H

#include "base/parallel/threads.h"
#include "cost/model/fitness.h"
#include "cost/model/plan.h"
#include "cost/model/simulate.h"

typedef struct regal_search regal_search;
typedef struct regal_proposer regal_proposer; /* evolve/proposer.h */
typedef regal_status (*regal_method_fn)(regal_search *search);

typedef struct regal_method {
  const char *name;
  const char *help;   /* one line for `regal methods` */
  const char *budget; /* what --evaluations and --time mean for it */
  regal_method_fn run;
} regal_method;

struct regal_search {
  regal_context *context;
  const regal_problem *problem;
  const regal_options *options;
  const regal_method *method;
  const regal_proposal *proposal; /* or NULL: uniform */
  const regal_proposer *proposer; /* or NULL: no policy */
  const regal_plan *start;        /* or NULL */
  regal_bound bound;
  regal_pool *pool;
  regal_simulator *simulator;

  uint64_t budget;      /* evaluations; UINT64_MAX: no limit */
  uint64_t evaluations; /* used so far */
  double began, ended;  /* regal_seconds() of the search */
  double deadline;      /* or infinity */
  double last_report;

  regal_plan *best;           /* owned; NULL until the first offer */
  regal_fitness plan_fitness; /* of `best` */
  regal_fitness best_fitness; /* of `best`, or of what a method still holds as
                                 genes: what progress and stop rules see */
  regal_stop stop;
  char account[1024]; /* what the method did, in one line */
};

/* Offers a plan: costs it with the fast simulator, keeps it if it is better
 * than the best so far, frees it otherwise. Takes the plan over in any case.
 * Does not count as an evaluation. */
regal_status regal_search_offer(regal_search *search, regal_plan *plan);
/* The same for an order of all ops and a device for each. */
regal_status regal_search_offer_order(regal_search *search,
                                      const uint32_t *order,
                                      const uint8_t *placement);
/* One number for both, less is better: the objective, and a price for what is
 * beyond memory limits. */
double regal_search_energy(const regal_problem *problem, regal_fitness fitness);
/* A method has found something this good, and will offer its plan later. */
void regal_search_note(regal_search *search, regal_fitness fitness);
/* True when time, target, bound or the user end the search; sets stop. */
bool regal_search_should_stop(regal_search *search);
/* Calls the progress function: always if `improved`, else a few times a
 * second. */
void regal_search_report(regal_search *search, bool improved);
/* Sets the account line. */
void regal_search_account(regal_search *search, const char *format, ...)
    REGAL_FORMAT(2, 3);

#endif
