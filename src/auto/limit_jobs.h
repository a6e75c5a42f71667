/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways to a plan within the limits have in common. */
#ifndef REGAL_AUTO_LIMIT_JOBS_H
#define REGAL_AUTO_LIMIT_JOBS_H

#include "anneal/driver/anneal.h"
#include "auto/account.h"
#include "evolve/settings.h"

/* How a fast plan is made to fit: whether it does is also luck, and costs a
 * part of what is left. Temperatures are in mean run times of ops; much more
 * would throw away what is good about the plan, but where transfers cost, moves
 * cost more. */
typedef struct regal_shrinking {
  double share;
  uint32_t tries;
  double hot, cold;
  double refine_hot, refine_cold; /* to go on with, once it fits */
} regal_shrinking;

typedef struct regal_limit_run {
  regal_search *search;
  const regal_brkga_settings *brkga;
  regal_account *account;
  const regal_shrinking *by;
  bool large;  /* the graph, for the time */
  bool phases; /* it is so large that phases approach the limit */
  bool both;   /* there is time for both ways to a good plan */
  bool found;  /* a plan that fits is known, for which all the rest is left */
} regal_limit_run;

typedef regal_status (*regal_limit_way)(const regal_limit_run *run);

/* No plan fits so far, and there is time. */
bool regal_limit_wants_fit(regal_search *search);
/* The graph is large for the time that is left. */
bool regal_limit_is_large(const regal_search *search);

/* All of `auto` for another view of the problem, with a share of what is left;
 * its best plan. What the user said about annealing is not about this view.
 * Where its heuristics' plan is not given, they are run. */
regal_status regal_limit_view(const regal_limit_run *run,
                              const regal_problem *view,
                              const regal_bound *bound, double share,
                              const regal_plan *quick, regal_plan **best);
/* What an annealing of the problem, or of a view of it, finds is offered to the
 * search, which knows what it is worth. */
regal_status regal_limit_job(const regal_limit_run *run,
                             const regal_problem *problem, double share,
                             const regal_anneal_job *job, const char *what,
                             bool *fits);
/* Offers a copy; whether it is within the limits of the search's problem. */
regal_status regal_limit_offer(regal_search *search, const regal_plan *plan,
                               bool *fits);
/* Beyond the memory limit: less memory, from the best plan so far, until it is
 * within. A plan near the limit is changed less if it begins cold. */
regal_status regal_limit_reduce(const regal_limit_run *run, double share,
                                bool near);
/* A way in a search that begins anew, with a share of what is left; what it
 * finds is offered. A plan just beyond the limit, or one that is good by
 * another way, would replace what it begins with. */
regal_status regal_limit_apart(const regal_limit_run *run, regal_limit_way way,
                               double share);
/* With the limit from the first move on, by the schedule for that: likelier to
 * find what fits than more tries to shrink a fast plan, and often better where
 * transfers cost or devices are many. */
regal_status regal_limit_anneal(const regal_limit_run *run);

#endif
