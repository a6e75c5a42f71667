/* SPDX-License-Identifier: Apache-2.0 */
/* Moves on an order with overlapped transfers: their run time, incrementally.
 *
 * A tensor is sent to a device just before its first reader there, as soon as
 * its producer has ended and the link is free; links serve transfers in the
 * order of these readers. The state before a position is a clock for each
 * device, when each link is free, and the ends of ops. Arrivals need not be
 * remembered: the first reader waits for the tensor, and later ones run after
 * it. Nor need the ends of ops that are read on their own device only.
 *
 * A trial simulates the changed order from the mark before the first touched
 * position. It writes ends and sends over the kept ones and notes what was
 * there; a refused move is undone from these notes, an accepted one copies its
 * marks. Most trials end early, for one of three reasons:
 *
 * - Behind the last touched position clocks and links are those of a mark, and
 *   no end that changed is read later (`meets`): the run time is the kept one.
 *   Unlike with blocking transfers there is no constant delay, as links and
 *   clocks are rarely all delayed alike.
 * - An op starts so late that its tail, the longest path from its start to the
 * end of the plan, exceeds what is allowed (`run_each`).
 * - Clocks and links at a mark and their tails exceed it (`at_least`).
 *
 * Tails are longest paths in the graph whose edges are: the next op of the
 * device, the next transfer of the link, a send, an arrival, a wait. They are
 * found backwards, only as far as trials have asked for them, and hold until a
 * kept move changes something behind. For a trial they are lower bounds, which
 * hold where its graph contains the paths they count. From `bounded` on
 * (anneal/order/touch.c) it contains those that do not use queues at links;
 * from `settled` on all, for there no transfer has been taken out of a queue
 * any more. A lower bound may refuse a move, but is never the cost of an
 * accepted one: all accepted costs are exact.
 *
 * A trial costs O(ops from the first touched position to where it ends, and
 * their degree), and O(devices^2) for each block of positions; find_tails the
 * same backwards.
 */
#include <string.h>

#include "anneal/order/order.h"

static size_t slot_of(const regal_order *order, uint32_t tensor,
                      uint32_t device) {
  return (size_t)tensor * order->problem->devices + device;
}

/* -- Forward --------------------------------------------------------------- */

/* Sends what the op reads and nobody on its device has read before. Returns
 * when it can start. `first`: where the simulation began. */
REGAL_INLINE int64_t fetch(regal_order *order, uint32_t op, uint32_t position,
                           uint32_t first, int64_t start, uint32_t d) {
  const regal_problem *problem = order->problem;
  uint32_t device = order->device_of[op], trial = order->trial;
  uint32_t end = problem->input_begin[op + 1];
  for (uint32_t i = problem->input_begin[op]; i < end; i++) {
    uint32_t made_by = order->made_by[i], home = order->device_of[made_by];
    if (home == device)
      continue;
    uint32_t tensor = problem->input[i];
    size_t slot = (size_t)tensor * d + device;
    regal_order_sent *sent = &order->sent[slot];
    if (sent->at < first || sent->trial == trial)
      continue;
    int64_t *link = &order->link[home * d + device];
    *link = regal_later(*link, order->end_ns[made_by]) +
            regal_problem_transfer_ns(problem, tensor, home, device);
    start = regal_later(start, *link);
    order->undo[order->undo_count++] = (regal_order_undo){slot, *sent};
    *sent = (regal_order_sent){position, trial};
  }
  return start;
}

static int64_t wait_for(const regal_order *order, uint32_t op, int64_t start) {
  const regal_graph *graph = order->problem->graph;
  for (REGAL_ROW(i, graph->control_in_begin, op))
    start = regal_later(start, order->end_ns[graph->control_in[i]]);
  return start;
}

/* Runs positions up to `end`; or, once an op's tail (where there are any) shows
 * that the plan takes longer than `allowed`, returns how long at least. Else 0.
 */
