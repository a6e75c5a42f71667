/* SPDX-License-Identifier: Apache-2.0 */
/* What a move touches: positions at which a simulation of the changed order may
 * do something else than before, given the same state. With blocking transfers
 * they are kept as separate stretches, between which a simulation can jump;
 * with links as one stretch, and the positions from which tails hold beside it.
 */
#include "anneal/order/order.h"
#include "base/compare.h"

static void touch(regal_order *order, uint32_t first, uint32_t last) {
  regal_order_stretch *touched = order->touched;
  if (!order->crowded && order->touched_count < REGAL_ORDER_POINTS) {
    touched[order->touched_count++] = (regal_order_stretch){first, last};
    return;
  }
  if (!order->crowded)
    for (uint32_t i = 1; i < order->touched_count; i++) {
      touched[0].first = regal_smaller32(touched[0].first, touched[i].first);
      touched[0].last = regal_larger32(touched[0].last, touched[i].last);
    }
  order->crowded = true;
  order->touched_count = 1;
  touched[0].first = regal_smaller32(touched[0].first, first);
  touched[0].last = regal_larger32(touched[0].last, last);
}

static void touch_op(regal_order *order, uint32_t op) {
  touch(order, order->position[op], order->position[op]);
}

void regal_order_touch_shift(regal_order *order) {
  uint32_t from = order->shifted_from, to = order->shifted_to;
  touch(order, regal_smaller32(from, to), regal_larger32(from, to));
  order->bounded = order->settled = from < to ? from : from + 1;
}

static void touch_readers(regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  for (REGAL_ORDER_USES(u, problem, op))
    touch_op(order, problem->consumer[u]);
}

/* -- Links ----------------------------------------------------------------- */

/* Its position, or NONE. */
static uint32_t first_reader(const regal_order *order, uint32_t tensor,
                             uint32_t device) {
  const regal_problem *problem = order->problem;
  uint32_t first = REGAL_NONE;
  for (REGAL_ROW(u, problem->use_begin, tensor))
    if (order->cells[problem->consumer[u]].device == device)
      first = regal_smaller32(first, order->position[problem->consumer[u]]);
  return first;
}

uint32_t regal_order_find_first(const regal_order *order, uint32_t tensor,
                                uint32_t device) {
  uint32_t at = first_reader(order, tensor, device);
  return at == REGAL_NONE ? REGAL_NONE : order->op_at[at];
}

/* What the op reads may be sent earlier to its new device, and later to
 * the one that it left. */
static void touch_sent_inputs(regal_order *order, uint32_t op, uint32_t from) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices, to = order->cells[op].device;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    const regal_order_sent *sent = order->sent + (size_t)t * d;
    if (sent[to].at != REGAL_NONE && sent[to].at > order->touched[0].first) {
      touch(order, sent[to].at, sent[to].at);
      order->settled = regal_larger32(order->settled, sent[to].at + 1);
    }
    if (sent[from].at != REGAL_NONE &&
        sent[from].at >= order->touched[0].first &&
        order->readers[(size_t)t * d + from]) {
      uint32_t next = first_reader(order, t, from);
      touch(order, next, next);
    }
  }
}

/* What it makes is sent elsewhere, from elsewhere. */
static void touch_sent_outputs(regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  for (REGAL_ORDER_SLOTS(slot, problem, op))
    if (order->sent[slot].at != REGAL_NONE)
      order->settled = regal_larger32(order->settled, order->sent[slot].at + 1);
  touch_readers(order, op);
}

/* A flipped op is on no path from an op behind it to the end: tails hold from
 * there on. Those that know of queues hold behind what is sent no longer, too.
 */
static void touch_links(regal_order *order, uint32_t op, uint32_t from) {
  uint32_t at = order->position[op];
  if (order->shifted_from == order->shifted_to || at != order->shifted_to)
    order->bounded = regal_larger32(order->bounded, at + 1);
  order->settled = regal_larger32(order->settled, order->bounded);
  touch_sent_inputs(order, op, from);
  touch_sent_outputs(order, op);
}

/* -- Blocking -------------------------------------------------------------- */

