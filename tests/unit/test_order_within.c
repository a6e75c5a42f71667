/* SPDX-License-Identifier: Apache-2.0 */
/* What a move of the order annealer does to memory (anneal/order/within.h), on
 * all machines, with groups, parameters and outputs written over inputs: the
 * excess is that of a walk over the whole order, whatever has been kept, taken
 * back, or accepted without counting; and what is kept is what building it anew
 * gives. The room that lets moves pass without counting is never overstated. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "anneal/order/within.h"
#include "support/random_cases.h"

typedef struct fixture {
  regal_context *context;
  regal_problem *problem;
  regal_graph *graph;
  regal_order order;
  regal_order_within within, anew;
  uint8_t *placement;
  char *block;
  regal_random random;
  uint32_t lazy; /* moves that were accepted without counting */
} fixture;

static void layout(fixture *f, regal_carver *carver) {
  regal_order_layout(&f->order, carver, f->problem);
  regal_order_within_layout(&f->within, carver, &f->order);
  regal_order_within_layout(&f->anew, carver, &f->order);
  f->placement = regal_carve(carver, f->problem->ops, 1);
}

static uint32_t draw(fixture *f, uint32_t below) {
  return (uint32_t)regal_random_below(&f->random, below);
}

/* None at all, some, or more than enough for some time. */
static void draw_limits(fixture *f) {
  regal_problem *problem = f->problem;
  int64_t all = f->graph->tensor_bytes + f->graph->total_resident_bytes;
  uint32_t kind = draw(f, 4);
  problem->limited = true;
  for (uint32_t a = 0; a < problem->devices; a++) {
    problem->limit[a] = draw(f, (uint32_t)all + 1);
    if (kind == 0)
      problem->limit[a] = draw(f, 3) ? 0 : REGAL_UNLIMITED;
    if (kind == 1)
      problem->limit[a] = all * (1 + draw(f, 30));
  }
}

static void place_at_random(fixture *f) {
  const regal_problem *problem = f->problem;
  uint32_t order[4096];
  for (uint32_t op = 0; op < problem->ops; op++) {
    order[op] = op;
    do
      f->placement[op] = (uint8_t)draw(f, problem->devices);
    while (!(problem->allowed[op] >> f->placement[op] & 1));
    if (problem->leader)
      f->placement[op] = f->placement[problem->leader[op]];
  }
  regal_order_set(&f->order, order, f->placement);
}

static void set_up(fixture *f, uint64_t seed, uint32_t max_ops,
                   uint32_t devices) {
  regal_machine *machine;
  regal_fitness fitness;
  regal_context_create(&f->context, NULL);
  regal_test_random_graph(f->context, seed, max_ops, &f->graph);
  regal_test_random_small_machine(f->context, seed, devices, f->graph,
                                  &machine);
  assert_int_equal(regal_problem_bind(f->context, f->graph, machine,
                                      REGAL_RUNTIME, &f->problem),
                   REGAL_OK);
  f->random = (regal_random){seed, 0};
  f->lazy = 0;
  draw_limits(f);
  regal_carver carver = {NULL, 0};
  layout(f, &carver);
  f->block = regal_alloc(f->context, carver.used, 1);
  memset(f->block, 0, carver.used);
  carver = (regal_carver){f->block, 0};
  layout(f, &carver);
  regal_order_within_create(&f->within);
  regal_order_within_create(&f->anew);
  f->order.late = regal_order_may_be_late(f->problem) && draw(f, 2);
  place_at_random(f);
  regal_order_within_set(&f->within, NULL, &fitness);
}

static void tear_down(fixture *f) {
  regal_release(f->context, f->block);
  regal_problem_free(f->problem);
  regal_graph_free(f->graph);
  regal_context_free(f->context);
}

static void change(fixture *f) {
  const regal_problem *problem = f->problem;
  uint32_t op = draw(f, problem->ops), first, last;
  if (draw(f, 3) > 0) {
    regal_order_range(problem, f->order.position, op, &first, &last);
    regal_order_shift(&f->order, op, first + draw(f, last - first + 1));
  }
  for (uint32_t flips = draw(f, 8) ? draw(f, 3) : draw(f, problem->ops);
       flips > 0; flips--) {
    uint32_t device = draw(f, problem->devices);
    if (f->order.cells[op].device != device &&
        (problem->allowed[op] >> device & 1) &&
        2 * f->order.flips < problem->ops)
      regal_order_flip_group(&f->order, op, device);
    op = draw(f, problem->ops);
    if (f->order.flips > 0 && problem->leader)
      break; /* groups are flipped once */
  }
}

