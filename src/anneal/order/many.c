/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking transfers between any number of devices. A mark holds the clocks,
 * what is pending for each pair of devices and where each pair exchanged last.
 * The ends of ops that others wait for are kept beside them.
 */
#include <string.h>

#include "anneal/order/order.h"

/* What is known of the ends of ops that others wait for, of any device: flips
 * then change nothing about who waits. */
typedef struct ends {
  bool keep;           /* new ends are kept from now on */
  uint32_t first;      /* those of ops before it are the kept ones, and */
  int64_t delay_ns;    /* so much */
  int64_t least, most; /* delays of those that an op ahead may wait for */
} ends;

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
  const uint32_t *position_of = order->position, *made_by = order->made_by;
  const uint32_t *exchanged = order->exchanged;
  const uint8_t *device_of = order->device_of;
  uint32_t d = problem->devices, end = problem->input_begin[op + 1];
  for (uint32_t i = problem->input_begin[op]; i < end; i++) {
    uint32_t home = device_of[made_by[i]];
    if (home != device &&
        position_of[made_by[i]] >= exchanged[pair_of(home, device, d)])
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
static int64_t wait_for(const regal_order *order, const ends *ends, uint32_t op,
                        int64_t start) {
  const regal_graph *graph = order->problem->graph;
  uint32_t device = order->cells[op].device;
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++) {
    uint32_t before = graph->control_in[i];
    if (order->cells[before].device != device)
      start = regal_later(start, order->position[before] >= ends->first
                                     ? order->new_end_ns[before]
                                     : order->end_ns[before] + ends->delay_ns);
  }
  return start;
}

static void note_end(regal_order *order, ends *ends, uint32_t op,
                     uint32_t device) {
  const regal_problem *problem = order->problem;
  int64_t end = order->clock[device], delay = end - order->end_ns[op];
  order->new_end_ns[op] = end;
  if (ends->keep)
    order->end_ns[op] = end;
  ends->least = delay < ends->least ? delay : ends->least;
  ends->most = regal_later(delay, ends->most);
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++) {
    uint32_t at = order->position[problem->waiter[w]];
    order->awaited = at > order->awaited ? at : order->awaited;
  }
}

/* `note`: exchanges go to the log. */
REGAL_INLINE void run_block(regal_order *order, ends *ends, uint32_t first,
                            uint32_t end, bool note) {
  bool costs = !order->problem->free_transfers;
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    uint32_t device = cell->device;
    if (cell->remote)
      fetch(order, op, device, i, note);
    if (cell->waits)
      order->clock[device] = wait_for(order, ends, op, order->clock[device]);
    order->clock[device] += cell->run_ns;
    if (cell->awaited)
      note_end(order, ends, op, device);
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

/* Whether two exchanges of devices a and b, at `kept` in the kept order and at
 * `now` in the changed one, part the ops alike. On which side the shifted op is
 * does not matter where it has nothing for the other device. */
static bool part_alike(const regal_order *order, uint32_t a, uint32_t b,
                       uint32_t kept, uint32_t now) {
  uint32_t from = order->shifted_from, to = order->shifted_to;
  const regal_problem *problem = order->problem;
  if (from == to)
    return kept == now;
  if (kept - (from < kept) != now - (to < now))
    return false;
  if ((from < kept) == (to < now))
    return true;
  uint32_t op = order->op_at[to], device = order->cells[op].device;
  if (order->flips > 0)
    return false;
  if (device != a && device != b)
    return true;
  uint32_t other = device == a ? b : a, d = problem->devices;
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    if (order->readers[(size_t)t * d + other])
      return false;
  return true;
}

/* From here on the exchanges are those of the kept order. `strictly`: they were
 * at the same positions, too. */
static bool meets(const regal_order *order, uint32_t k, bool strictly) {
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
      bool alike = strictly ? exchanged[pair] == at && !(at > low && at <= high)
                            : part_alike(order, a, b, exchanged[pair], at);
      if (!alike || mark[d + pair] != order->pending[pair])
        return false;
    }
  return true;
}

/* Whether every device that reads the k-th flipped op's outputs has exchanged
 * since with the devices that it is and was on. */
static bool is_exchanged(const regal_order *order, uint32_t k) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices, op = order->flipped[k];
  uint32_t at = order->position[op], from = order->flipped_from[k];
  uint32_t device = order->cells[op].device;
  for (size_t slot = (size_t)problem->output_begin[op] * d;
       slot < (size_t)problem->output_begin[op + 1] * d; slot++) {
    uint32_t c = slot % d;
    if (order->readers[slot] &&
        ((c != from && order->exchanged[pair_of(c, from, d)] <= at) ||
         (c != device && order->exchanged[pair_of(c, device, d)] <= at)))
      return false;
  }
  return true;
}

/* The first position from mark `k` on where an op reads what a flipped one has
 * made and its device has not got yet, or would not have got. */
