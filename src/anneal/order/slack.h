/* SPDX-License-Identifier: Apache-2.0 */
/* How far an order is from its memory limits, at least: so that moves that
 * cannot come near a limit need no account of memory at all.
 *
 * Every tensor counts as long as any rule for transfers may hold it: at home
 * from its producer to its last reader there or the first one on any other
 * device, and elsewhere from its producer (overlapped, where transfers are
 * late: from its first reader) to its last reader. No output is written over an
 * input. What a device then has left while an op runs is the room at the op's
 * position. As long as all room is positive, no device can be beyond its limit.
 *
 * The room at all positions is found once, O(ops * devices + edges), and then
 * follows the moves that are kept. A move need not be followed exactly: the
 * room may only be understated.
 *
 * - A shift changes how long the op's own tensors are held, at the positions
 *   that it crosses. The room there moves along with the ops. While the shifted
 *   op itself runs, what other ops hold is held by its new neighbours, too.
 * - An op that changes its device takes from the new one what it reads, from
 *   the producer up to the op, and what it makes, up to the last reader. What
 *   it leaves is given back where that is known without looking at readers.
 * - Moves of many ops end it.
 *
 * Once there may be none left at some position, the room is found again. On
 * real graphs this lasts for hundreds of moves where one number for the whole
 * order lasted for ten: most moves are not where the memory peaks, and tensors
 * whose life gets longer and shorter in turn cost nothing.
 */
#ifndef REGAL_ANNEAL_ORDER_SLACK_H
#define REGAL_ANNEAL_ORDER_SLACK_H

#include "anneal/memory/residents.h"
#include "anneal/order/order.h"

typedef struct regal_order_slack {
  const regal_order *order;
  int64_t *row;      /* [devices * ops] room at each position, and `common` */
  int64_t *least;    /* [devices] no more than the least room */
  int64_t *common;   /* [devices] taken off at all positions */
  int64_t *resident; /* [devices] scratch: 0 */
  regal_residents residents;
  int64_t usual_change; /* what an op reads, makes and needs, on average */
} regal_order_slack;

void regal_order_slack_layout(regal_order_slack *slack, regal_carver *carver,
                              const regal_order *order);
/* What does not depend on the order; once after the layout. */
void regal_order_slack_create(regal_order_slack *slack);
/* Finds the room of the order at hand. The least of it; 0 or less: the order
 * may be beyond a limit. */
int64_t regal_order_slack_find(regal_order_slack *slack);
/* The move at hand is kept. False: there may be no room left, and it has to be
 * found again. */
bool regal_order_slack_follow(regal_order_slack *slack);

/* -- Between slack.c and slack_follow.c ------------------------------------ */

static inline int64_t *regal_order_slack_row(const regal_order_slack *slack,
                                             uint32_t device) {
  return slack->row + (size_t)device * slack->order->problem->ops;
}

static inline bool regal_order_slack_is_limited(const regal_order_slack *slack,
                                                uint32_t device) {
  return slack->order->problem->limit[device] != REGAL_UNLIMITED;
}

#endif