static uint32_t draw_toggled(fixture *f) {
  if (f->within.by != REGAL_ORDER_EXCHANGES || draw(f, 2) ||
      !f->problem->tensors)
    return REGAL_NONE;
  uint32_t tensor = draw(f, f->problem->tensors);
  return regal_order_memory_may_toggle(&f->within.exchanges, tensor)
             ? tensor
             : REGAL_NONE;
}

static regal_fitness walk(fixture *f, uint32_t toggled) {
  uint8_t nothing = 0, *early = &nothing;
  if (f->within.by != REGAL_ORDER_EXCHANGES)
    return (f->order.late ? regal_walk_late : regal_order_walk)(
        f->problem, &f->anew.walk, f->order.op_at, f->order.device_of, NULL);
  if (toggled != REGAL_NONE)
    early = &f->within.exchanges.early[toggled];
  *early ^= 1;
  regal_fitness fitness =
      regal_walk_timely(f->problem, &f->anew.walk, f->order.op_at,
                        f->order.device_of, f->within.exchanges.early, NULL);
  *early ^= 1;
  return fitness;
}

static double violation_anew(fixture *f) {
  regal_fitness fitness;
  if (f->within.by == REGAL_ORDER_EXCHANGES)
    memcpy(f->anew.exchanges.early, f->within.exchanges.early,
           f->problem->tensors);
  return regal_order_within_set(&f->anew, NULL, &fitness);
}

/* Room that was followed is never more than what there is. */
static void check_room(fixture *f) {
  const regal_order_slack *room = &f->within.room, *anew = &f->anew.room;
  uint32_t ops = f->problem->ops;
  for (uint32_t a = 0; f->within.has_slack && a < f->problem->devices; a++) {
    if (f->problem->limit[a] == REGAL_UNLIMITED)
      continue;
    assert_true(room->least[a] > 0 && room->least[a] <= anew->least[a]);
    for (uint32_t i = 0; i < ops; i++) {
      int64_t left = room->row[(size_t)a * ops + i] - room->common[a];
      assert_true(left <= anew->row[(size_t)a * ops + i]);
      assert_true(room->least[a] <= left);
    }
  }
}

static void run_moves(fixture *f, uint32_t moves) {
  double kept = violation_anew(f);
  for (uint32_t i = 0; i < moves; i++) {
    regal_fitness fitness = {0, 0, 0};
    double violation, allowed = INFINITY;
    regal_order_begin_move(&f->order);
    change(f);
    uint32_t toggled = draw_toggled(f);
    regal_fitness expected = walk(f, toggled);
    fitness.value = regal_order_cost(&f->order, INT64_MAX);
    int64_t runtime = fitness.value;
    if (draw(f, 2))
      allowed = (double)runtime + kept + draw(f, 3);
    bool passes = regal_order_within_try(&f->within, toggled, allowed, 1,
                                         &fitness, &violation);
    f->lazy += passes && f->within.stale;
    if (passes) {
      assert_int_equal(fitness.excess, expected.excess);
      assert_int_equal(fitness.value, expected.value);
      regal_order_keep(&f->order, runtime);
      kept = violation;
    } else {
      assert_true(isfinite(allowed));
      regal_order_take_back(&f->order);
    }
    regal_order_within_done(&f->within);
    assert_true(kept == violation_anew(f));
    check_room(f);
  }
}

static void run_cases(uint64_t first, uint64_t count, uint32_t max_ops,
                      uint32_t devices, uint32_t moves) {
  uint32_t by[4] = {0}, late = 0, lazy = 0;
  for (uint64_t seed = first; seed < first + count; seed++) {
    fixture f;
    set_up(&f, seed, max_ops, devices);
    if (f.problem->devices > 1)
      run_moves(&f, moves);
    by[f.within.by]++;
    late += f.order.late;
    lazy += f.lazy;
    tear_down(&f);
  }
  assert_true(by[REGAL_ORDER_LATE] > count / 8);
  assert_true(by[REGAL_ORDER_EXCHANGES] + by[REGAL_ORDER_WALKS] > count / 8);
  assert_true(late > count / 16);
  assert_true(lazy > count / 8);
}

static void test_small(void **state) {
  (void)state;
  run_cases(1, 1200, 12, 5, 60);
}

static void test_large(void **state) {
  (void)state;
  run_cases(10000, 300, 200, 9, 150);
}

/* Where most blocks have nothing to do with a move, and some moves have more
 * parts than can be undone. */
static void test_huge(void **state) {
  (void)state;
  run_cases(50000, 30, 3000, 5, 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small),
      cmocka_unit_test(test_large),
      cmocka_unit_test(test_huge),
  };
  return cmocka_run_group_tests_name("order within limits", tests, NULL, NULL);
}
