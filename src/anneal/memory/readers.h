/* SPDX-License-Identifier: Apache-2.0 */
/* Who reads a tensor, along an order; and a random tensor that may be held at a
 * position. Shared by the annealers that count memory. */
#ifndef REGAL_ANNEAL_MEMORY_READERS_H
#define REGAL_ANNEAL_MEMORY_READERS_H

#include "base/random.h"
#include "cost/model/problem.h"

typedef struct regal_memory_readers {
  uint32_t home;   /* the producer's device */
  uint32_t local;  /* the last reader there, or the producer */
  uint64_t remote; /* a bit for each other device with a reader; on these */
  uint32_t first[REGAL_MAX_DEVICES], last[REGAL_MAX_DEVICES];
} regal_memory_readers;

REGAL_INLINE void regal_memory_find_readers(const regal_problem *problem,
                                            const uint32_t *position,
                                            const uint8_t *placement,
                                            uint32_t tensor,
                                            regal_memory_readers *found) {
  uint32_t local = problem->producer[tensor], home = placement[local];
  uint64_t remote = 0;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t op = problem->consumer[u], device = placement[op];
    uint64_t bit = UINT64_C(1) << device;
    if (device == home) {
      local = position[op] > position[local] ? op : local;
    } else if (!(remote & bit)) {
      remote |= bit;
      found->first[device] = found->last[device] = op;
    } else if (position[op] < position[found->first[device]]) {
      found->first[device] = op;
    } else if (position[op] > position[found->last[device]]) {
      found->last[device] = op;
    }
  }
  found->home = home;
  found->local = local;
  found->remote = remote;
}

/* Whether the device has the tensor at the position. */
typedef bool (*regal_memory_held_fn)(const void *state, uint32_t tensor,
                                     uint32_t device, uint32_t at);

/* A tensor made up to the position and held there; REGAL_NONE if none was found
 * in a few tries. */
REGAL_INLINE uint32_t regal_memory_draw_held(const regal_problem *problem,
                                             const uint32_t *order, uint32_t at,
                                             uint32_t device,
                                             regal_memory_held_fn is_held,
                                             const void *state,
                                             regal_random *random) {
  for (uint32_t tries = 0; tries < 8; tries++) {
    uint32_t by = order[regal_random_below(random, (uint64_t)at + 1)];
    uint32_t first = problem->output_begin[by];
    uint32_t outputs = problem->output_begin[by + 1] - first;
    if (outputs == 0)
      continue;
    uint32_t tensor = first + (uint32_t)regal_random_below(random, outputs);
    if (problem->bytes[tensor] && is_held(state, tensor, device, at))
      return tensor;
  }
  return REGAL_NONE;
}

#endif
