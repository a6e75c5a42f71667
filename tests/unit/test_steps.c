/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing of all steps (anneal/steps/steps.h): any plan can be its solution,
 * every move leads to a valid plan of the cost that it says, what is taken back
 * is as before, and the optima of tiny graphs are found, also those that no
 * order of ops alone leads to. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "anneal/driver/annealers.h"
#include "anneal/steps/steps.h"
#include "cost/verify/verify.h"
#include "support/brute_force.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"

static const regal_annealer *const steps = &regal_annealer_steps;

typedef struct trial {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *start, *written;
} trial;

static void end_trial(trial *t) {
  regal_plan_free(t->written);
  regal_plan_free(t->start);
  regal_problem_free(t->problem);
  regal_graph_free(t->graph);
  regal_context_free(t->context);
}

/* The random case of a seed; false when it does not suit. */
static bool begin_trial(trial *t, uint64_t seed, uint32_t max_ops) {
  regal_machine *machine;
  regal_context_create(&t->context, NULL);
  regal_test_random_graph(t->context, seed, max_ops, &t->graph);
  regal_test_random_small_machine(t->context, seed, 4, t->graph, &machine);
  regal_test_random_plan(t->context, seed, t->graph, machine, &t->start);
  assert_int_equal(regal_problem_bind(t->context, t->graph, machine,
                                      REGAL_RUNTIME, &t->problem),
                   REGAL_OK);
  assert_int_equal(regal_plan_create(t->context,
                                     regal_plan_most_steps(t->problem),
                                     &t->written),
                   REGAL_OK);
  if (steps->suits(t->problem))
    return true;
  end_trial(t);
  return false;
}

static regal_fitness judged(const trial *t, const regal_plan *plan) {
  regal_cost cost;
  if (regal_verify(t->context, t->problem, plan, &cost))
    fail_msg("%s", regal_error(t->context));
  return regal_fitness_of(t->problem, &cost);
}

static void assert_same(regal_fitness a, regal_fitness b) {
  assert_int_equal(a.excess, b.excess);
  assert_int_equal(a.value, b.value);
}

static void *begin_chain(trial *t, const regal_annealer *annealer) {
  void *state;
  assert_int_equal(annealer->create(t->context, t->problem, &state), REGAL_OK);
  annealer->begin(state, t->start, 7);
  return state;
}

/* A valid plan is read and written as it is. */
static void test_any_plan(void **unused) {
  (void)unused;
  uint32_t cases = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    trial t;
    if (!begin_trial(&t, seed, 30))
      continue;
    void *state = begin_chain(&t, steps);
    steps->write(state, t.written);
    assert_same(steps->best(state), judged(&t, t.start));
    assert_int_equal(t.written->step_count, t.start->step_count);
    assert_memory_equal(t.written->steps, t.start->steps,
                        t.start->step_count * sizeof *t.start->steps);
    steps->destroy(state);
    end_trial(&t);
    cases++;
  }
  assert_true(cases > 100);
}

/* The present solution as a plan. */
static void write_now(const regal_steps *s, regal_plan *plan) {
  plan->step_count = 0;
  for (uint32_t i = 0; i < s->now.count; i++) {
    regal_steps_entry entry = s->now.entries[i];
    if (entry.to == REGAL_STEPS_RUN)
      regal_plan_add_run(plan, entry.what, s->placement[entry.what]);
    else
      regal_plan_add_send(plan, s->problem, entry.what,
                          s->placement[s->problem->producer[entry.what]],
                          entry.to);
  }
}

static void check_move(trial *t, regal_steps *s) {
  regal_steps_entry before[1024];
  uint8_t placement[64];
  size_t bytes = s->now.count * sizeof *before;
  memcpy(before, s->now.entries, bytes);
  memcpy(placement, s->placement, t->problem->ops);
  regal_steps_move(s);
  regal_steps_replay(s, INT64_MAX);
  regal_steps_take_back(s);
  assert_memory_equal(before, s->now.entries, bytes);
  assert_memory_equal(placement, s->placement, t->problem->ops);
}

static void test_moves(void **unused) {
  (void)unused;
  for (uint64_t seed = 1; seed <= 150; seed++) {
    trial t;
    if (!begin_trial(&t, seed, 30))
      continue;
    regal_steps *s = begin_chain(&t, steps);
    for (int i = 0; i < 40; i++) {
      check_move(&t, s);
      /* hot: nearly every move is kept */
      steps->run(s, &(regal_anneal_stretch){1e6, 0, 1, false});
      write_now(s, t.written);
      assert_same(judged(&t, t.written), s->fitness);
      assert_false(regal_fitness_less(s->fitness, s->best_fitness));
    }
    steps->write(s, t.written);
    assert_same(judged(&t, t.written), s->best_fitness);
    steps->destroy(s);
    end_trial(&t);
  }
}

