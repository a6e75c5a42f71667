/* SPDX-License-Identifier: Apache-2.0 */
/* The engines of hill climbing: those of the annealers, at temperature zero.
 *
 * On anneal/order/order.h, for run time: a move is kept only if it is an
 * improvement. Where memory counts, too (a limit; or peaks that the second
 * engine does not do), a walk over the whole order costs the moves that are
 * fast enough, and moves that are as good are kept.
 *
 * On anneal/memory/memory.h, for peak memory: the chain is that of anneal/peak,
 * with an energy that is the peak and nothing else. Every transfer is late,
 * just before its first reader.
 */
#include <math.h>

#include "anneal/climb/climb.h"
#include "anneal/driver/annealers.h"
#include "anneal/order/order.h"
#include "anneal/peak/peak.h"

/* -- Run time -------------------------------------------------------------- */

typedef struct timed {
  regal_context *context;
  const regal_problem *problem;
  regal_order order;
  regal_fitness fitness;
  bool walks; /* memory counts */
  regal_walk walk;
} timed;

static void timed_layout(void *state, regal_carver *carver) {
  timed *s = state;
  regal_order_layout(&s->order, carver, s->problem);
  s->walks = regal_problem_needs_memory(s->problem);
  if (s->walks)
    regal_walk_layout(&s->walk, carver, s->problem);
}

static regal_status timed_create(regal_context *context,
                                 regal_climb_solution *solution) {
  timed plain = {.context = context, .problem = solution->problem};
  timed *s = regal_carve_struct(context, &plain, sizeof plain, timed_layout);
  if (!s)
    return regal_fail_memory(context);
  solution->state = s;
  solution->order = s->order.op_at;
  solution->position = s->order.position;
  solution->placement = s->order.device_of;
  return REGAL_OK;
}

static void timed_destroy(void *state) {
  timed *s = state;
  regal_release(s->context, s);
}

static regal_fitness walk(timed *s) {
  return regal_order_walk(s->problem, &s->walk, s->order.op_at,
                          s->order.device_of, NULL);
}

static void timed_begin(void *state, const uint32_t *order,
                        const uint8_t *placement, regal_fitness *fitness) {
  timed *s = state;
  regal_order_set(&s->order, order, placement);
  s->fitness = (regal_fitness){0, s->order.runtime_ns, 0};
  if (s->walks)
    s->fitness = walk(s);
  *fitness = s->fitness;
}

static void timed_flip(void *state, uint32_t op, uint32_t device) {
  timed *s = state;
  regal_order_begin_move(&s->order);
  regal_order_flip_group(&s->order, op, device);
}

static void timed_shift(void *state, uint32_t op, uint32_t to) {
  timed *s = state;
  regal_order_begin_move(&s->order);
  regal_order_shift(&s->order, op, to);
}

/* By run time alone. */
static bool settle_runtime(timed *s) {
  int64_t runtime = regal_order_cost(&s->order, s->fitness.value - 1);
  if (runtime >= s->fitness.value) {
    regal_order_take_back(&s->order);
    return false;
  }
  regal_order_keep(&s->order, runtime);
  s->fitness.value = runtime;
  return true;
}

/* Whether the run time alone refuses the move. While batched transfers fit,
 * what they cost decides: that late ones could be faster is left aside. */
static bool is_slow(timed *s, int64_t *runtime) {
  int64_t most = s->fitness.value;
  bool decides = s->problem->objective == REGAL_RUNTIME &&
                 s->fitness.excess == 0 && s->order.runtime_ns == most;
  *runtime = regal_order_cost(&s->order, decides ? most : INT64_MAX);
  return decides && *runtime > most;
}

static bool settle_with_memory(timed *s) {
  int64_t runtime;
  if (!is_slow(s, &runtime)) {
    regal_fitness fitness = walk(s);
    int order = regal_climb_compare(&fitness, &s->fitness);
    if (order <= 0) {
      regal_order_keep(&s->order, runtime);
      s->fitness = fitness;
      return order < 0;
    }
  }
  regal_order_take_back(&s->order);
  return false;
}

static bool timed_settle(void *state, regal_fitness *fitness) {
  timed *s = state;
  bool better = s->walks ? settle_with_memory(s) : settle_runtime(s);
  *fitness = s->fitness;
  return better;
}

const regal_climb_engine regal_climb_order = {timed_create, timed_destroy,
                                              timed_begin,  timed_flip,
                                              timed_shift,  timed_settle};

/* -- Peak memory ----------------------------------------------------------- */

static regal_status peak_create(regal_context *context,
                                regal_climb_solution *solution) {
  const regal_problem *problem = solution->problem;
  REGAL_TRY(regal_annealer_memory.create(context, problem, &solution->state));
  regal_peak *chain = solution->state;
  regal_memory *m = &chain->memory;
  m->weight = m->price = 0;
  for (uint32_t b = 0; b < m->devices; b++)
    m->reference[b] = INFINITY; /* nothing is above: blocks are skipped */
  solution->order = chain->order;
  solution->position = chain->position;
  solution->placement = m->placement;
  return REGAL_OK;
}

static void peak_destroy(void *state) {
  regal_annealer_memory.destroy(state);
}

static regal_fitness fitness_of(const regal_memory_cost *cost) {
  return (regal_fitness){(int64_t)cost->excess, (int64_t)cost->value,
                         INT64_MAX};
}

static void peak_begin(void *state, const uint32_t *order,
                       const uint8_t *placement, regal_fitness *fitness) {
  regal_peak *chain = state;
  memcpy(chain->memory.placement, placement, chain->ops);
  regal_peak_set_order(chain, order);
  *fitness = fitness_of(&chain->memory.cost);
}

static void peak_flip(void *state, uint32_t op, uint32_t device) {
  regal_peak *chain = state;
  regal_memory_begin_move(&chain->memory);
  regal_memory_place(&chain->memory, op, device);
}

static void peak_shift(void *state, uint32_t op, uint32_t to) {
  regal_peak *chain = state;
  regal_memory_begin_move(&chain->memory);
  regal_peak_shift(chain, op, to);
}

static bool peak_settle(void *state, regal_fitness *fitness) {
  regal_peak *chain = state;
  regal_memory *m = &chain->memory;
  regal_memory_cost cost;
  regal_memory_settle(m);
  if (regal_memory_is_unchanged(m))
    return false;
  double allowed = m->problem->limited ? INFINITY : m->cost.energy;
  if (!m->overflow && regal_memory_evaluate(m, allowed, &cost)) {
    regal_fitness last = fitness_of(&m->cost), now = fitness_of(&cost);
    int order = regal_climb_compare(&now, &last);
    if (order <= 0) {
      regal_memory_commit(m, &cost);
      *fitness = now;
      return order < 0;
    }
  }
  regal_peak_undo(chain);
  return false;
}

const regal_climb_engine regal_climb_peak = {
    peak_create, peak_destroy, peak_begin, peak_flip, peak_shift, peak_settle};
