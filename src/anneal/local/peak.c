/* SPDX-License-Identifier: Apache-2.0 */
/* Local search for peak memory, on the events of anneal/peak/peak.h: to
 * shift an op, or to change its device, changes the events of its tensors
 * alone, and then the profile is looked at where it can matter. Every transfer
 * is late, just before its first reader.
 *
 * The chain is the annealer's, with an energy that is the peak and nothing
 * else.
 */
#include <math.h>

#include "anneal/driver/annealers.h"
#include "anneal/local/local.h"
#include "anneal/peak/peak.h"

typedef regal_memory_chain chain_t;

static bool suits(const regal_problem *problem) {
  return regal_annealer_memory.suits(problem);
}

static regal_status create(regal_context *context, const regal_problem *problem,
                           void **state) {
  REGAL_TRY(regal_annealer_memory.create(context, problem, state));
  chain_t *chain = *state;
  chain->weight = chain->price = 0;
  for (uint32_t b = 0; b < chain->devices; b++)
    chain->reference[b] = INFINITY; /* nothing is above: blocks are skipped */
  memset(chain->early, 0, problem->tensors);
  return REGAL_OK;
}

static void set_fitness(const chain_t *chain, regal_fitness *fitness) {
  *fitness = (regal_fitness){(int64_t)chain->cost.excess,
                             (int64_t)chain->cost.value, INT64_MAX};
}

static void begin(void *state, const uint32_t *order, const uint8_t *placement,
                  regal_fitness *fitness) {
  chain_t *chain = state;
  memcpy(chain->order, order, chain->ops * sizeof *order);
  memcpy(chain->placement, placement, chain->ops);
  for (uint32_t i = 0; i < chain->ops; i++)
    chain->position[order[i]] = i;
  regal_memory_rebuild_events(chain);
  regal_memory_rebuild_profile(chain);
  set_fitness(chain, fitness);
}

/* The first and last position to which an op can be shifted. */
static void find_range(const chain_t *chain, uint32_t op, uint32_t *first,
                       uint32_t *last) {
  const regal_problem *problem = chain->problem;
  uint32_t low = 0, high = chain->ops;
  for (uint32_t k = chain->pred_begin[op]; k < chain->pred_begin[op + 1]; k++) {
    uint32_t after = chain->position[chain->pred[k]] + 1;
    low = after > low ? after : low;
  }
  for (uint32_t k = problem->successor_begin[op];
       k < problem->successor_begin[op + 1]; k++) {
    uint32_t at = chain->position[problem->successor[k]];
    high = at < high ? at : high;
  }
  *first = low;
  *last = high - 1;
}

/* Everything between keeps its order, so that only the events of what this op
 * reads can change hands. */
static void shift(chain_t *chain, uint32_t op, uint32_t to) {
  uint32_t from = chain->position[op], low = from < to ? from : to;
  uint32_t high = from < to ? to : from, count = high - low + 1;
  uint32_t *order = chain->order + low;
  memcpy(chain->window, order, count * sizeof *order);
  if (from < to)
    memmove(order, order + 1, (count - 1) * sizeof *order);
  else
    memmove(order + 1, order, (count - 1) * sizeof *order);
  chain->order[to] = op;
  for (uint32_t i = low; i <= high; i++)
    chain->position[chain->order[i]] = i;
  chain->window_low = low;
  chain->window_count = count;
  for (uint32_t k = chain->live_begin[op]; k < chain->live_begin[op + 1]; k++)
    regal_memory_touch_tensor(chain, chain->live[k]);
  for (uint32_t k = low >> chain->shift; k <= high >> chain->shift; k++)
    chain->block_mark[k] = chain->serial;
  regal_memory_touch(chain, low);
  regal_memory_touch(chain, high);
}

/* False: this op can do nothing. */
static bool change(chain_t *chain, regal_random *random) {
  regal_local_move move = regal_local_draw(chain->problem, random);
  uint32_t first, last, op = move.op, at = chain->position[op];
  uint64_t others =
      chain->problem->allowed[op] & ~(UINT64_C(1) << chain->placement[op]);
  find_range(chain, op, &first, &last);
  if (others && (move.flip || first == last)) {
    regal_memory_place(chain, op, regal_local_pick(others, random));
    return true;
  }
  if (first == last)
    return false;
  uint32_t to = first + (uint32_t)regal_random_below(random, last - first);
  shift(chain, op, to + (to >= at));
  return true;
}

static bool step(void *state, regal_random *random, regal_fitness *fitness) {
  chain_t *chain = state;
  regal_memory_cost cost;
  regal_memory_begin_move(chain);
  if (!change(chain, random))
    return false;
  regal_memory_settle(chain);
  if (chain->low > chain->high)
    return false; /* no event: the same plan, by another name */
  double allowed = chain->problem->limited ? INFINITY : chain->cost.energy;
  if (chain->overflow || !regal_memory_evaluate(chain, allowed, &cost) ||
      cost.excess > chain->cost.excess ||
      (cost.excess == chain->cost.excess && cost.value > chain->cost.value)) {
    regal_memory_undo_move(chain);
    return false;
  }
  bool better =
      cost.excess < chain->cost.excess || cost.value < chain->cost.value;
  regal_memory_commit(chain, &cost);
  set_fitness(chain, fitness);
  return better;
}

static void read(const void *state, uint32_t *order, uint8_t *placement) {
  const chain_t *chain = state;
  memcpy(order, chain->order, chain->ops * sizeof *order);
  memcpy(placement, chain->placement, chain->ops);
}

static void destroy(void *state) {
  regal_annealer_memory.destroy(state);
}

const regal_local_engine regal_local_memory = {suits, create, destroy,
                                               begin, step,   read};
