/* SPDX-License-Identifier: Apache-2.0 */
/* How long the ops between two ops take, transfers included.
 *
 * The window of ops u < v (v depends on u) is the time from the end of u to the
 * start of v. The ops M that depend on u and that v depends on all run in it,
 * and so do the transfers of the tensors that u or an op of M makes, to ops of
 * M or v. Two bounds on its length are wanted: for plans with u and v on the
 * same device, and for plans with them on different ones. window.c has
 * the argument.
 */
#ifndef REGAL_COST_BOUND_WINDOW_H
#define REGAL_COST_BOUND_WINDOW_H

#include "cost/bound/flow.h"
#include "cost/bound/lags.h"
#include "cost/model/problem.h"

#define REGAL_WINDOW_REACH 1024 /* most ops between u and v in the order */

typedef struct regal_window {
  const regal_problem *problem;
  const int64_t *shortest; /* [ops] run time */
  const int64_t *send_ns;  /* [tensors] least time of a transfer */

  /* The window: u first, then M in topological order, then v. */
  uint32_t size;                           /* of M, and two */
  uint32_t member[REGAL_WINDOW_REACH + 2]; /* ops */
  uint32_t *place;                         /* [ops] index in member, or NONE */
  int64_t work;                            /* of M */

  /* By index in member: from the end of u to the start, and from the end to
   * the start of v; for an op on the device of u (or v), and on another. */
  int64_t after_here[REGAL_WINDOW_REACH + 2];
  int64_t after_away[REGAL_WINDOW_REACH + 2];
  int64_t until_here[REGAL_WINDOW_REACH + 2];
  int64_t until_away[REGAL_WINDOW_REACH + 2];
  uint8_t side[REGAL_WINDOW_REACH + 2]; /* where it must be, see below */
  regal_flow flow;                      /* blocking transfers only */
  uint64_t effort;                      /* that is left */
} regal_window;

#define REGAL_WINDOW_NONE UINT32_MAX

/* `lag` are all lags between two ops of the window, into each op in turn:
 * lag_begin[i] .. lag_begin[i + 1] those into member i. */
void regal_window_chains(regal_window *window, const regal_lag *lag,
                         const uint32_t *lag_begin);

/* The bounds of the window, after regal_window_chains: at least its chains.
 * Unless both may be above `known`, no more than these. */
regal_lag regal_window_bound(regal_window *window, int64_t known);

#endif
