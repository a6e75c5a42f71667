/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing towards memory limits (anneal/phase/held.h): what it counts
 * is what one gets from scratch, whatever was moved or taken back; the cost is
 * the run time and the price of what is beyond; and that becomes less. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "anneal/driver/annealers.h"
#include "anneal/phase/held.h"
#include "support/random_cases.h"

static const regal_annealer *const phase = &regal_annealer_phase;

typedef struct trial {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_plan *start;
  regal_phase *state;
} trial;

static void end_trial(trial *t) {
  if (t->state)
    phase->destroy(t->state);
  regal_plan_free(t->start);
  regal_problem_free(t->problem);
  regal_graph_free(t->graph);
}

/* The random case of a seed on two devices, with limits that no plan has to
 * keep; false when it does not suit. */
static bool begin_trial(trial *t, uint64_t seed, uint32_t max_ops) {
  regal_machine *machine;
  void *made;
  t->state = NULL;
  regal_test_random_graph(t->context, seed, max_ops, &t->graph);
  regal_test_random_machine(t->context, seed, t->graph, &machine);
  regal_test_random_plan(t->context, seed, t->graph, machine, &t->start);
  assert_int_equal(regal_problem_bind(t->context, t->graph, machine,
                                      REGAL_RUNTIME, &t->problem),
                   REGAL_OK);
  if (t->problem->devices != 2 || !phase->suits(t->problem)) {
    end_trial(t);
    return false;
  }
  int64_t all = t->graph->tensor_bytes + t->graph->total_resident_bytes;
  for (uint32_t a = 0; a < 2; a++)
    t->problem->limit[a] = 1 + all / (int64_t)(2 + (seed + a) % 5);
  assert_int_equal(phase->create(t->context, t->problem, &made), REGAL_OK);
  t->state = made;
  assert_true(t->state->heeds);
  phase->begin(t->state, t->start, seed);
  return true;
}

static uint32_t block_of(const regal_phase *s, uint32_t op) {
  return (s->at[op] >> s->shift) >> s->block_bits;
}

/* Whether a device holds the tensor in a block, by what held.h says. */
static bool holds(const trial *t, uint32_t tensor, uint32_t device,
                  uint32_t block) {
  const regal_problem *problem = t->problem;
  const regal_phase *s = t->state;
  uint32_t by = problem->producer[tensor], home = s->at[by] & 1;
  uint32_t made = block_of(s, by), last[2] = {0, 0};
  uint32_t first[2] = {UINT32_MAX, UINT32_MAX};
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t k = block_of(s, problem->consumer[u]);
    uint32_t at = s->at[problem->consumer[u]] & 1;
    first[at] = k < first[at] ? k : first[at];
    last[at] = k > last[at] ? k : last[at];
  }
  uint32_t other = first[home ^ 1];
  if (device != home)
    return block >= first[device] && block <= last[device];
  if (block < made)
    return false;
  return block == made || block <= last[home] || problem->is_final[tensor] ||
         (other != UINT32_MAX && block <= other);
}

static void check_held(const trial *t) {
  const regal_phase *s = t->state;
  const regal_problem *problem = t->problem;
  int64_t over = 0;
  for (uint32_t a = 0; a < 2; a++)
    for (uint32_t k = 0; k < s->blocks; k++) {
      int64_t held = 0;
      for (uint32_t i = 0; i < problem->tensors; i++)
        held += holds(t, i, a, k) ? problem->bytes[i] : 0;
      for (uint32_t op = 0; op < s->ops; op++) {
        if ((s->at[op] & 1) != a)
          continue;
        held += problem->resident_bytes[op];
        held += block_of(s, op) == k ? t->graph->temporary_bytes[op] : 0;
      }
      assert_int_equal(s->held[a * REGAL_PHASE_BLOCKS + k], held);
      over += held > problem->limit[a] ? held - problem->limit[a] : 0;
    }
  assert_int_equal(s->over, over);
}

static void check_cost(const trial *t) {
  regal_phase *s = t->state;
  int64_t cost = s->cost;
  regal_phase_recompute(s);
  assert_int_equal(s->cost, cost);
}

static void test_counts_are_exact(void **state) {
  trial t;
  uint32_t trials = 0, beyond = 0;
  (void)state;
  assert_int_equal(regal_context_create(&t.context, NULL), REGAL_OK);
  for (uint64_t seed = 1; trials < 60; seed++) {
    if (!begin_trial(&t, seed, trials % 4 ? 40 : 200))
      continue;
    trials++;
    check_held(&t);
    for (int i = 0; i < 12; i++) {
      double progress = i / 12.0;
      regal_anneal_stretch stretch = {i % 3 ? 1 - progress : 20, progress,
                                      1u << i, false};
      phase->run(t.state, &stretch);
      check_held(&t);
      check_cost(&t);
      beyond += t.state->over > 0;
    }
    regal_phase_tidy(t.state);
    check_held(&t);
    end_trial(&t);
  }
  assert_in_range(beyond, 100, 700);
  regal_context_free(t.context);
}

/* From hot to cold. What is beyond the limits is counted with the phases of
 * both alike. */
static int64_t anneal(trial *t, bool heeds) {
  t->state->heeds = heeds;
  for (int i = 0; i < 40; i++)
    phase->run(t->state, &(regal_anneal_stretch){0.5 * (1 - i / 40.0), i / 40.0,
                                                 200, false});
  regal_phase_tidy(t->state);
  t->state->heeds = true;
  regal_phase_count_held(t->state);
  return t->state->over / t->state->blocks;
}

static void test_less_is_beyond(void **state) {
  trial t;
  uint32_t trials = 0;
  double with = 0, without = 0;
  (void)state;
  assert_int_equal(regal_context_create(&t.context, NULL), REGAL_OK);
  for (uint64_t seed = 1; trials < 40; seed++)
    for (int heeds = 0; heeds < 2; heeds++) {
      if (!begin_trial(&t, seed, 60))
        continue;
      trials += (uint32_t)heeds;
      *(heeds ? &with : &without) += (double)anneal(&t, heeds);
      end_trial(&t);
    }
  assert_true(with < 0.7 * without);
  regal_context_free(t.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts_are_exact),
      cmocka_unit_test(test_less_is_beyond),
  };
  return cmocka_run_group_tests_name("phases and memory", tests, NULL, NULL);
}
