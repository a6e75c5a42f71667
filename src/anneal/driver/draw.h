/* SPDX-License-Identifier: Apache-2.0 */
/* Random choices that moves of several annealers make. Inline: a move is a few
 * hundred nanoseconds. */
#ifndef REGAL_ANNEAL_DRIVER_DRAW_H
#define REGAL_ANNEAL_DRIVER_DRAW_H

#include "base/random.h"
#include "cost/model/problem.h"

/* One of the other devices. */
static inline uint32_t regal_draw_device(regal_random *random, uint32_t devices,
                                         uint32_t other_than) {
  uint32_t device = (uint32_t)regal_random_below(random, devices - 1);
  return device + (device >= other_than);
}

/* The producer of one of the op's inputs, or a successor; an op that has none
 * is its own neighbour. */
static inline uint32_t regal_draw_neighbour(regal_random *random,
                                            const regal_problem *problem,
                                            uint32_t op) {
  uint32_t ins = problem->input_begin[op + 1] - problem->input_begin[op];
  uint32_t outs =
      problem->successor_begin[op + 1] - problem->successor_begin[op];
  if (ins + outs == 0)
    return op;
  uint32_t k = (uint32_t)regal_random_below(random, ins + outs);
  return k < ins
             ? problem->producer[problem->input[problem->input_begin[op] + k]]
             : problem->successor[problem->successor_begin[op] + k - ins];
}

#endif
