/* SPDX-License-Identifier: Apache-2.0 */
/* The incremental cost of a changed order is that of a walk over all of it,
 * whatever is kept and taken back on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "anneal/order/order.h"
#include "base/random.h"
#include "cost/model/plan.h"
#include "support/random_cases.h"

typedef struct fixture {
  regal_context *context;
  regal_problem *problem;
  regal_graph *graph;
  regal_order order;
  regal_walk walk;
  uint8_t *placement;
  char *block;
  regal_random random;
} fixture;

static void layout(fixture *f, regal_carver *carver) {
  regal_order_layout(&f->order, carver, f->problem);
  regal_walk_layout(&f->walk, carver, f->problem);
  f->placement = regal_carve(carver, f->problem->ops, 1);
}

static uint32_t draw(fixture *f, uint32_t below) {
  return (uint32_t)regal_random_below(&f->random, below);
}

/* A case whose links are overlapped in every other one. Of so many ops one is
 * placed anywhere, the others on their first device. Blocking transfers between
 * several devices are late in every other one: only then memory has a limit. */
static void set_up(fixture *f, uint64_t seed, uint32_t max_ops,
                   uint32_t devices, uint32_t one_in) {
  regal_machine *machine;
  regal_context_create(&f->context, NULL);
  regal_test_random_graph(f->context, seed, max_ops, &f->graph);
  regal_test_random_small_machine(f->context, seed, devices, f->graph,
                                  &machine);
  assert_int_equal(regal_problem_bind(f->context, f->graph, machine,
                                      REGAL_RUNTIME, &f->problem),
                   REGAL_OK);
  f->problem->limited = seed % 2;
  regal_carver carver = {NULL, 0};
  layout(f, &carver);
  f->block = regal_alloc(f->context, carver.used, 1);
  carver = (regal_carver){f->block, 0};
  layout(f, &carver);
  f->random = (regal_random){seed, 0};
  uint32_t order[4096];
  for (uint32_t op = 0; op < f->problem->ops; op++) {
    order[op] = op;
    f->placement[op] = (uint8_t)__builtin_ctzll(f->problem->allowed[op]);
    if (draw(f, one_in) > 0)
      continue;
    do
      f->placement[op] = (uint8_t)draw(f, f->problem->devices);
    while (!(f->problem->allowed[op] >> f->placement[op] & 1));
  }
  f->order.late = regal_order_may_be_late(f->problem);
  regal_order_set(&f->order, order, f->placement);
}

static void tear_down(fixture *f) {
  regal_release(f->context, f->block);
  regal_problem_free(f->problem);
  regal_graph_free(f->graph);
  regal_context_free(f->context);
}

static int64_t walk(fixture *f) {
  for (uint32_t op = 0; op < f->problem->ops; op++)
    f->placement[op] = (uint8_t)f->order.cells[op].device;
  regal_fitness fitness =
      f->problem->machine->overlapped || f->order.late
          ? regal_walk_late(f->problem, &f->walk, f->order.op_at, f->placement,
                            NULL)
          : regal_walk_batched(f->problem, &f->walk, f->order.op_at,
                               f->placement, NULL);
  return fitness.value;
}

static void change(fixture *f) {
  uint32_t op = draw(f, f->problem->ops), first, last;
  if (draw(f, 3) > 0) {
    regal_order_range(f->problem, f->order.position, op, &first, &last);
    uint32_t at = f->order.position[op];
    if (draw(f, 2) && last > at + 3)
      last = at + 3;
    assert_true(first <= at && at <= last);
    regal_order_shift(&f->order, op, first + draw(f, last - first + 1));
  }
  for (uint32_t flips = draw(f, 8) ? draw(f, 3) : draw(f, 40); flips > 0;
       flips--) {
    uint32_t device = draw(f, f->problem->devices);
    if (f->order.cells[op].device != device &&
        (f->problem->allowed[op] >> device & 1) &&
        f->order.flips < f->problem->ops)
      regal_order_flip(&f->order, op, device);
    op = draw(f, f->problem->ops);
  }
}

