/* SPDX-License-Identifier: Apache-2.0 */
/* Moves on an order with blocking transfers: their run time, incrementally.
 *
 * The state of the simulation before a position is small. For each device a
 * clock; for each pair of devices what is pending between them, and at which
 * position they exchanged last. An op that reads something made on another
 * device since then forces an exchange: both clocks become the later of the two
 * plus all that is pending. The state before every block of positions is kept
 * (a mark).
 *
 * A changed order is simulated from the mark before the first touched position.
 * At each later mark three questions decide how to go on, once nothing touched
 * lies in the blocks since then (`simulate`):
 *
 * - Do the exchanges ahead stay as they are? They do if pending costs agree
 * with the mark and every last exchange separates the same ops (`meets`), and
 * no op ahead reads what a flipped op made since its last exchange
 *   (`next_reader`).
 * - If so, are all clocks later than in the mark by the same amount? Then all
 * of the rest is, up to the next touched position: the simulation jumps there.
 *   If there is none, the run time is the kept one plus the delay.
 * - If clocks differ, the tails give the answer: the tail of a device says how
 *   long the rest takes from its clock. The run time is the maximum of clock
 *   plus tail, because each step is a maximum or an addition of constants
 *   (max-plus linear). Tails are found backwards, O(ops), once some moves in a
 *   row have been refused; a move that is kept makes them stale.
 *
 * Control edges between devices add waits for the end of an op. The ends of
 * awaited ops are kept, too. With waits, a jump also needs all ends that an op
 * ahead may wait for to be delayed alike: `least` and `most` bound their
 * delays. Between two devices an exchange is a barrier, so that only ops since
 * the last one count; between more devices all count, on any device.
 *
 * All results are exact; only when the run time exceeds what is allowed any
 * larger number may be returned. A move costs O(blocks between its first
 * touched position and the mark where it meets the kept state); typically a few
 * blocks of 8 positions.
 *
 * Where transfers are late, each is an exchange of its own before the first
 * reader of its tensor, and the state is the clocks alone: exchanges ahead stay
 * as they are behind the last touched position.
 *
 * Two devices are so frequent that their state is kept in registers (`moment`).
 * `mode.two` is a constant wherever a function is inlined; with more devices
 * the same fields live in the arrays of the order.
 */
#include "anneal/order/moment.h"

/* -- Forward --------------------------------------------------------------- */

static void log_exchange(regal_order *order, int64_t cost_ns, uint32_t position,
                         uint32_t a, uint32_t b) {
  order->log[order->log_count++] =
      (regal_order_exchange){cost_ns, position, (uint16_t)a, (uint16_t)b};
}

/* Exchanges with all devices that have made an input of the op since. */
REGAL_INLINE void fetch_of_many(regal_order *order, uint32_t op,
                                uint32_t position, bool log) {
  const regal_problem *problem = order->problem;
  const uint32_t *position_of = order->position, *made_by = order->made_by;
  const uint8_t *device_of = order->device_of;
  uint32_t d = problem->devices, end = problem->input_begin[op + 1];
  uint32_t device = device_of[op];
  for (uint32_t i = problem->input_begin[op]; i < end; i++) {
    uint32_t home = device_of[made_by[i]], pair = moment_pair(home, device, d);
    if (home == device || position_of[made_by[i]] < order->exchanged[pair])
      continue;
    int64_t cost = order->pending[pair];
    order->clock[home] = order->clock[device] =
        regal_later(order->clock[home], order->clock[device]) + cost;
    order->pending[pair] = 0;
    order->exchanged[pair] = position;
    if (log)
      log_exchange(order, cost, position, home, device);
  }
}

/* Late: what the op is the first to read on its device. */
REGAL_INLINE void fetch_late(regal_order *order, uint32_t op, uint32_t position,
                             bool log) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices, device = order->device_of[op];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    uint32_t home = order->device_of[order->made_by[i]];
    if (home == device ||
        order->first_reader[(size_t)tensor * d + device] != op)
      continue;
    int64_t cost = regal_problem_transfer_ns(problem, tensor, home, device);
    order->clock[home] = order->clock[device] =
        regal_later(order->clock[home], order->clock[device]) + cost;
    if (log)
      log_exchange(order, cost, position, home, device);
  }
}

