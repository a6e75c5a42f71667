/* SPDX-License-Identifier: Apache-2.0 */
/* What a method works on: the problem, the budget, and the best plan so far.
 *
 * A method is a function from a search to a status. It offers plans, asks
 * whether it should stop, and says in one line what it did. Methods are rows of
 * one table, in api/methods.c.
 *
 * A search inside a search is a *child*, with a share of what is left of its
 * parent's budget, or a *stage*, which also goes on from the parent's best plan
 * and hands back a better one. Nothing else changes a search that runs.
 */
#ifndef REGAL_SEARCH_SEARCH_H
#define REGAL_SEARCH_SEARCH_H

#include "base/parallel/threads.h"
#include "cost/model/fitness.h"
#include "cost/model/plan.h"
#include "cost/model/simulate.h"
#include "search/budget.h"
#include "search/history.h"

typedef struct regal_search regal_search;
typedef struct regal_proposer regal_proposer; /* evolve/proposer.h */
typedef regal_status (*regal_method_fn)(regal_search *search);

typedef enum regal_method_policy {
  REGAL_METHOD_NO_POLICY,
  REGAL_METHOD_MAY_USE_POLICY,
  REGAL_METHOD_NEEDS_POLICY
} regal_method_policy;

/* The budget where the user gives none. */
typedef enum regal_method_budget {
  REGAL_BUDGET_PAPER,  /* 5000 evaluations */
  REGAL_BUDGET_SECOND, /* as many moves as a second allows, by the graph */
  REGAL_BUDGET_MINUTE  /* of time; evaluations never end it */
} regal_method_budget;

/* A row of the table in api/methods.c. What is left out is 0: no policy. */
typedef struct regal_method {
  const char *name;
  const char *help;   /* one line for `regal methods` */
  const char *budget; /* what --evaluations and --time mean for it */
  regal_method_fn run;
  regal_method_budget by_default;
  regal_method_policy policy;
  const char *policy_kind; /* the only kind that it takes, or NULL */
} regal_method;

struct regal_search {
  regal_context *context;
  const regal_problem *problem;
  regal_pool *pool; /* borrowed; may be NULL for methods of one pass */
  regal_budget budget;
  uint64_t seed;
  regal_bound bound; /* known so far; zeros where nothing is */
  bool never_fits;   /* no plan can be within the memory limits */

  /* What the user said: methods read their settings there when they begin.
   * NULL in a search inside a search. */
  const regal_options *options;
  const regal_method *method;
  const regal_proposal *proposal; /* or NULL: uniform */
  const regal_proposer *proposer; /* or NULL: no policy */
  const regal_plan *start;        /* or NULL */
  const regal_plan *fast; /* borrowed, or NULL: of the heuristics' plans the
                             fastest, whatever its memory */

  regal_plan *best;           /* owned; NULL until the first offer */
  regal_fitness plan_fitness; /* of `best` */
  regal_fitness best_fitness; /* of `best`, or of what a method still holds as
                                 genes: what progress and stop rules see */
  regal_stop stop;
  double began, ended;    /* in regal_seconds() */
  regal_history *history; /* of the root, borrowed; NULL: none is kept */
  char account[1024];     /* what the method did, in one line */

  /* For progress; of the root. */
  regal_budget whole; /* what the user gave */
  const char *doing;  /* a stage, NULL at the start */

  /* Borrowed, or NULL: a search for the same without memory limits, which is
   * offered what this one is offered. */
  regal_search *unlimited;

  /* Of search.c alone. */
  regal_search *parent;       /* or NULL */
  regal_simulator *simulator; /* made when the first plan is costed */
  double last_report;         /* of the root */
  bool stage;
};

/* A search of its own that begins now. The fields of its user, and deadline and
 * target of the budget, can be set after that. */
void regal_search_open(regal_search *search, regal_context *context,
                       const regal_problem *problem, regal_pool *pool,
                       uint64_t seed, uint64_t evaluations);
/* A child: another problem, or the same from nothing. The caller may take its
 * best plan. A child for another problem knows no bound and no target, and
 * progress does not speak of what it finds. */
void regal_search_child(regal_search *parent, const regal_problem *problem,
                        double share, regal_search *child);
/* A child of the same problem that begins anew, without what its parent knows
 * but the bound. The parent is to be offered its best plan. */
void regal_search_anew(regal_search *parent, double share, regal_search *child);
/* A stage of the same search. Its best plan is the parent's, which has none
 * until the stage is closed. */
void regal_search_stage(regal_search *parent, double share,
                        regal_search *stage);
/* Frees what the search holds. The parent counts the evaluations of a child,
 * and takes the best plan back from a stage. */
void regal_search_close(regal_search *search);
/* Closes a child of the same problem, and offers its best plan, if it has one,
 * to its parent; not where it failed. */
regal_status regal_search_hand_over(regal_search *child, regal_status status);

/* Costs a plan with the fast simulator. Does not count as an evaluation. */
regal_status regal_search_cost(regal_search *search, const regal_plan *plan,
                               regal_cost *cost);
/* Offers a plan: costs it, keeps it if it is better than the best so far, or
 * as good with fewer transfers, frees it otherwise. Takes the plan over in any
 * case. */
regal_status regal_search_offer(regal_search *search, regal_plan *plan);
/* The same for an order of all ops and a device for each. */
regal_status regal_search_offer_order(regal_search *search,
                                      const uint32_t *order,
                                      const uint8_t *placement);
/* False when no plan that takes so long or longer would be kept. */
bool regal_search_could_keep(const regal_search *search, int64_t runtime_ns);
/* One number for both, less is better: the objective, and a price for what is
 * beyond memory limits. */
double regal_search_energy(const regal_problem *problem, regal_fitness fitness);
/* A method has found something this good, and will offer its plan later. */
void regal_search_note(regal_search *search, regal_fitness fitness);
/* True when budget, target, bound or the user end the search; sets stop. */
bool regal_search_should_stop(regal_search *search);
/* The lower bound of the objective that may be told; 0: none. Where sizes were
 * assumed the search goes by its bounds, but nothing is proven. */
int64_t regal_search_known_bound(const regal_search *search);
/* So far, with those of the searches above. */
uint64_t regal_search_evaluations(const regal_search *search);
/* Calls the progress function: always if `improved`, else a few times a
 * second. */
void regal_search_report(regal_search *search, bool improved);
/* What is done from now on, for progress: a constant text such as "annealing".
 */
void regal_search_doing(regal_search *search, const char *stage);
/* A stage of the method has ended; `what` it did, for the history. */
void regal_search_mark(regal_search *search, const char *what);
/* Sets the account line. */
void regal_search_account(regal_search *search, const char *format, ...)
    REGAL_FORMAT(2, 3);

#endif
