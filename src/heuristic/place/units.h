/* SPDX-License-Identifier: Apache-2.0 */
/* Units: sets of ops that are best kept on one device, because they read the
 * same large parameters: the forward and backward ops of a layer, in all
 * microbatches. Everything else is a unit of one op, or of a group.
 *
 * Not every parameter joins its readers. The smallest ones, which together
 * would take a small part of every device, may be on all of them. And a unit
 * does not outgrow a device's fair share of the work: a weight that the first
 * and the last layer share is held twice, rather than to run both together.
 */
#ifndef REGAL_HEURISTIC_PLACE_UNITS_H
#define REGAL_HEURISTIC_PLACE_UNITS_H

#include "cost/model/problem.h"

typedef struct regal_units {
  regal_context *context;
  const regal_problem *problem;
  uint32_t count;
  uint32_t *unit;     /* [ops] numbered by their first ops */
  uint32_t *size;     /* [count] ops */
  uint32_t *first;    /* [count] op */
  uint64_t *allowed;  /* [count] devices that can run all of it */
  int64_t *bytes;     /* [count] held for the whole plan */
  uint32_t joined;    /* parameters whose readers are joined */
  double *place;      /* [count] along the axis (axis.c) */
  uint32_t *by_place; /* [count] */
} regal_units;

/* `fair_shares`: of the work of a device, at most so much in a unit that
 * parameters join. */
regal_status regal_units_create(regal_context *context,
                                const regal_problem *problem,
                                double fair_shares, regal_units **units);
void regal_units_free(regal_units *units);

/* Sets places: units of several ops by their first ops in the file; other ops
 * near those that they exchange most bytes with. (axis.c) */
regal_status regal_units_arrange(regal_units *units);

/* -- Stages (stages.c) ----------------------------------------------------- */

/* How devices take turns along the axis. */
typedef struct regal_stage_pattern {
  uint32_t turns;  /* of every device */
  bool turns_back; /* every other turn goes back, from the last device */
  double memory;   /* of a limit that may be held for the whole plan */
} regal_stage_pattern;

/* Stages of consecutive units, balanced by work, as many as devices times
 * turns; whether there are any within the limits. */
regal_status regal_units_place(const regal_units *units,
                               const regal_stage_pattern *pattern,
                               uint8_t *placement, bool *found);

#endif
