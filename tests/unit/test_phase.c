/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing (anneal/phase/phase.h): what it keeps up to date is what one
 * gets from scratch, every state is legal, what it writes is valid and costs no
 * more than it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "anneal/driver/annealers.h"
#include "anneal/phase/phase.h"
#include "support/brute_force.h"
#include "support/failing_allocator.h"
#include "support/plan_bench.h"

static const regal_annealer *const phase = &regal_annealer_phase;

/* A problem that suits, with a valid plan to begin from. */
typedef struct trial {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *start, *written;
  void *state;
  uint64_t seed;
} trial;

static void end_trial(trial *t) {
  if (t->state)
    phase->destroy(t->state);
  regal_plan_free(t->written);
  regal_plan_free(t->start);
  regal_problem_free(t->problem);
  regal_graph_free(t->graph);
  t->state = NULL;
  t->start = t->written = NULL;
  t->problem = NULL;
  t->graph = NULL;
}

/* The random case of a seed; false when it does not suit. */
static bool begin_trial(trial *t, uint64_t seed, uint32_t max_ops) {
  regal_machine *machine;
  t->seed = seed;
  regal_test_random_graph(t->context, seed, max_ops, &t->graph);
  regal_test_random_machine(t->context, seed, t->graph, &machine);
  regal_test_random_plan(t->context, seed, t->graph, machine, &t->start);
  assert_int_equal(regal_problem_bind(t->context, t->graph, machine,
                                      REGAL_RUNTIME, &t->problem),
                   REGAL_OK);
  if (!phase->suits(t->problem)) {
    end_trial(t);
    return false;
  }
  assert_int_equal(regal_plan_create(t->context,
                                     regal_plan_most_steps(t->problem),
                                     &t->written),
                   REGAL_OK);
  assert_int_equal(phase->create(t->context, t->problem, &t->state), REGAL_OK);
  return true;
}

static int64_t verified(const trial *t, const regal_plan *plan) {
  regal_cost cost;
  if (regal_verify_plan(t->context, t->graph, t->problem->machine, plan, &cost,
                        NULL))
    fail_msg("seed %llu: %s", (unsigned long long)t->seed,
             regal_error(t->context));
  return cost.runtime_ns;
}

static void anneal(void *state, double temperature, uint32_t moves) {
  phase->run(state, &(regal_anneal_stretch){temperature, 0, moves, false});
}

/* Plain, from the graph: loads by phase and device, each tensor's readers. */
static int64_t plain_cost(const trial *t, const uint32_t *at) {
  const regal_phase *s = t->state;
  const regal_problem *problem = t->problem;
  size_t places = (2 * (size_t)s->ops + 2) << s->shift;
  int64_t *load = calloc(places, sizeof *load), cost = 0;
  assert_non_null(load);
  for (uint32_t op = 0; op < s->ops; op++) {
    assert_true(at[op] < places);
    load[at[op]] += regal_problem_run_ns(problem, op, at[op] & s->mask);
  }
  for (size_t place = 0; place < places; place += s->mask + 1) {
    int64_t largest = 0;
    for (uint32_t a = 0; a <= s->mask; a++)
      largest = load[place + a] > largest ? load[place + a] : largest;
    cost += largest;
  }
  free(load);
  for (uint32_t i = 0; i < problem->tensors; i++) {
    uint32_t home = at[problem->producer[i]] & s->mask;
    for (uint32_t a = 0; a < problem->devices; a++) {
      bool read = false;
      for (uint32_t u = problem->use_begin[i]; u < problem->use_begin[i + 1];
           u++)
        read |= (at[problem->consumer[u]] & s->mask) == a;
      if (read && a != home)
        cost += regal_problem_transfer_ns(problem, i, home, a);
    }
  }
  return cost;
}

static void check_legal(const trial *t, const uint32_t *at) {
  const regal_phase *s = t->state;
  const regal_problem *problem = t->problem;
  for (uint32_t op = 0; op < s->ops; op++) {
    assert_true((at[op] & s->mask) < problem->devices);
    assert_true(problem->allowed[op] >> (at[op] & s->mask) & 1);
    for (uint32_t k = problem->successor_begin[op];
         k < problem->successor_begin[op + 1]; k++) {
      uint32_t next = at[problem->successor[k]];
      if (at[op] >> s->shift >= next >> s->shift && at[op] != next)
        fail_msg("seed %llu: edge from op %u (place %u) to op %u (%u)",
                 (unsigned long long)t->seed, op, at[op], problem->successor[k],
                 next);
    }
  }
}

