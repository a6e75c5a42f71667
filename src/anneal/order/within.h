/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a move of the order annealer stays within the memory limits, by the
 * cheapest account that is exact:
 *
 * - the slack (anneal/order/slack.h): far from all limits nothing is counted;
 * - blocking transfers between two devices: anneal/order/memory.h;
 * - late transfers: anneal/memory/limits.h. These are overlapped ones; and
 *   blocking ones between several devices where an order is near its limits;
 * - else, where blocking transfers are batched between several devices: a walk
 *   over the whole order.
 *
 * Batched transfers bring and free tensors where devices meet, which follows
 * from the whole order; between several devices nothing less than a walk says
 * when. Late ones belong to their first reader. They make devices meet more
 * often, but moves are ten to twenty times as fast, and near a limit more of
 * them fit, because nothing arrives before it is needed. Far from all limits
 * the slack lasts, and batched transfers are as fast. So an annealing begins
 * with the one or the other, by the slack of its first order.
 *
 * While the slack lasts the second or third is not kept up to date; once it is
 * used up, it is built anew. The slack is looked at again after more and more
 * moves where it does not last.
 */
#ifndef REGAL_ANNEAL_ORDER_WITHIN_H
#define REGAL_ANNEAL_ORDER_WITHIN_H

#include "anneal/memory/limits.h"
#include "anneal/order/memory.h"
#include "anneal/order/slack.h"

typedef enum regal_order_counts {
  REGAL_ORDER_NO_LIMIT,
  REGAL_ORDER_EXCHANGES, /* anneal/order/memory.h */
  REGAL_ORDER_LATE,      /* anneal/memory/limits.h */
  REGAL_ORDER_WALKS
} regal_order_counts;

typedef struct regal_order_within {
  regal_order *order;
  regal_order_counts by;
  regal_order_memory exchanges;
  regal_limits limits;
  regal_walk walk;

  regal_order_slack room;
  bool has_slack;  /* else memory is counted */
  uint32_t lasted; /* moves since the slack was found */
  uint32_t wait;   /* moves to count before it is looked for again */
  uint32_t waited;
  bool can_count; /* late transfers by anneal/memory/limits.h */
  bool stale;     /* the account is not of what is kept */
  bool rebuilt;   /* the account was built anew for the move at hand */
} regal_order_within;

void regal_order_within_layout(regal_order_within *within, regal_carver *carver,
                               regal_order *order);
/* What does not depend on the order; once after the layout. */
void regal_order_within_create(regal_order_within *within);
/* Whether an annealing of the order at hand, whose transfers are batched,
 * should have late ones instead: the order is then to be set again. */
bool regal_order_within_wants_late(regal_order_within *within);
/* Takes over what the order has; `plan` is NULL or the plan it was read from.
 * Sets the excess, or where it walks the whole fitness. Returns the
 * violation. */
double regal_order_within_set(regal_order_within *within,
                              const regal_plan *plan, regal_fitness *fitness);
void regal_order_within_copy(regal_order_within *within,
                             const regal_order_within *from);

/* Under a limit: whether the move at hand, of the run time in `fitness` and
 * with `toggled` as regal_order_memory_try has it, costs at most `allowed` at
 * this price of a byte. If so, the excess and the violation are set; where it
 * walks the run time, too, for transfers may be late ones. The caller then
 * keeps the move, or takes it back, and says so. */
bool regal_order_within_try(regal_order_within *within, uint32_t toggled,
                            double allowed, double price,
                            regal_fitness *fitness, double *violation);
/* After that, when the order has kept the move or taken it back. */
void regal_order_within_done(regal_order_within *within);

/* Whether exchanges, and what travels with them, are known: far from a limit
 * they do not matter. */
static inline bool
regal_order_within_exchanges(const regal_order_within *within) {
  return within->by == REGAL_ORDER_EXCHANGES && !within->stale;
}

/* An op that has to do with what is beyond a limit, or any. */
uint32_t regal_order_within_draw(const regal_order_within *within,
                                 regal_random *random);

#endif
