/* SPDX-License-Identifier: Apache-2.0 */
/* Local search, its parts: what holds a solution and costs its moves.
 *
 * A solution is an order of all ops and a device for each. An engine makes one
 * random move, and keeps it if it is good enough; it knows nothing of budgets
 * and restarts (anneal/local/local.c). No move makes a solution worse, so that
 * the present one is the best since `begin`.
 */
#ifndef REGAL_ANNEAL_LOCAL_LOCAL_H
#define REGAL_ANNEAL_LOCAL_LOCAL_H

#include "base/random.h"
#include "search/search.h"

typedef struct regal_local_engine {
  bool (*suits)(const regal_problem *problem);
  regal_status (*create)(regal_context *context, const regal_problem *problem,
                         void **state);
  void (*destroy)(void *state);
  /* `order` is a topological order of all ops. Sets what it costs. */
  void (*begin)(void *state, const uint32_t *order, const uint8_t *placement,
                regal_fitness *fitness);
  /* One move. True: it was an improvement, and `fitness`, that of the present
   * solution, is now less. */
  bool (*step)(void *state, regal_random *random, regal_fitness *fitness);
  /* The present solution. */
  void (*read)(const void *state, uint32_t *order, uint8_t *placement);
} regal_local_engine;

regal_status regal_method_local(regal_search *search);

extern const regal_local_engine regal_local_memory; /* anneal/local/peak.c */
extern const regal_local_engine regal_local_order;  /* anneal/local/order.c */

/* Moves for each op without gain before a restart: the best of the grid that
 * `bench_local grid` tries (5000 evaluations, as in the paper; 150 synthetic
 * graphs). For memory it is as good as never, at that budget. */
static inline uint32_t regal_local_restart(const regal_problem *problem) {
  return problem->objective == REGAL_MEMORY ? 40 : 5;
}

/* Excess and value decide, run time as a tie-break does not: it would cost a
 * second simulation for every move, and keep the search from walking freely
 * among orders of equal peaks. */
static inline int regal_local_compare(const regal_fitness *a,
                                      const regal_fitness *b) {
  if (a->excess != b->excess)
    return a->excess < b->excess ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

/* A random device of `devices`, a bit for each. */
static inline uint32_t regal_local_pick(uint64_t devices,
                                        regal_random *random) {
  uint32_t count = (uint32_t)__builtin_popcountll(devices);
  for (uint64_t k = count > 1 ? regal_random_below(random, count) : 0; k; k--)
    devices &= devices - 1;
  return (uint32_t)__builtin_ctzll(devices);
}

/* What to do with which op: to another device, or elsewhere in the order, each
 * half of the time where both are possible. */
typedef struct regal_local_move {
  uint32_t op;
  bool flip;
} regal_local_move;

static inline regal_local_move regal_local_draw(const regal_problem *problem,
                                                regal_random *random) {
  uint64_t drawn = regal_random_next(random);
  /* the upper half for the op, the lowest bit for the kind */
  uint32_t op = (uint32_t)((drawn >> 32) * problem->ops >> 32);
  return (regal_local_move){op, drawn & 1};
}

#endif