/* Loads and members belong to the places. */
static void check_books(const trial *t) {
  const regal_phase *s = t->state;
  uint32_t members = 0;
  for (uint32_t k = 0; k < s->phases; k++) {
    int64_t load[REGAL_PHASE_DEVICES] = {0};
    uint32_t before = REGAL_NONE;
    for (uint32_t op = s->first[k]; op != REGAL_NONE; op = s->next[op]) {
      assert_int_equal(s->at[op] >> s->shift, k);
      assert_int_equal(s->before[op], before);
      before = op;
      members++;
      load[s->at[op] & s->mask] +=
          regal_problem_run_ns(t->problem, op, s->at[op] & s->mask);
    }
    assert_memory_equal(load, s->load + ((size_t)k << s->shift),
                        (s->mask + 1) * sizeof *load);
  }
  assert_int_equal(members, s->ops);
}

static void check_state(const trial *t) {
  regal_phase *s = t->state;
  check_legal(t, s->at);
  check_books(t);
  assert_int_equal(s->cost, plain_cost(t, s->at));
  assert_true(s->best_cost <= s->cost);
  assert_true(phase->energy(s) == (double)s->cost / s->mean_ns);
  regal_phase_save_best(s);
  check_legal(t, s->best_at);
  assert_int_equal(s->best_cost, plain_cost(t, s->best_at));
  phase->write(s, t->written);
  int64_t cost = verified(t, t->written);
  if (cost > s->best_cost)
    fail_msg("seed %llu: the plan costs %lld, the best was said to cost %lld",
             (unsigned long long)t->seed, (long long)cost,
             (long long)s->best_cost);
}

static int set_up_context(void **state) {
  trial *t = calloc(1, sizeof *t);
  if (!t || regal_context_create(&t->context, NULL))
    return -1;
  *state = t;
  return 0;
}

static int tear_down_context(void **state) {
  trial *t = *state;
  end_trial(t);
  bool leaked = regal_bytes_in_use(t->context) != 0;
  regal_context_free(t->context);
  free(t);
  return leaked;
}

/* -- Tests ----------------------------------------------------------------- */

/* Thousands of moves, hot, warm and cold: between stretches, and with tidying
 * in between, all is as from scratch. */
static void test_state_is_exact(void **state) {
  static const double temperatures[] = {100, 2, 0.5, 0.05, 0.005, 0, 1};
  trial *t = *state;
  uint32_t trials = 0, pairs = 0;
  for (uint64_t seed = 1; trials < 120; seed++) {
    if (!begin_trial(t, seed, 60))
      continue;
    trials++;
    pairs += t->problem->devices == 2;
    phase->begin(t->state, t->start, seed);
    check_state(t);
    int64_t best = phase->best(t->state).value;
    for (size_t i = 0; i < COUNT(temperatures); i++)
      for (uint32_t moves = 1; moves < 4000; moves *= 15) {
        anneal(t->state, temperatures[i], moves);
        check_state(t);
        assert_true(phase->best(t->state).value <= best);
        best = phase->best(t->state).value;
      }
    regal_phase_tidy(t->state);
    check_state(t);
    assert_true(phase->best(t->state).value <= best);
    end_trial(t);
  }
  assert_in_range(pairs, 20, 100);
}

/* Many ops change their device: all is as from scratch, what is taken costs no
 * more at temperature 0, and large changes are taken when it is hot. */
static void test_many(void **state) {
  trial *t = *state;
  uint32_t trials = 0, large = 0;
  for (uint64_t seed = 1; trials < 60; seed++) {
    if (!begin_trial(t, seed, 60))
      continue;
    trials++;
    regal_phase *s = t->state;
    phase->begin(s, t->start, seed);
    for (int i = 0; i < 60; i++) {
      uint8_t before[64];
      uint32_t moved = 0;
      int64_t cost = s->cost;
      for (uint32_t op = 0; op < s->ops; op++)
        before[op] = (uint8_t)(s->at[op] & s->mask);
      bool cold = i % 3 == 0;
      s->temperature_ns = cold ? 0 : 100 * s->mean_ns;
      regal_phase_flip_many(s);
      check_state(t);
      assert_true(!cold || s->cost <= cost);
      for (uint32_t op = 0; op < s->ops; op++)
        moved += before[op] != (s->at[op] & s->mask);
      large += moved > s->ops / 4;
      anneal(s, 0.5, 20);
    }
    end_trial(t);
  }
  assert_true(large > 100);
}

/* Two halves that depend on nothing of each other, all on one device: one move
 * brings half of the ops to the other and makes them work side by side. */
