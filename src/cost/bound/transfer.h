/* SPDX-License-Identifier: Apache-2.0 */
/* Earliest starts and latest ends that count transfers. */
#ifndef REGAL_COST_BOUND_TRANSFER_H
#define REGAL_COST_BOUND_TRANSFER_H

#include "cost/model/problem.h"

/* Raises head[j] and tail[j], lower bounds on the time before and after each
 * op, to what holds when tensors take time to get to another device
 * (bound_window.h). shortest[j] is the least run time of op j. Takes about
 * `effort` small steps, and O(n + e) time and memory. */
regal_status regal_bound_transfer(regal_context *context,
                                  const regal_problem *problem,
                                  const int64_t *shortest, uint64_t effort,
                                  int64_t *head, int64_t *tail);

#endif