REGAL_INLINE int64_t run_each(regal_order *order, uint32_t position,
                              uint32_t end, uint32_t first,
                              const int64_t *tails, int64_t allowed,
                              uint32_t d) {
  const uint32_t *op_at = order->op_at;
  const regal_order_cell *cells = order->cells;
  int64_t *clock = order->clock, *end_ns = order->end_ns;
  int64_t *undo = order->undo_end_ns;
  for (uint32_t i = position; i < end; i++) {
    uint32_t op = op_at[i];
    const regal_order_cell *cell = &cells[op];
    int64_t start = clock[cell->device];
    if (cell->remote)
      start = fetch(order, op, i, first, start, d);
    if (cell->waits)
      start = wait_for(order, op, start);
    undo[i] = end_ns[op];
    end_ns[op] = clock[cell->device] = start + cell->run_ns;
    if (tails && start + tails[op] > allowed) {
      order->changed_to = i + 1;
      return start + tails[op];
    }
  }
  order->changed_to = end;
  return 0;
}

static int64_t run_ops(regal_order *order, uint32_t position, uint32_t end,
                       uint32_t first, const int64_t *tails, int64_t allowed) {
  uint32_t d = order->problem->devices;
  if (d != 2)
    return run_each(order, position, end, first, tails, allowed, d);
  return tails ? run_each(order, position, end, first, tails, allowed, 2)
               : run_each(order, position, end, first, NULL, 0, 2);
}

static int64_t latest(const regal_order *order) {
  int64_t runtime = 0;
  for (uint32_t a = 0; a < order->problem->devices; a++)
    runtime = regal_later(runtime, order->clock[a]);
  return runtime;
}

/* Begins a trial: what earlier ones sent is not of this one. */
static void begin_trial(regal_order *order, uint32_t first) {
  size_t slots = (size_t)order->problem->tensors * order->problem->devices;
  order->undo_count = 0;
  order->changed_from = order->changed_to = first;
  if (++order->trial != 0)
    return;
  for (size_t slot = 0; slot < slots; slot++)
    order->sent[slot].trial = 0;
  order->trial = 1;
}

/* -- Costs ----------------------------------------------------------------- */

/* Whether an op that waits for another starts as it did: it has not waited for
 * this one, and need not now. */
static bool waits_no_longer(const regal_order *order, uint32_t waiter,
                            int64_t old_end, int64_t end) {
  int64_t start = order->end_ns[waiter] - order->cells[waiter].run_ns;
  return old_end < start && end <= start;
}

/* The last position at which the changed end of an op is read: where what it
 * makes is sent, or where an op waits for it. */
static uint32_t last_read(const regal_order *order, uint32_t op,
                          int64_t old_end) {
  const regal_problem *problem = order->problem;
  uint32_t last = 0;
  if (order->cells[op].leaves)
    for (REGAL_ORDER_SLOTS(slot, problem, op)) {
      uint32_t at = order->sent[slot].at;
      if (order->readers[slot] && at != REGAL_NONE && at > last)
        last = at;
    }
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    uint32_t waiter = problem->waiter[w], at = order->position[waiter];
    if (at > last &&
        !waits_no_longer(order, waiter, old_end, order->end_ns[op]))
      last = at;
  }
  return last;
}

typedef struct trial {
  int64_t allowed;
  uint32_t first;            /* position at which it began */
  uint32_t bounded, settled; /* as in the order, where there are tails */
  uint32_t moved;            /* position of the op that was shifted, or NONE */
  uint32_t scanned; /* up to here it is known which ends have changed */
  uint32_t reach;   /* they are not read after this position */
} trial;

/* From this mark on everything is as it was. */
static bool meets(const regal_order *order, trial *trial, uint32_t k) {
  uint32_t position = k << order->block_bits;
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  if (trial->reach >= position ||
      memcmp(mark, order->clock, order->mark_size * sizeof *mark) != 0)
    return false;
  for (; trial->scanned < position; trial->scanned++) {
    uint32_t op = order->op_at[trial->scanned];
    int64_t old_end = order->undo_end_ns[trial->scanned];
    if (order->end_ns[op] == old_end)
      continue;
    uint32_t last = last_read(order, op, old_end);
    trial->reach = last > trial->reach ? last : trial->reach;
  }
  return trial->reach < position;
}

/* At a mark: of clocks and links, as there, and of clocks without queues. */
static size_t tails_size(const regal_order *order) {
  return (size_t)order->mark_size + order->problem->devices;
}

