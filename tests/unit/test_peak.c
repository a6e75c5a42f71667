/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing for peak memory: its incremental cost against the simulator and the
 * verifier on random problems with everything that the model has, and what it
 * promises as an annealer (anneal/driver/annealer.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "anneal/driver/annealers.h"
#include "anneal/peak/peak.h"
#include "cost/model/simulate.h"
#include "support/brute_force.h"
#include "support/random_cases.h"
#include "support/toy_graph.h"

static const regal_annealer *const memory = &regal_annealer_memory;

typedef struct trial {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *start, *out;
  void *state;
} trial;

/* A random problem; at most `devices`. False
 * when the annealer is not for it. */
static bool trial_begin(trial *t, regal_context *context, uint64_t seed,
                        uint32_t ops, uint32_t devices) {
  regal_machine *machine;
  *t = (trial){.context = context};
  regal_test_random_graph(context, seed, ops, &t->graph);
  regal_test_random_small_machine(context, seed, devices, t->graph, &machine);
  regal_test_random_plan(context, seed, t->graph, machine, &t->start);
  t->problem = toy_problem(context, t->graph, machine, REGAL_MEMORY);
  assert_int_equal(
      regal_plan_create(context, regal_plan_most_steps(t->problem), &t->out),
      REGAL_OK);
  if (!memory->suits(t->problem))
    return false;
  assert_int_equal(memory->create(context, t->problem, &t->state), REGAL_OK);
  memory->begin(t->state, t->start, seed);
  return true;
}

static void trial_end(trial *t) {
  if (t->state)
    memory->destroy(t->state);
  regal_plan_free(t->start);
  regal_plan_free(t->out);
  regal_problem_free(t->problem);
  regal_graph_free(t->graph);
}

static void run(trial *t, double temperature, uint32_t moves) {
  memory->run(t->state,
              &(regal_anneal_stretch){temperature, 0.5, moves, false});
}

/* The plan of the best solution is valid, and costs what `best` says. */
static void expect_best_verified(trial *t) {
  regal_cost cost, fast;
  regal_simulator *simulator;
  regal_fitness best = memory->best(t->state);
  memory->write(t->state, t->out);
  if (regal_verify(t->context, t->problem, t->out, &cost))
    fail_msg("%s", regal_error(t->context));
  assert_int_equal(cost.max_peak_bytes, best.value);
  assert_int_equal(cost.excess_bytes, best.excess);
  assert_int_equal(regal_simulator_create(t->context, t->problem, &simulator),
                   REGAL_OK);
  regal_simulate(simulator, t->out, &fast);
  assert_int_equal(fast.max_peak_bytes, best.value);
  regal_simulator_free(simulator);
}

/* The present solution becomes the best, so that `write` shows it. */
static void expect_present_verified(trial *t) {
  regal_peak *chain = t->state;
  double value = chain->best_value, excess = chain->best_excess;
  size_t words = chain->ops * sizeof(uint32_t);
  uint32_t tensors = t->problem->tensors;
  uint32_t *order = regal_alloc(t->context, chain->ops, 4);
  uint8_t *placement = regal_alloc(t->context, chain->ops, 1);
  uint8_t *early = regal_alloc(t->context, tensors + 1, 1);
  uint32_t *kept_for = regal_alloc(t->context, tensors + 1, 4);
  memcpy(order, chain->best_order, words);
  memcpy(placement, chain->best_placement, chain->ops);
  memcpy(early, chain->best_early, tensors);
  memcpy(kept_for, chain->best_kept_for, tensors * sizeof *kept_for);
  memcpy(chain->best_order, chain->order, words);
  memcpy(chain->best_placement, chain->memory.placement, chain->ops);
  memcpy(chain->best_early, chain->memory.early, tensors);
  memcpy(chain->best_kept_for, chain->memory.kept_for,
         tensors * sizeof *kept_for);
  chain->best_value = chain->memory.cost.value;
  chain->best_excess = chain->memory.cost.excess;
  expect_best_verified(t);
  memcpy(chain->best_order, order, words);
  memcpy(chain->best_placement, placement, chain->ops);
  memcpy(chain->best_early, early, tensors);
  memcpy(chain->best_kept_for, kept_for, tensors * sizeof *kept_for);
  chain->best_value = value;
  chain->best_excess = excess;
  regal_release(t->context, order);
  regal_release(t->context, placement);
  regal_release(t->context, early);
  regal_release(t->context, kept_for);
}

/* What moves have left is what building it anew gives. */
static void expect_consistent(trial *t) {
  regal_peak *chain = t->state;
  regal_memory_cost cost = chain->memory.cost;
  double peak[REGAL_MAX_DEVICES];
  memcpy(peak, chain->memory.peak, sizeof peak);
  for (uint32_t i = 0; i < chain->ops; i++)
    assert_int_equal(chain->position[chain->order[i]], i);
  regal_memory_rebuild_events(&chain->memory);
  regal_memory_rebuild_profile(&chain->memory);
  assert_true(cost.value == chain->memory.cost.value);
  assert_true(cost.excess == chain->memory.cost.excess);
  assert_true(fabs(cost.soft - chain->memory.cost.soft) <=
              1e-9 * fabs(chain->memory.cost.soft) + 1e-6);
  for (uint32_t b = 0; b < chain->devices; b++)
    assert_true(peak[b] == chain->memory.peak[b]);
}

static void moves_keep_the_exact_cost(void **state) {
  static const double temperatures[] = {10, 0.1, 0.003, 0};
  uint32_t suited = 0, devices[9] = {0};
  for (uint64_t seed = 0; seed < 600; seed++) {
    trial t;
    uint32_t ops = seed % 3 ? 12 : 90;
    if (trial_begin(&t, *state, seed, ops, 1 + (uint32_t)(seed % 6))) {
      suited++;
      devices[t.problem->devices]++;
      for (int k = 0; k < 8; k++) {
        run(&t, temperatures[k % 4], 1 + (uint32_t)(seed * 7 % 90));
        expect_present_verified(&t);
        expect_consistent(&t);
      }
    }
    trial_end(&t);
  }
  assert_true(suited > 450);
  for (int d = 1; d <= 6; d++)
    assert_true(devices[d] > 10);
}

/* Many devices, where masks have their last bit. */
static void all_devices_work(void **state) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    trial t;
    if (trial_begin(&t, *state, seed, 60, REGAL_MAX_DEVICES))
      for (int k = 0; k < 4; k++) {
        run(&t, 1, 300);
        expect_present_verified(&t);
        expect_consistent(&t);
      }
    trial_end(&t);
  }
}

