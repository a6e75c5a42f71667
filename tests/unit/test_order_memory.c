/* SPDX-License-Identifier: Apache-2.0 */
/* What a changed order holds beyond memory limits, found from what has changed,
 * is what a walk over all of it finds; and that walk's plans are valid, cost
 * what it says, and take no longer than batched ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "anneal/order/memory.h"
#include "base/random.h"
#include "cost/verify/verify.h"
#include "support/random_cases.h"

typedef struct fixture {
  regal_context *context;
  regal_problem *problem;
  regal_graph *graph;
  regal_order order;
  regal_order_memory memory, anew;
  regal_walk walk;
  uint8_t *placement;
  char *block;
  regal_random random;
} fixture;

static void layout(fixture *f, regal_carver *carver) {
  regal_order_layout(&f->order, carver, f->problem);
  regal_order_memory_layout(&f->memory, carver, &f->order);
  regal_order_memory_layout(&f->anew, carver, &f->order);
  regal_walk_layout(&f->walk, carver, f->problem);
  f->placement = regal_carve(carver, f->problem->ops, 1);
}

static uint32_t draw(fixture *f, uint32_t below) {
  return (uint32_t)regal_random_below(&f->random, below);
}

/* With no room at all the excess is the sum of the peaks. */
static void draw_limits(fixture *f) {
  regal_problem *problem = f->problem;
  uint32_t kind = draw(f, 4);
  problem->limited = true;
  problem->limit[0] = kind == 1 ? REGAL_UNLIMITED : 0;
  problem->limit[1] = kind == 2 ? REGAL_UNLIMITED : 0;
  for (uint32_t a = 0; kind == 3 && a < 2; a++)
    problem->limit[a] = draw(f, (uint32_t)problem->graph->tensor_bytes + 1);
}

/* Whether the case has two devices and blocking transfers. */
static bool set_up(fixture *f, uint64_t seed, uint32_t max_ops, bool reuses) {
  regal_machine *machine;
  regal_context_create(&f->context, NULL);
  regal_test_random_graph(f->context, seed, max_ops, &f->graph);
  regal_test_random_small_machine(f->context, seed, 2, f->graph, &machine);
  assert_int_equal(regal_problem_bind(f->context, f->graph, machine,
                                      REGAL_RUNTIME, &f->problem),
                   REGAL_OK);
  f->random = (regal_random){seed, 0};
  f->block = NULL;
  if (!regal_walk_suits_timely(f->problem))
    return false;
  if (!reuses)
    f->problem->reuses = NULL;
  draw_limits(f);
  regal_carver carver = {NULL, 0};
  layout(f, &carver);
  f->block = regal_alloc(f->context, carver.used, 1);
  carver = (regal_carver){f->block, 0};
  layout(f, &carver);
  uint32_t order[4096];
  for (uint32_t op = 0; op < f->problem->ops; op++) {
    order[op] = op;
    do
      f->placement[op] = (uint8_t)draw(f, 2);
    while (!(f->problem->allowed[op] >> f->placement[op] & 1));
    if (f->problem->leader)
      f->placement[op] = f->placement[f->problem->leader[op]];
  }
  regal_order_set(&f->order, order, f->placement);
  regal_order_memory_create(&f->memory);
  regal_order_memory_create(&f->anew);
  regal_order_memory_set(&f->memory);
  return true;
}

static void tear_down(fixture *f) {
  regal_release(f->context, f->block);
  regal_problem_free(f->problem);
  regal_graph_free(f->graph);
  regal_context_free(f->context);
}

/* Now and then a tensor, else REGAL_NONE. */
static uint32_t draw_toggled(fixture *f) {
  uint32_t tensors = f->problem->tensors;
  uint32_t tensor = tensors && draw(f, 2) ? draw(f, tensors) : REGAL_NONE;
  return tensor != REGAL_NONE &&
                 regal_order_memory_may_toggle(&f->memory, tensor)
             ? tensor
             : REGAL_NONE;
}

static int64_t walk_excess(fixture *f, uint32_t toggled) {
  uint8_t nothing = 0,
          *early = toggled == REGAL_NONE ? &nothing : &f->memory.early[toggled];
  *early ^= 1;
  for (uint32_t op = 0; op < f->problem->ops; op++)
    f->placement[op] = (uint8_t)f->order.cells[op].device;
  regal_fitness fitness =
      regal_walk_timely(f->problem, &f->walk, f->order.op_at, f->placement,
                        f->memory.early, NULL);
  *early ^= 1;
  return fitness.excess;
}

static void change(fixture *f) {
  uint32_t op = draw(f, f->problem->ops), first, last;
  if (draw(f, 3) > 0) {
    regal_order_range(f->problem, f->order.position, op, &first, &last);
    uint32_t at = f->order.position[op];
    if (draw(f, 2) && last > at + 3)
      last = at + 3;
    regal_order_shift(&f->order, op, first + draw(f, last - first + 1));
  }
  for (uint32_t flips = draw(f, 8) ? draw(f, 3) : draw(f, 40); flips > 0;
       flips--) {
    uint32_t device = draw(f, 2);
    if (f->order.cells[op].device != device &&
        (f->problem->allowed[op] >> device & 1) &&
        f->order.flips < f->problem->ops)
      regal_order_flip(&f->order, op, device);
    op = draw(f, f->problem->ops);
  }
}

