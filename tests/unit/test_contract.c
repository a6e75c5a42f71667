/* SPDX-License-Identifier: Apache-2.0 */
/* Coarse problems: every plan of theirs is a valid plan of the fine problem,
 * with the same groups, allowed devices and parameters; where nothing is
 * transferred it takes as long and holds no more, and where transfers block and
 * are batched it takes as long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "anneal/driver/annealers.h"
#include "anneal/levels/contract.h"
#include "base/random.h"
#include "cost/verify/verify.h"
#include "support/failing_allocator.h"
#include "support/random_cases.h"

static regal_cost cost_of(regal_context *context, const regal_problem *problem,
                          const regal_plan *plan) {
  regal_cost cost;
  assert_int_equal(regal_verify(context, problem, plan, &cost), REGAL_OK);
  return cost;
}

static void check_expansion(regal_context *context, const regal_level *level,
                            uint64_t seed) {
  const regal_problem *coarse = level->problem;
  regal_plan *drawn, *fine;
  regal_test_random_plan(context, seed, level->graph, coarse->machine, &drawn);
  assert_int_equal(regal_level_expand(level, drawn, &fine), REGAL_OK);
  regal_cost above = cost_of(context, coarse, drawn);
  regal_cost below = cost_of(context, level->fine, fine);
  if (drawn->step_count == coarse->ops) {
    assert_true(below.runtime_ns <= above.runtime_ns);
    assert_true(below.max_peak_bytes <= above.max_peak_bytes);
  }
  regal_plan_free(fine);
  regal_plan_free(drawn);
}

/* A plan of phases has its barriers where it wants them; they stay there. */
static void check_phases(regal_context *context, const regal_level *level,
                         uint64_t seed, uint32_t *checked) {
  const regal_annealer *phase = &regal_annealer_phase;
  const regal_problem *coarse = level->problem;
  regal_plan *drawn, *written, *fine;
  void *state;
  if (!phase->suits(coarse))
    return;
  regal_test_random_plan(context, seed, level->graph, coarse->machine, &drawn);
  assert_int_equal(
      regal_plan_create(context, regal_plan_most_steps(coarse), &written),
      REGAL_OK);
  assert_int_equal(phase->create(context, coarse, &state), REGAL_OK);
  phase->begin(state, drawn, seed);
  phase->run(state, &(regal_anneal_stretch){1, 0, 200, false});
  phase->write(state, written);
  assert_int_equal(regal_level_expand(level, written, &fine), REGAL_OK);
  int64_t above = cost_of(context, coarse, written).runtime_ns;
  int64_t below = cost_of(context, level->fine, fine).runtime_ns;
  /* an op no longer waits for all of a cluster, or with all of its own */
  if (level->fine->has_waits)
    assert_true(below <= above);
  else
    assert_int_equal(below, above);
  *checked += written->step_count > coarse->ops;
  phase->destroy(state);
  regal_plan_free(fine);
  regal_plan_free(written);
  regal_plan_free(drawn);
}

static void check_members(const regal_level *level) {
  const regal_problem *fine = level->fine;
  uint8_t seen[512] = {0};
  int64_t work = 0;
  for (uint32_t k = 0; k < level->problem->ops; k++) {
    uint64_t allowed = UINT64_MAX;
    for (uint32_t i = level->member_begin[k]; i < level->member_begin[k + 1];
         i++) {
      assert_int_equal(seen[level->member[i]]++, 0);
      allowed &= fine->allowed[level->member[i]];
    }
    assert_true(allowed && allowed == level->problem->allowed[k]);
  }
  for (uint32_t op = 0; op < fine->ops; op++)
    assert_int_equal(seen[op], 1);
  if (fine->run_step == 0)
    for (uint32_t k = 0; k < level->problem->ops; k++)
      work += regal_problem_run_ns(level->problem, k, 0);
  for (uint32_t op = 0; fine->run_step == 0 && op < fine->ops; op++)
    work -= regal_problem_run_ns(fine, op, 0);
  assert_int_equal(work, 0);
}

static uint32_t cluster_of(const regal_level *level, uint32_t op) {
  uint32_t k = 0, at = 0;
  while (level->member[at] != op)
    at++;
  while (level->member_begin[k + 1] <= at)
    k++;
  return k;
}

/* Ops share a group of the coarse problem if and only if they do on the fine
 * one, or share a cluster with ops that do. */
