/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a simulation with blocking transfers before a position, and the
 * marks that keep it: the part of anneal/order/blocking.c that knows where each
 * number is. All inlined there; `mode` is a constant.
 */
#ifndef REGAL_ANNEAL_ORDER_MOMENT_H
#define REGAL_ANNEAL_ORDER_MOMENT_H

#include <string.h>

#include "anneal/order/order.h"

/* Constants of an inlined simulation. */
typedef struct moment_mode {
  bool two;  /* devices */
  bool keep; /* marks and ends are written on the way */
  bool log;  /* exchanges go to the log; clocks do not matter */
  bool late; /* each transfer before its first reader: no state but clocks */
} moment_mode;

/* The state before a position. */
typedef struct moment {
  /* Two devices; else in the order. */
  int64_t clock0, clock1, pending_ns;
  uint32_t exchanged;
  /* Waits. `awaited`: no op after it waits for one behind. Ends of ops before
   * `first` are the kept ones plus `delay_ns`. Delays of ends that an op ahead
   * may wait for are within `least` .. `most`. */
  uint32_t awaited, first;
  int64_t delay_ns, least, most;
} moment;

static inline int64_t *moment_mark_ns(const regal_order *order, uint32_t k) {
  return order->mark_ns + (size_t)k * order->mark_size;
}

static inline void moment_load(regal_order *order, uint32_t k, int64_t delay,
                               bool late) {
  size_t d = order->problem->devices;
  const int64_t *mark = moment_mark_ns(order, k);
  for (uint32_t a = 0; a < d; a++)
    order->clock[a] = mark[a] + delay;
  if (late)
    return;
  memcpy(order->pending, mark + d, d * d * sizeof *mark);
  memcpy(order->exchanged, order->mark_exchanged + k * d * d,
         d * d * sizeof *order->exchanged);
}

/* The kept state before mark `k`, all clocks later by `clock_delay`, and the
 * ends behind it by `delay`. */
REGAL_INLINE moment moment_at(regal_order *order, uint32_t k,
                              int64_t clock_delay, int64_t delay,
                              moment_mode mode) {
  const regal_order_mark *mark = &order->marks[k];
  uint32_t position = k << order->block_bits;
  uint32_t awaited = mode.two ? mark->awaited : order->mark_awaited[k];
  bool waits = awaited >= position;
  moment now = {.awaited = awaited,
                .first = position,
                .delay_ns = clock_delay,
                .least = waits ? delay : INT64_MAX,
                .most = waits ? delay : INT64_MIN};
  if (mode.two) {
    now.clock0 = mark->clock[0] + clock_delay;
    now.clock1 = mark->clock[1] + clock_delay;
    now.pending_ns = mark->pending_ns;
    now.exchanged = mark->exchanged;
  } else {
    moment_load(order, k, clock_delay, mode.late);
  }
  return now;
}

REGAL_INLINE void moment_save(regal_order *order, uint32_t k, moment now,
                              moment_mode mode) {
  size_t d = order->problem->devices;
  if (mode.two) {
    order->marks[k] = (regal_order_mark){
        {now.clock0, now.clock1}, now.pending_ns, now.exchanged, now.awaited};
    return;
  }
  order->mark_awaited[k] = now.awaited;
  memcpy(moment_mark_ns(order, k), order->clock, d * sizeof *order->clock);
  if (mode.late)
    return;
  memcpy(moment_mark_ns(order, k) + d, order->pending,
         d * d * sizeof *order->pending);
  memcpy(order->mark_exchanged + k * d * d, order->exchanged,
         d * d * sizeof *order->exchanged);
}

/* All that is kept from mark `first` to mark `end - 1` happens later. */
REGAL_INLINE void moment_delay_kept(regal_order *order, uint32_t first,
                                    uint32_t end, int64_t delay,
                                    moment_mode mode) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  uint32_t d = order->problem->devices;
  if (delay == 0)
    return;
  for (uint32_t k = first; k < end; k++) {
    int64_t *clock =
        mode.two ? order->marks[k].clock : moment_mark_ns(order, k);
    for (uint32_t a = 0; a < (mode.two ? 2 : d); a++)
      clock[a] += delay;
  }
  if (!order->problem->has_waits)
    return;
  uint32_t last = end == order->marks_count ? ops : (end - 1) << bits;
  for (uint32_t i = first << bits; i < last; i++)
    order->end_ns[order->op_at[i]] += delay;
}