static void test_many_halve_the_time(void **state) {
  trial *t = *state;
  regal_builder *builder;
  regal_options options;
  uint32_t id, ops = 32;
  regal_options_init(&options);
  assert_int_equal(regal_builder_create(t->context, &builder), REGAL_OK);
  for (uint32_t op = 0; op < ops; op++) {
    regal_builder_add_op(builder, "", 1000, 0, 0, &id);
    regal_builder_add_output(builder, id, 8, false);
    if (op % (ops / 2))
      regal_builder_add_input(builder, id, id - 1, 0);
  }
  assert_int_equal(regal_builder_finish(builder, &t->graph), REGAL_OK);
  assert_int_equal(regal_options_set(t->context, &options, "latency", "1ms"),
                   REGAL_OK);
  assert_int_equal(
      regal_problem_create(t->context, t->graph, &options, &t->problem),
      REGAL_OK);
  assert_int_equal(regal_plan_create(t->context,
                                     regal_plan_most_steps(t->problem),
                                     &t->start),
                   REGAL_OK);
  for (uint32_t op = 0; op < ops; op++)
    t->start->steps[t->start->step_count++] = (regal_step)RUN(op, 0);
  assert_int_equal(phase->create(t->context, t->problem, &t->state), REGAL_OK);
  phase->begin(t->state, t->start, 1);
  ((regal_phase *)t->state)->temperature_ns = 0;
  for (int i = 0; i < 4000; i++)
    regal_phase_flip_many(t->state);
  assert_int_equal(phase->best(t->state).value, ops / 2 * 1000);
  end_trial(t);
}

/* Nothing that costs more is taken at temperature 0. */
static void test_temperature(void **state) {
  trial *t = *state;
  for (uint64_t seed = 1, trials = 0; trials < 40; seed++) {
    if (!begin_trial(t, seed, 60))
      continue;
    trials++;
    phase->begin(t->state, t->start, seed);
    double energy = phase->energy(t->state);
    for (int i = 0; i < 300; i++) {
      anneal(t->state, 0, 1);
      assert_true(phase->energy(t->state) <= energy);
      energy = phase->energy(t->state);
    }
    const regal_phase *s = t->state;
    assert_int_equal(s->cost, s->best_cost);
    end_trial(t);
  }
}

/* Between two devices every plan is a solution of its own cost or less:
 * neighbouring phases are merged where that is better. */
static void test_begin_keeps_the_cost(void **state) {
  trial *t = *state;
  uint32_t equal = 0, trials = 0;
  for (uint64_t seed = 1; trials < 150; seed++) {
    if (!begin_trial(t, seed, 30))
      continue;
    if (t->problem->devices == 2 && !t->problem->has_waits) {
      phase->begin(t->state, t->start, 1);
      int64_t cost = verified(t, t->start);
      assert_true(phase->best(t->state).value <= cost);
      equal += phase->best(t->state).value == cost;
      trials++;
    }
    end_trial(t);
  }
  assert_true(equal > trials / 2);
}

/* A plan on one device becomes one op a phase, with gaps between them. */
static void test_one_device(void **state) {
  trial *t = *state;
  uint32_t trials = 0;
  for (uint64_t seed = 1; trials < 20; seed++) {
    if (!begin_trial(t, seed, 30))
      continue;
    uint64_t everywhere = UINT64_MAX;
    for (uint32_t op = 0; op < t->problem->ops; op++)
      everywhere &= t->problem->allowed[op];
    uint32_t device = (uint32_t)__builtin_ctzll(everywhere);
    t->start->step_count = 0;
    for (uint32_t op = 0; op < t->problem->ops; op++)
      t->start->steps[t->start->step_count++] =
          (regal_step)RUN(op, (uint16_t)device);
    phase->begin(t->state, t->start, 1);
    const regal_phase *s = t->state;
    for (uint32_t op = 0; op < s->ops; op++)
      assert_int_equal(s->at[op], (2 * op + 1) << s->shift | device);
    assert_int_equal(s->phases, 2 * s->ops + 1);
    assert_int_equal(s->best_cost, verified(t, t->start));
    trials++;
    end_trial(t);
  }
}

static void test_reaches_the_optimum(void **state) {
  trial *t = *state;
  uint32_t trials = 0;
  for (uint64_t seed = 1; trials < 60; seed++) {
    regal_test_best best;
    if (!begin_trial(t, seed, 7))
      continue;
    if (t->problem->devices == 2 && !t->problem->has_waits &&
        regal_test_brute_force(t->context, t->graph, t->problem->machine, 3000,
                               &best)) {
      trials++;
      phase->begin(t->state, t->start, seed);
      for (double temperature = 3; temperature > 0.01; temperature *= 0.8)
        anneal(t->state, temperature, 600);
      check_state(t);
      if (phase->best(t->state).value != best.runtime.cost.runtime_ns)
        fail_msg("seed %llu: found %lld, the optimum is %lld",
                 (unsigned long long)seed,
                 (long long)phase->best(t->state).value,
                 (long long)best.runtime.cost.runtime_ns);
    }
    end_trial(t);
  }
}

