/* SPDX-License-Identifier: Apache-2.0 */
/* Hill climbing, its parts: a solution, its moves, and the two engines that
 * cost them.
 *
 * A solution is an order of all ops and a device for each. A move takes a
 * random op to another device or to another position. An engine makes the
 * change, costs it incrementally, and keeps it if it is good enough; it knows
 * nothing of budgets and restarts (anneal/climb/climb.c). The engines are those
 * of the annealers: anneal/order/order.h for run time, anneal/memory/memory.h
 * for peak memory. No move makes a solution worse, so that the present one is
 * the best since `begin`.
 */
#ifndef REGAL_ANNEAL_CLIMB_CLIMB_H
#define REGAL_ANNEAL_CLIMB_CLIMB_H

#include "base/random.h"
#include "search/search.h"

typedef struct regal_climb_engine regal_climb_engine;

typedef struct regal_climb_solution {
  const regal_problem *problem;
  const regal_climb_engine *engine;
  void *state;
  const uint32_t *order, *position; /* [ops] each other's inverse */
  const uint8_t *placement;         /* [ops] */
} regal_climb_solution;

struct regal_climb_engine {
  /* Sets the state and the arrays, for the solution's problem. */
  regal_status (*create)(regal_context *context, regal_climb_solution *s);
  void (*destroy)(void *state);
  /* `order` is a topological order of all ops. Sets what it costs. */
  void (*begin)(void *state, const uint32_t *order, const uint8_t *placement,
                regal_fitness *fitness);
  /* One change, and then: keeps it, if it is good enough, or takes it back.
   * True: it was an improvement, and `fitness`, that of the present solution,
   * is now less. */
  void (*flip)(void *state, uint32_t op, uint32_t device);
  void (*shift)(void *state, uint32_t op, uint32_t to);
  bool (*settle)(void *state, regal_fitness *fitness);
};

/* For run time, and anything else; for peak memory, where regal_annealer_memory
 * suits the problem (anneal/climb/engines.c). */
extern const regal_climb_engine regal_climb_order, regal_climb_peak;

regal_status regal_method_climb(regal_search *search);

/* The engine that suits the problem; release the state by its `destroy`. */
regal_status regal_climb_create(regal_context *context,
                                const regal_problem *problem,
                                regal_climb_solution *s);
/* One random move; as `settle`. */
bool regal_climb_step(regal_climb_solution *s, regal_random *random,
                      regal_fitness *fitness);

/* Moves for each op without gain before a restart: the best of the grid that
 * `bench_climb grid` tries (5000 evaluations, as in the paper; 150 synthetic
 * graphs). For memory it is as good as never, at that budget. */
static inline uint32_t regal_climb_restart(const regal_problem *problem) {
  return problem->objective == REGAL_MEMORY ? 40 : 5;
}

/* Excess and value decide, run time as a tie-break does not: it would cost a
 * second simulation for every move, and keep the search from walking freely
 * among orders of equal peaks. */
static inline int regal_climb_compare(const regal_fitness *a,
                                      const regal_fitness *b) {
  if (a->excess != b->excess)
    return a->excess < b->excess ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

/* A random device of `devices`, a bit for each. */
static inline uint32_t regal_climb_pick(uint64_t devices,
                                        regal_random *random) {
  uint32_t count = (uint32_t)__builtin_popcountll(devices);
  for (uint64_t k = count > 1 ? regal_random_below(random, count) : 0; k; k--)
    devices &= devices - 1;
  return (uint32_t)__builtin_ctzll(devices);
}

#endif
