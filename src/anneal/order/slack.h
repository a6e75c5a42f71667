/* SPDX-License-Identifier: Apache-2.0 */
/* How far an order is from its memory limits, at least: so that moves far from
 * a limit need no account of memory at all.
 *
 * The slack is the least room that any device has left, if every tensor is held
 * as long as any rule for transfers may hold it: at home from its producer to
 * its last reader there or the first one on any other device, and elsewhere
 * from its producer (overlapped, where transfers are late: from its first
 * reader) to its last reader, and if no output is written over an input. What a
 * move of an op changes of this is at most what the op reads, makes and needs,
 * and its parameters. So each move that is kept takes this off the slack, and
 * as long as some is left no device can be beyond its limit.
 */
#ifndef REGAL_ANNEAL_ORDER_SLACK_H
#define REGAL_ANNEAL_ORDER_SLACK_H

#include "anneal/order/order.h"

typedef struct regal_order_slack {
  int64_t *change; /* [ops] most that a move of the op adds to any device */
  int64_t usual_change; /* of a random op */
  int64_t *bytes; /* [devices * ops] scratch: differences along the order */
} regal_order_slack;

void regal_order_slack_layout(regal_order_slack *slack, regal_carver *carver,
                              const regal_problem *problem);
/* What does not depend on the order; once after the layout. */
void regal_order_slack_create(regal_order_slack *slack,
                              const regal_problem *problem);
/* The slack of the order at hand; 0 or less: it may be beyond a limit.
 * O(ops * devices + edges). */
int64_t regal_order_slack_find(const regal_order_slack *slack,
                               const regal_order *order);
/* The most that the move at hand takes off it. */
int64_t regal_order_slack_used(const regal_order_slack *slack,
                               const regal_order *order);

#endif