/* No plan that goes on from mark `k` as the kept one does ends before this. */
static int64_t at_least(const regal_order *order, uint32_t k) {
  const int64_t *tail = order->tails + k * tails_size(order);
  int64_t runtime = 0;
  for (uint32_t i = 0; i < order->mark_size; i++)
    runtime = regal_later(runtime, order->clock[i] + tail[i]);
  return runtime;
}

/* Runs positions `i` to `end`, with the tails that hold there. The op that was
 * shifted has none that does. */
static int64_t run_block(regal_order *order, const trial *trial, uint32_t i,
                         uint32_t end) {
  while (i < end) {
    const int64_t *tails = NULL;
    uint32_t stop = trial->bounded;
    if (i >= trial->settled) {
      tails = order->tail_end;
      stop = end;
    } else if (i >= trial->bounded) {
      tails = order->tail_free;
      stop = trial->settled;
    }
    if (i == trial->moved) {
      tails = NULL;
      stop = i + 1;
    } else if (i < trial->moved && stop > trial->moved) {
      stop = trial->moved;
    }
    stop = stop < end ? stop : end;
    int64_t bound =
        run_ops(order, i, stop, trial->first, tails, trial->allowed);
    if (bound)
      return bound;
    i = stop;
  }
  return 0;
}

static trial begin(regal_order *order, int64_t allowed) {
  uint32_t bits = order->block_bits, from = order->tails_from;
  uint32_t first = order->touched[0].first >> bits << bits;
  bool shifted = order->shifted_from != order->shifted_to;
  begin_trial(order, first);
  memcpy(order->clock,
         order->mark_ns + (size_t)(first >> bits) * order->mark_size,
         order->mark_size * 8);
  return (trial){
      .allowed = allowed,
      .first = first,
      .scanned = first,
      .bounded = order->bounded > from ? order->bounded : from,
      .settled = order->settled > from ? order->settled : from,
      .moved = shifted ? order->shifted_to : REGAL_NONE,
  };
}

/* Tails were missing at this position. */
static void want_tails(regal_order *order, uint32_t position) {
  if (position >= order->tails_from || position >= order->tails_wanted)
    return;
  order->tails_wanted = position;
  order->has_tails = false;
}

static int64_t cost(regal_order *order, int64_t allowed) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  uint32_t last = order->touched[0].last, settled = order->settled;
  size_t size = order->mark_size;
  trial trial = begin(order, allowed);
  uint32_t k = trial.first >> bits;
  if (settled <= trial.moved && trial.moved != REGAL_NONE)
    settled = trial.moved + 1;
  for (uint32_t end; (end = (k + 1) << bits) <= ops;) {
    int64_t bound = run_block(order, &trial, k << bits, end);
    k++;
    if (bound)
      return bound;
    memcpy(order->trial_mark_ns + k * size, order->clock, size * 8);
    if (last < end && meets(order, &trial, k))
      return order->runtime_ns;
    if (order->bounded < end)
      want_tails(order, end);
    if (settled > end || end < order->tails_from)
      continue;
    bound = at_least(order, k);
    if (bound > allowed)
      return bound;
  }
  int64_t bound = run_block(order, &trial, k << bits, ops);
  return bound ? bound : latest(order);
}

static void undo(regal_order *order) {
  while (order->undo_count > 0) {
    const regal_order_undo *undo = &order->undo[--order->undo_count];
    order->sent[undo->slot] = undo->sent;
  }
  for (uint32_t i = order->changed_from; i < order->changed_to; i++)
    order->end_ns[order->op_at[i]] = order->undo_end_ns[i];
}

/* -- What is kept ---------------------------------------------------------- */

static void forget(regal_order *order, size_t slot) {
  if (order->sent[slot].trial != order->trial)
    order->sent[slot].at = REGAL_NONE;
}

/* What was sent of the flipped ops' inputs and outputs holds no longer, unless
 * the trial has sent it anew. */
static void forget_sends(regal_order *order) {
  const regal_problem *problem = order->problem;
  for (uint32_t k = 0; k < order->flips; k++) {
    uint32_t op = order->flipped[k];
    for (REGAL_ROW(i, problem->input_begin, op)) {
      size_t slot = slot_of(order, problem->input[i], order->flipped_from[k]);
      if (order->readers[slot] == 0)
        forget(order, slot);
    }
    for (REGAL_ORDER_SLOTS(slot, problem, op))
      forget(order, slot);
  }
}

