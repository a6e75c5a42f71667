/* SPDX-License-Identifier: Apache-2.0 */
/* Running cost of a plan that is being made step by step: clocks, links and
 * memory. Inlined into the simulator and every decoder, so that the model's
 * fast form is written once; the verifier is its independent second form.
 *
 * Time. Each device has a clock, the end of its last step. An op starts at its
 * device's clock, or later where it waits: for a control edge, or for a tensor
 * that arrives over a link. A blocking transfer starts at the later of both
 * clocks and sets both. An overlapped one starts when its link is free and its
 * tensor made; it delays only those who read it there.
 *
 * Memory. left[tensor, device] counts the local uses to come: the readers on
 * the device, and at home also the transfers out and the end of the plan if the
 * tensor is final. All of them follow from the placement, so they are counted
 * before the first step. A tensor's bytes are added when it is made or arrives,
 * and taken off when its count falls to 0. The peak is looked at while an op
 * runs, with its inputs, outputs and temporary bytes, less what its outputs
 * take over from dying inputs.
 *
 * The flags `memory` and `overlapped` are compile-time constants where it is
 * called from: the code for what a problem does not need disappears. Maxima are
 * computed without branches, because which of two clocks is later is as good as
 * random.
 */
#ifndef REGAL_COST_MODEL_RUNNING_COST_H
#define REGAL_COST_MODEL_RUNNING_COST_H

#include <string.h>

#include "base/carve.h"
#include "cost/model/fitness.h"

typedef struct regal_running_cost {
  int64_t *ready_ns; /* [ops+1] earliest start: waits, arrivals; last is 0 */
  int64_t *end_ns;   /* [ops] when an op ended; overlapped only */
  int64_t *link_ns;  /* [devices * devices] link is free; overlapped only */
  uint32_t *left;    /* [tensors * devices] local uses to come; memory only */
  int64_t clock_ns[REGAL_MAX_DEVICES];
  int64_t memory[REGAL_MAX_DEVICES];
  int64_t peak[REGAL_MAX_DEVICES];
} regal_running_cost;

static inline void regal_running_cost_layout(regal_running_cost *running,
                                             regal_carver *carver,
                                             const regal_problem *problem) {
  size_t d = problem->devices;
  running->ready_ns = regal_carve(carver, (size_t)problem->ops + 2, 8);
  running->end_ns = regal_carve(carver, problem->ops, 8);
  running->link_ns = regal_carve(carver, d * d, 8);
  running->left = regal_carve(carver, problem->tensors * d, 4);
}

/* Counts the local uses of every tensor: consumers on the device, and on the
 * producer's device also the transfers out and the end of the plan. */
REGAL_INLINE void regal_running_cost_count_uses(regal_running_cost *running,
                                                const regal_problem *problem,
                                                const uint8_t *placement) {
  uint32_t d = problem->devices;
  memset(running->left, 0, (size_t)problem->tensors * d * 4);
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t *left = running->left + (size_t)t * d;
    uint32_t home = placement[problem->producer[t]];
    for (REGAL_ROW(u, problem->use_begin, t)) {
      uint32_t device = placement[problem->consumer[u]];
      /* the first remote use brings a transfer, which is a use at home */
      left[home] += device != home && left[device] == 0;
      left[device]++;
    }
    left[home] += problem->is_final[t];
  }
}

/* What each device holds for the whole plan. */
REGAL_INLINE void regal_running_cost_hold(regal_running_cost *running,
                                          const regal_problem *problem,
                                          const uint8_t *placement) {
  memset(running->memory, 0, problem->devices * sizeof(int64_t));
  for (uint32_t op = 0; op < problem->ops; op++)
    running->memory[placement[op]] += problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++) {
    uint64_t holders = 0;
    for (REGAL_ROW(r, problem->reader_begin, p))
      holders |= UINT64_C(1) << placement[problem->reader[r]];
    for (; holders; holders &= holders - 1)
      running->memory[__builtin_ctzll(holders)] += problem->shared_bytes[p];
  }
}

/* What is in memory before the first step. */
REGAL_INLINE void
regal_running_cost_place_resident(regal_running_cost *running,
                                  const regal_problem *problem,
                                  const uint8_t *placement) {
  uint32_t d = problem->devices;
  regal_running_cost_hold(running, problem, placement);
  memcpy(running->peak, running->memory, d * sizeof(int64_t));
}

/* Clocks and links at time 0. */
REGAL_INLINE void regal_running_cost_begin_time(regal_running_cost *running,
                                                const regal_problem *problem,
                                                bool overlapped) {
  uint32_t d = problem->devices;
  memset(running->clock_ns, 0, d * sizeof(int64_t));
  if (overlapped || problem->has_waits)
    memset(running->ready_ns, 0, problem->ops * sizeof(int64_t));
  if (overlapped)
    memset(running->link_ns, 0, (size_t)d * d * sizeof(int64_t));
}

REGAL_INLINE void regal_running_cost_begin(regal_running_cost *running,
                                           const regal_problem *problem,
                                           const uint8_t *placement,
                                           bool memory, bool overlapped) {
  regal_running_cost_begin_time(running, problem, overlapped);
  if (!memory)
    return;
  regal_running_cost_place_resident(running, problem, placement);
  regal_running_cost_count_uses(running, problem, placement);
}

