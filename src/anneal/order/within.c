/* SPDX-License-Identifier: Apache-2.0 */
/* Moves within memory limits: see anneal/order/within.h. */
#include "anneal/order/within.h"

/* To find the room of an order, and then to build an account anew, takes as
 * long as so many moves with an account, about: a slack that lasts for fewer is
 * not worth it. Every walk takes no less. */
#define WORTH_MOVES 24
#define WORTH_WALKS 2
/* As many usual changes as a slack must cover for batched transfers. */
#define WORTH_BATCHES 24
#define FIRST_WAIT 16
#define LONGEST_WAIT 65536

/* What the order at hand is counted by. */
static regal_order_counts counts_of(const regal_order_within *within) {
  const regal_problem *problem = within->order->problem;
  if (!problem->limited)
    return REGAL_ORDER_NO_LIMIT;
  if (regal_order_memory_suits(problem))
    return REGAL_ORDER_EXCHANGES;
  bool late = problem->machine->overlapped || within->order->late;
  return late && within->can_count ? REGAL_ORDER_LATE : REGAL_ORDER_WALKS;
}

void regal_order_within_layout(regal_order_within *within, regal_carver *carver,
                               regal_order *order) {
  const regal_problem *problem = order->problem;
  bool may_be_late =
      problem->machine->overlapped || regal_order_may_be_late(problem);
  within->order = order;
  within->can_count =
      problem->limited && may_be_late && regal_limits_suit(problem);
  within->by = counts_of(within);
  if (within->by == REGAL_ORDER_EXCHANGES)
    regal_order_memory_layout(&within->exchanges, carver, order);
  if (within->can_count)
    regal_limits_layout(&within->limits, carver, problem, order->op_at,
                        order->position);
  if (problem->limited)
    regal_order_slack_layout(&within->room, carver, order);
  regal_walk_layout(&within->walk, carver, problem);
}

void regal_order_within_create(regal_order_within *within) {
  if (within->by == REGAL_ORDER_EXCHANGES)
    regal_order_memory_create(&within->exchanges);
  if (within->can_count)
    regal_limits_create(&within->limits);
  if (within->by != REGAL_ORDER_NO_LIMIT)
    regal_order_slack_create(&within->room);
}

/* -- The account ----------------------------------------------------------- */

static double convert(const regal_limits *limits, regal_limits_over over,
                      regal_fitness *fitness) {
  fitness->excess = (int64_t)over.bytes;
  return regal_limits_violation(limits, over);
}

/* The account of the order at hand, from nothing. */
static double rebuild(regal_order_within *within, regal_fitness *fitness) {
  const regal_order *order = within->order;
  regal_order_excess excess;
  within->stale = false;
  switch (within->by) {
  case REGAL_ORDER_EXCHANGES:
    regal_order_memory_set(&within->exchanges);
    excess = regal_order_memory_excess(&within->exchanges);
    fitness->excess = excess.bytes;
    return excess.violation;
  case REGAL_ORDER_LATE:
    regal_limits_set(&within->limits, order->device_of);
    return convert(&within->limits, regal_limits_excess(&within->limits),
                   fitness);
  case REGAL_ORDER_WALKS:
    *fitness = regal_order_walk(order->problem, &within->walk, order->op_at,
                                order->device_of, NULL);
    return (double)fitness->excess;
  default:
    return 0;
  }
}

/* By what the move at hand changed. */
static double count(regal_order_within *within, uint32_t toggled, double most,
                    regal_fitness *fitness) {
  const regal_order *order = within->order;
  regal_limits *limits = &within->limits;
  regal_limits_over over;
  if (within->by == REGAL_ORDER_EXCHANGES) {
    regal_order_excess excess =
        regal_order_memory_try(&within->exchanges, toggled, most);
    fitness->excess = excess.bytes;
    return excess.violation;
  }
  regal_limits_begin(limits);
  if (order->shifted_from != order->shifted_to)
    regal_limits_shift(limits, order->shifted_from, order->shifted_to);
  for (uint32_t i = 0; i < order->flips; i++)
    regal_limits_flip(limits, order->flipped[i],
                      order->device_of[order->flipped[i]]);
  if (regal_limits_try(limits, most, &over))
    return convert(limits, over, fitness);
  within->rebuilt = true;
  return rebuild(within, fitness);
}

static void finish(regal_order_within *within, bool keeps) {
  if (within->by == REGAL_ORDER_EXCHANGES)
    (keeps ? regal_order_memory_keep
           : regal_order_memory_take_back)(&within->exchanges);
  else
    (keeps ? regal_limits_keep : regal_limits_take_back)(&within->limits);
}

/* -- The slack ------------------------------------------------------------- */

