/* SPDX-License-Identifier: Apache-2.0 */
#include "support/brute_force.h"

#include <stdlib.h>
#include <string.h>

#include "cost/verify/verify.h"
#include "support/needed_steps.h"

typedef struct trial {
  regal_context *context;
  const regal_graph *graph;
  const regal_machine *machine;
  uint64_t most_plans;
  regal_test_best *best;
  uint32_t placement[REGAL_TEST_MOST_STEPS];
  /* Of the present placement: */
  uint32_t step_count;
  regal_step steps[REGAL_TEST_MOST_STEPS];
  uint64_t needs[REGAL_TEST_MOST_STEPS]; /* bit k: step k comes before it */
  regal_step order[REGAL_TEST_MOST_STEPS];
} trial;

static int compare(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

static bool is_faster(const regal_cost *a, const regal_cost *b) {
  int excess = compare(a->excess_bytes, b->excess_bytes);
  return excess ? excess < 0 : a->runtime_ns < b->runtime_ns;
}

static bool is_smaller(const regal_cost *a, const regal_cost *b) {
  int excess = compare(a->excess_bytes, b->excess_bytes);
  int peak = compare(a->max_peak_bytes, b->max_peak_bytes);
  if (excess)
    return excess < 0;
  return peak ? peak < 0 : a->runtime_ns < b->runtime_ns;
}

static void keep(regal_test_optimum *optimum, const trial *trial,
                 const regal_cost *cost) {
  optimum->cost = *cost;
  optimum->step_count = trial->step_count;
  memcpy(optimum->steps, trial->order,
         trial->step_count * sizeof *trial->order);
}

static void judge(trial *trial) {
  regal_plan plan = {trial->context, trial->step_count, trial->order};
  regal_cost cost;
  if (regal_verify_plan(trial->context, trial->graph, trial->machine, &plan,
                        &cost, NULL)) {
    fprintf(stderr, "brute force: a valid plan was rejected: %s\n",
            regal_error(trial->context));
    abort();
  }
  bool first = !trial->best->plans++;
  if (first || is_faster(&cost, &trial->best->runtime.cost))
    keep(&trial->best->runtime, trial, &cost);
  if (first || is_smaller(&cost, &trial->best->memory.cost))
    keep(&trial->best->memory, trial, &cost);
}

/* Tries every order that begins with the `count` steps in `done`. */
static bool try_orders(trial *trial, uint32_t count, uint64_t done) {
  if (count == trial->step_count) {
    if (trial->best->plans == trial->most_plans)
      return false;
    judge(trial);
    return true;
  }
  for (uint32_t k = 0; k < trial->step_count; k++) {
    uint64_t bit = UINT64_C(1) << k;
    if ((done & bit) || (trial->needs[k] & ~done))
      continue;
    trial->order[count] = trial->steps[k];
    if (!try_orders(trial, count + 1, done | bit))
      return false;
  }
  return true;
}

static bool try_placement(trial *trial) {
  const regal_graph *graph = trial->graph;
  const regal_machine *machine = trial->machine;
  if (!regal_test_may_place(graph, machine, trial->placement))
    return true;
  size_t most = regal_test_most_steps(graph, machine);
  regal_step *steps = calloc(most, sizeof *steps);
  if (!steps)
    abort();
  trial->step_count =
      regal_test_needed_steps(graph, machine, trial->placement, steps);
  bool fits = trial->step_count <= REGAL_TEST_MOST_STEPS;
  if (fits)
    memcpy(trial->steps, steps, trial->step_count * sizeof *steps);
  free(steps);
  if (!fits)
    return false;
  for (uint32_t a = 0; a < trial->step_count; a++) {
    trial->needs[a] = 0;
    for (uint32_t b = 0; b < trial->step_count; b++)
      if (regal_test_must_follow(graph, machine, &trial->steps[a],
                                 &trial->steps[b]))
        trial->needs[a] |= UINT64_C(1) << b;
  }
  return try_orders(trial, 0, 0);
}

static bool try_placements(trial *trial, uint32_t op) {
  if (op == trial->graph->ops)
    return try_placement(trial);
  for (uint32_t d = 0; d < trial->machine->devices; d++) {
    trial->placement[op] = d;
    if (!try_placements(trial, op + 1))
      return false;
  }
  return true;
}

bool regal_test_brute_force(regal_context *context, const regal_graph *graph,
                            const regal_machine *machine, uint64_t most_plans,
                            regal_test_best *best) {
  trial trial = {.context = context,
                 .graph = graph,
                 .machine = machine,
                 .most_plans = most_plans,
                 .best = best};
  memset(best, 0, sizeof *best);
  return graph->ops <= REGAL_TEST_MOST_STEPS && try_placements(&trial, 0);
}
