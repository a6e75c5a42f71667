/* SPDX-License-Identifier: Apache-2.0 */
/* Which op a move is about: see anneal/peak/peak.h.
 *
 * The energy depends on what is in memory where it is crowded, above the
 * reference. Of moves of ops that are drawn evenly nine in ten change nothing
 * there. So most moves are about an op that runs at such a position, or about
 * one that makes or reads a tensor that is alive there; a few about one that
 * holds parameters, which are alive everywhere.
 */
#include "anneal/memory/readers.h"
#include "anneal/peak/peak.h"

/* Of 16 moves. */
#define ANY 2
#define HOLDING 1
#define CROWDED 6 /* ops that run there; all others by their tensors */

void regal_peak_find_crowded(regal_peak *chain, uint32_t moves) {
  /* The list may be out of date, but it has ops, which exist at any time. */
  chain->crowded_age += moves;
  if (chain->crowded_age < chain->crowded_count / 4)
    return;
  chain->crowded_age = chain->crowded_count = 0;
  const regal_memory *m = &chain->memory;
  for (uint32_t block = 0; block < m->blocks; block++) {
    uint32_t from = block << m->shift, end = from + (1u << m->shift);
    end = end < chain->ops ? end : chain->ops;
    if (m->block_soft[block] <= 0)
      continue;
    for (uint32_t i = from; i < end; i++)
      if (m->soft[i] > 0)
        chain->crowded[chain->crowded_count++] = chain->order[i];
  }
}

/* Whether any device has the tensor, made before position `at`, until there. */
static bool is_alive(const void *state, uint32_t tensor, uint32_t device,
                     uint32_t at) {
  (void)device;
  const regal_peak *chain = state;
  const regal_memory *m = &chain->memory;
  uint32_t gone = m->gone[tensor];
  if (gone == REGAL_NONE || m->position[gone] >= at)
    return true;
  if (m->devices == 1)
    return false;
  const uint32_t *last = m->last + (size_t)tensor * m->devices;
  for (uint64_t left = m->remote[tensor]; left; left &= left - 1)
    if (m->position[last[__builtin_ctzll(left)]] >= at)
      return true;
  return false;
}

/* The producer, or a reader, and often the one that frees it. */
static uint32_t draw_side(regal_peak *chain, uint32_t tensor) {
  const regal_problem *problem = chain->problem;
  uint32_t from = problem->use_begin[tensor];
  uint32_t uses = problem->use_begin[tensor + 1] - from;
  if (uses == 0 || regal_peak_draw(chain, 2))
    return problem->producer[tensor];
  if (chain->memory.gone[tensor] != REGAL_NONE && regal_peak_draw(chain, 2))
    return chain->memory.gone[tensor];
  return problem->consumer[from + regal_peak_draw(chain, uses)];
}

uint32_t regal_peak_draw_crowded(regal_peak *chain) {
  return chain->crowded[regal_peak_draw(chain, chain->crowded_count)];
}

uint32_t regal_peak_draw_op(regal_peak *chain) {
  uint32_t kind = regal_peak_draw(chain, 16);
  chain->goal = REGAL_NONE;
  if (kind < HOLDING && chain->holding_count)
    return chain->holding[regal_peak_draw(chain, chain->holding_count)];
  if (kind < HOLDING + ANY || chain->crowded_count == 0)
    return regal_peak_draw(chain, chain->ops);
  uint32_t op = regal_peak_draw_crowded(chain);
  if (kind < HOLDING + ANY + CROWDED)
    return op;
  uint32_t at = chain->position[op],
           tensor = regal_memory_draw_held(chain->problem, chain->order, at, 0,
                                           is_alive, chain, &chain->random);
  if (tensor == REGAL_NONE)
    return op;
  chain->goal = at;
  return draw_side(chain, tensor);
}