static regal_fitness anneal(trial *t, const regal_annealer *annealer) {
  void *state = begin_chain(t, annealer);
  for (int i = 0; i < 40; i++)
    annealer->run(
        state, &(regal_anneal_stretch){2 * pow(0.9, i), i / 40.0, 200, false});
  regal_fitness best = annealer->best(state);
  annealer->destroy(state);
  return best;
}

static void test_optima(void **unused) {
  (void)unused;
  uint32_t cases = 0, missed = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    trial t;
    regal_test_best optimum = {0};
    if (!begin_trial(&t, seed, 6))
      continue;
    bool tried = regal_test_brute_force(t.context, t.graph, t.problem->machine,
                                        5000, &optimum);
    regal_fitness least = regal_fitness_of(t.problem, &optimum.runtime.cost);
    if (tried && least.excess == 0) {
      cases++;
      missed += regal_fitness_less(least, anneal(&t, steps));
    }
    end_trial(&t);
  }
  assert_true(cases > 150);
  assert_int_equal(missed, 0);
}

/* `early` and `late` run on device 0, their readers on device 1, that of `late`
 * first. The link is idle while `late` runs: it could carry what `early` made,
 * but a rule that sends tensors in the order of their readers never does. */
static void begin_idle_link(trial *t) {
  static const struct {
    int64_t run_ns, bytes;
    uint32_t device;
  } ops[] = {{1, 10, 0}, {10, 1, 0}, {1, 1, 1}, {1, 0, 1}};
  enum { EARLY, LATE, FIRST, SECOND, OPS };
  regal_builder *builder;
  regal_machine *machine;
  regal_context_create(&t->context, NULL);
  regal_builder_create(t->context, &builder);
  machine = regal_alloc(t->context, 1, sizeof *machine);
  regal_test_plain_machine(machine, 2);
  machine->context = t->context;
  machine->overlapped = true;
  machine->bandwidth[0][1] = machine->bandwidth[1][0] = 1000000000;
  machine->timed_op = regal_alloc(t->context, OPS, sizeof(uint32_t));
  machine->timed_ns = regal_alloc(t->context, (size_t)2 * OPS, sizeof(int64_t));
  machine->timed_ops = OPS;
  for (uint32_t op = 0; op < OPS; op++) {
    regal_builder_add_op(builder, "", ops[op].run_ns, 0, 0, NULL);
    regal_builder_add_output(builder, op, ops[op].bytes, false);
    machine->timed_op[op] = op;
    machine->timed_ns[2 * op] = machine->timed_ns[2 * op + 1] = REGAL_NEVER;
    machine->timed_ns[2 * op + ops[op].device] = ops[op].run_ns;
  }
  regal_builder_add_input(builder, FIRST, LATE, 0);
  regal_builder_add_input(builder, SECOND, EARLY, 0);
  regal_builder_add_input(builder, SECOND, FIRST, 0);
  assert_int_equal(regal_builder_finish(builder, &t->graph), REGAL_OK);
  assert_int_equal(regal_problem_bind(t->context, t->graph, machine,
                                      REGAL_RUNTIME, &t->problem),
                   REGAL_OK);
  const uint32_t order[] = {EARLY, LATE, FIRST, SECOND};
  const uint8_t placement[] = {0, 0, 1, 1};
  assert_int_equal(regal_plan_from_order(t->context, t->problem, order,
                                         placement, &t->start),
                   REGAL_OK);
  t->written = NULL;
}

static void test_idle_link(void **unused) {
  (void)unused;
  trial t;
  begin_idle_link(&t);
  assert_int_equal(anneal(&t, steps).value, 14);
  assert_int_equal(anneal(&t, &regal_annealer_order).value, 22);
  end_trial(&t);
}

static void test_out_of_memory(void **unused) {
  (void)unused;
  trial t;
  failing_allocator memory = {0};
  regal_allocator allocator = failing_allocator_of(&memory);
  regal_context *context;
  void *state;
  uint64_t seed = 1;
  while (!begin_trial(&t, seed, 30))
    seed++;
  regal_context_create(&context, &allocator);
  memory.fail_at = memory.allocations + 1;
  assert_int_equal(steps->create(context, t.problem, &state), REGAL_NO_MEMORY);
  regal_context_free(context);
  end_trial(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_plan), cmocka_unit_test(test_moves),
      cmocka_unit_test(test_optima), cmocka_unit_test(test_idle_link),
      cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
