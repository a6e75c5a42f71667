/* Blocking transfers between any number of devices, with or without waits. A
 * mark holds the clocks, what is pending for each pair of devices and where
 * each pair exchanged last. With waits the end times of ops belong to the
 * state, too: what a trial finds goes beside what is kept.
 */
#include <string.h>

#include "search/order.h"

typedef struct pass {
  regal_order *order;
  uint32_t first;   /* position at which it began */
  uint32_t reach;   /* no later op waits for an end that has changed */
  bool waits, note; /* note: exchanges go to the log */
} pass;

static void load_mark(regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  memcpy(order->clock, mark, d * sizeof *mark);
  memcpy(order->pending, mark + d, (size_t)d * d * sizeof *mark);
  memcpy(order->exchanged, order->mark_exchanged + (size_t)k * d * d,
         (size_t)d * d * sizeof *order->exchanged);
}

static void save_mark(regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  memcpy(mark, order->clock, d * sizeof *mark);
  memcpy(mark + d, order->pending, (size_t)d * d * sizeof *mark);
  memcpy(order->mark_exchanged + (size_t)k * d * d, order->exchanged,
         (size_t)d * d * sizeof *order->exchanged);
}

/* Pairs are kept at [smaller * d + larger]. */
static uint32_t pair_of(uint32_t a, uint32_t b, uint32_t d) {
  return a < b ? a * d + b : b * d + a;
}

static void exchange(pass *pass, uint32_t a, uint32_t b, uint32_t position) {
  regal_order *order = pass->order;
  uint32_t pair = pair_of(a, b, order->problem->devices);
  int64_t cost = order->pending[pair];
  order->clock[a] = order->clock[b] =
      regal_later(order->clock[a], order->clock[b]) + cost;
  order->pending[pair] = 0;
  order->exchanged[pair] = position;
  if (pass->note)
    order->log[order->log_count++] =
        (regal_order_exchange){cost, position, (uint16_t)a, (uint16_t)b};
}

static void fetch(pass *pass, uint32_t op, uint32_t device, uint32_t position) {
  regal_order *order = pass->order;
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t made_by = problem->producer[problem->input[i]];
    uint32_t home = order->cells[made_by].device;
    if (home != device &&
        order->position[made_by] >= order->exchanged[pair_of(home, device, d)])
      exchange(pass, home, device, position);
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

/* The latest end of what the op waits for. */
static int64_t wait_for(const pass *pass, uint32_t op, int64_t start) {
  const regal_order *order = pass->order;
  const regal_graph *graph = order->problem->graph;
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++) {
    uint32_t before = graph->control_in[i];
    start = regal_later(start, order->position[before] >= pass->first
                                   ? order->new_end_ns[before]
                                   : order->end_ns[before]);
  }
  return start;
}

static void note_end(pass *pass, uint32_t op, int64_t end) {
  regal_order *order = pass->order;
  const regal_problem *problem = order->problem;
  order->new_end_ns[op] = end;
  if (end == order->end_ns[op])
    return;
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++) {
    uint32_t at = order->position[problem->waiter[w]];
    pass->reach = at > pass->reach ? at : pass->reach;
  }
}