REGAL_INLINE moment fetch(regal_order *order, uint32_t op, uint32_t position,
                          moment now, moment_mode mode) {
  if (mode.late)
    fetch_late(order, op, position, mode.log);
  else if (!mode.two)
    fetch_of_many(order, op, position, mode.log);
  if (!mode.two)
    return now;
  if (!regal_order_needs_exchange(order, op, order->cells[op].device,
                                  now.exchanged))
    return now;
  if (mode.log)
    log_exchange(order, now.pending_ns, position, 0, 1);
  now.clock0 = now.clock1 =
      regal_later(now.clock0, now.clock1) + now.pending_ns;
  now.pending_ns = 0;
  now.exchanged = position;
  now.awaited = 0;
  now.least = INT64_MAX;
  now.most = INT64_MIN;
  return now;
}

static void add_pending(regal_order *order, uint32_t op, uint32_t device) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  for (REGAL_ROW(t, problem->output_begin, op)) {
    const uint32_t *readers = order->readers + (size_t)t * d;
    for (uint32_t a = 0; a < d; a++)
      if (a != device && readers[a])
        order->pending[moment_pair(a, device, d)] +=
            regal_problem_transfer_ns(problem, t, device, a);
  }
}

/* When the ends that the op needs are there. `exchanged`: up to there they are.
 * Moments stay in registers: only what matters is handed over. */
static int64_t wait_for(const regal_order *order, uint32_t op, int64_t start,
                        uint32_t exchanged, uint32_t first, int64_t delay) {
  const regal_graph *graph = order->problem->graph;
  uint32_t device = order->device_of[op];
  for (REGAL_ROW(i, graph->control_in_begin, op)) {
    uint32_t before = graph->control_in[i];
    uint32_t at = order->position[before];
    if (order->device_of[before] != device && at >= exchanged)
      start = regal_later(start, at >= first ? order->new_end_ns[before]
                                             : order->end_ns[before] + delay);
  }
  return start;
}

/* The last position at which an op waits for this one, or 0. Two devices: only
 * ops of the other one. With more, which devices they are on does not matter,
 * so that flips change nothing about who waits. */
REGAL_INLINE uint32_t last_waiter(const regal_order *order, uint32_t op,
                                  moment_mode mode) {
  const regal_problem *problem = order->problem;
  uint32_t last = 0;
  for (REGAL_ROW(w, problem->wait_begin, op)) {
    uint32_t waiter = problem->waiter[w], at = order->position[waiter];
    if (mode.two && order->device_of[waiter] == order->device_of[op])
      continue;
    last = at > last ? at : last;
  }
  return last;
}

REGAL_INLINE moment note_end(regal_order *order, uint32_t op, int64_t end,
                             moment now, moment_mode mode) {
  uint32_t last = last_waiter(order, op, mode);
  int64_t delay = end - order->end_ns[op];
  order->new_end_ns[op] = end;
  if (mode.keep)
    order->end_ns[op] = end;
  if (last == 0)
    return now;
  now.awaited = last > now.awaited ? last : now.awaited;
  now.least = delay < now.least ? delay : now.least;
  now.most = regal_later(delay, now.most);
  return now;
}

REGAL_INLINE moment run_block(regal_order *order, moment now, uint32_t first,
                              uint32_t end, moment_mode mode) {
  bool costs = !order->problem->free_transfers;
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    uint32_t device = cell->device;
    if (cell->remote)
      now = fetch(order, op, i, now, mode);
    if (cell->waits && !mode.log) {
      int64_t clock = moment_clock(order, now, device, mode);
      int64_t start = wait_for(order, op, clock, mode.two ? now.exchanged : 0,
                               now.first, now.delay_ns);
      now = moment_advance(order, now, device, start - clock, mode);
    }
    now = moment_advance(order, now, device, cell->run_ns, mode);
    now.pending_ns += mode.two ? cell->cross_ns : 0;
    if (cell->awaited && !mode.log)
      now = note_end(order, op, moment_clock(order, now, device, mode), now,
                     mode);
    if (!mode.two && !mode.late && costs && cell->leaves)
      add_pending(order, op, device);
  }
  return now;
}

/* -- Whether what is ahead is as it was ------------------------------------ */

/* From here on the exchanges are those of the kept order. `strictly`: they were
 * at the same positions, too. */
