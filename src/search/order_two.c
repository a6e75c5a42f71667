/* Blocking transfers between two devices: the state before a position is two
 * clocks, what is pending, and where the last exchange was. After an exchange
 * both devices are later than all that ran before it, so that an op waits only
 * for ops of the other device that ran since then. Simulations begin, and jump,
 * only where no op ahead waits for one behind: ends of ops are never kept.
 */
#include "search/order.h"

typedef struct moment {
  int64_t clock0, clock1, pending_ns;
  uint32_t exchanged, awaited;
} moment;

/* Whether an input of the op was made on the other device since the last
 * exchange. */
REGAL_INLINE bool needs_exchange(const regal_order *order, uint32_t op,
                                 uint32_t device, uint32_t exchanged) {
  const regal_problem *problem = order->problem;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t made_by = problem->producer[problem->input[i]];
    if (order->cells[made_by].device != device &&
        order->position[made_by] >= exchanged)
      return true;
  }
  return false;
}

/* The op's device waits for the ends that it needs. */
static moment wait_for(const regal_order *order, uint32_t op, moment now) {
  const regal_graph *graph = order->problem->graph;
  uint32_t device = order->cells[op].device;
  int64_t start = device ? now.clock1 : now.clock0;
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++) {
    uint32_t before = graph->control_in[i];
    if (order->cells[before].device != device &&
        order->position[before] >= now.exchanged)
      start = regal_later(start, order->new_end_ns[before]);
  }
  *(device ? &now.clock1 : &now.clock0) = start;
  return now;
}

/* The last position at which an op of the other device waits for this one. */
static uint32_t last_waiter(const regal_order *order, uint32_t op,
                            uint32_t last) {
  const regal_problem *problem = order->problem;
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++) {
    uint32_t waiter = problem->waiter[w], at = order->position[waiter];
    if (order->cells[waiter].device != order->cells[op].device && at > last)
      last = at;
  }
  return last;
}

REGAL_INLINE moment run_block(regal_order *order, moment now, uint32_t first,
                              uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    if (cell->remote &&
        needs_exchange(order, op, cell->device, now.exchanged)) {
      now.clock0 = now.clock1 =
          regal_later(now.clock0, now.clock1) + now.pending_ns;
      now.pending_ns = 0;
      now.exchanged = i;
      now.awaited = 0;
    }
    if (cell->waits)
      now = wait_for(order, op, now);
    now.clock0 += cell->device ? 0 : cell->run_ns;
    now.clock1 += cell->device ? cell->run_ns : 0;
    now.pending_ns += cell->cross_ns;
    if (cell->awaited) {
      order->new_end_ns[op] = cell->device ? now.clock1 : now.clock0;
      now.awaited = last_waiter(order, op, now.awaited);
    }
  }
  return now;
}

static moment moment_at(const regal_order_mark *mark) {
  return (moment){mark->clock[0], mark->clock[1], mark->pending_ns,
                  mark->exchanged, mark->awaited};
}

static void set_mark(regal_order_mark *mark, moment now) {
  *mark = (regal_order_mark){
      {now.clock0, now.clock1}, now.pending_ns, now.exchanged, now.awaited};
}

static void delay_marks(regal_order *order, uint32_t first, uint32_t end,
                        int64_t delay) {
  for (uint32_t k = first; delay && k < end; k++) {
    order->marks[k].clock[0] += delay;
    order->marks[k].clock[1] += delay;
  }
}

/* The last mark up to `k` across which nobody waits. */
static uint32_t quiet_mark(const regal_order *order, uint32_t k) {
  while (order->marks[k].awaited >= k << order->block_bits && k > 0)
    k--;
  return k;
}

/* From here on the exchanges are those of the kept order: what decides about
 * them is the same, no op has crossed the last one, and nobody ahead waits for
 * what has changed. */
static bool meets(const regal_order *order, uint32_t k, const moment *now) {
  const regal_order_mark *mark = &order->marks[k];
  uint32_t low = order->shifted_from, high = order->shifted_to;
  if (low > high) {
    low = order->shifted_to;
    high = order->shifted_from;
  }
  uint32_t at = now->exchanged, position = k << order->block_bits;
  return mark->exchanged == at && mark->pending_ns == now->pending_ns &&
         !(at > low && at <= high) && now->awaited < position &&
         mark->awaited < position;
}

/* The run time of the changed order, stretch by stretch; `keep`: marks are
 * written on the way. */
REGAL_INLINE int64_t simulate(regal_order *order, bool keep) {
  uint32_t ops = order->problem->ops, bits = order->block_bits, next = 0;
  const regal_order_stretch *touched = order->touched;
  uint32_t k = quiet_mark(order, touched[0].first >> bits);
  moment now = moment_at(&order->marks[k]);
  for (uint32_t end; (end = (k + 1) << bits) <= ops;) {
    now = run_block(order, now, k << bits, end);
    k++;
    while (next < order->touched_count && touched[next].last < end)
      next++;
    bool last = next == order->touched_count;
    if ((last || touched[next].first >= end) && meets(order, k, &now)) {
      const regal_order_mark *mark = &order->marks[k];
      int64_t delay = now.clock0 - mark->clock[0];
      if (delay == now.clock1 - mark->clock[1]) {
        uint32_t to =
            last ? order->marks_count - 1 : touched[next].first >> bits;
        if (keep)
          delay_marks(order, k, to + 1, delay);
        if (last)
          return order->runtime_ns + delay;
        uint32_t from = quiet_mark(order, to);
        if (from > k) {
          now = moment_at(&order->marks[from]);
          now.clock0 += keep ? 0 : delay;
          now.clock1 += keep ? 0 : delay;
          k = from;
        }
        continue;
      }
      if (last && !keep && order->has_tails)
        return regal_later(now.clock0 + order->tails[2 * k],
                           now.clock1 + order->tails[2 * k + 1]);
    }
    if (keep)
      set_mark(&order->marks[k], now);
  }
  now = run_block(order, now, k << bits, ops);
  return regal_later(now.clock0, now.clock1);
}

static int64_t cost(regal_order *order, int64_t allowed) {
  (void)allowed;
  return simulate(order, false);
}

static void keep(regal_order *order, int64_t runtime_ns) {
  (void)runtime_ns;
  simulate(order, true);
}

static void reset(regal_order *order) {
  moment now = {0, 0, 0, 0, 0};
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    set_mark(&order->marks[k], now);
    now = run_block(order, now, k << bits, end < ops ? end : ops);
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
    if (cell->remote && needs_exchange(order, op, cell->device, exchanged)) {
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
          after = regal_later(after, order->end_ns[problem->waiter[w]]);
      tail[cell->device] = after + cell->run_ns;
      if (problem->has_waits) /* from where it waits: after its exchange */
        order->end_ns[op] = tail[cell->device];
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

const regal_order_kind regal_order_two = {cost, keep, reset, find_tails};
