/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of the order annealer: shifts, changes of device of single ops, of
 * connected clusters, and of runs of ops that are neighbours in the file or in
 * its fold; under a memory limit also moves that change what is held rather
 * than what is run. A move only changes the order (anneal/order/order.h); it is
 * costed and kept or taken back in anneal/order/annealer.c.
 */
#include "anneal/driver/draw.h"
#include "anneal/order/chain.h"

#define SMALL_CLUSTER 8
#define LARGE_CLUSTER 40
#define MEMORY_SHARE 0.3   /* of moves for memory, where it is counted */
#define CROWDED_SHARE 0.75 /* of moves where a limit is passed, if one is */
#define SWAP_REACH 32      /* positions */
#define LARGE_GROUP 8      /* ops */
#define GROUP_SHIFTS 85    /* of a hundred moves of an op of a large group */
#define PLAIN_PROGRESS 0.8 /* then ops of one device are shifted by any way */

static uint32_t draw(regal_order_chain *c, uint32_t below) {
  return (uint32_t)regal_random_below(&c->random, below);
}

/* By up to 2^k positions, k random; or, `far`, anywhere. */
static void shift(regal_order_chain *c, uint32_t op, bool far) {
  uint32_t first, last, at = c->order.position[op];
  regal_order_range(c->problem, c->order.position, op, &first, &last);
  if (!far) {
    uint32_t reach = 1u << draw(c, 7);
    first = at > first + reach ? at - reach : first;
    last = last > at + reach ? at + reach : last;
  }
  regal_order_shift(&c->order, op, first + draw(c, last - first + 1));
}

/* Past so many ops of its own device, sooner or later; if there are fewer, past
 * as many as there are. To pass ops of other devices alone changes next to
 * nothing. */
static void shift_past(regal_order_chain *c, uint32_t op, uint32_t count) {
  const regal_order *order = &c->order;
  uint32_t first, last, at = order->position[op], to = at;
  uint32_t device = order->device_of[op];
  bool later = draw(c, 2);
  regal_order_range(c->problem, order->position, op, &first, &last);
  for (uint32_t i = at; count > 0 && i != (later ? last : first);) {
    i = later ? i + 1 : i - 1;
    if (order->device_of[order->op_at[i]] != device)
      continue;
    to = i;
    count--;
  }
  regal_order_shift(&c->order, op, to);
}

static bool may_flip(const regal_order_chain *c, uint32_t op, uint32_t device) {
  return c->order.cells[op].device != device &&
         (c->problem->allowed[op] >> device & 1);
}

/* The op and its group, if it may and is not there already. */
static bool flip(regal_order_chain *c, uint32_t op, uint32_t device) {
  if (!may_flip(c, op, device))
    return false;
  regal_order_flip_group(&c->order, op, device);
  return true;
}

static uint32_t other_device(regal_order_chain *c, uint32_t op) {
  return regal_draw_device(&c->random, c->problem->devices,
                           c->order.cells[op].device);
}

/* A cluster of ops of one device, grown by random steps from the op. Groups
 * stay together: a change of device is one of the whole group. */
static void flip_cluster(regal_order_chain *c, uint32_t op, uint32_t device,
                         uint32_t size) {
  regal_order *order = &c->order;
  uint32_t from = order->cells[op].device;
  if (!flip(c, op, device))
    return;
  for (uint32_t tries = 0; tries < 2 * size && order->flips < size; tries++) {
    uint32_t next = regal_draw_neighbour(&c->random, c->problem,
                                         order->flipped[draw(c, order->flips)]);
    if (order->cells[next].device == from)
      flip(c, next, device);
  }
}

/* A run of neighbours in the file, or in its fold: those on the
 * op's device; one time in eight all of them. */
static void flip_run(regal_order_chain *c, uint32_t op, uint32_t device) {
  const regal_problem *problem = c->problem;
  bool fold = draw(c, 2), all = draw(c, 8) == 0;
  uint32_t most = 1, from = c->order.cells[op].device;
  while ((2u << most) < problem->ops)
    most++;
  uint32_t length = 2u << draw(c, most), at = fold ? c->fold_at[op] : op;
  for (uint32_t i = at; i < problem->ops && i - at < length; i++) {
    uint32_t next = fold ? c->by_fold[i] : i;
    if (all || c->order.cells[next].device == from)
      flip(c, next, device);
  }
}

static uint32_t cluster_size(regal_order_chain *c) {
  uint32_t kind = draw(c, 64);
  if (kind == 0)
    return c->problem->ops / 4 > 2 ? c->problem->ops / 4 : 2;
  return 2 + draw(c, kind < 26 ? LARGE_CLUSTER : SMALL_CLUSTER);
}

/* Two nearby ops of different devices change devices: what a device has to run
 * stays about the same, what it holds does not. */
static void swap_devices(regal_order_chain *c, uint32_t op) {
  uint32_t at = c->order.position[op], device = c->order.cells[op].device ^ 1u;
  uint32_t low = at > SWAP_REACH ? at - SWAP_REACH : 0;
  uint32_t high = at + SWAP_REACH;
  high = high < c->problem->ops ? high : c->problem->ops - 1;
  uint32_t other = c->order.op_at[low + draw(c, high - low + 1)];
  if (c->order.cells[other].device == device &&
      may_flip(c, other, device ^ 1u) && flip(c, op, device))
    flip(c, other, device ^ 1u); /* unless it went along */
}