static void best_only_improves(void **state) {
  for (uint64_t seed = 1000; seed < 1100; seed++) {
    trial t;
    if (trial_begin(&t, *state, seed, 50, 4)) {
      regal_fitness before = memory->best(t.state);
      for (int k = 0; k < 12; k++) {
        run(&t, k % 2 ? 0.5 : 0.001, 100);
        regal_fitness now = memory->best(t.state);
        assert_false(regal_fitness_less(before, now));
        before = now;
        expect_best_verified(&t);
      }
    }
    trial_end(&t);
  }
}

/* A plan whose transfers are all late is taken over as it is. */
static void begins_from_the_plan(void **state) {
  for (uint64_t seed = 2000; seed < 2200; seed++) {
    trial t;
    if (trial_begin(&t, *state, seed, 40, 5)) {
      regal_cost given, taken;
      run(&t, 1, 500);
      memory->write(t.state, t.out);
      assert_int_equal(regal_verify(t.context, t.problem, t.out, &given),
                       REGAL_OK);
      memory->begin(t.state, t.out, 1);
      assert_int_equal(memory->best(t.state).value, given.max_peak_bytes);
      memory->write(t.state, t.start);
      assert_int_equal(regal_verify(t.context, t.problem, t.start, &taken),
                       REGAL_OK);
      assert_int_equal(taken.max_peak_bytes, given.max_peak_bytes);
    }
    trial_end(&t);
  }
}

static void the_key_decides(void **state) {
  uint32_t differ = 0;
  for (uint64_t seed = 3000; seed < 3040; seed++) {
    trial a, b;
    bool good = trial_begin(&a, *state, seed, 60, 3);
    trial_begin(&b, *state, seed, 60, 3);
    for (int other = 0; good && other < 2; other++) {
      memory->begin(a.state, a.start, 5);
      memory->begin(b.state, b.start, 5 + (uint64_t)other);
      run(&a, 1, 400);
      run(&b, 1, 400);
      const regal_peak *x = a.state, *y = b.state;
      bool same = !memcmp(x->order, y->order, x->ops * sizeof *x->order) &&
                  !memcmp(x->memory.placement, y->memory.placement, x->ops) &&
                  x->memory.cost.energy == y->memory.cost.energy;
      if (other == 0)
        assert_true(same);
      differ += !same;
    }
    trial_end(&a);
    trial_end(&b);
  }
  assert_true(differ > 20);
}