/* Where a condition is as good as random, a branch is mispredicted half of the
 * time. These two leave the compiler no branch: GCC makes one of every other
 * form of the first, so that it gets the instruction itself. `wanted` is 0 or
 * 1. */
REGAL_INLINE int64_t regal_choose(int64_t wanted, int64_t a, int64_t b) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  __asm__("test %1, %1\n\tcmovne %2, %0"
          : "+r"(b)
          : "r"(wanted), "r"(a)
          : "cc");
  return b;
#else
  return b ^ ((a ^ b) & -wanted);
#endif
}

REGAL_INLINE int64_t regal_later(int64_t a, int64_t b) {
  return __builtin_expect_with_probability(a > b, 1, 0.5) ? a : b;
}

REGAL_INLINE void regal_running_cost_run_memory(regal_running_cost *running,
                                                const regal_problem *problem,
                                                uint32_t op, uint32_t device) {
  uint32_t d = problem->devices;
  int64_t memory = running->memory[device];
  uint32_t first = problem->output_begin[op];
  uint32_t end = problem->output_begin[op + 1];
  for (uint32_t t = first; t < end; t++)
    memory += problem->bytes[t];
  int64_t during = memory + problem->graph->temporary_bytes[op];
  if (problem->reuses && problem->reuses[op])
    during -= regal_problem_reuse(problem, op, running->left + device, d);
  running->peak[device] = regal_later(running->peak[device], during);
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    uint32_t left = --running->left[(size_t)t * d + device];
    memory -= left ? 0 : problem->bytes[t];
  }
  for (uint32_t t = first; t < end; t++)
    memory -= running->left[(size_t)t * d + device] ? 0 : problem->bytes[t];
  running->memory[device] = memory;
}

REGAL_INLINE void regal_running_cost_run(regal_running_cost *running,
                                         const regal_problem *problem,
                                         uint32_t op, uint32_t device,
                                         bool memory, bool overlapped) {
  int64_t end = running->clock_ns[device];
  if (overlapped || problem->has_waits)
    end = regal_later(end, running->ready_ns[op]);
  end += regal_problem_run_ns(problem, op, device);
  running->clock_ns[device] = end;
  if (overlapped)
    running->end_ns[op] = end;
  if (memory)
    regal_running_cost_run_memory(running, problem, op, device);
  if (problem->has_waits)
    for (REGAL_ROW(w, problem->wait_begin, op)) {
      uint32_t waiter = problem->waiter[w];
      running->ready_ns[waiter] = regal_later(running->ready_ns[waiter], end);
    }
}

REGAL_INLINE void regal_running_cost_send_memory(regal_running_cost *running,
                                                 const regal_problem *problem,
                                                 uint32_t tensor, uint32_t from,
                                                 uint32_t to) {
  int64_t bytes = problem->bytes[tensor];
  running->memory[to] += bytes;
  running->peak[to] = regal_later(running->peak[to], running->memory[to]);
  if (--running->left[(size_t)tensor * problem->devices + from] == 0)
    running->memory[from] -= bytes;
}

REGAL_INLINE void regal_running_cost_send(regal_running_cost *running,
                                          const regal_problem *problem,
                                          const uint8_t *placement,
                                          uint32_t tensor, uint32_t from,
                                          uint32_t to, bool memory,
                                          bool overlapped) {
  uint32_t d = problem->devices;
  int64_t cost = regal_problem_transfer_ns(problem, tensor, from, to);
  if (overlapped) {
    int64_t *link = &running->link_ns[from * d + to];
    int64_t end =
        cost + regal_later(*link, running->end_ns[problem->producer[tensor]]);
    *link = end;
    for (REGAL_ROW(u, problem->use_begin, tensor)) {
      uint32_t op = problem->consumer[u];
      if (placement[op] == to)
        running->ready_ns[op] = regal_later(running->ready_ns[op], end);
    }
  } else {
    int64_t end =
        cost + regal_later(running->clock_ns[from], running->clock_ns[to]);
    running->clock_ns[from] = end;
    running->clock_ns[to] = end;
  }
  if (memory)
    regal_running_cost_send_memory(running, problem, tensor, from, to);
}

REGAL_INLINE int64_t regal_running_cost_runtime(
    const regal_running_cost *running, uint32_t devices) {
  int64_t runtime = 0;
  for (uint32_t a = 0; a < devices; a++)
    runtime = regal_later(runtime, running->clock_ns[a]);
  return runtime;
}

REGAL_INLINE regal_fitness
regal_running_cost_fitness(const regal_running_cost *running,
                           const regal_problem *problem, bool memory) {
  regal_fitness fitness = {0, 0, 0};
  int64_t runtime = regal_running_cost_runtime(running, problem->devices);
  int64_t peak = 0;
  if (memory)
    for (uint32_t a = 0; a < problem->devices; a++) {
      peak = regal_later(peak, running->peak[a]);
      fitness.excess += regal_later(0, running->peak[a] - problem->limit[a]);
    }
  if (problem->objective == REGAL_MEMORY) {
    fitness.value = peak;
    fitness.tie = runtime;
  } else {
    fitness.value = runtime;
  }
  return fitness;
}

#endif
