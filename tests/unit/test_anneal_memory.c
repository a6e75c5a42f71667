/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of memory along an order (anneal/memory/memory.h), lent the order
 * of anneal/order/order.h, on all machines and for both objectives: after every
 * change it has the peak and the excess of a walk over the whole order with
 * late transfers; a move that is undone leaves no trace. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "anneal/memory/memory.h"
#include "anneal/order/order.h"
#include "base/random.h"
#include "support/random_cases.h"

typedef struct fixture {
  regal_context *context;
  regal_problem *problem;
  regal_graph *graph;
  regal_order order;
  regal_memory memory;
  regal_walk walk;
  uint8_t *placement;
  char *block;
  regal_random random;
} fixture;

static void layout(fixture *f, regal_carver *carver) {
  regal_order_layout(&f->order, carver, f->problem);
  regal_memory_layout(&f->memory, carver, f->problem);
  regal_memory_layout_profile(&f->memory, carver);
  f->memory.order = f->order.op_at;
  f->memory.position = f->order.position;
  regal_walk_layout(&f->walk, carver, f->problem);
  f->placement = regal_carve(carver, f->problem->ops, 1);
}

static uint32_t draw(fixture *f, uint32_t below) {
  return (uint32_t)regal_random_below(&f->random, below);
}

static void place_at_random(fixture *f) {
  const regal_problem *problem = f->problem;
  uint32_t order[256];
  for (uint32_t op = 0; op < problem->ops; op++) {
    order[op] = op;
    do
      f->placement[op] = (uint8_t)draw(f, problem->devices);
    while (!(problem->allowed[op] >> f->placement[op] & 1));
  }
  regal_order_set(&f->order, order, f->placement);
  memcpy(f->memory.placement, f->placement, problem->ops);
}

static void set_up(fixture *f, uint64_t seed, uint32_t max_ops) {
  regal_machine *machine;
  regal_context_create(&f->context, NULL);
  regal_test_random_graph(f->context, seed, max_ops, &f->graph);
  regal_test_random_small_machine(f->context, seed, 5, f->graph, &machine);
  assert_int_equal(regal_problem_bind(f->context, f->graph, machine,
                                      seed % 2 ? REGAL_RUNTIME : REGAL_MEMORY,
                                      &f->problem),
                   REGAL_OK);
  f->random = (regal_random){seed, 0};
  f->problem->limited = true;
  for (uint32_t a = 0; a < f->problem->devices; a++)
    f->problem->limit[a] = draw(f, (uint32_t)f->graph->tensor_bytes + 1);
  regal_carver carver = {NULL, 0};
  layout(f, &carver);
  f->block = regal_alloc(f->context, carver.used, 1);
  carver = (regal_carver){f->block, 0};
  layout(f, &carver);
  regal_memory_create(&f->memory);
  f->memory.price = 1;
  for (uint32_t a = 0; a < f->problem->devices; a++)
    f->memory.reference[a] = (double)f->problem->limit[a];
  place_at_random(f);
  regal_memory_rebuild_events(&f->memory);
  regal_memory_rebuild_profile(&f->memory);
}

static void tear_down(fixture *f) {
  regal_release(f->context, f->block);
  regal_problem_free(f->problem);
  regal_graph_free(f->graph);
  regal_context_free(f->context);
}

/* A shift, and some changes of device; nothing if there is no other one. */
static void change(fixture *f) {
  const regal_problem *problem = f->problem;
  uint32_t op = draw(f, problem->ops), at = f->order.position[op], first, last;
  if (draw(f, 3) > 0) {
    regal_order_range(problem, f->order.position, op, &first, &last);
    uint32_t to = first + draw(f, last - first + 1);
    regal_order_shift(&f->order, op, to);
    if (to != at) {
      regal_memory_touch_inputs(&f->memory, op);
      regal_memory_touch_window(&f->memory, at < to ? at : to,
                                at < to ? to : at);
    }
  }
  for (uint32_t flips = draw(f, 4); flips > 0; flips--) {
    uint32_t device = draw(f, problem->devices);
    if (f->order.cells[op].device != device &&
        (problem->allowed[op] >> device & 1) && f->order.flips < problem->ops) {
      regal_order_flip(&f->order, op, device);
      regal_memory_place(&f->memory, op, device);
    }
    op = draw(f, problem->ops);
  }
  regal_memory_settle(&f->memory);
}

static void expect_walked(fixture *f, const regal_memory_cost *cost) {
  regal_fitness walked = regal_walk_late(f->problem, &f->walk, f->order.op_at,
                                         f->order.device_of, NULL);
  assert_int_equal(cost->excess, walked.excess);
  if (f->problem->objective == REGAL_MEMORY)
    assert_int_equal(cost->value, walked.value);
}

static void run_moves(fixture *f, uint32_t moves) {
  regal_memory *m = &f->memory;
  for (uint32_t i = 0; i < moves; i++) {
    regal_memory_cost cost = m->cost;
    regal_order_begin_move(&f->order);
    regal_memory_begin_move(m);
    change(f);
    int64_t runtime = regal_order_cost(&f->order, INT64_MAX);
    assert_false(m->overflow);
    if (!regal_memory_is_unchanged(m))
      assert_true(regal_memory_evaluate(m, INFINITY, &cost));
    expect_walked(f, &cost);
    if (draw(f, 2)) {
      if (!regal_memory_is_unchanged(m))
        regal_memory_commit(m, &cost);
      regal_order_keep(&f->order, runtime);
    } else {
      regal_memory_undo(m);
      regal_order_take_back(&f->order);
    }
    assert_memory_equal(m->placement, f->order.device_of, m->ops);
    expect_walked(f, &m->cost);
  }
}

/* What moves have left is what building it anew gives. */
static void expect_consistent(fixture *f) {
  regal_memory_cost cost = f->memory.cost;
  regal_memory_rebuild_events(&f->memory);
  regal_memory_rebuild_profile(&f->memory);
  assert_true(cost.value == f->memory.cost.value);
  assert_true(cost.excess == f->memory.cost.excess);
  assert_true(cost.soft == f->memory.cost.soft);
}

static void test_moves_are_exact(void **state) {
  (void)state;
  uint32_t overlapped = 0, several = 0;
  for (uint64_t seed = 1; seed <= 800; seed++) {
    fixture f;
    set_up(&f, seed, seed % 3 ? 12 : 120);
    run_moves(&f, 60);
    expect_consistent(&f);
    overlapped += f.problem->machine->overlapped;
    several += f.problem->devices > 2;
    tear_down(&f);
  }
  assert_true(overlapped > 100);
  assert_true(several > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_moves_are_exact)};
  return cmocka_run_group_tests_name("memory along an order", tests, NULL,
                                     NULL);
}
