/* The incremental cost of a changed order is that of a walk over all of it,
 * whatever is kept and taken back on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "search/order.h"
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

/* A case without memory; its links are overlapped in every other one. Of so
 * many ops one is placed anywhere, the others on their first device. */
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
  f->problem->limited = false;
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
      f->problem->machine->overlapped
          ? regal_walk_late(f->problem, &f->walk, f->order.op_at, f->placement,
                            NULL)
          : regal_walk_batched(f->problem, &f->walk, f->order.op_at,
                               f->placement, NULL);
  return fitness.value;
}

static void change(fixture *f) {
  uint32_t op = draw(f, f->problem->ops), first, last;
  if (draw(f, 3) > 0) {
    regal_order_range(&f->order, op, &first, &last);
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
    regal_order_copy(&b.order, &a.order);
    assert_int_equal(b.order.runtime_ns, a.order.runtime_ns);
    run_moves(&b, 30);
    tear_down(&a);
    tear_down(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small),
      cmocka_unit_test(test_large),
      cmocka_unit_test(test_few_transfers),
      cmocka_unit_test(test_copy),
  };
  return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
