/* SPDX-License-Identifier: Apache-2.0 */
/* The order of links (auto/links.h): plans stay valid and keep their placement
 * and the order of ops on each device, nothing gets worse, and a link that was
 * idle is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "auto/links.h"
#include "cost/verify/verify.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"

typedef struct trial {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_search search;
} trial;

static void begin_trial(trial *t, uint64_t seed) {
  regal_machine *machine;
  regal_plan *plan;
  regal_context_create(&t->context, NULL);
  regal_test_random_graph(t->context, seed, 40, &t->graph);
  regal_test_random_small_machine(t->context, seed, 5, t->graph, &machine);
  regal_test_random_plan(t->context, seed, t->graph, machine, &plan);
  assert_int_equal(regal_problem_bind(t->context, t->graph, machine,
                                      REGAL_RUNTIME, &t->problem),
                   REGAL_OK);
  regal_search_open(&t->search, t->context, t->problem, NULL, 1, 0);
  assert_int_equal(regal_search_offer(&t->search, plan), REGAL_OK);
}

static void end_trial(trial *t) {
  regal_search_close(&t->search);
  regal_problem_free(t->problem);
  regal_graph_free(t->graph);
  regal_context_free(t->context);
}

/* The ops of a device, in their order. */
static uint32_t list_ops(const regal_plan *plan, uint32_t device,
                         uint32_t *ops) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (regal_step_runs(&plan->steps[i]) && plan->steps[i].device == device)
      ops[count++] = plan->steps[i].op;
  return count;
}

static void check_same_ops(const trial *t, const regal_plan *a,
                           const regal_plan *b) {
  uint32_t before[64], after[64];
  assert_int_equal(a->step_count, b->step_count);
  for (uint32_t d = 0; d < t->problem->devices; d++) {
    uint32_t count = list_ops(a, d, before);
    assert_int_equal(list_ops(b, d, after), count);
    assert_memory_equal(before, after, count * sizeof *before);
  }
}

static void test_random(void **unused) {
  (void)unused;
  uint32_t better = 0;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    trial t;
    regal_plan *start;
    regal_cost cost;
    regal_account account = {.length = 0};
    begin_trial(&t, seed);
    regal_fitness before = t.search.plan_fitness;
    assert_int_equal(regal_plan_copy(t.context, t.search.best, &start),
                     REGAL_OK);
    assert_int_equal(regal_auto_sort_links(&t.search, &account), REGAL_OK);
    if (regal_verify(t.context, t.problem, t.search.best, &cost))
      fail_msg("%s", regal_error(t.context));
    regal_fitness after = regal_fitness_of(t.problem, &cost);
    assert_false(regal_fitness_less(before, after));
    assert_int_equal(after.value, t.search.plan_fitness.value);
    check_same_ops(&t, start, t.search.best);
    bool gained = regal_fitness_less(after, before);
    assert_int_equal(gained, account.length > 0);
    assert_true(!gained || t.problem->machine->overlapped);
    better += gained;
    regal_plan_free(start);
    end_trial(&t);
  }
  assert_true(better > 20);
}

/* Device 0 runs `early`, then `late`; device 1 their readers, that of `late`
 * first. While `late` runs the link is idle, and could carry what `early` made:
 * 10 bytes, one a nanosecond. */
static void test_idle_link(void **unused) {
  (void)unused;
  static const int64_t run_ns[] = {1, 10, 1, 1}, bytes[] = {10, 1, 1, 0};
  enum { EARLY, LATE, FIRST, SECOND, OPS };
  const uint32_t order[] = {EARLY, LATE, FIRST, SECOND};
  const uint8_t placement[] = {0, 0, 1, 1};
  trial t;
  regal_builder *builder;
  regal_context_create(&t.context, NULL);
  regal_builder_create(t.context, &builder);
  for (uint32_t op = 0; op < OPS; op++) {
    regal_builder_add_op(builder, "", run_ns[op], 0, 0, NULL);
    regal_builder_add_output(builder, op, bytes[op], false);
  }
  regal_builder_add_input(builder, FIRST, LATE, 0);
  regal_builder_add_input(builder, SECOND, EARLY, 0);
  regal_builder_add_input(builder, SECOND, FIRST, 0);
  assert_int_equal(regal_builder_finish(builder, &t.graph), REGAL_OK);
  regal_machine *machine = regal_alloc(t.context, 1, sizeof *machine);
  regal_test_plain_machine(machine, 2);
  machine->context = t.context;
  machine->overlapped = true;
  machine->bandwidth[0][1] = machine->bandwidth[1][0] = 1000000000;
  assert_int_equal(regal_problem_bind(t.context, t.graph, machine,
                                      REGAL_RUNTIME, &t.problem),
                   REGAL_OK);
  regal_account account = {.length = 0};
  regal_search_open(&t.search, t.context, t.problem, NULL, 1, 0);
  assert_int_equal(regal_search_offer_order(&t.search, order, placement),
                   REGAL_OK);
  assert_int_equal(t.search.plan_fitness.value, 23);
  assert_int_equal(regal_auto_sort_links(&t.search, &account), REGAL_OK);
  assert_int_equal(t.search.plan_fitness.value, 14);
  end_trial(&t);
}

static void test_out_of_memory(void **unused) {
  (void)unused;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_account account = {.length = 0};
    regal_context *context;
    trial t;
    uint64_t seed = 1;
    for (begin_trial(&t, seed); !t.problem->machine->overlapped ||
                                t.search.best->step_count == t.problem->ops;
         begin_trial(&t, ++seed))
      end_trial(&t);
    regal_context_create(&context, &allocator);
    t.search.context = context;
    memory.fail_at = memory.allocations + n;
    regal_status status = regal_auto_sort_links(&t.search, &account);
    size_t failed = memory.failed;
    if (failed)
      assert_int_equal(status, REGAL_NO_MEMORY);
    end_trial(&t);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!failed)
      break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                     cmocka_unit_test(test_idle_link),
                                     cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
