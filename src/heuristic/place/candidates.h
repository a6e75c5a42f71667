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

#endif