/* Keeps more, or less, so that tails are and are not there. */
static void run_moves(fixture *f, uint32_t moves) {
  uint32_t keep_one_in = 1 + draw(f, 8);
  for (uint32_t i = 0; i < moves; i++) {
    regal_order_begin_move(&f->order);
    change(f);
    int64_t expected = walk(f);
    int64_t allowed = draw(f, 2) ? INT64_MAX : f->order.runtime_ns + draw(f, 3);
    int64_t found = regal_order_cost(&f->order, allowed);
    if (expected <= allowed)
      assert_int_equal(found, expected);
    else
      assert_true(found > allowed);
    if (expected <= allowed && draw(f, keep_one_in) == 0)
      regal_order_keep(&f->order, found);
    else
      regal_order_take_back(&f->order);
    assert_int_equal(walk(f), f->order.runtime_ns);
  }
}

static void test_small(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    fixture f;
    set_up(&f, seed, 12, 4, 1);
    run_moves(&f, 60);
    tear_down(&f);
  }
}

static void test_large(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    fixture f;
    set_up(&f, 1000 + seed, 150, seed % 3 ? 2 : 5, 1);
    run_moves(&f, 150);
    tear_down(&f);
  }
}

/* Few transfers: what a move changes is soon forgotten, and simulations end
 * early. */
static void test_few_transfers(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    fixture f;
    set_up(&f, 5000 + seed, 40 + seed % 5 * 50, 2 + seed % 3, 12);
    run_moves(&f, 200);
    tear_down(&f);
  }
}

static void test_copy(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    fixture a, b;
    set_up(&a, seed, 60, 3, 1);
    set_up(&b, seed, 60, 3, 1);
    run_moves(&a, 30);
    regal_order_set(&b.order, a.order.op_at, a.order.device_of);
    assert_int_equal(b.order.runtime_ns, a.order.runtime_ns);
    run_moves(&b, 30);
    tear_down(&a);
    tear_down(&b);
  }
}

/* The ops between two transfers are listed device by device, the last device
 * first: where none waits for another this is the same plan. */
static void list_by_device(const regal_problem *problem, regal_plan *plan) {
  regal_step old[8192];
  uint32_t count = plan->step_count;
  assert_true(count <= 8192);
  memcpy(old, plan->steps, count * sizeof *old);
  for (uint32_t i = 0, end; i < count; i = end) {
    end = i + 1;
    if (!regal_step_runs(&old[i]))
      continue;
    while (end < count && regal_step_runs(&old[end]))
      end++;
    uint32_t next = i;
    for (uint32_t device = problem->devices; device-- > 0;)
      for (uint32_t k = i; k < end; k++)
        if (old[k].device == device)
          plan->steps[next++] = old[k];
  }
}

/* What an order costs is not lost on the way through a plan, even one that
 * lists its ops otherwise. */
static void test_read(void **state) {
  (void)state;
  uint32_t read = 0, relisted = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    fixture f;
    regal_plan *plan;
    uint32_t op_at[4096];
    set_up(&f, seed, 80, 2 + seed % 2, 2);
    run_moves(&f, 20);
    int64_t cost = walk(&f);
    bool links = f.problem->machine->overlapped || f.order.late;
    bool waits = f.problem->wait_begin[f.problem->ops] > 0;
    assert_int_equal(
        regal_plan_create(f.context, regal_plan_most_steps(f.problem), &plan),
        REGAL_OK);
    (links ? regal_walk_late : regal_walk_batched)(
        f.problem, &f.walk, f.order.op_at, f.placement, plan);
    if (!links && !waits && f.problem->devices == 2) {
      list_by_device(f.problem, plan);
      relisted++;
    }
    regal_order_read(&f.order, plan, op_at, f.placement);
    regal_order_set(&f.order, op_at, f.placement);
    assert_int_equal(f.order.runtime_ns, cost);
    read++;
    regal_plan_free(plan);
    tear_down(&f);
  }
  assert_int_equal(read, 400);
  assert_true(relisted >= 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small),         cmocka_unit_test(test_large),
      cmocka_unit_test(test_few_transfers), cmocka_unit_test(test_copy),
      cmocka_unit_test(test_read),
  };
  return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