/* What is kept is as if it had been made anew, and as the walk has it. */
static void check_kept(fixture *f) {
  regal_order_excess kept = regal_order_memory_excess(&f->memory);
  memcpy(f->anew.early, f->memory.early, f->problem->tensors);
  regal_order_memory_set(&f->anew);
  regal_order_excess anew = regal_order_memory_excess(&f->anew);
  assert_int_equal(kept.bytes, walk_excess(f, REGAL_NONE));
  assert_int_equal(kept.bytes, anew.bytes);
  assert_int_equal(kept.spread, anew.spread);
}

static void run_moves(fixture *f, uint32_t moves) {
  uint32_t keep_one_in = 1 + draw(f, 6);
  for (uint32_t i = 0; i < moves; i++) {
    regal_order_begin_move(&f->order);
    change(f);
    uint32_t toggled = draw_toggled(f);
    int64_t expected = walk_excess(f, toggled);
    int64_t runtime = regal_order_cost(&f->order, INT64_MAX);
    double allowed = INFINITY;
    if (draw(f, 2))
      allowed = draw(f, 3) + regal_order_memory_excess(&f->memory).violation;
    regal_order_excess found =
        regal_order_memory_try(&f->memory, toggled, allowed);
    bool passes = found.violation <= allowed;
    if (passes)
      assert_int_equal(found.bytes, expected);
    else
      assert_true(isfinite(allowed));
    if (passes && draw(f, keep_one_in) == 0) {
      regal_order_memory_keep(&f->memory);
      regal_order_keep(&f->order, runtime);
      assert_int_equal(found.spread,
                       regal_order_memory_excess(&f->memory).spread);
    } else {
      regal_order_memory_take_back(&f->memory);
      regal_order_take_back(&f->order);
    }
    check_kept(f);
  }
}

static void run_cases(uint64_t first, uint64_t count, uint32_t max_ops,
                      uint32_t moves) {
  uint32_t suited = 0;
  for (uint64_t seed = first; seed < first + count; seed++) {
    fixture f;
    if (set_up(&f, seed, max_ops, seed % 3 > 0)) {
      run_moves(&f, moves);
      suited++;
    }
    tear_down(&f);
  }
  assert_true(suited > count / 8);
}

static void test_small(void **state) {
  (void)state;
  run_cases(1, 4000, 12, 60);
}

static void test_large(void **state) {
  (void)state;
  run_cases(10000, 1200, 200, 150);
}

/* Where most blocks have nothing to do with a move. */
static void test_huge(void **state) {
  (void)state;
  run_cases(50000, 60, 2000, 100);
}

/* Also where outputs may be written over inputs. */
static void test_walk(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    fixture f;
    if (set_up(&f, seed, seed % 2 ? 8 : 60, true)) {
      regal_plan *plan;
      regal_cost cost;
      for (uint32_t t = 0; t < f.problem->tensors; t++)
        f.memory.early[t] = (uint8_t)draw(&f, 2);
      assert_int_equal(
          regal_plan_create(f.context, regal_plan_most_steps(f.problem), &plan),
          REGAL_OK);
      regal_fitness timely = regal_walk_timely(
          f.problem, &f.walk, f.order.op_at, f.placement, f.memory.early, plan);
      regal_machine *machine = f.problem->machine;
      memcpy(machine->memory_limit, f.problem->limit,
             2 * sizeof *machine->memory_limit);
      assert_int_equal(
          regal_verify_plan(f.context, f.graph, machine, plan, &cost, NULL),
          REGAL_OK);
      assert_int_equal(timely.excess, cost.excess_bytes);
      assert_int_equal(timely.value, cost.runtime_ns);
      assert_int_equal(timely.value, f.order.runtime_ns);
      regal_plan_free(plan);
    }
    tear_down(&f);
  }
}

static bool is_beyond(const fixture *f, uint32_t first, uint32_t last) {
  const int64_t *limit = f->problem->limit;
  for (uint32_t k = first >> f->memory.bits; k <= last >> f->memory.bits; k++) {
    const int64_t *peak = f->memory.levels[k].peak;
    if (peak[0] > limit[0] || peak[1] > limit[1])
      return true;
  }
  return false;
}

/* Whether it runs where a limit is passed, or makes or reads something that may
 * be held there. */
static bool concerns(const fixture *f, uint32_t op) {
  const regal_problem *problem = f->problem;
  const uint32_t *position = f->order.position;
  if (is_beyond(f, position[op], position[op]))
    return true;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t by = problem->producer[t], last = position[by];
    bool part = by == op;
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1];
         u++) {
      uint32_t at = position[problem->consumer[u]];
      part |= problem->consumer[u] == op;
      last = at > last ? at : last;
    }
    if (problem->is_final[t])
      last = problem->ops - 1;
    if (part && is_beyond(f, position[by], last))
      return true;
  }
  return false;
}

/* Where a limit is passed, the ops that are drawn have to do with it; most of
 * all ops need not. */
static void test_draw(void **state) {
  (void)state;
  uint32_t cases = 0, others = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    fixture f;
    if (set_up(&f, seed, 200, false) &&
        regal_order_memory_excess(&f.memory).bytes > 0) {
      for (uint32_t i = 0; i < 40; i++) {
        uint32_t op = regal_order_memory_draw(&f.memory, &f.random);
        assert_true(op < f.problem->ops);
        assert_true(concerns(&f, op));
        others += !concerns(&f, draw(&f, f.problem->ops));
      }
      cases++;
    }
    tear_down(&f);
  }
  assert_true(cases > 20);
  assert_true(others > 20); /* the first check can fail */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small), cmocka_unit_test(test_large),
      cmocka_unit_test(test_huge),  cmocka_unit_test(test_walk),
      cmocka_unit_test(test_draw),
  };
  return cmocka_run_group_tests_name("order memory", tests, NULL, NULL);
}
