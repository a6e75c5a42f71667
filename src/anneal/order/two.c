/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking transfers between two devices: the state before a position is two
 * clocks, what is pending, and where the last exchange was. After an exchange
 * both devices are later than all that ran before it, so that an op waits only
 * for ops of the other device that ran since then. The ends of ops that others
 * wait for are kept. A simulation jumps over what is delayed alike: the clocks,
 * and the ends that an op ahead waits for.
 */
#include "anneal/order/order.h"

typedef struct moment {
  int64_t clock0, clock1, pending_ns;
  uint32_t exchanged, awaited;
  /* Waits only. Ends of ops before `first` are the kept ones, and `delay_ns`;
   * of what is waited for since the last exchange, the delays are within
   * `least` .. `most`. */
  uint32_t first;
  int64_t delay_ns, least, most;
} moment;

/* When the ends that the op needs are there. Moments stay in registers: only
 * what matters is handed over. */
static int64_t wait_for(const regal_order *order, uint32_t op, int64_t start,
                        uint32_t exchanged, uint32_t first, int64_t delay) {
  const regal_graph *graph = order->problem->graph;
  uint32_t device = order->device_of[op];
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++) {
    uint32_t before = graph->control_in[i];
    uint32_t at = order->position[before];
    if (order->device_of[before] != device && at >= exchanged)
      start = regal_later(start, at >= first ? order->new_end_ns[before]
                                             : order->end_ns[before] + delay);
  }
  return start;
}

/* The last position at which an op of the other device waits for this one, or
 * 0. */
static uint32_t last_waiter(const regal_order *order, uint32_t op) {
  const regal_problem *problem = order->problem;
  uint32_t last = 0;
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++) {
    uint32_t waiter = problem->waiter[w], at = order->position[waiter];
    if (order->device_of[waiter] != order->device_of[op] && at > last)
      last = at;
  }
  return last;
}

/* The op has ended; `keep`: this is what is kept from now on. */
REGAL_INLINE moment note_end(regal_order *order, uint32_t op, moment now,
                             bool keep) {
  uint32_t last = last_waiter(order, op);
  int64_t end = order->cells[op].device ? now.clock1 : now.clock0;
  int64_t delay = end - order->end_ns[op];
  order->new_end_ns[op] = end;
  if (keep)
    order->end_ns[op] = end;
  if (last == 0)
    return now;
  now.awaited = last > now.awaited ? last : now.awaited;
  now.least = delay < now.least ? delay : now.least;
  now.most = regal_later(delay, now.most);
  return now;
}

REGAL_INLINE moment run_block(regal_order *order, moment now, uint32_t first,
                              uint32_t end, bool keep) {
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    if (cell->remote &&
        regal_order_needs_exchange(order, op, cell->device, now.exchanged)) {
      now.clock0 = now.clock1 =
          regal_later(now.clock0, now.clock1) + now.pending_ns;
      now.pending_ns = 0;
      now.exchanged = i;
      now.awaited = 0;
      now.least = INT64_MAX;
      now.most = INT64_MIN;
    }
    if (cell->waits) {
      int64_t start =
          wait_for(order, op, cell->device ? now.clock1 : now.clock0,
                   now.exchanged, now.first, now.delay_ns);
      now.clock0 = cell->device ? now.clock0 : start;
      now.clock1 = cell->device ? start : now.clock1;
    }
    now.clock0 += cell->device ? 0 : cell->run_ns;
    now.clock1 += cell->device ? cell->run_ns : 0;
    now.pending_ns += cell->cross_ns;
    if (cell->awaited)
      now = note_end(order, op, now, keep);
  }
  return now;
}

/* The kept moment before mark `k`, with everything so much later. */
static moment moment_at(const regal_order *order, uint32_t k, int64_t delay) {
  const regal_order_mark *mark = &order->marks[k];
  bool waits = mark->awaited >= k << order->block_bits;
  return (moment){.clock0 = mark->clock[0] + delay,
                  .clock1 = mark->clock[1] + delay,
                  .pending_ns = mark->pending_ns,
                  .exchanged = mark->exchanged,
                  .awaited = mark->awaited,
                  .first = k << order->block_bits,
                  .delay_ns = delay,
                  .least = waits ? delay : INT64_MAX,
                  .most = waits ? delay : INT64_MIN};
}

static void set_mark(regal_order_mark *mark, moment now) {
  *mark = (regal_order_mark){
      {now.clock0, now.clock1}, now.pending_ns, now.exchanged, now.awaited};
}

/* All that is kept from mark `first` to mark `end - 1` happens later. */
static void delay_kept(regal_order *order, uint32_t first, uint32_t end,
                       int64_t delay) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  if (delay == 0)
    return;
  for (uint32_t k = first; k < end; k++) {
    order->marks[k].clock[0] += delay;
    order->marks[k].clock[1] += delay;
  }
  if (!order->problem->has_waits)
    return;
  uint32_t last = end == order->marks_count ? ops : (end - 1) << bits;
  for (uint32_t i = first << bits; i < last; i++)
    order->end_ns[order->op_at[i]] += delay;
}

/* From here on the exchanges are those of the kept order: what decides about
 * them is the same, and no op has crossed the last one. */
static bool meets(const regal_order *order, uint32_t k, const moment *now) {
  const regal_order_mark *mark = &order->marks[k];
  uint32_t low = order->shifted_from, high = order->shifted_to;
  if (low > high) {
    low = order->shifted_to;
    high = order->shifted_from;
  }
  uint32_t at = now->exchanged;
  return mark->exchanged == at && mark->pending_ns == now->pending_ns &&
         !(at > low && at <= high);
}

