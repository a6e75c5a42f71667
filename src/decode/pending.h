/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that wait where they were made until somebody needs them elsewhere:
 * the rule of batched transfers. When an op needs a tensor from device s on its
 * device b, all that is pending between s and b, both ways, travels at that
 * moment: with blocking transfers every transfer is a barrier, so that few and
 * full ones are best.
 *
 * Positions count ops from 1 in the order in which they run. An op needs an
 * exchange with s if its latest input from there was made after the last
 * exchange of the pair.
 */
#ifndef REGAL_DECODE_PENDING_H
#define REGAL_DECODE_PENDING_H

#include "base/carve.h"
#include "cost/model/plan.h"
#include "cost/model/running_cost.h"

typedef struct regal_pending {
  uint32_t *exchanged; /* [devices * devices] position of the last exchange */
  int64_t *cost_ns;    /* [devices * devices] of what is pending */
  /* Lists of pending tensors, for each ordered pair, oldest first. */
  uint32_t *first, *last; /* [devices * devices] tensor, or REGAL_NONE */
  uint32_t *after;        /* [tensors * devices] next one for that receiver */
} regal_pending;

/* What the cost of a plan depends on; a constant where it is inlined. */
typedef struct regal_pending_mode {
  bool memory, overlapped;
  bool lists; /* tensors are listed, not only their cost summed up */
} regal_pending_mode;

static inline void regal_pending_layout(regal_pending *pending,
                                        regal_carver *carver,
                                        const regal_problem *problem) {
  size_t d = problem->devices;
  pending->exchanged = regal_carve(carver, d * d, 4);
  pending->cost_ns = regal_carve(carver, d * d, 8);
  pending->first = regal_carve(carver, d * d, 4);
  pending->last = regal_carve(carver, d * d, 4);
  pending->after = regal_carve(carver, problem->tensors * d, 4);
}

static inline void regal_pending_begin(regal_pending *pending, uint32_t d) {
  memset(pending->exchanged, 0, (size_t)d * d * sizeof *pending->exchanged);
  memset(pending->cost_ns, 0, (size_t)d * d * sizeof *pending->cost_ns);
  memset(pending->first, 0xff, (size_t)d * d * sizeof *pending->first);
}

static inline void regal_pending_append(regal_pending *pending, uint32_t d,
                                        uint32_t tensor, uint32_t from,
                                        uint32_t to) {
  uint32_t link = from * d + to;
  pending->after[(size_t)tensor * d + to] = REGAL_NONE;
  if (pending->first[link] == REGAL_NONE)
    pending->first[link] = tensor;
  else
    pending->after[(size_t)pending->last[link] * d + to] = tensor;
  pending->last[link] = tensor;
}

/* Adds what an op made to what is pending for other devices. */
REGAL_INLINE void regal_pending_add(regal_pending *pending,
                                    const regal_problem *problem,
                                    const uint8_t *placement, uint32_t op,
                                    regal_pending_mode mode) {
  uint32_t d = problem->devices, device = placement[op];
  for (REGAL_ROW(t, problem->output_begin, op)) {
    uint64_t mask = 0;
    for (REGAL_ROW(u, problem->use_begin, t))
      mask |= UINT64_C(1) << placement[problem->consumer[u]];
    mask &= ~(UINT64_C(1) << device);
    for (; mask; mask &= mask - 1) {
      uint32_t to = (uint32_t)__builtin_ctzll(mask);
      if (mode.lists)
        regal_pending_append(pending, d, t, device, to);
      else
        pending->cost_ns[device * d + to] +=
            regal_problem_transfer_ns(problem, t, device, to);
    }
  }
}

REGAL_INLINE void regal_pending_send(regal_pending *pending,
                                     regal_running_cost *running,
                                     const regal_problem *problem,
                                     const uint8_t *placement, uint32_t from,
                                     uint32_t to, regal_plan *plan,
                                     regal_pending_mode mode) {
  uint32_t d = problem->devices, link = from * d + to;
  for (uint32_t tensor = pending->first[link]; tensor != REGAL_NONE;
       tensor = pending->after[(size_t)tensor * d + to]) {
    regal_running_cost_send(running, problem, placement, tensor, from, to,
                            mode.memory, mode.overlapped);
    regal_plan_add_send(plan, problem, tensor, from, to);
  }
  pending->first[link] = REGAL_NONE;
}

/* All that is pending between two devices travels, before `position`. */
REGAL_INLINE void
regal_pending_exchange(regal_pending *pending, regal_running_cost *running,
                       const regal_problem *problem, const uint8_t *placement,
                       uint32_t from, uint32_t to, uint32_t position,
                       regal_plan *plan, regal_pending_mode mode) {
  uint32_t d = problem->devices;
  uint32_t there = from * d + to, back = to * d + from;
  pending->exchanged[there] = pending->exchanged[back] = position - 1;
  if (mode.lists) {
    regal_pending_send(pending, running, problem, placement, from, to, plan,
                       mode);
    regal_pending_send(pending, running, problem, placement, to, from, plan,
                       mode);
    return;
  }
  int64_t *clock = running->clock_ns;
  int64_t end = regal_later(clock[from], clock[to]);
  end += pending->cost_ns[there] + pending->cost_ns[back];
  pending->cost_ns[there] = pending->cost_ns[back] = 0;
  clock[from] = clock[to] = end;
}

#endif