static void copies_continue_from_the_other(void **state) {
  for (uint64_t seed = 4000; seed < 4060; seed++) {
    trial a, b;
    bool good = trial_begin(&a, *state, seed, 60, 3);
    trial_begin(&b, *state, seed, 60, 3);
    if (good) {
      run(&a, 1, 300);
      run(&b, 0.01, 300);
      regal_fitness before = memory->best(b.state);
      const regal_peak *x = a.state, *y = b.state;
      memory->copy(b.state, a.state);
      assert_memory_equal(x->order, y->order, x->ops * sizeof *x->order);
      assert_true(memory->energy(a.state) == memory->energy(b.state));
      assert_false(regal_fitness_less(before, memory->best(b.state)));
      expect_consistent(&b);
      run(&b, 0.01, 300);
      expect_best_verified(&b);
    }
    trial_end(&a);
    trial_end(&b);
  }
}

/* Tiny graphs: the least peak of all plans that can be said, which is nearly
 * always that of all plans. */
static void tiny_graphs_are_solved(void **state) {
  uint32_t solved = 0, tried = 0;
  for (uint64_t seed = 5000; seed < 5200; seed++) {
    trial t;
    regal_test_best all;
    if (trial_begin(&t, *state, seed, 6, 3) &&
        regal_test_brute_force(*state, t.graph, t.problem->machine, 5000,
                               &all)) {
      for (int k = 0; k < 20; k++)
        run(&t, 0.5 * pow(0.7, k), 100);
      regal_fitness best = memory->best(t.state);
      assert_true(best.excess >= all.memory.cost.excess_bytes);
      if (best.excess == all.memory.cost.excess_bytes)
        assert_true(best.value >= all.memory.cost.max_peak_bytes);
      solved += best.excess == all.memory.cost.excess_bytes &&
                best.value == all.memory.cost.max_peak_bytes;
      tried++;
    }
    trial_end(&t);
  }
  assert_true(tried > 100);
  assert_true(solved * 100 >= tried * 97);
}

/* -- Which op -------------------------------------------------------------- */

/* Whether a device has the tensor while the op at position `at` runs. */
static bool is_alive(const regal_peak *chain, uint32_t tensor, uint32_t at) {
  const regal_problem *problem = chain->problem;
  bool alive = problem->is_final[tensor];
  uint32_t made_by = problem->producer[tensor];
  if (problem->bytes[tensor] == 0 || chain->position[made_by] > at)
    return false;
  alive |= chain->position[made_by] == at;
  for (uint32_t u = problem->use_begin[tensor];
       u < problem->use_begin[tensor + 1]; u++)
    alive |= chain->position[problem->consumer[u]] >= at;
  return alive;
}

/* Whether it makes or reads a tensor that is alive there. */
static bool has_to_do(const regal_peak *chain, uint32_t op, uint32_t at) {
  const regal_problem *problem = chain->problem;
  for (uint32_t t = problem->output_begin[op];
       t < problem->output_begin[op + 1]; t++)
    if (is_alive(chain, t, at))
      return true;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++)
    if (is_alive(chain, problem->input[i], at))
      return true;
  return false;
}

/* Above the reference while it runs, on any device. */
static bool is_crowded(const regal_peak *chain, uint32_t at) {
  uint32_t op = chain->order[at];
  for (uint32_t b = 0; b < chain->devices; b++) {
    double bytes = chain->memory.before[(size_t)at * chain->devices + b];
    bytes += b == chain->memory.placement[op] ? chain->memory.add[op] : 0;
    if (bytes > chain->memory.reference[b])
      return true;
  }
  return false;
}

static void crowded_ops_are_found_and_drawn(void **state) {
  uint32_t goals = 0, others = 0, crowded = 0;
  for (uint64_t seed = 6000; seed < 6100; seed++) {
    trial t;
    if (trial_begin(&t, *state, seed, 70, 1 + (uint32_t)(seed % 4))) {
      regal_peak *chain = t.state;
      run(&t, 0.1, 200);
      run(&t, 0.1, 0); /* the reference follows the best */
      regal_peak_find_crowded(chain, chain->ops);
      uint32_t found = 0;
      for (uint32_t at = 0; at < chain->ops; at++)
        if (is_crowded(chain, at))
          assert_int_equal(chain->crowded[found++], chain->order[at]);
      assert_int_equal(chain->crowded_count, found);
      crowded += found > 0;
      for (int k = 0; k < 100; k++) {
        uint32_t op = regal_peak_draw_op(chain);
        assert_true(op < chain->ops);
        others += chain->goal == REGAL_NONE;
        if (chain->goal == REGAL_NONE)
          continue;
        assert_true(is_crowded(chain, chain->goal));
        assert_true(has_to_do(chain, op, chain->goal));
        goals++;
      }
    }
    trial_end(&t);
  }
  assert_true(goals > 1000 && others > 1000 && crowded > 60);
}