/* The first position from mark `k` on where an op reads what a flipped one has
 * made since the last exchange: until then it was the same. */
static uint32_t next_reader(const regal_order *order, uint32_t k,
                            const moment *now) {
  uint32_t next = REGAL_NONE;
  for (uint32_t i = 0; order->seeks_readers && i < order->flips; i++)
    if (order->position[order->flipped[i]] >= now->exchanged) {
      uint32_t at = regal_order_next_reader(order, i, k << order->block_bits);
      next = at < next ? at : next;
    }
  return next;
}

/* Nobody ahead waits for anything behind, neither now nor in what is kept. */
static bool is_quiet(const regal_order *order, uint32_t k, const moment *now) {
  uint32_t position = k << order->block_bits;
  return now->awaited < position && order->marks[k].awaited < position;
}

/* Everything that what is ahead depends on is later by `delay`. */
static bool is_delayed(const regal_order *order, uint32_t k, const moment *now,
                       int64_t delay) {
  const regal_order_mark *mark = &order->marks[k];
  return now->clock1 - mark->clock[1] == delay &&
         (is_quiet(order, k, now) ||
          (now->awaited == mark->awaited && now->least == delay &&
           now->most == delay));
}

/* The run time of the changed order, stretch by stretch; or, when it is more
 * than `allowed`, any number above that. `keep`: marks and ends are written on
 * the way. */
REGAL_INLINE int64_t simulate(regal_order *order, int64_t allowed, bool keep) {
  uint32_t ops = order->problem->ops, bits = order->block_bits, next = 0;
  const regal_order_stretch *touched = order->touched;
  uint32_t k = touched[0].first >> bits;
  moment now = moment_at(order, k, 0);
  for (uint32_t end; (end = (k + 1) << bits) <= ops;) {
    now = run_block(order, now, k << bits, end, keep);
    k++;
    while (next < order->touched_count && touched[next].last < end)
      next++;
    uint32_t ahead =
        next < order->touched_count ? touched[next].first : REGAL_NONE;
    if (ahead >= end && meets(order, k, &now)) {
      int64_t delay = now.clock0 - order->marks[k].clock[0];
      uint32_t read = next_reader(order, k, &now);
      ahead = read < ahead ? read : ahead;
      bool last = ahead == REGAL_NONE;
      if (is_delayed(order, k, &now, delay)) {
        uint32_t to = last ? order->marks_count - 1 : ahead >> bits;
        if (keep)
          delay_kept(order, k, to + 1, delay);
        if (last)
          return order->runtime_ns + delay;
        now = moment_at(order, to, keep ? 0 : delay);
        k = to;
        if (keep && now.most != INT64_MIN)
          now.least = now.most = delay; /* than the marks ahead know */
        continue;
      }
      if (last && !keep && order->has_tails) {
        int64_t least = regal_later(now.clock0 + order->tails[2 * k],
                                    now.clock1 + order->tails[2 * k + 1]);
        if (least > allowed || is_quiet(order, k, &now))
          return least;
      }
    }
    if (keep)
      set_mark(&order->marks[k], now);
  }
  now = run_block(order, now, k << bits, ops, keep);
  return regal_later(now.clock0, now.clock1);
}

static int64_t cost(regal_order *order, int64_t allowed) {
  return simulate(order, allowed, false);
}

static void keep(regal_order *order, int64_t runtime_ns) {
  (void)runtime_ns;
  simulate(order, INT64_MAX, true);
}

static void reset(regal_order *order) {
  moment now = {.least = INT64_MAX, .most = INT64_MIN};
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    set_mark(&order->marks[k], now);
    now = run_block(order, now, k << bits, end < ops ? end : ops, true);
  }
  order->runtime_ns = regal_later(now.clock0, now.clock1);
}

/* One pass forward notes the exchanges, one backward adds up what follows.
 * Waits count, too: a tail may begin at the end of an op that is waited for. */
static void find_tails(regal_order *order) {
  const regal_problem *problem = order->problem;
  uint32_t ops = problem->ops, count = 0, exchanged = 0;
  int64_t pending_ns = 0, tail[2] = {0, 0};
  for (uint32_t i = 0; i < ops; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    if (cell->remote &&
        regal_order_needs_exchange(order, op, cell->device, exchanged)) {
      order->log[count++] = (regal_order_exchange){pending_ns, i, 0, 1};
      pending_ns = 0;
      exchanged = i;
    }
    pending_ns += cell->cross_ns;
  }
  for (uint32_t i = ops + 1; i-- > 0;) {
    if (i < ops) {
      uint32_t op = order->op_at[i];
      const regal_order_cell *cell = &order->cells[op];
      int64_t after = tail[cell->device];
      if (cell->awaited)
        for (uint32_t w = problem->wait_begin[op];
             w < problem->wait_begin[op + 1]; w++)
          after = regal_later(after, order->tail_end[problem->waiter[w]]);
      tail[cell->device] = after + cell->run_ns;
      if (problem->has_waits) /* from where it waits: after its exchange */
        order->tail_end[op] = tail[cell->device];
    }
    if (count > 0 && order->log[count - 1].position == i)
      tail[0] = tail[1] =
          regal_later(tail[0], tail[1]) + order->log[--count].cost_ns;
    if ((i & (order->block - 1)) == 0) {
      order->tails[2 * (i >> order->block_bits)] = tail[0];
      order->tails[2 * (i >> order->block_bits) + 1] = tail[1];
    }
  }
}

const regal_order_kind regal_order_two = {cost,       keep, reset,
                                          find_tails, NULL, 10};