REGAL_INLINE int64_t moment_clock(const regal_order *order, moment now,
                                  uint32_t device, moment_mode mode) {
  if (!mode.two)
    return order->clock[device];
  return device ? now.clock1 : now.clock0;
}

/* Branches on the device would be mispredicted half of the time. */
REGAL_INLINE moment moment_advance(regal_order *order, moment now,
                                   uint32_t device, int64_t by_ns,
                                   moment_mode mode) {
  if (!mode.two)
    order->clock[device] += by_ns;
  now.clock0 += device ? 0 : by_ns;
  now.clock1 += device ? by_ns : 0;
  return now;
}

REGAL_INLINE uint32_t moment_kept_awaited(const regal_order *order, uint32_t k,
                                          moment_mode mode) {
  return mode.two ? order->marks[k].awaited : order->mark_awaited[k];
}

/* Nobody ahead waits for anything behind, neither now nor in what is kept. */
REGAL_INLINE bool moment_is_quiet(const regal_order *order, uint32_t k,
                                  moment now, moment_mode mode) {
  uint32_t position = k << order->block_bits;
  return now.awaited < position &&
         moment_kept_awaited(order, k, mode) < position;
}

/* Everything that what is ahead depends on is later than what is kept by the
 * same; `delay` gets it. */
REGAL_INLINE bool moment_is_delayed(const regal_order *order, uint32_t k,
                                    moment now, int64_t *delay,
                                    moment_mode mode) {
  const int64_t *clock =
      mode.two ? order->marks[k].clock : moment_mark_ns(order, k);
  uint32_t d = mode.two ? 2 : order->problem->devices;
  *delay = moment_clock(order, now, 0, mode) - clock[0];
  for (uint32_t a = 1; a < d; a++)
    if (moment_clock(order, now, a, mode) - clock[a] != *delay)
      return false;
  return moment_is_quiet(order, k, now, mode) ||
         (now.awaited == moment_kept_awaited(order, k, mode) &&
          now.least == *delay && now.most == *delay);
}

/* -- Exchanges between several devices ------------------------------------- */

/* Pairs are kept at [smaller * d + larger]. */
static inline uint32_t moment_pair(uint32_t a, uint32_t b, uint32_t d) {
  return a < b ? a * d + b : b * d + a;
}

/* Whether two exchanges of devices a and b, at `kept` in the kept order and at
 * `now` in the changed one, part the ops alike. On which side the shifted op is
 * does not matter where it has nothing for the other device. */
static inline bool moment_parts_alike(const regal_order *order, uint32_t a,
                                      uint32_t b, uint32_t kept, uint32_t now) {
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
  for (REGAL_ROW(t, problem->output_begin, op))
    if (order->readers[(size_t)t * d + other])
      return false;
  return true;
}

static inline bool moment_meets_many(const regal_order *order, uint32_t k,
                                     bool strictly) {
  size_t d = order->problem->devices;
  const uint32_t *exchanged = order->mark_exchanged + k * d * d;
  const int64_t *pending = moment_mark_ns(order, k) + d;
  for (uint32_t a = 0; a < d; a++)
    for (uint32_t b = a + 1; b < d; b++) {
      size_t pair = a * d + b;
      uint32_t at = order->exchanged[pair];
      bool alike =
          strictly ? exchanged[pair] == at && !regal_order_is_crossed(order, at)
                   : moment_parts_alike(order, a, b, exchanged[pair], at);
      if (!alike || pending[pair] != order->pending[pair])
        return false;
    }
  return true;
}

/* Whether every device that reads the k-th flipped op's outputs has exchanged
 * since with the devices that it is and was on. */
static inline bool moment_is_exchanged(const regal_order *order, uint32_t k) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices, op = order->flipped[k];
  uint32_t at = order->position[op], from = order->flipped_from[k];
  uint32_t device = order->cells[op].device;
  for (REGAL_ORDER_SLOTS(slot, problem, op)) {
    uint32_t c = slot % d;
    if (order->readers[slot] &&
        ((c != from && order->exchanged[moment_pair(c, from, d)] <= at) ||
         (c != device && order->exchanged[moment_pair(c, device, d)] <= at)))
      return false;
  }
  return true;
}

#endif
