/* SPDX-License-Identifier: Apache-2.0 */
/* Lags: the least time from the end of one op to the start of another that
 * depends on it, once if both are on one device and once if they are on two.
 *
 * Every edge of the graph is a lag. On one device it is 0, or endless if no
 * device may run both ops. On two devices it is the time of the tensors that
 * are sent, or endless if a group keeps the ops together. Windows (window.h)
 * add lags between ops that are further apart. */
#ifndef REGAL_COST_BOUND_LAGS_H
#define REGAL_COST_BOUND_LAGS_H

#include "base/carve.h"
#include "base/compare.h"
#include "cost/model/problem.h"

/* Longer than any plan; a few of them can be added. */
#define REGAL_LAG_NEVER (INT64_MAX / 8)

typedef struct regal_lag {
  uint32_t from, to;
  int64_t same, apart; /* both on one device, on two */
} regal_lag;

static inline int64_t regal_lag_least(const regal_lag *lag) {
  return regal_smaller(lag->same, lag->apart);
}

typedef struct regal_lags {
  int64_t *send_ns;      /* [tensors] least time of a transfer, any link */
  uint32_t *edge_begin;  /* [ops+1] */
  regal_lag *edge;       /* by the op that depends */
  uint32_t *found_begin; /* [ops+1] */
  regal_lag *found;      /* [most_found] of windows, by the op that depends */
  uint32_t most_found;
  bool links_differ;
} regal_lags;

void regal_lags_layout(regal_lags *lags, regal_carver *carver,
                       const regal_problem *problem);
/* The lags of edges. shortest[j] is the least run time of op j. False when the
 * sum of all times is so long that lags cannot be added. */
bool regal_lags_find(regal_lags *lags, const regal_problem *problem,
                     const int64_t *shortest);

/* The devices that may run an op are not all. */
static inline bool regal_is_restricted(const regal_problem *problem,
                                       uint32_t op) {
  return problem->allowed[op] != UINT64_MAX >> (64 - problem->devices);
}

static inline bool regal_has_one_device(uint64_t mask) {
  return !(mask & (mask - 1));
}

/* The least time of a tensor from a device of `from` to another of `to`. */
int64_t regal_lags_send_ns(const regal_lags *lags, const regal_problem *problem,
                           uint32_t tensor, uint64_t from, uint64_t to);

#endif