/* Without a walk or late transfers there must be much of it: else an order soon
 * comes near its limits. */
bool regal_order_within_wants_late(regal_order_within *within) {
  const regal_problem *problem = within->order->problem;
  within->by = counts_of(within);
  return within->can_count && regal_order_may_be_late(problem) &&
         regal_order_slack_find(&within->room) / WORTH_BATCHES <=
             within->room.usual_change;
}

/* Of the order at hand. */
static void find_slack(regal_order_within *within) {
  within->has_slack = regal_order_slack_find(&within->room) > 0;
  within->lasted = 0;
}

/* Where the slack has lasted for few moves, it is longer until it is looked for
 * again. */
static void end_slack(regal_order_within *within) {
  uint32_t wait = within->wait ? 2 * within->wait : FIRST_WAIT;
  within->wait = wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
  within->waited = 0;
  within->has_slack = false;
}

/* It is used up: there may be more of it, but only where it lasted. */
static void renew_slack(regal_order_within *within) {
  uint32_t worth = within->by == REGAL_ORDER_WALKS ? WORTH_WALKS : WORTH_MOVES;
  if (within->lasted >= worth) {
    within->wait = 0;
    find_slack(within);
  } else {
    within->has_slack = false;
  }
  if (!within->has_slack)
    end_slack(within);
}

static void toggle(regal_order_within *within, uint32_t toggled) {
  if (toggled != REGAL_NONE)
    within->exchanges.early[toggled] ^= 1;
}

/* Whether the move at hand is covered by the slack. */
static bool use_slack(regal_order_within *within, uint32_t toggled) {
  if (!within->has_slack)
    return false;
  within->lasted++;
  if (!regal_order_slack_follow(&within->room))
    renew_slack(within);
  if (!within->has_slack)
    return false;
  within->stale = true;
  toggle(within, toggled);
  return true;
}

/* -- One move -------------------------------------------------------------- */

double regal_order_within_set(regal_order_within *within,
                              const regal_plan *plan, regal_fitness *fitness) {
  within->by = counts_of(within);
  if (within->by == REGAL_ORDER_NO_LIMIT)
    return 0;
  if (plan && within->by == REGAL_ORDER_EXCHANGES)
    regal_order_memory_read(&within->exchanges, plan);
  double violation = rebuild(within, fitness);
  within->wait = 0;
  within->rebuilt = false;
  find_slack(within);
  if (!within->has_slack)
    end_slack(within);
  return violation;
}

void regal_order_within_copy(regal_order_within *within,
                             const regal_order_within *from) {
  regal_fitness fitness;
  if (within->by == REGAL_ORDER_EXCHANGES)
    memcpy(within->exchanges.early, from->exchanges.early,
           within->order->problem->tensors);
  regal_order_within_set(within, NULL, &fitness);
}

/* From nothing, because the account is not up to date. */
static double count_anew(regal_order_within *within, uint32_t toggled,
                         regal_fitness *fitness) {
  toggle(within, toggled);
  within->rebuilt = true;
  return rebuild(within, fitness);
}

bool regal_order_within_try(regal_order_within *within, uint32_t toggled,
                            double allowed, double price,
                            regal_fitness *fitness, double *violation) {
  *violation = 0;
  if (use_slack(within, toggled))
    return true;
  if (within->by == REGAL_ORDER_WALKS || within->stale) {
    *violation = count_anew(within, toggled, fitness);
    bool passes = (double)fitness->value + price * *violation <= allowed;
    if (!passes)
      toggle(within, toggled);
    within->stale = !passes && within->by != REGAL_ORDER_WALKS;
    return passes;
  }
  double most = (allowed - (double)fitness->value) / price;
  *violation = count(within, toggled, most, fitness);
  bool passes = *violation <= most;
  if (!within->rebuilt)
    finish(within, passes);
  else
    within->stale = !passes;
  return passes;
}

void regal_order_within_done(regal_order_within *within) {
  regal_fitness fitness;
  if (within->has_slack)
    return;
  if (within->rebuilt && within->stale)
    rebuild(within, &fitness);
  within->rebuilt = false;
  if (within->waited++ < within->wait)
    return;
  find_slack(within);
  if (!within->has_slack)
    end_slack(within);
}

uint32_t regal_order_within_draw(const regal_order_within *within,
                                 regal_random *random) {
  if (!within->stale && within->by == REGAL_ORDER_EXCHANGES)
    return regal_order_memory_draw(&within->exchanges, random);
  if (!within->stale && within->by == REGAL_ORDER_LATE)
    return regal_limits_draw(&within->limits, random);
  return (uint32_t)regal_random_below(random, within->order->problem->ops);
}
