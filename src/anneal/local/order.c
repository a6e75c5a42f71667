/* SPDX-License-Identifier: Apache-2.0 */
/* Local search on anneal/order/order.h, for run time: moves are costed without
 * simulating all of the order again. Where memory counts, too (a limit; or
 * peaks that anneal/local/peak.c does not do), a walk over all of it costs
 * the moves that are fast enough.
 */
#include <string.h>

#include "anneal/local/local.h"
#include "anneal/order/order.h"

typedef struct state_t {
  regal_context *context;
  const regal_problem *problem;
  regal_order order;
  regal_fitness fitness;
  bool walks; /* memory counts */
  regal_walk walk;
} state_t;

static bool suits(const regal_problem *problem) {
  (void)problem;
  return true;
}

static void layout(state_t *s, regal_carver *carver) {
  regal_order_layout(&s->order, carver, s->problem);
  s->walks = regal_problem_needs_memory(s->problem);
  if (s->walks)
    regal_walk_layout(&s->walk, carver, s->problem);
}

static regal_status create(regal_context *context, const regal_problem *problem,
                           void **state) {
  state_t plain = {.context = context, .problem = problem};
  regal_carver carver = {NULL, 0};
  regal_carve(&carver, 1, sizeof plain);
  layout(&plain, &carver);
  char *block = regal_alloc(context, carver.used, 1);
  if (!block)
    return regal_fail_memory(context);
  carver = (regal_carver){block, 0};
  state_t *made = regal_carve(&carver, 1, sizeof plain);
  *made = plain;
  layout(made, &carver);
  *state = made;
  return REGAL_OK;
}

static void destroy(void *state) {
  state_t *s = state;
  if (s)
    regal_release(s->context, s);
}

/* -- Cost -------------------------------------------------------------------
 */

static regal_fitness walk(state_t *s) {
  return regal_order_walk(s->problem, &s->walk, s->order.op_at,
                          s->order.device_of, NULL);
}

static void begin(void *state, const uint32_t *order, const uint8_t *placement,
                  regal_fitness *fitness) {
  state_t *s = state;
  regal_order_set(&s->order, order, placement);
  s->fitness = (regal_fitness){0, s->order.runtime_ns, 0};
  if (s->walks)
    s->fitness = walk(s);
  *fitness = s->fitness;
}

/* -- Moves ------------------------------------------------------------------
 */

/* False: this op can do nothing. */
static bool change(state_t *s, regal_random *random) {
  regal_local_move move = regal_local_draw(s->problem, random);
  uint32_t first, last, op = move.op, at = s->order.position[op];
  uint64_t present = UINT64_C(1) << s->order.cells[op].device;
  uint64_t others = s->problem->allowed[op] & ~present;
  if (others && move.flip) {
    regal_order_flip_group(&s->order, op, regal_local_pick(others, random));
    return true;
  }
  regal_order_range(&s->order, op, &first, &last);
  if (first < last) {
    uint32_t to = first + (uint32_t)regal_random_below(random, last - first);
    regal_order_shift(&s->order, op, to + (to >= at));
    return true;
  }
  if (others)
    regal_order_flip_group(&s->order, op, regal_local_pick(others, random));
  return others != 0;
}

/* -- One move ---------------------------------------------------------------
 */

static bool step_runtime(state_t *s) {
  int64_t runtime = regal_order_cost(&s->order, s->fitness.value - 1);
  if (runtime >= s->fitness.value) {
    regal_order_take_back(&s->order);
    return false;
  }
  bool better = runtime < s->fitness.value;
  regal_order_keep(&s->order, runtime);
  s->fitness.value = runtime;
  return better;
}

/* Whether the run time alone refuses the move. While batched transfers fit,
 * what they cost decides: that late ones could be faster is left aside. */
static bool is_slow(state_t *s, int64_t *runtime) {
  int64_t most = s->fitness.value;
  bool decides = s->problem->objective == REGAL_RUNTIME &&
                 s->fitness.excess == 0 && s->order.runtime_ns == most;
  *runtime = regal_order_cost(&s->order, decides ? most : INT64_MAX);
  return decides && *runtime > most;
}

static bool step_with_memory(state_t *s) {
  int64_t runtime;
  bool slow = is_slow(s, &runtime);
  if (!slow) {
    regal_fitness fitness = walk(s);
    int order = regal_local_compare(&fitness, &s->fitness);
    if (order <= 0) {
      regal_order_keep(&s->order, runtime);
      s->fitness = fitness;
      return order < 0;
    }
  }
  regal_order_take_back(&s->order);
  return false;
}

static bool step(void *state, regal_random *random, regal_fitness *fitness) {
  state_t *s = state;
  regal_order_begin_move(&s->order);
  if (!change(s, random))
    return false;
  bool better = s->walks ? step_with_memory(s) : step_runtime(s);
  *fitness = s->fitness;
  return better;
}

static void read(const void *state, uint32_t *order, uint8_t *placement) {
  const state_t *s = state;
  memcpy(order, s->order.op_at, s->problem->ops * sizeof *order);
  memcpy(placement, s->order.device_of, s->problem->ops);
}

const regal_local_engine regal_local_order = {suits, create, destroy,
                                              begin, step,   read};