REGAL_INLINE bool meets(const regal_order *order, uint32_t k, moment now,
                        bool strictly, moment_mode mode) {
  const regal_order_mark *mark = &order->marks[k];
  if (mode.late)
    return true;
  if (!mode.two)
    return moment_meets_many(order, k, strictly);
  return mark->exchanged == now.exchanged &&
         mark->pending_ns == now.pending_ns &&
         !regal_order_is_crossed(order, now.exchanged);
}

/* The first position from mark `k` on where an op reads what a flipped one has
 * made and its device has not got yet, or would not have got. */
REGAL_INLINE uint32_t next_reader(const regal_order *order, uint32_t k,
                                  moment now, moment_mode mode) {
  uint32_t next = REGAL_NONE;
  for (uint32_t i = 0; order->seeks_readers && i < order->flips; i++) {
    bool exchanged = mode.two
                         ? order->position[order->flipped[i]] < now.exchanged
                         : moment_is_exchanged(order, i);
    if (exchanged)
      continue;
    uint32_t at = regal_order_next_reader(order, i, k << order->block_bits);
    next = at < next ? at : next;
  }
  return next;
}

/* -- The whole order ------------------------------------------------------- */

/* The run time if the rest takes as long from each clock as tails say. */
REGAL_INLINE int64_t add_tails(const regal_order *order, uint32_t k, moment now,
                               moment_mode mode) {
  uint32_t d = mode.two ? 2 : order->problem->devices;
  const int64_t *tail = order->tails + (size_t)k * d;
  int64_t runtime = 0;
  for (uint32_t a = 0; a < d; a++)
    runtime = regal_later(runtime, moment_clock(order, now, a, mode) + tail[a]);
  return runtime;
}

REGAL_INLINE int64_t latest(const regal_order *order, moment now,
                            moment_mode mode) {
  int64_t runtime = 0;
  for (uint32_t a = 0; a < (mode.two ? 2 : order->problem->devices); a++)
    runtime = regal_later(runtime, moment_clock(order, now, a, mode));
  return runtime;
}

/* The run time of the changed order, stretch by stretch; or, when it is more
 * than `allowed`, any number above that. */
REGAL_INLINE int64_t simulate(regal_order *order, int64_t allowed,
                              moment_mode mode) {
  uint32_t ops = order->problem->ops, bits = order->block_bits, next = 0;
  const regal_order_stretch *touched = order->touched;
  uint32_t k = touched[0].first >> bits;
  moment now = moment_at(order, k, 0, 0, mode);
  for (uint32_t end; (end = (k + 1) << bits) <= ops;) {
    int64_t delay;
    now = run_block(order, now, k << bits, end, mode);
    k++;
    while (next < order->touched_count && touched[next].last < end)
      next++;
    uint32_t ahead =
        next < order->touched_count ? touched[next].first : REGAL_NONE;
    if (ahead >= end &&
        meets(order, k, now, mode.keep || ahead != REGAL_NONE, mode)) {
      uint32_t read = next_reader(order, k, now, mode);
      ahead = read < ahead ? read : ahead;
      bool last = ahead == REGAL_NONE;
      if (moment_is_delayed(order, k, now, &delay, mode)) {
        uint32_t to = last ? order->marks_count - 1 : ahead >> bits;
        if (mode.keep)
          moment_delay_kept(order, k, to + 1, delay, mode);
        if (last)
          return order->runtime_ns + delay;
        now = moment_at(order, to, mode.keep ? 0 : delay, delay, mode);
        k = to;
        continue;
      }
      if (last && !mode.keep && order->has_tails) {
        int64_t least = add_tails(order, k, now, mode);
        if (least > allowed || moment_is_quiet(order, k, now, mode))
          return least;
      }
    }
    if (mode.keep)
      moment_save(order, k, now, mode);
  }
  now = run_block(order, now, k << bits, ops, mode);
  return latest(order, now, mode);
}

/* Before the first op. */
REGAL_INLINE moment begin(regal_order *order) {
  size_t d = order->problem->devices;
  memset(order->clock, 0, d * sizeof *order->clock);
  memset(order->pending, 0, d * d * sizeof *order->pending);
  memset(order->exchanged, 0, d * d * sizeof *order->exchanged);
  return (moment){.least = INT64_MAX, .most = INT64_MIN};
}