static void keep(regal_order *order) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  size_t from = (order->changed_from >> bits) + 1;
  size_t end = (order->changed_to >> bits) + 1, size = order->mark_size;
  if (end > from)
    memcpy(order->mark_ns + from * size, order->trial_mark_ns + from * size,
           (end - from) * size * 8);
  forget_sends(order);
  uint32_t after = ((order->touched[0].last >> bits) + 1) << bits;
  after = after < ops ? after : ops;
  order->tails_from = after > order->tails_from ? after : order->tails_from;
  order->tails_wanted = ops;
}

static void reset(regal_order *order) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  size_t slots = (size_t)order->problem->tensors * order->problem->devices;
  size_t size = order->mark_size;
  for (size_t slot = 0; slot < slots; slot++)
    order->sent[slot] = (regal_order_sent){REGAL_NONE, 0};
  memset(order->end_ns, 0, ops * sizeof *order->end_ns);
  memset(order->clock, 0, size * 8);
  begin_trial(order, 0);
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    memcpy(order->mark_ns + k * size, order->clock, size * 8);
    run_ops(order, k << bits, end < ops ? end : ops, 0, NULL, 0);
  }
  order->runtime_ns = latest(order);
  order->undo_count = order->changed_from = order->changed_to = 0;
  order->tails_from = order->tails_wanted = ops;
}

/* -- Backward -------------------------------------------------------------- */

/* The longest path from an op: with and without queues at links. */
typedef struct paths {
  int64_t queued, free;
} paths;

static paths longer(paths a, paths b) {
  return (paths){regal_later(a.queued, b.queued), regal_later(a.free, b.free)};
}

/* From the op's end, off its device. */
static paths tail_elsewhere(const regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  paths tail = {0, 0};
  if (order->cells[op].leaves)
    for (REGAL_ORDER_SLOTS(slot, problem, op))
      if (order->sent[slot].at != REGAL_NONE)
        tail = longer(
            tail, (paths){order->tail_sent[slot], order->tail_free_sent[slot]});
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    uint32_t waiter = problem->waiter[w];
    tail = longer(tail,
                  (paths){order->tail_end[waiter], order->tail_free[waiter]});
  }
  return tail;
}

static void find_op_tail(regal_order *order, uint32_t position,
                         int64_t *tails) {
  const regal_problem *problem = order->problem;
  uint32_t op = order->op_at[position], d = problem->devices;
  const regal_order_cell *cell = &order->cells[op];
  uint32_t device = cell->device;
  int64_t *free = tails + order->mark_size;
  paths tail =
      longer(tail_elsewhere(order, op), (paths){tails[device], free[device]});
  order->tail_end[op] = tails[device] = tail.queued + cell->run_ns;
  order->tail_free[op] = free[device] = tail.free + cell->run_ns;
  if (!cell->remote)
    return;
  for (uint32_t i = problem->input_begin[op + 1];
       i-- > problem->input_begin[op];) {
    uint32_t tensor = problem->input[i];
    uint32_t home = order->cells[problem->producer[tensor]].device;
    size_t slot = slot_of(order, tensor, device);
    if (home == device || order->sent[slot].at != position)
      continue;
    int64_t *link = &tails[d + home * d + device];
    int64_t sent_ns = regal_problem_transfer_ns(problem, tensor, home, device);
    *link = regal_later(*link, tails[device]) + sent_ns;
    order->tail_sent[slot] = *link;
    order->tail_free_sent[slot] = free[device] + sent_ns;
  }
}

/* From where tails are known back to where they are wanted. */
static void find_tails(regal_order *order) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  uint32_t i = order->tails_from, to = order->tails_wanted;
  size_t size = tails_size(order);
  int64_t *tails = order->clock; /* scratch */
  if (i == ops)
    memset(tails, 0, size * 8);
  else
    memcpy(tails, order->tails + (i >> bits) * size, size * 8);
  while (true) {
    if ((i & (order->block - 1)) == 0)
      memcpy(order->tails + (i >> bits) * size, tails, size * 8);
    if (i <= to)
      break;
    find_op_tail(order, --i, tails);
  }
  order->tails_from = i;
}

const regal_order_kind regal_order_links = {cost,       keep, reset,
                                            find_tails, undo, 1};