static uint32_t next_reader(const regal_order *order, uint32_t k) {
  uint32_t next = REGAL_NONE;
  for (uint32_t i = 0; order->seeks_readers && i < order->flips; i++)
    if (!is_exchanged(order, i)) {
      uint32_t at = regal_order_next_reader(order, i, k << order->block_bits);
      next = at < next ? at : next;
    }
  return next;
}

/* Nobody ahead waits for anything behind. */
static bool is_quiet(const regal_order *order, uint32_t k) {
  return order->awaited < k << order->block_bits;
}

/* Everything that what is ahead depends on is later than what is kept by the
 * same; `delay` gets it. */
static bool is_delayed(const regal_order *order, const ends *ends, uint32_t k,
                       int64_t *delay) {
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  *delay = order->clock[0] - mark[0];
  for (uint32_t a = 1; a < order->problem->devices; a++)
    if (order->clock[a] - mark[a] != *delay)
      return false;
  return is_quiet(order, k) || (ends->least == *delay && ends->most == *delay);
}

/* All that is kept from mark `first` to mark `end - 1` happens later. */
static void delay_kept(regal_order *order, uint32_t first, uint32_t end,
                       int64_t delay) {
  uint32_t bits = order->block_bits;
  if (delay == 0)
    return;
  for (uint32_t k = first; k < end; k++)
    for (uint32_t a = 0; a < order->problem->devices; a++)
      order->mark_ns[(size_t)k * order->mark_size + a] += delay;
  if (!order->problem->has_waits)
    return;
  uint32_t last =
      end == order->marks_count ? order->problem->ops : (end - 1) << bits;
  for (uint32_t i = first << bits; i < last; i++)
    order->end_ns[order->op_at[i]] += delay;
}

static int64_t with_tails(const regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  const int64_t *tail = order->tails + (size_t)k * d;
  int64_t runtime = 0;
  for (uint32_t a = 0; a < d; a++)
    runtime = regal_later(runtime, order->clock[a] + tail[a]);
  return runtime;
}

/* Goes on from mark `k`, the clocks so much later than the kept ones, the ends
 * behind it by `delay`. */
static ends begin_at(regal_order *order, uint32_t k, int64_t clock_delay,
                     int64_t delay, bool keep) {
  load_mark(order, k);
  for (uint32_t a = 0; a < order->problem->devices; a++)
    order->clock[a] += clock_delay;
  bool quiet = is_quiet(order, k);
  return (ends){.keep = keep,
                .first = k << order->block_bits,
                .delay_ns = clock_delay,
                .least = quiet ? INT64_MAX : delay,
                .most = quiet ? INT64_MIN : delay};
}

/* The run time of the changed order, stretch by stretch; or, when it is more
 * than `allowed`, any number above that. `keep`: marks and ends are written on
 * the way. */
static int64_t simulate(regal_order *order, int64_t allowed, bool keep) {
  uint32_t ops = order->problem->ops, bits = order->block_bits, next = 0;
  const regal_order_stretch *touched = order->touched;
  uint32_t k = touched[0].first >> bits;
  ends ends = begin_at(order, k, 0, 0, keep);
  for (uint32_t end; (end = (k + 1) << bits) <= ops;) {
    int64_t delay;
    run_block(order, &ends, k << bits, end, false);
    k++;
    while (next < order->touched_count && touched[next].last < end)
      next++;
    uint32_t ahead =
        next < order->touched_count ? touched[next].first : REGAL_NONE;
    if (ahead >= end && meets(order, k, keep || ahead != REGAL_NONE)) {
      uint32_t read = next_reader(order, k);
      ahead = read < ahead ? read : ahead;
      bool last = ahead == REGAL_NONE;
      if (is_delayed(order, &ends, k, &delay)) {
        uint32_t to = last ? order->marks_count - 1 : ahead >> bits;
        if (keep)
          delay_kept(order, k, to + 1, delay);
        if (last)
          return order->runtime_ns + delay;
        k = to;
        ends = begin_at(order, k, keep ? 0 : delay, delay, keep);
        continue;
      }
      if (last && !keep && order->has_tails) {
        int64_t least = with_tails(order, k);
        if (least > allowed || is_quiet(order, k))
          return least;
      }
    }
    if (keep)
      save_mark(order, k);
  }
  run_block(order, &ends, k << bits, ops, false);
  return latest(order);
}

static int64_t cost(regal_order *order, int64_t allowed) {
  return simulate(order, allowed, false);
}

static void keep(regal_order *order, int64_t runtime_ns) {
  (void)runtime_ns;
  simulate(order, INT64_MAX, true);
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
  ends ends = {.keep = true};
  begin_clocks(order);
  for (uint32_t k = 0; k < order->marks_count; k++) {
    uint32_t end = (k + 1) << bits;
    save_mark(order, k);
    run_block(order, &ends, k << bits, end < ops ? end : ops, false);
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
  ends ends = {.keep = false};
  order->log_count = 0;
  begin_clocks(order);
  run_block(order, &ends, 0, ops, true);
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

const regal_order_kind regal_order_many = {cost,       keep, reset,
                                           find_tails, NULL, 3};