/* A list is kept for as many moves as a quarter of it. */
static void crowded_ops_are_listed_anew(void **state) {
  trial t;
  assert_true(trial_begin(&t, *state, 6001, 70, 2));
  regal_peak *chain = t.state;
  chain->crowded_count = 40;
  chain->crowded[0] = 69;
  regal_peak_find_crowded(chain, 9);
  assert_int_equal(chain->crowded_count, 40);
  regal_peak_find_crowded(chain, 1);
  assert_int_equal(chain->crowded_age, 0);
  uint32_t found = 0;
  for (uint32_t at = 0; at < chain->ops; at++)
    if (is_crowded(chain, at))
      assert_int_equal(chain->crowded[found++], chain->order[at]);
  assert_int_equal(chain->crowded_count, found);
  trial_end(&t);
}

/* 16 ops need 1000 bytes each, 8 hold 100: the former all on one device, the
 * latter on the other. One by one they do not get there: of two devices that
 * both have one of the former, one has 400 bytes more, wherever the rest is. */
static void large_ops_gather_on_one_device(void **state) {
  toy_op ops[24] = {{0}};
  for (int i = 0; i < 24; i++) {
    ops[i] = (toy_op){.run_ns = 1, .reads = ""};
    if (i % 3)
      ops[i].temporary = 1000;
    else
      ops[i].resident = 100;
  }
  trial t = {.context = *state};
  t.graph = TOY_GRAPH(*state, ops);
  t.problem =
      toy_problem(*state, t.graph, toy_machine(*state, 2), REGAL_MEMORY);
  assert_int_equal(regal_plan_create(*state, 24, &t.start), REGAL_OK);
  assert_int_equal(
      regal_plan_create(*state, regal_plan_most_steps(t.problem), &t.out),
      REGAL_OK);
  for (uint32_t op = 0; op < 24; op++)
    t.start->steps[t.start->step_count++] =
        (regal_step){op, REGAL_RUN, (uint16_t)(op & 1), (uint16_t)(op & 1)};
  assert_int_equal(memory->create(*state, t.problem, &t.state), REGAL_OK);
  for (uint64_t seed = 0; seed < 10; seed++) {
    memory->begin(t.state, t.start, seed);
    assert_int_equal(memory->best(t.state).value, 1400);
    for (int k = 0; k < 200; k++)
      run(&t, 0.0001, 50);
    assert_int_equal(memory->best(t.state).value, 1000);
    expect_best_verified(&t);
  }
  trial_end(&t);
}

static void groups_and_run_time_do_not_suit(void **state) {
  static const toy_op ops[] = {{1, 4, .reads = ""}, {1, 4, .reads = "a"}};
  regal_graph *graph = TOY_GRAPH(*state, ops);
  for (int k = 0; k < 4; k++) {
    regal_machine *machine = toy_machine(*state, k == 3 ? 1 : 2);
    if (k >= 2)
      toy_groups(machine, graph, "aa");
    regal_problem *problem = toy_problem(*state, graph, machine,
                                         k == 1 ? REGAL_RUNTIME : REGAL_MEMORY);
    assert_int_equal(memory->suits(problem), k == 0 || k == 3);
    regal_problem_free(problem);
  }
  regal_graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOY_TEST(moves_keep_the_exact_cost),
      TOY_TEST(all_devices_work),
      TOY_TEST(best_only_improves),
      TOY_TEST(begins_from_the_plan),
      TOY_TEST(the_key_decides),
      TOY_TEST(copies_continue_from_the_other),
      TOY_TEST(tiny_graphs_are_solved),
      TOY_TEST(crowded_ops_are_found_and_drawn),
      TOY_TEST(crowded_ops_are_listed_anew),
      TOY_TEST(large_ops_gather_on_one_device),
      TOY_TEST(groups_and_run_time_do_not_suit),
  };
  return cmocka_run_group_tests_name("memory anneal", tests, NULL, NULL);
}