/* Whether an op waits for another depends on both devices. */
static void touch_waits(regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  const regal_graph *graph = problem->graph;
  for (REGAL_ROW(i, graph->control_in_begin, op))
    touch_op(order, graph->control_in[i]);
  for (REGAL_ROW(w, problem->wait_begin, op))
    touch_op(order, problem->waiter[w]);
}

/* What is pending changes where the inputs are made, unless transfers
 * are free. */
static void touch_producers(regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  if (!problem->free_transfers)
    for (REGAL_ROW(i, problem->input_begin, op))
      touch_op(order, problem->producer[problem->input[i]]);
  if (problem->has_waits && problem->devices == 2)
    touch_waits(order, op);
}

/* So many flipped ops have their readers looked for. */
#define SOUGHT_FLIPS 16

/* Exchanges change where outputs of flipped ops are read. */
static void find_readers(regal_order *order) {
  order->seeks_readers =
      order->shifted_from == order->shifted_to && order->flips <= SOUGHT_FLIPS;
  for (uint32_t k = 0; !order->seeks_readers && k < order->flips; k++)
    touch_readers(order, order->flipped[k]);
}

uint32_t regal_order_next_reader(const regal_order *order, uint32_t k,
                                 uint32_t position) {
  const regal_problem *problem = order->problem;
  uint32_t op = order->flipped[k], next = REGAL_NONE;
  for (REGAL_ORDER_USES(u, problem, op)) {
    uint32_t at = order->position[problem->consumer[u]];
    if (at >= position)
      next = regal_smaller32(next, at);
  }
  return next;
}

/* -- Blocking and late ----------------------------------------------------- */

/* The tensors that the op reads may have another first reader on the device. */
static void update_first(regal_order *order, uint32_t op, uint32_t device) {
  const regal_problem *problem = order->problem;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    size_t slot = (size_t)tensor * problem->devices + device;
    uint32_t *first = &order->first_reader[slot], old = *first;
    uint32_t now = regal_order_find_first(order, tensor, device);
    if (now == old)
      continue;
    order->old_first[order->old_firsts++] = (regal_order_first){slot, old};
    *first = now;
    if (old != REGAL_NONE)
      touch_op(order, old);
    if (now != REGAL_NONE)
      touch_op(order, now);
  }
}

/* Devices meet where an output of a flipped op is read first. */
static void touch_first_readers(regal_order *order, uint32_t op) {
  for (REGAL_ORDER_SLOTS(slot, order->problem, op))
    if (order->readers[slot])
      touch_op(order, order->first_reader[slot]);
}

static void update_first_readers(regal_order *order) {
  if (order->shifted_from != order->shifted_to) {
    uint32_t op = order->op_at[order->shifted_to];
    update_first(order, op, order->device_of[op]);
  }
  for (uint32_t k = 0; k < order->flips; k++) {
    update_first(order, order->flipped[k], order->flipped_from[k]);
    update_first(order, order->flipped[k], order->device_of[order->flipped[k]]);
  }
  for (uint32_t k = 0; k < order->flips; k++)
    touch_first_readers(order, order->flipped[k]);
}

/* -- Both ------------------------------------------------------------------ */

void regal_order_touch_flip(regal_order *order, uint32_t op, uint32_t from) {
  touch_op(order, op);
  if (order->problem->machine->overlapped)
    touch_links(order, op, from);
  else if (!order->late)
    touch_producers(order, op);
}

/* Sorts the touched stretches and joins those that share a block. */
static void join_stretches(regal_order *order) {
  regal_order_stretch *touched = order->touched;
  uint32_t count = order->touched_count, kept = 0;
  for (uint32_t i = 1; i < count; i++) {
    regal_order_stretch moved = touched[i];
    uint32_t k = i;
    for (; k > 0 && touched[k - 1].first > moved.first; k--)
      touched[k] = touched[k - 1];
    touched[k] = moved;
  }
  for (uint32_t i = 1; i < count; i++)
    if (touched[i].first >> order->block_bits <= touched[kept].last >>
        order->block_bits)
      touched[kept].last = regal_larger32(touched[kept].last, touched[i].last);
    else
      touched[++kept] = touched[i];
  order->touched_count = count ? kept + 1 : 0;
}

void regal_order_join_touched(regal_order *order) {
  if (order->problem->machine->overlapped)
    return;
  if (order->late)
    update_first_readers(order);
  else
    find_readers(order);
  join_stretches(order);
}
