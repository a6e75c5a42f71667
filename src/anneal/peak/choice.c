/* SPDX-License-Identifier: Apache-2.0 */
/* Which op a move is about: see memory_anneal.h.
 *
 * The energy depends on what is in memory where it is crowded, above the
 * reference. Of moves of ops that are drawn evenly nine in ten change nothing
 * there. So most moves are about an op that runs at such a position, or about
 * one that makes or reads a tensor that is alive there; a few about one that
 * holds parameters, which are alive everywhere.
 */
#include "anneal/peak/peak.h"

/* Of 16 moves. */
#define ANY 2
#define HOLDING 1
#define CROWDED 6 /* ops that run there; all others by their tensors */
#define TRIES 8   /* for a tensor that is alive */

void regal_memory_find_crowded(regal_memory_chain *chain, uint32_t moves) {
  /* The list may be out of date, but it has ops, which exist at any time. */
  chain->crowded_age += moves;
  if (chain->crowded_age < chain->crowded_count / 4)
    return;
  chain->crowded_age = chain->crowded_count = 0;
  for (uint32_t block = 0; block < chain->blocks; block++) {
    uint32_t from = block << chain->shift, end = from + (1u << chain->shift);
    end = end < chain->ops ? end : chain->ops;
    if (chain->block_soft[block] <= 0)
      continue;
    for (uint32_t i = from; i < end; i++)
      if (chain->soft[i] > 0)
        chain->crowded[chain->crowded_count++] = chain->order[i];
  }
}

/* Whether a device has the tensor, made before position `at`, until there. */
static bool is_alive(const regal_memory_chain *chain, uint32_t tensor,
                     uint32_t at) {
  uint32_t gone = chain->gone[tensor];
  if (gone == REGAL_NONE || chain->position[gone] >= at)
    return true;
  if (chain->devices == 1)
    return false;
  const uint32_t *last = chain->last + (size_t)tensor * chain->devices;
  for (uint64_t left = chain->remote[tensor]; left; left &= left - 1)
    if (chain->position[last[__builtin_ctzll(left)]] >= at)
      return true;
  return false;
}

/* A tensor that is alive at the position; REGAL_NONE if none was found. */
static uint32_t draw_alive(regal_memory_chain *chain, uint32_t at) {
  const regal_problem *problem = chain->problem;
  for (uint32_t tries = 0; tries < TRIES; tries++) {
    uint32_t by = chain->order[regal_memory_draw(chain, at + 1)];
    uint32_t outputs =
        problem->output_begin[by + 1] - problem->output_begin[by];
    if (outputs == 0)
      continue;
    uint32_t t = problem->output_begin[by] + regal_memory_draw(chain, outputs);
    if (problem->bytes[t] && is_alive(chain, t, at))
      return t;
  }
  return REGAL_NONE;
}

/* The producer, or a reader, and often the one that frees it. */
static uint32_t draw_side(regal_memory_chain *chain, uint32_t tensor) {
  const regal_problem *problem = chain->problem;
  uint32_t from = problem->use_begin[tensor];
  uint32_t uses = problem->use_begin[tensor + 1] - from;
  if (uses == 0 || regal_memory_draw(chain, 2))
    return problem->producer[tensor];
  if (chain->gone[tensor] != REGAL_NONE && regal_memory_draw(chain, 2))
    return chain->gone[tensor];
  return problem->consumer[from + regal_memory_draw(chain, uses)];
}

uint32_t regal_memory_draw_crowded(regal_memory_chain *chain) {
  return chain->crowded[regal_memory_draw(chain, chain->crowded_count)];
}

uint32_t regal_memory_draw_op(regal_memory_chain *chain) {
  uint32_t kind = regal_memory_draw(chain, 16);
  chain->goal = REGAL_NONE;
  if (kind < HOLDING && chain->holding_count)
    return chain->holding[regal_memory_draw(chain, chain->holding_count)];
  if (kind < HOLDING + ANY || chain->crowded_count == 0)
    return regal_memory_draw(chain, chain->ops);
  uint32_t op = regal_memory_draw_crowded(chain);
  if (kind < HOLDING + ANY + CROWDED)
    return op;
  uint32_t at = chain->position[op], tensor = draw_alive(chain, at);
  if (tensor == REGAL_NONE)
    return op;
  chain->goal = at;
  return draw_side(chain, tensor);
}