static void test_key_decides(void **state) {
  trial *t = *state;
  uint32_t trials = 0, different = 0;
  for (uint64_t seed = 1; trials < 30; seed++) {
    if (!begin_trial(t, seed, 60))
      continue;
    trials++;
    regal_phase *one = t->state;
    uint32_t *at = calloc(one->ops, sizeof *at);
    assert_non_null(at);
    phase->begin(one, t->start, 7);
    anneal(one, 0.5, 3000);
    memcpy(at, one->at, one->ops * sizeof *at);
    /* neither what it did before nor how moves are cut up matters */
    phase->begin(one, t->start, 7);
    anneal(one, 0.5, 1000);
    anneal(one, 0.5, 2000);
    assert_memory_equal(at, one->at, one->ops * sizeof *at);
    phase->begin(one, t->start, 8);
    anneal(one, 0.5, 3000);
    different += memcmp(at, one->at, one->ops * sizeof *at) != 0;
    free(at);
    end_trial(t);
  }
  assert_true(different > trials / 2);
}

/* The present solution goes over, the best and the random numbers stay. */
static void test_copy(void **state) {
  trial *t = *state;
  for (uint64_t seed = 1, trials = 0; trials < 30; seed++) {
    void *first;
    if (!begin_trial(t, seed, 60))
      continue;
    trials++;
    assert_int_equal(phase->create(t->context, t->problem, &first), REGAL_OK);
    phase->begin(t->state, t->start, 1);
    anneal(t->state, 0.01, 3000);
    int64_t best = phase->best(t->state).value;
    phase->begin(first, t->start, 2);
    anneal(first, 50, 1000);
    uint64_t drawn = ((regal_phase *)t->state)->random.drawn;
    phase->copy(t->state, first);
    assert_true(phase->energy(t->state) == phase->energy(first));
    assert_int_equal(((regal_phase *)t->state)->random.drawn, drawn);
    assert_true(phase->best(t->state).value <= best);
    check_state(t);
    anneal(t->state, 0.1, 500);
    check_state(t);
    assert_true(phase->best(t->state).value <= best);
    /* and the other way: what is better becomes the best */
    anneal(t->state, 0.001, 3000);
    best = ((regal_phase *)t->state)->cost;
    phase->copy(first, t->state);
    assert_true(phase->best(first).value <= best);
    phase->destroy(t->state);
    t->state = first;
    check_state(t);
    end_trial(t);
  }
}

static void test_suits(void **state) {
  bench *b = *state;
  add_ops(b, 2);
  finish(b);
  for (int defect = 0; defect < 7; defect++) {
    regal_machine *machine = regal_alloc(b->context, 1, sizeof *machine);
    regal_problem *problem;
    assert_non_null(machine);
    regal_test_plain_machine(machine, defect == 1   ? 1
                                      : defect == 6 ? REGAL_PHASE_DEVICES + 1
                                                    : 2);
    machine->context = b->context;
    machine->overlapped = defect == 2;
    if (defect == 3)
      machine->memory_limit[1] = 1000;
    if (defect == 4) {
      machine->group = regal_alloc(b->context, 2, sizeof *machine->group);
      assert_non_null(machine->group);
    }
    assert_int_equal(regal_problem_bind(
                         b->context, b->graph, machine,
                         defect == 5 ? REGAL_MEMORY : REGAL_RUNTIME, &problem),
                     REGAL_OK);
    assert_int_equal(phase->suits(problem), defect == 0);
    regal_problem_free(problem);
  }
}

static void test_allocation_fails(void **state) {
  trial *t = *state;
  uint64_t seed = 1;
  while (!begin_trial(t, seed, 20))
    seed++;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    void *made = &memory;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    memory.fail_at = memory.allocations + n;
    regal_status status = phase->create(context, t->problem, &made);
    bool failed = memory.failed != 0;
    if (failed) {
      assert_int_equal(status, REGAL_NO_MEMORY);
      assert_ptr_equal(made, &memory);
    } else {
      phase->destroy(made);
    }
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!failed)
      break;
    assert_true(n < 10);
  }
}

#define TRIAL(name)                                                            \
  cmocka_unit_test_setup_teardown(name, set_up_context, tear_down_context)

int main(void) {
  const struct CMUnitTest tests[] = {
      TRIAL(test_state_is_exact),
      TRIAL(test_many),
      TRIAL(test_many_halve_the_time),
      TRIAL(test_temperature),
      TRIAL(test_begin_keeps_the_cost),
      TRIAL(test_one_device),
      TRIAL(test_reaches_the_optimum),
      TRIAL(test_key_decides),
      TRIAL(test_copy),
      TEST(test_suits),
      TRIAL(test_allocation_fails),
  };
  return cmocka_run_group_tests_name("phase", tests, NULL, NULL);
}
