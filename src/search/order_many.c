/* Blocking transfers between any number of devices. A mark holds the clocks,
 * what is pending for each pair of devices and where each pair exchanged last.
 * As with two devices, simulations begin and jump only where no op ahead waits
 * for one behind, so that ends of ops are never kept.
 */
#include <string.h>

#include "search/order.h"

static void load_mark(regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  memcpy(order->clock, mark, d * sizeof *mark);
  memcpy(order->pending, mark + d, (size_t)d * d * sizeof *mark);
  memcpy(order->exchanged, order->mark_exchanged + (size_t)k * d * d,
         (size_t)d * d * sizeof *order->exchanged);
  order->awaited = order->mark_awaited[k];
}

static void save_mark(regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  memcpy(mark, order->clock, d * sizeof *mark);
  memcpy(mark + d, order->pending, (size_t)d * d * sizeof *mark);
  memcpy(order->mark_exchanged + (size_t)k * d * d, order->exchanged,
         (size_t)d * d * sizeof *order->exchanged);
  order->mark_awaited[k] = order->awaited;
}

/* Pairs are kept at [smaller * d + larger]. */
static uint32_t pair_of(uint32_t a, uint32_t b, uint32_t d) {
  return a < b ? a * d + b : b * d + a;
}

static void exchange(regal_order *order, uint32_t a, uint32_t b,
                     uint32_t position, bool note) {
  uint32_t pair = pair_of(a, b, order->problem->devices);
  int64_t cost = order->pending[pair];
  order->clock[a] = order->clock[b] =
      regal_later(order->clock[a], order->clock[b]) + cost;
  order->pending[pair] = 0;
  order->exchanged[pair] = position;
  if (note)
    order->log[order->log_count++] =
        (regal_order_exchange){cost, position, (uint16_t)a, (uint16_t)b};
}

static void fetch(regal_order *order, uint32_t op, uint32_t device,
                  uint32_t position, bool note) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t made_by = problem->producer[problem->input[i]];
    uint32_t home = order->cells[made_by].device;
    if (home != device &&
        order->position[made_by] >= order->exchanged[pair_of(home, device, d)])
      exchange(order, home, device, position, note);
  }
}

static void add_pending(regal_order *order, uint32_t op, uint32_t device) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++) {
    const uint32_t *readers = order->readers + (size_t)t * d;
    for (uint32_t a = 0; a < d; a++)
      if (a != device && readers[a])
        order->pending[pair_of(a, device, d)] +=
            regal_problem_transfer_ns(problem, t, device, a);
  }
}

/* The latest end of what the op waits for on other devices. */
static int64_t wait_for(const regal_order *order, uint32_t op, int64_t start) {
  const regal_graph *graph = order->problem->graph;
  uint32_t device = order->cells[op].device;
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++) {
    uint32_t before = graph->control_in[i];
    if (order->cells[before].device != device)
      start = regal_later(start, order->new_end_ns[before]);
  }
  return start;
}

static void note_end(regal_order *order, uint32_t op, uint32_t device) {
  const regal_problem *problem = order->problem;
  order->new_end_ns[op] = order->clock[device];
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++) {
    uint32_t waiter = problem->waiter[w], at = order->position[waiter];
    if (order->cells[waiter].device != device && at > order->awaited)
      order->awaited = at;
  }
}

/* `note`: exchanges go to the log. */
REGAL_INLINE void run_block(regal_order *order, uint32_t first, uint32_t end,
                            bool note) {
  bool costs = !order->problem->free_transfers;
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    uint32_t device = cell->device;
    if (cell->remote)
      fetch(order, op, device, i, note);
    if (cell->waits)
      order->clock[device] = wait_for(order, op, order->clock[device]);
    order->clock[device] += cell->run_ns;
    if (cell->awaited)
      note_end(order, op, device);
    if (costs && cell->leaves)
      add_pending(order, op, device);
  }
}

static int64_t latest(const regal_order *order) {
  int64_t runtime = 0;
  for (uint32_t a = 0; a < order->problem->devices; a++)
    runtime = regal_later(runtime, order->clock[a]);
  return runtime;
}

/* The last mark up to `k` across which nobody waits. */
static uint32_t quiet_mark(const regal_order *order, uint32_t k) {
  while (order->mark_awaited[k] >= k << order->block_bits && k > 0)
    k--;
  return k;
}

/* From here on the exchanges are those of the kept order, and nobody ahead
 * waits for what has changed. */