REGAL_INLINE void run_block(pass *pass, uint32_t first, uint32_t end) {
  regal_order *order = pass->order;
  bool costs = !order->problem->free_transfers;
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    uint32_t device = cell->device;
    if (cell->remote)
      fetch(pass, op, device, i);
    if (pass->waits) {
      int64_t start = wait_for(pass, op, order->clock[device]);
      order->clock[device] = start + cell->run_ns;
      note_end(pass, op, order->clock[device]);
    } else {
      order->clock[device] += cell->run_ns;
    }
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

/* From here on the exchanges are those of the kept order. */
static bool meets(const regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  uint32_t low = order->shifted_from, high = order->shifted_to;
  if (low > high) {
    low = order->shifted_to;
    high = order->shifted_from;
  }
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

/* The ends that a pass found are now those of the kept order. */
static void keep_ends(regal_order *order, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++)
    order->end_ns[order->op_at[i]] = order->new_end_ns[order->op_at[i]];
}

/* What to do at a mark between touched stretches. */
typedef enum verdict { GO_ON, JUMP, SETTLED } verdict;

static verdict judge(pass *pass, uint32_t k, bool last, bool keep,
                     int64_t allowed, int64_t *delay, int64_t *runtime) {
  regal_order *order = pass->order;
  if (!meets(order, k))
    return GO_ON;
  if (is_delayed(order, k, delay) &&
      (!pass->waits || (*delay == 0 && pass->reach < k << order->block_bits))) {
    *runtime = order->runtime_ns + *delay;
    return last ? SETTLED : pass->waits ? GO_ON : JUMP;
  }
  if (!last || keep || !order->has_tails)
    return GO_ON;
  /* with waits the tails are a lower bound only */
  *runtime = with_tails(order, k);
  return !pass->waits || *runtime > allowed ? SETTLED : GO_ON;
}

static int64_t simulate(regal_order *order, bool keep, int64_t allowed) {
  uint32_t ops = order->problem->ops, bits = order->block_bits, next = 0;
  const regal_order_stretch *touched = order->touched;
  uint32_t k = touched[0].first >> bits;
  pass pass = {order, k << bits, 0, order->problem->has_waits, false};
  int64_t delay, runtime;
  load_mark(order, k);
  for (;;) {
    uint32_t end = (k + 1) << bits;
    if (end > ops)
      break;
    run_block(&pass, k << bits, end);
    k++;
    while (next < order->touched_count && touched[next].last < end)
      next++;
    bool last = next == order->touched_count;
    if (last || touched[next].first >= end) {
      verdict found = judge(&pass, k, last, keep, allowed, &delay, &runtime);
      uint32_t to = last ? order->marks_count : touched[next].first >> bits;
      if (found != GO_ON && keep)
        delay_marks(order, k, last ? to : to + 1, delay);
      if (found == SETTLED) {
        if (keep && pass.waits)
          keep_ends(order, pass.first, end);
        return runtime;
      }
      if (found == JUMP) {
        load_mark(order, to);
        for (uint32_t a = 0; !keep && a < order->problem->devices; a++)
          order->clock[a] += delay;
        k = to;
        continue;
      }
    }
    if (keep)
      save_mark(order, k);
  }
  run_block(&pass, k << bits, ops);
  if (keep && pass.waits)
    keep_ends(order, pass.first, ops);
  return latest(order);
}

static int64_t cost(regal_order *order, int64_t allowed) {
  return simulate(order, false, allowed);
}

static void keep(regal_order *order, int64_t runtime_ns) {
  (void)runtime_ns;
  simulate(order, true, INT64_MAX);
}

static void begin_clocks(regal_order *order) {
  size_t d = order->problem->devices;
  memset(order->clock, 0, d * sizeof *order->clock);
  memset(order->pending, 0, d * d * sizeof *order->pending);
  memset(order->exchanged, 0, d * d * sizeof *order->exchanged);
}

static void reset(regal_order *order) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  pass pass = {order, 0, 0, order->problem->has_waits, false};
  begin_clocks(order);
  if (pass.waits) /* nothing has been kept that could differ */
    memset(order->end_ns, 0, ops * sizeof *order->end_ns);
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    save_mark(order, k);
    run_block(&pass, k << bits, end < ops ? end : ops);
  }
  if (pass.waits)
    keep_ends(order, 0, ops);
  order->runtime_ns = latest(order);
}

static void find_tails(regal_order *order) {
  uint32_t d = order->problem->devices, ops = order->problem->ops;
  pass pass = {order, 0, 0, order->problem->has_waits, true};
  int64_t *tail = order->clock;
  order->log_count = 0;
  begin_clocks(order);
  run_block(&pass, 0, ops);
  memset(tail, 0, d * sizeof *tail);
  for (uint32_t i = ops + 1; i-- > 0;) {
    if (i < ops) {
      const regal_order_cell *cell = &order->cells[order->op_at[i]];
      tail[cell->device] += cell->run_ns;
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