/* The two devices change roles in the phase of the op, and maybe in some that
 * follow. Between equal devices this costs no time, since both meet at
 * exchanges, but it moves what they hold. */
static void swap_roles(regal_order_chain *c, uint32_t op) {
  uint32_t first, end, more = draw(c, 2) ? 0 : draw(c, 8);
  if (c->problem->leader)
    return; /* groups reach beyond phases */
  regal_order_memory_phase(&c->within.exchanges, c->order.position[op], &first,
                           &end);
  for (uint32_t begun; more > 0 && end < c->problem->ops; more--)
    regal_order_memory_phase(&c->within.exchanges, end, &begun, &end);
  for (uint32_t i = first; i < end; i++) {
    uint32_t moved = c->order.op_at[i];
    uint32_t device = c->order.cells[moved].device ^ 1u;
    if (may_flip(c, moved, device))
      regal_order_flip(&c->order, moved, device);
  }
}

/* A tensor that the op reads or makes, to leave its device early from now on,
 * or no longer; or REGAL_NONE. */
static uint32_t draw_toggled(regal_order_chain *c, uint32_t op) {
  const regal_problem *problem = c->problem;
  uint32_t ins = problem->input_begin[op + 1] - problem->input_begin[op];
  uint32_t outs = problem->output_begin[op + 1] - problem->output_begin[op];
  if (ins + outs == 0)
    return REGAL_NONE;
  uint32_t k = draw(c, ins + outs);
  uint32_t tensor = k < ins ? problem->input[problem->input_begin[op] + k]
                            : problem->output_begin[op] + k - ins;
  return regal_order_memory_may_toggle(&c->within.exchanges, tensor)
             ? tensor
             : REGAL_NONE;
}

/* Moves for what is held, not for what is run. Swaps of roles are rare: they
 * change many ops, and take as long as many other moves. */
static void move_memory(regal_order_chain *c, uint32_t op) {
  uint32_t kind = draw(c, 24);
  if (kind < 2)
    swap_roles(c, op);
  else if (kind < 13)
    swap_devices(c, op);
  else
    c->toggled = draw_toggled(c, op);
}

/* Any, or where memory is beyond its limit. */
static uint32_t draw_op(regal_order_chain *c) {
  if (c->violation > 0 && regal_random_unit(&c->random) < CROWDED_SHARE)
    return regal_order_within_draw(&c->within, &c->random);
  return draw(c, c->problem->ops);
}

/* Of sixteen: six shifts (one of them far), then shifts with a change of device
 * and single changes, the rest changes of clusters. With links clusters cost
 * more to try, since little of what they change is known before they end. */
static void move_few(regal_order_chain *c, uint32_t op, uint32_t device,
                     uint32_t kind) {
  bool links = c->problem->machine->overlapped;
  uint32_t shifts = 6, both = shifts + (links ? 4 : 2);
  uint32_t singles = both + (links ? 4 : 3);
  if (kind < both)
    shift(c, op, kind == 5);
  if (kind >= shifts && kind < singles)
    flip(c, op, device);
  if (kind >= singles)
    flip_cluster(c, op, device, cluster_size(c));
}

/* An op that has one device only, or is not to leave it now, can but be
 * shifted. Shifts past ops of other
 * devices cost nothing, so that all of them are accepted: they only disorder
 * what is good. But some ways lead through them, and at the end they do no
 * harm. */
static void move_pinned(regal_order_chain *c, uint32_t op, uint32_t kind) {
  if (kind == 0 && c->progress > PLAIN_PROGRESS)
    shift(c, op, false);
  else
    shift_past(c, op, 1u << draw(c, 4));
}

/* Whether its group has many ops. These are moved all at once, seldom with
 * success: between two such moves most ops may as well be pinned. */
static bool is_in_large_group(const regal_order *order, uint32_t op) {
  uint32_t size = 0;
  for (uint32_t k = regal_problem_leader(order->problem, op);
       order->problem->leader && k != REGAL_NONE && size < LARGE_GROUP;
       k = order->next_member[k])
    size++;
  return size == LARGE_GROUP;
}

static bool is_pinned(regal_order_chain *c, uint32_t op) {
  uint64_t allowed = c->problem->allowed[op];
  return (allowed & (allowed - 1)) == 0 ||
         (c->problem->leader && draw(c, 100) < GROUP_SHIFTS &&
          is_in_large_group(&c->order, op));
}

/* Runs, fewer of them as the search goes on, under a memory limit moves for
 * memory, and moves of a few ops. */
void regal_order_move(regal_order_chain *c, double run_share) {
  uint32_t op = draw_op(c);
  uint64_t dice = regal_random_next(&c->random);
  uint32_t device = other_device(c, op);
  double share = (double)(dice >> 11) * 0x1p-53;
  if (is_pinned(c, op)) {
    move_pinned(c, op, dice & 15);
    return;
  }
  if (share < run_share)
    flip_run(c, op, device);
  else if (regal_order_within_exchanges(&c->within) && share > 1 - MEMORY_SHARE)
    move_memory(c, op);
  else
    move_few(c, op, device, dice & 15);
}