REGAL_INLINE void simulate_all(regal_order *order, moment_mode mode) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  moment now = begin(order);
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    moment_save(order, k, now, mode);
    now = run_block(order, now, k << bits, end < ops ? end : ops, mode);
  }
  order->runtime_ns = latest(order, now, mode);
}

/* -- Tails ----------------------------------------------------------------- */

/* The op's device must be free so long before the end: `tail` is that of what
 * runs there next. `tail_end` holds the tails of ops from where they wait. */
static int64_t op_tail(regal_order *order, uint32_t op, int64_t tail) {
  const regal_problem *problem = order->problem;
  if (order->cells[op].awaited)
    for (REGAL_ROW(w, problem->wait_begin, op))
      tail = regal_later(tail, order->tail_end[problem->waiter[w]]);
  tail += order->cells[op].run_ns;
  if (problem->has_waits)
    order->tail_end[op] = tail;
  return tail;
}

/* One pass forward notes the exchanges, one backward adds up what follows. */
REGAL_INLINE void find_all_tails(regal_order *order, moment_mode mode) {
  uint32_t d = mode.two ? 2 : order->problem->devices;
  uint32_t ops = order->problem->ops;
  int64_t *tail = order->clock;
  order->log_count = 0;
  run_block(order, begin(order), 0, ops, mode);
  memset(tail, 0, d * sizeof *tail);
  for (uint32_t i = ops + 1; i-- > 0;) {
    if (i < ops) {
      uint32_t op = order->op_at[i], device = order->cells[op].device;
      tail[device] = op_tail(order, op, tail[device]);
    }
    while (order->log_count > 0 &&
           order->log[order->log_count - 1].position == i) {
      const regal_order_exchange *made = &order->log[--order->log_count];
      tail[made->a] = tail[made->b] =
          regal_later(tail[made->a], tail[made->b]) + made->cost_ns;
    }
    if ((i & (order->block - 1)) == 0)
      memcpy(order->tails + (size_t)(i >> order->block_bits) * d, tail,
             d * sizeof *tail);
  }
}

/* -- For two devices, and for more ----------------------------------------- */

static bool is_two(const regal_order *order) {
  return order->problem->devices == 2;
}

static int64_t cost(regal_order *order, int64_t allowed) {
  return is_two(order) ? simulate(order, allowed, (moment_mode){.two = true})
                       : simulate(order, allowed, (moment_mode){.two = false});
}

static void keep(regal_order *order) {
  if (is_two(order))
    simulate(order, INT64_MAX, (moment_mode){.two = true, .keep = true});
  else
    simulate(order, INT64_MAX, (moment_mode){.keep = true});
}

static void reset(regal_order *order) {
  if (is_two(order))
    simulate_all(order, (moment_mode){.two = true, .keep = true});
  else
    simulate_all(order, (moment_mode){.keep = true});
}

static void find_tails(regal_order *order) {
  if (is_two(order))
    find_all_tails(order, (moment_mode){.two = true, .log = true});
  else
    find_all_tails(order, (moment_mode){.log = true});
}

/* -- Late ------------------------------------------------------------------ */

static int64_t cost_late(regal_order *order, int64_t allowed) {
  return simulate(order, allowed, (moment_mode){.late = true});
}

static void keep_late(regal_order *order) {
  simulate(order, INT64_MAX, (moment_mode){.late = true, .keep = true});
  order->old_firsts = 0;
}

static void reset_late(regal_order *order) {
  simulate_all(order, (moment_mode){.late = true, .keep = true});
}

static void find_tails_late(regal_order *order) {
  find_all_tails(order, (moment_mode){.late = true, .log = true});
}

static void undo_late(regal_order *order) {
  while (order->old_firsts > 0) {
    const regal_order_first *old = &order->old_first[--order->old_firsts];
    order->first_reader[old->slot] = old->op;
  }
}

const regal_order_kind regal_order_two = {cost,       keep, reset,
                                          find_tails, NULL, 10};
const regal_order_kind regal_order_many = {cost,       keep, reset,
                                           find_tails, NULL, 3};
const regal_order_kind regal_order_late = {
    cost_late, keep_late, reset_late, find_tails_late, undo_late, 3};
