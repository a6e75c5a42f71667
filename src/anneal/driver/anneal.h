/* SPDX-License-Identifier: Apache-2.0 */
/* Runs annealers: temperatures that fall with the budget, on all cores.
 *
 * With a budget of evaluations one chain runs, so that the plan depends on the
 * seed alone. With a time limit every thread runs a chain of its own; at fixed
 * shares of the time those that are behind go on from where the best one is.
 */
#ifndef REGAL_ANNEAL_DRIVER_ANNEAL_H
#define REGAL_ANNEAL_DRIVER_ANNEAL_H

#include "anneal/driver/annealers.h"
#include "search/search.h"

typedef struct regal_anneal_job {
  regal_search *search;         /* its clock, its counts, its stop rules */
  const regal_problem *problem; /* the search's own, or a coarser one */
  const regal_annealer *annealer;
  const regal_plan *start;
  double hot, cold; /* temperatures at the beginning and at the end */
  /* Ends at the first of these; progress is the share of it that is used. */
  uint64_t evaluations; /* of this job; UINT64_MAX: no limit */
  double deadline;
  bool until_fits; /* ends with the first plan within the memory limits */
  uint64_t stream; /* tells apart the random numbers of a search's jobs */
} regal_anneal_job;

/* `best` gets the best plan of the job's problem; it is the caller's. */
regal_status regal_anneal(const regal_anneal_job *job, regal_plan **best);

/* A share of what is left of the search's budget. */
void regal_anneal_grant(const regal_search *search, double share,
                        regal_anneal_job *job);

/* The annealer that suits the search's problem best. */
const regal_annealer *regal_annealer_for(const regal_problem *problem);
/* The one of that name, or NULL. */
const regal_annealer *regal_annealer_find(const char *name);
size_t regal_annealer_count(void);
const regal_annealer *regal_annealer_at(size_t index);

#endif
