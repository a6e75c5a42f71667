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

/* Random numbers of a search's jobs: each job has a stream of its own. Levels
 * count from REGAL_STREAM_LEVELS, attempts down from REGAL_STREAM_SHRINK.
 * Values are pinned: changing one changes plans. */
typedef enum regal_anneal_stream {
  REGAL_STREAM_LEVELS = 0, /* the finest; + 1, + 2, ... the coarser ones */
  REGAL_STREAM_FRESH = 1,  /* from one device */
  REGAL_STREAM_FLAT = 2,   /* from the best plan, without levels */
  REGAL_STREAM_STEPS = 3,  /* from the best plan, by the annealer `steps` */
  REGAL_STREAM_APPROACH = UINT32_MAX - 99,  /* a memory limit; + 1 again */
  REGAL_STREAM_CONTINUE = UINT32_MAX - 100, /* of the best of several starts */
  /* The next two have the same value; another one would change plans. It does
   * no harm: they serve different annealers, phase and order. */
  REGAL_STREAM_FINISH = UINT32_MAX - 2,
  REGAL_STREAM_SHRINK = UINT32_MAX - 2, /* - 1, - 2, ... further attempts */
  REGAL_STREAM_REFINE = UINT32_MAX - 1,
  REGAL_STREAM_REDUCE = UINT32_MAX
} regal_anneal_stream;

typedef struct regal_anneal_job {
  const regal_annealer *annealer;
  const regal_plan *start;
  double hot, cold; /* temperatures at the beginning and at the end */
  bool until_fits;  /* ends with the first plan within the memory limits */
  uint64_t stream;  /* of random numbers: regal_anneal_stream */
} regal_anneal_job;

/* Anneals the search's own problem, or another view of it, with a share of what
 * is left of the search's budget. `best` gets the best plan of that problem; it
 * is the caller's. */
regal_status regal_anneal(regal_search *search, const regal_problem *problem,
                          double share, const regal_anneal_job *job,
                          regal_plan **best);

/* The annealer that suits the search's problem best. */
const regal_annealer *regal_annealer_for(const regal_problem *problem);
/* The one of that name, or NULL. */
const regal_annealer *regal_annealer_find(const char *name);
size_t regal_annealer_count(void);
const regal_annealer *regal_annealer_at(size_t index);

#endif