static void check_groups(const regal_level *level, uint32_t *checked) {
  const regal_problem *fine = level->fine, *coarse = level->problem;
  for (uint32_t op = 0; fine->leader && op < fine->ops; op++)
    for (uint32_t other = 0; other < op; other++) {
      uint32_t k = regal_problem_leader(coarse, cluster_of(level, op));
      uint32_t j = regal_problem_leader(coarse, cluster_of(level, other));
      bool together = fine->leader[op] == fine->leader[other];
      bool grouped = fine->leader[op] != op && fine->leader[other] != other;
      if (together)
        assert_int_equal(k, j);
      else if (grouped)
        assert_int_not_equal(k, j);
      *checked += together;
    }
}

/* What a device holds for the whole plan. */
static int64_t held_by(const regal_problem *problem, const uint8_t *placement,
                       uint8_t device) {
  int64_t bytes = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    bytes += placement[op] == device ? problem->resident_bytes[op] : 0;
  for (uint32_t p = 0; p < problem->shared; p++) {
    bool here = false;
    for (REGAL_ROW(r, problem->reader_begin, p))
      here |= placement[problem->reader[r]] == device;
    bytes += here ? problem->shared_bytes[p] : 0;
  }
  return bytes;
}

/* Every parameter counts once on each device of its readers, on each level. */
static void check_parameters(const regal_level *level, uint64_t seed) {
  const regal_problem *fine = level->fine, *coarse = level->problem;
  regal_random random = {seed, 0};
  uint8_t above[512], below[512];
  for (uint32_t k = 0; k < coarse->ops; k++) {
    uint32_t leader = regal_problem_leader(coarse, k);
    above[k] = leader == k
                   ? (uint8_t)regal_random_below(&random, coarse->devices)
                   : above[leader];
    for (REGAL_ROW(i, level->member_begin, k))
      below[level->member[i]] = above[k];
  }
  for (uint8_t a = 0; a < fine->devices; a++)
    assert_int_equal(held_by(coarse, above, a), held_by(fine, below, a));
}

static void test_random(void **state) {
  (void)state;
  uint32_t made = 0, phases = 0, grouped = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    regal_context *context;
    regal_graph *graph;
    regal_machine *machine;
    regal_problem *problem;
    regal_level *first, *second = NULL;
    regal_context_create(&context, NULL);
    regal_test_random_graph(context, seed, 40, &graph);
    regal_test_random_small_machine(context, seed, 4, graph, &machine);
    assert_int_equal(
        regal_problem_bind(context, graph, machine, REGAL_RUNTIME, &problem),
        REGAL_OK);
    assert_int_equal(regal_contract(context, problem, INT64_MAX, &first),
                     REGAL_OK);
    if (first) {
      made++;
      assert_true(first->problem->ops < problem->ops);
      check_members(first);
      check_groups(first, &grouped);
      check_parameters(first, seed);
      check_expansion(context, first, seed);
      check_phases(context, first, seed, &phases);
      assert_int_equal(
          regal_contract(context, first->problem, INT64_MAX, &second),
          REGAL_OK);
    }
    if (second) {
      check_members(second);
      check_groups(second, &grouped);
      check_parameters(second, seed);
      check_expansion(context, second, seed);
      check_phases(context, second, seed, &phases);
    }
    regal_level_free(second);
    regal_level_free(first);
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
  }
  assert_true(made > 150);
  assert_true(grouped > 500);
  assert_true(phases > 40);
}

/* A level belongs to the context that it was made with, all of it, whatever
 * context the fine problem has. */
static void test_other_context(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    failing_allocator memory = {0};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context, *other;
    regal_graph *graph;
    regal_machine *machine;
    regal_problem *problem;
    regal_level *level;
    regal_context_create(&context, NULL);
    regal_context_create(&other, &allocator);
    regal_test_random_graph(context, seed, 40, &graph);
    regal_test_random_small_machine(context, seed, 4, graph, &machine);
    assert_int_equal(
        regal_problem_bind(context, graph, machine, REGAL_RUNTIME, &problem),
        REGAL_OK);
    assert_int_equal(regal_contract(other, problem, INT64_MAX, &level),
                     REGAL_OK);
    regal_level_free(level);
    regal_context_free(other);
    assert_int_equal(memory.blocks, 0);
    regal_problem_free(problem);
    regal_graph_free(graph);
    regal_context_free(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                     cmocka_unit_test(test_other_context)};
  return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
