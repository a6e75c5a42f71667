/* SPDX-License-Identifier: Apache-2.0 */
/* A plan that is being tidied: where ops are, who reads what where, and the
 * ops that a trial has moved. */
#ifndef REGAL_TIDY_PARTS_H
#define REGAL_TIDY_PARTS_H

#include "base/carve.h"
#include "base/random.h"
#include "search/search.h"

typedef struct regal_tidy_flip {
  uint32_t op;
  uint8_t from; /* device */
} regal_tidy_flip;

typedef struct regal_tidier {
  regal_search *search;
  const regal_problem *problem;
  regal_plan *plan, *trial;
  uint8_t *placement;     /* [ops] with the flips of the trial */
  uint32_t *readers;      /* [tensors * devices] likewise */
  uint32_t *next_member;  /* [ops] of the same group, or REGAL_NONE; where there
                             are groups */
  uint64_t *arrived;      /* [tensors] scratch: devices, a bit for each */
  regal_tidy_flip *flips; /* [3 * ops] */
  uint32_t flip_count;
  regal_crossings now;    /* of the plan */
  regal_crossings change; /* by the flips */
  regal_fitness fitness;  /* of the plan; trials may not be worse */
} regal_tidier;

void regal_tidier_layout(regal_tidier *tidier, regal_carver *carver);
/* Placement, readers and groups of the plan. */
void regal_tidier_read(regal_tidier *tidier);

/* Moves an op and its group to another device, and counts what that does to
 * transfers. O(degree). There is room for twice all ops after the first `ops`
 * flips. */
void regal_tidier_flip(regal_tidier *tidier, uint32_t op, uint32_t to);
/* Takes flips back, until there are `count`; `change` is then the caller's. */
void regal_tidier_take_back(regal_tidier *tidier, uint32_t count);

/* Costs the plan with all flips, and keeps it if it is no worse; else takes the
 * flips back. O(steps + edges). */
regal_status regal_tidier_settle(regal_tidier *tidier, bool *kept);

#endif
