/* Blocking transfers between two devices, without waits: the state before a
 * position is two clocks, what is pending, and where the last exchange was.
 */
#include "search/order.h"

typedef struct moment {
  int64_t clock0, clock1, pending_ns;
  uint32_t exchanged;
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

REGAL_INLINE moment run_block(const regal_order *order, moment now,
                              uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    if (cell->remote &&
        needs_exchange(order, op, cell->device, now.exchanged)) {
      now.clock0 = now.clock1 =
          regal_later(now.clock0, now.clock1) + now.pending_ns;
      now.pending_ns = 0;
      now.exchanged = i;
    }
    now.clock0 += cell->device ? 0 : cell->run_ns;
    now.clock1 += cell->device ? cell->run_ns : 0;
    now.pending_ns += cell->cross_ns;
  }
  return now;
}

static moment moment_at(const regal_order_mark *mark) {
  return (moment){mark->clock[0], mark->clock[1], mark->pending_ns,
                  mark->exchanged};
}

static void set_mark(regal_order_mark *mark, moment now) {
  *mark = (regal_order_mark){
      {now.clock0, now.clock1}, now.pending_ns, now.exchanged};
}

static void delay_marks(regal_order *order, uint32_t first, uint32_t end,
                        int64_t delay) {
  for (uint32_t k = first; delay && k < end; k++) {
    order->marks[k].clock[0] += delay;
    order->marks[k].clock[1] += delay;
  }
}

/* From here on the exchanges are those of the kept order: what decides about
 * them is the same, and no op has crossed the last one. */
static bool meets(const regal_order *order, const regal_order_mark *mark,
                  const moment *now) {
  uint32_t low = order->shifted_from, high = order->shifted_to;
  if (low > high) {
    low = order->shifted_to;
    high = order->shifted_from;
  }
  return mark->exchanged == now->exchanged &&
         mark->pending_ns == now->pending_ns &&
         !(now->exchanged > low && now->exchanged <= high);
}

/* The run time of the changed order, stretch by stretch; `keep`: marks are
 * written on the way. */
REGAL_INLINE int64_t simulate(regal_order *order, bool keep) {
  uint32_t ops = order->problem->ops, bits = order->block_bits, next = 0;
  const regal_order_stretch *touched = order->touched;
  uint32_t k = touched[0].first >> bits;
  moment now = moment_at(&order->marks[k]);
  for (;;) {
    uint32_t end = (k + 1) << bits;
    if (end > ops)
      break;
    now = run_block(order, now, k << bits, end);
    k++;
    regal_order_mark *mark = &order->marks[k];
    while (next < order->touched_count && touched[next].last < end)
      next++;
    bool between = next == order->touched_count || touched[next].first >= end;
    if (between && meets(order, mark, &now)) {
      int64_t delay = now.clock0 - mark->clock[0];
      bool last = next == order->touched_count;
      if (delay == now.clock1 - mark->clock[1]) {
        uint32_t to = last ? order->marks_count : touched[next].first >> bits;
        if (keep)
          delay_marks(order, k, last ? to : to + 1, delay);
        if (last)
          return order->runtime_ns + delay;
        if (!keep)
          now = moment_at(&order->marks[to]);
        else
          now = moment_at(&order->marks[to]), delay = 0;
        now.clock0 += delay;
        now.clock1 += delay;
        k = to;
        continue;
      }
      if (last && !keep && order->has_tails)
        return regal_later(now.clock0 + order->tails[2 * k],
                           now.clock1 + order->tails[2 * k + 1]);
    }
    if (keep)
      set_mark(mark, now);
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
  moment now = {0, 0, 0, 0};
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    set_mark(&order->marks[k], now);
    now = run_block(order, now, k << bits, end < ops ? end : ops);
  }
  order->runtime_ns = regal_later(now.clock0, now.clock1);
}

/* One pass forward notes the exchanges, one backward adds up what follows. */
static void find_tails(regal_order *order) {
  uint32_t ops = order->problem->ops, count = 0, exchanged = 0;
  int64_t pending_ns = 0, tail0 = 0, tail1 = 0;
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
  if (ops % order->block == 0)
    order->tails[2 * (ops >> order->block_bits)] =
        order->tails[2 * (ops >> order->block_bits) + 1] = 0;
  for (uint32_t i = ops; i-- > 0;) {
    const regal_order_cell *cell = &order->cells[order->op_at[i]];
    tail0 += cell->device ? 0 : cell->run_ns;
    tail1 += cell->device ? cell->run_ns : 0;
    if (count > 0 && order->log[count - 1].position == i)
      tail0 = tail1 = regal_later(tail0, tail1) + order->log[--count].cost_ns;
    if ((i & (order->block - 1)) == 0) {
      order->tails[2 * (i >> order->block_bits)] = tail0;
      order->tails[2 * (i >> order->block_bits) + 1] = tail1;
    }
  }
}

const regal_order_kind regal_order_two = {cost, keep, reset, find_tails};
