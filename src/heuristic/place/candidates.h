/* SPDX-License-Identifier: Apache-2.0 */
/* Placements for the list scheduler, each with a safe order that fits: stages
 * of units, the placements of heft, cuts and partitions (of the problem, and of
 * the one whose units are groups), and the best plan so far.
 */
#ifndef REGAL_HEURISTIC_PLACE_CANDIDATES_H
#define REGAL_HEURISTIC_PLACE_CANDIDATES_H

#include "decode/walk.h"
#include "heuristic/fit/sweep.h"
#include "heuristic/place/units.h"
#include "search/search.h"

typedef struct regal_fit_candidate {
  const char *name;   /* where the placement comes from */
  uint8_t *placement; /* [ops] */
  uint32_t *order;    /* [ops] safe */
  regal_fit_sweep sweep;
} regal_fit_candidate;

enum { REGAL_MOST_CANDIDATES = 24, REGAL_SAFE_ORDERS = 4 };

typedef struct regal_fit_candidates {
  regal_search *search;
  const regal_problem *problem;
  regal_fit fit;
  uint32_t *orders[REGAL_SAFE_ORDERS]; /* [ops] of the whole graph */
  uint8_t *tried;                      /* [ops] a placement */
  uint32_t *order;                     /* [ops] its own order, if it has one */
  regal_walk walk;                     /* where transfers block */
  regal_fit_candidate list[REGAL_MOST_CANDIDATES];
  uint32_t count;
  regal_units *units; /* or NULL: no parameter joins its readers */
  void *block;
} regal_fit_candidates;

/* Finds them, without any pass. There may be none. */
regal_status regal_fit_candidates_find(regal_search *search,
                                       regal_fit_candidates *found);
void regal_fit_candidates_free(regal_fit_candidates *found);
/* Makes the plan of a candidate's best setting, and offers it. The list
 * scheduler has begun with the candidate. */
regal_status regal_fit_candidate_offer(regal_fit_candidates *found,
                                       const regal_fit_candidate *candidate);

/* -- The same from one source ---------------------------------------------- */

/* Adds the placements of a problem, which is the search's or a gathered one. */
typedef regal_status (*regal_fit_source)(regal_fit_candidates *found,
                                         const regal_problem *problem);

regal_status regal_fit_candidates_from(regal_search *search,
                                       regal_fit_source source,
                                       regal_fit_candidates *found);
/* The placement in `tried`, if it fits in some order. `own` is NULL, or the
 * order that it came with. */
bool regal_fit_candidates_add(regal_fit_candidates *found, const char *name,
                              const uint32_t *own);
regal_status regal_fit_add_heft(regal_fit_candidates *found,
                                const regal_problem *problem);
regal_status regal_fit_add_cuts(regal_fit_candidates *found,
                                const regal_problem *problem);

#endif
