/* SPDX-License-Identifier: Apache-2.0 */
/* List scheduling within memory limits.
 *
 * Given a placement and a serial order that fits (the safe order,
 * heuristic/fit/safe.h), devices take ready ops by priority, those that can
 * start first going first. An op that would leave the rest without room is
 * passed over until memory is freed. If nothing else may run, the next op of
 * the safe order may: there is no deadlock, and the plan fits.
 *
 * The priority of an op is a sum, smaller goes first:
 *   lead * (work before it in the safe order) / devices
 *   + (longest chain before it) + slack * (how long it can be late).
 * For microbatches that are alike this is a modulo schedule: the number of the
 * microbatch times its work per device, and the place inside. What may wait
 * (gradients of weights) waits, and fills the gaps. A device waits for a better
 * op if that starts within `patience` run times of what it could run at once.
 * `reach` limits how far ahead of the safe order an op may run, so that memory
 * is not filled by the beginnings of work that cannot go on.
 *
 * O(n (degree + window) log n) for a pass.
 */
#ifndef REGAL_HEURISTIC_FIT_FIT_H
#define REGAL_HEURISTIC_FIT_FIT_H

#include "base/compare.h"
#include "cost/model/plan.h"
#include "heuristic/fit/safe.h"

typedef struct regal_fit_setting {
  double lead, slack, patience;
  double reach; /* of the work of the whole graph; 1: anything */
} regal_fit_setting;

/* A device's ready ops by priority, and which of them it would run. */
typedef struct regal_fit_device {
  uint32_t *ready; /* [its ops] */
  uint32_t count;
  uint32_t pick;    /* op, or REGAL_NONE */
  int64_t start_ns; /* of the pick */
  bool fetches;     /* the pick needs an input by a blocking transfer */
  double work_left; /* of its ops */
  bool stale;       /* the pick has to be looked for again */
} regal_fit_device;

typedef struct regal_fit {
  const regal_problem *problem;
  regal_safe safe;
  const uint8_t *placement; /* [ops] the caller's */
  double *before;           /* [ops] work before it in the safe order */
  double *head, *tail;      /* [ops] longest chains before and from it */
  double longest, work;     /* chain; sum of run times */
  double *key;              /* [ops] */

  regal_fit_setting setting;
  regal_fit_device device[REGAL_MAX_DEVICES];
  uint32_t *ready;      /* [ops] of all devices */
  uint32_t *waits_for;  /* [ops] predecessors that have not run */
  uint32_t *refused_at; /* [ops] version of the device's memory */
  int64_t *ready_ns;    /* [ops] the last control edge has ended */
  int64_t *end_ns;      /* [ops] */
  int64_t *arrival_ns;  /* [slots] */
  int64_t *link_ns;     /* [devices^2] the link is free */
  regal_keyed *travels; /* [most inputs of an op] scratch */
  int64_t clock_ns[REGAL_MAX_DEVICES];
} regal_fit;

void regal_fit_layout(regal_fit *fit, regal_carver *carver,
                      const regal_problem *problem);
/* Takes over a safe order and a placement, which must stay. Whether they fit:
 * only then a schedule can be made. */
bool regal_fit_begin(regal_fit *fit, const uint32_t *order,
                     const uint8_t *placement);
/* One pass; the run time, or INT64_MAX as soon as that is more than `allowed`.
 * `plan` is NULL, or gets the steps. */
int64_t regal_fit_schedule(regal_fit *fit, const regal_fit_setting *setting,
                           int64_t allowed, regal_plan *plan);

#endif