static bool meets(const regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices, position = k << order->block_bits;
  uint32_t low = order->shifted_from, high = order->shifted_to;
  if (low > high) {
    low = order->shifted_to;
    high = order->shifted_from;
  }
  if (order->awaited >= position || order->mark_awaited[k] >= position)
    return false;
  const uint32_t *exchanged = order->mark_exchanged + (size_t)k * d * d;
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  for (uint32_t a = 0; a < d; a++)
    for (uint32_t b = a + 1; b < d; b++) {
      uint32_t pair = a * d + b, at = order->exchanged[pair];
      if (exchanged[pair] != at || (at > low && at <= high) ||
          mark[d + pair] != order->pending[pair])
        return false;
    }
  return true;
}

/* All clocks are later than the mark's by the same; `delay` gets it. */
static bool is_delayed(const regal_order *order, uint32_t k, int64_t *delay) {
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  *delay = order->clock[0] - mark[0];
  for (uint32_t a = 1; a < order->problem->devices; a++)
    if (order->clock[a] - mark[a] != *delay)
      return false;
  return true;
}

static void delay_marks(regal_order *order, uint32_t first, uint32_t end,
                        int64_t delay) {
  for (uint32_t k = first; delay && k < end; k++)
    for (uint32_t a = 0; a < order->problem->devices; a++)
      order->mark_ns[(size_t)k * order->mark_size + a] += delay;
}

static int64_t with_tails(const regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  const int64_t *tail = order->tails + (size_t)k * d;
  int64_t runtime = 0;
  for (uint32_t a = 0; a < d; a++)
    runtime = regal_later(runtime, order->clock[a] + tail[a]);
  return runtime;
}

/* Goes on from the mark before the next touched position, to which all that
 * lies between is delayed alike. Returns where. */
static uint32_t jump(regal_order *order, uint32_t k, uint32_t to, bool keep,
                     int64_t delay) {
  if (keep)
    delay_marks(order, k, to + 1, delay);
  uint32_t from = quiet_mark(order, to);
  if (from <= k)
    return k;
  load_mark(order, from);
  for (uint32_t a = 0; !keep && a < order->problem->devices; a++)
    order->clock[a] += delay;
  return from;
}

static int64_t simulate(regal_order *order, bool keep) {
  uint32_t ops = order->problem->ops, bits = order->block_bits, next = 0;
  const regal_order_stretch *touched = order->touched;
  uint32_t k = quiet_mark(order, touched[0].first >> bits);
  load_mark(order, k);
  for (uint32_t end; (end = (k + 1) << bits) <= ops;) {
    int64_t delay;
    run_block(order, k << bits, end, false);
    k++;
    while (next < order->touched_count && touched[next].last < end)
      next++;
    bool last = next == order->touched_count;
    if ((last || touched[next].first >= end) && meets(order, k)) {
      bool delayed = is_delayed(order, k, &delay);
      if (delayed && last) {
        if (keep)
          delay_marks(order, k, order->marks_count, delay);
        return order->runtime_ns + delay;
      }
      if (delayed) {
        k = jump(order, k, touched[next].first >> bits, keep, delay);
        continue;
      }
      if (last && !keep && order->has_tails)
        return with_tails(order, k);
    }
    if (keep)
      save_mark(order, k);
  }
  run_block(order, k << bits, ops, false);
  return latest(order);
}

static int64_t cost(regal_order *order, int64_t allowed) {
  (void)allowed;
  return simulate(order, false);
}

static void keep(regal_order *order, int64_t runtime_ns) {
  (void)runtime_ns;
  simulate(order, true);
}

static void begin_clocks(regal_order *order) {
  size_t d = order->problem->devices;
  memset(order->clock, 0, d * sizeof *order->clock);
  memset(order->pending, 0, d * d * sizeof *order->pending);
  memset(order->exchanged, 0, d * d * sizeof *order->exchanged);
  order->awaited = 0;
}

static void reset(regal_order *order) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  begin_clocks(order);
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    save_mark(order, k);
    run_block(order, k << bits, end < ops ? end : ops, false);
  }
  order->runtime_ns = latest(order);
}

/* The op's device must be free so long before the end: `tail` is that of what
 * runs there next. `tail_end` holds the tails of ops from where they wait. */
static int64_t op_tail(regal_order *order, uint32_t op, int64_t tail) {
  const regal_problem *problem = order->problem;
  if (order->cells[op].awaited)
    for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
         w++)
      tail = regal_later(tail, order->tail_end[problem->waiter[w]]);
  tail += order->cells[op].run_ns;
  if (problem->has_waits)
    order->tail_end[op] = tail;
  return tail;
}

static void find_tails(regal_order *order) {
  uint32_t d = order->problem->devices, ops = order->problem->ops;
  int64_t *tail = order->clock;
  order->log_count = 0;
  begin_clocks(order);
  run_block(order, 0, ops, true);
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

const regal_order_kind regal_order_many = {cost, keep, reset, find_tails};
