/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a run: so many evaluations, a point in time, a value that is good
 * enough, or a stop request of the user.
 *
 * Evaluations are the deterministic part: a run that only they end gives the
 * same plan on every machine. A run inside a run gets a share of what is left
 * (regal_budget_share), counts by itself, and its parent adds what it used.
 */
#ifndef REGAL_SEARCH_BUDGET_H
#define REGAL_SEARCH_BUDGET_H

#include "base/context.h"

#define REGAL_NO_LIMIT UINT64_MAX /* of evaluations */

typedef struct regal_budget {
  regal_context *context; /* a stop request there is an interrupt */
  uint64_t limit;         /* evaluations, or REGAL_NO_LIMIT */
  uint64_t used;          /* of them */
  double deadline;        /* in regal_seconds(), or infinity */
  double target;          /* a plan that fits and costs no more is enough */
} regal_budget;

/* Evaluations alone; no deadline, no target. */
regal_budget regal_budget_of(regal_context *context, uint64_t evaluations);
/* A budget of its own, with a share of the evaluations and of the time that
 * are left; the same target. */
regal_budget regal_budget_share(const regal_budget *budget, double share);
/* No more than so many evaluations from now on. */
void regal_budget_cap(regal_budget *budget, uint64_t evaluations);

static inline bool regal_budget_is_counted(const regal_budget *budget) {
  return budget->limit != REGAL_NO_LIMIT;
}

/* Evaluations that are left. */
static inline uint64_t regal_budget_left(const regal_budget *budget) {
  return budget->used < budget->limit ? budget->limit - budget->used : 0;
}

/* Interrupted, or out of time: for looks from inside a generation. */
bool regal_budget_is_cut(const regal_budget *budget);
/* Why the run ends with a best plan of this value that fits its memory limits,
 * or not; REGAL_STOP_DONE: it does not. */
regal_stop regal_budget_stop(const regal_budget *budget, int64_t value,
                             bool fits);

#endif
