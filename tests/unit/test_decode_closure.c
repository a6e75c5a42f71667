/* SPDX-License-Identifier: Apache-2.0 */
/* The closure decoder and its parts: candidates against a plain search over
 * all ops, memory estimates against the exact cost where both must agree,
 * encoded plans, optima of tiny graphs; and decoders that choose devices under
 * a limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "decode/closure_candidates.h"
#include "decode/memory_estimate.h"
#include "support/brute_force.h"
#include "support/decoding.h"
#include "support/random_cases.h"
#include "support/search_bench.h"
#include "support/toy_graph.h"

static void use_random(search_bench *b, uint64_t seed, uint32_t ops,
                       uint32_t devices, enum regal_objective objective) {
  regal_machine *machine;
  problem_end(b);
  regal_test_random_graph(b->context, seed, ops, &b->graph);
  regal_test_random_small_machine(b->context, seed, devices, b->graph,
                                  &machine);
  b->problem = toy_problem(b->context, b->graph, machine, objective);
}

/* -- Targets --------------------------------------------------------------- */

typedef struct plain_targets {
  const regal_problem *problem;
  uint8_t ran[256], member[256];
} plain_targets;

static bool depends(const regal_problem *problem, uint32_t op,
                    uint32_t before) {
  for (uint32_t s = problem->successor_begin[before];
       s < problem->successor_begin[before + 1]; s++)
    if (problem->successor[s] == op)
      return true;
  return false;
}

/* Marks what has to run for the op, and returns how many these are. */
static uint32_t mark(plain_targets *p, uint32_t op) {
  uint32_t count = 1;
  p->member[op] = 1;
  for (uint32_t before = 0; before < op; before++)
    if (!p->ran[before] && !p->member[before] &&
        depends(p->problem, op, before))
      count += mark(p, before);
  return count;
}

/* Live bytes once the marked ops have run too, or before. */
static int64_t live_bytes(const plain_targets *p, bool with_marked) {
  const regal_problem *problem = p->problem;
  int64_t live = 0;
  for (uint32_t t = 0; t < problem->tensors; t++) {
    uint32_t made_by = problem->producer[t];
    bool made = p->ran[made_by] || (with_marked && p->member[made_by]);
    bool needed = problem->is_final[t];
    for (uint32_t u = problem->use_begin[t]; u < problem->use_begin[t + 1];
         u++) {
      uint32_t op = problem->consumer[u];
      needed |= !(p->ran[op] || (with_marked && p->member[op]));
    }
    live += made && needed ? problem->bytes[t] : 0;
  }
  return live;
}

static uint32_t plain_best(plain_targets *p, const double *noise) {
  uint32_t best = REGAL_NONE;
  double least = INFINITY;
  for (uint32_t op = 0; op < p->problem->ops; op++) {
    memset(p->member, 0, sizeof p->member);
    if (p->ran[op] || mark(p, op) > REGAL_MOST_ANCESTORS + 1)
      continue;
    double key =
        (double)(live_bytes(p, true) - live_bytes(p, false)) + noise[op];
    if (key < least) {
      least = key;
      best = op;
    }
  }
  memset(p->member, 0, sizeof p->member);
  mark(p, best);
  return best;
}

static regal_closure_candidates *make_targets(search_bench *b, void **block) {
  regal_carver carver = {NULL, 0};
  regal_closure_candidates measured;
  regal_closure_candidates_layout(&measured, &carver, b->problem);
  size_t bytes = carver.used + sizeof measured + REGAL_CARVE_ALIGN;
  *block = regal_alloc(b->context, bytes, 1);
  assert_non_null(*block);
  carver = (regal_carver){*block, 0};
  regal_closure_candidates *targets = regal_carve(&carver, 1, sizeof *targets);
  regal_closure_candidates_layout(targets, &carver, b->problem);
  regal_closure_candidates_fill(targets, b->problem);
  return targets;
}

static void follow_targets(search_bench *b, regal_closure_candidates *targets,
                           const double *noise, uint64_t seed, int *large) {
  plain_targets plain = {.problem = b->problem};
  regal_closure_candidates_begin(targets, b->problem, noise);
  for (uint32_t done = 0; done < b->problem->ops;) {
    uint32_t expected = plain_best(&plain, noise);
    regal_closure found = regal_closure_candidates_best(targets);
    if (found.size == 0 || found.op[found.size - 1] != expected)
      fail_msg("seed %llu: after %u ops op %u, not %u",
               (unsigned long long)seed, done,
               found.size ? found.op[found.size - 1] : REGAL_NONE, expected);
    for (uint32_t k = 0; k < found.size; k++) {
      uint32_t op = found.op[k];
      assert_true(plain.member[op] && !plain.ran[op]);
      plain.ran[op] = 1;
      regal_closure_candidates_run(targets, b->problem, op);
      done++;
    }
    *large += found.size == REGAL_MOST_ANCESTORS + 1;
    regal_closure_candidates_refresh(targets, b->problem);
  }
}

static void test_targets(void **state) {
  search_bench *b = *state;
  double noise[256];
  int large = 0;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    void *block;
    use_random(b, 40000 + seed, seed % 20 ? 24 : 100, 3, REGAL_MEMORY);
    regal_random random = {
        .key = regal_random_key(seed, REGAL_PURPOSE_TEST, 0, 0)};
    uint64_t range = UINT64_C(1) << seed % 3 * 8;
    regal_closure_candidates *targets = make_targets(b, &block);
    for (int again = 0; again < 2; again++) {
      for (uint32_t op = 0; op < b->problem->ops; op++)
        noise[op] = -(double)regal_random_below(&random, range);
      follow_targets(b, targets, noise, seed, &large);
    }
    regal_release(b->context, block);
  }
  if (large <= 200)
    fail_msg("large closures were run %d times only", large);
}

/* -- Memory estimate ------------------------------------------------------- */

/* On one device nothing moves, and the estimate is exact. */
static void test_memory_of_one_device(void **state) {
  search_bench *b = *state;
  int reused = 0, shared = 0;
  for (uint64_t seed = 0; seed < 800; seed++) {
    regal_memory_estimate estimate;
    regal_carver carver = {NULL, 0};
    use_random(b, 41000 + seed, 30, 1, REGAL_MEMORY);
    regal_memory_estimate_layout(&estimate, &carver, b->problem);
    void *block = regal_alloc(b->context, carver.used, 1);
    carver = (regal_carver){block, 0};
    regal_memory_estimate_layout(&estimate, &carver, b->problem);
    regal_memory_estimate_fill(&estimate, b->problem);
    for (int again = 0; again < 2; again++) {
      regal_memory_estimate_begin(&estimate, b->problem);
      for (uint32_t op = 0; op < b->problem->ops; op++)
        regal_memory_estimate_take(&estimate, b->problem, op, 0);
    }
    set_option(b, "method", "single");
    regal_result *result = optimize(b);
    assert_int_equal(estimate.peak[0], result->cost.peak_bytes[0]);
    reused += b->problem->reuses != NULL;
    shared += b->problem->shared > 0;
    regal_result_free(result);
    regal_release(b->context, block);
  }
  assert_true(reused > 50 && shared > 50);
}

/* -- The decoder ----------------------------------------------------------- */

/* Genes of a plan outweigh all bytes: its order and its devices come back. */
static void test_encoded_plans(void **state) {
  search_bench *b = *state;
  const regal_decoder *decoder = &regal_decoder_closure;
  size_t index = regal_test_decoder_index("closure");
  for (uint64_t seed = 0; seed < 600; seed++) {
    regal_test_decoding decoding;
    regal_plan *plan;
    use_random(b, 42000 + seed, 20, 4, seed % 2 ? REGAL_MEMORY : REGAL_RUNTIME);
    regal_test_decoding_begin(&decoding, b->context, b->problem);
    regal_test_random_plan(b->context, seed, b->graph, b->problem->machine,
                           &plan);
    decoder->encode(b->problem, plan, decoding.genes);
    regal_test_check_decoder(&decoding, index);
    uint32_t at = 0;
    for (uint32_t i = 0; i < plan->step_count; i++) {
      if (!regal_step_runs(&plan->steps[i]))
        continue;
      while (!regal_step_runs(&decoding.plan->steps[at]))
        at++;
      assert_memory_equal(&plan->steps[i], &decoding.plan->steps[at++],
                          sizeof plan->steps[i]);
    }
    regal_plan_free(plan);
    regal_test_decoding_end(&decoding);
  }
}

/* Late transfers cannot say every plan, but nearly always one of the best. */
static void test_optima_are_reached(void **state) {
  search_bench *b = *state;
  int cases = 0, reached = 0;
  set_option(b, "method", "brkga");
  set_option(b, "decoder", "closure");
  set_option(b, "evaluations", "3000");
  for (uint64_t seed = 0; seed < 200; seed++) {
    regal_test_best best;
    use_random(b, 20000 + seed, 7, 3, REGAL_MEMORY);
    if (!regal_test_brute_force(b->context, b->graph, b->problem->machine, 6000,
                                &best))
      continue;
    regal_result *result = optimize(b);
    regal_fitness found = regal_fitness_of(b->problem, &result->cost);
    regal_fitness optimum = regal_fitness_of(b->problem, &best.memory.cost);
    assert_false(regal_fitness_less(found, optimum));
    cases++;
    reached += found.excess == optimum.excess && found.value == optimum.value;
    regal_result_free(result);
  }
  assert_true(cases > 150);
  if (reached < cases * 97 / 100)
    fail_msg("%d of %d optima were reached", reached, cases);
}

/* -- Memory limits --------------------------------------------------------- */

static const char *const choosers[] = {"clock", "eft", "closure"};

/* All chromosomes of a decoder that chooses devices must keep to the limit. */
static void check_within(search_bench *b) {
  regal_test_decoding decoding;
  regal_test_decoding_begin(&decoding, b->context, b->problem);
  for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
    size_t index = regal_test_decoder_index(choosers[i]);
    const regal_decoder *decoder = regal_decoder_find(choosers[i]);
    for (uint64_t seed = 0; seed < 50; seed++) {
      regal_test_draw_genes(REGAL_TEST_UNIFORM, seed, decoding.genes,
                            regal_decoder_genes(decoder, b->problem));
      regal_fitness fitness = regal_test_check_decoder(&decoding, index);
      if (fitness.excess)
        fail_msg("%s goes beyond the limit by %lld", choosers[i],
                 (long long)fitness.excess);
    }
  }
  regal_test_decoding_end(&decoding);
}

static void use_limited(search_bench *b, const toy_op *ops, size_t count,
                        int64_t limit, enum regal_objective objective) {
  problem_end(b);
  b->graph = toy_graph(b->context, ops, count);
  regal_machine *machine = toy_machine(b->context, 2);
  for (int a = 0; a < 2; a++) {
    machine->memory_limit[a] = limit;
    machine->latency_ns[a][1 - a] = 1000; /* one device would be fastest */
  }
  b->problem = toy_problem(b->context, b->graph, machine, objective);
}

/* Each device can hold the parameters of two ops of the chain, not of three. */
static void test_parameters_are_split(void **state) {
  static const toy_op ops[] = {
      {10, 1, "", .resident = 40},
      {10, 1, "a", .resident = 40},
      {10, 1, "b", .resident = 40},
      {10, 1, "c", .resident = 40},
  };
  for (int objective = 0; objective < 2; objective++) {
    use_limited(*state, ops, 4, 90, (enum regal_objective)objective);
    check_within(*state);
  }
}

/* While one device runs a long op the other would take all the rest. */
static void test_idle_device_is_passed_over(void **state) {
  static const toy_op ops[] = {
      {1000, 1, "", .resident = 10},
      {10, 1, "", .resident = 40},
      {10, 1, "", .resident = 40},
      {10, 1, "", .resident = 40},
  };
  for (int objective = 0; objective < 2; objective++) {
    use_limited(*state, ops, 4, 95, (enum regal_objective)objective);
    check_within(*state);
  }
}

/* Results that stay to the end: two fit on a device. */
static void test_results_are_split(void **state) {
  static const toy_op ops[] = {
      {10, 30, "", .is_final = true},
      {10, 30, "", .is_final = true},
      {10, 30, "", .is_final = true},
      {10, 30, "", .is_final = true},
  };
  for (int objective = 0; objective < 2; objective++) {
    use_limited(*state, ops, 4, 60, (enum regal_objective)objective);
    check_within(*state);
  }
}

/* A limit that nothing can keep to is exceeded, not an endless search. */
static void test_impossible_limit(void **state) {
  static const toy_op ops[] = {
      {10, 30, .reads = ""}, {10, 30, .reads = "a"}, {10, 30, .reads = "ab"}};
  search_bench *b = *state;
  regal_test_decoding decoding;
  use_limited(b, ops, 3, 10, REGAL_RUNTIME);
  regal_test_decoding_begin(&decoding, b->context, b->problem);
  for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
    regal_test_draw_genes(
        REGAL_TEST_UNIFORM, i, decoding.genes,
        regal_decoder_genes(regal_decoder_find(choosers[i]), b->problem));
    regal_fitness fitness = regal_test_check_decoder(
        &decoding, regal_test_decoder_index(choosers[i]));
    assert_true(fitness.excess > 0);
  }
  regal_test_decoding_end(&decoding);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_targets),
      SEARCH_TEST(test_memory_of_one_device),
      SEARCH_TEST(test_encoded_plans),
      SEARCH_TEST(test_optima_are_reached),
      SEARCH_TEST(test_parameters_are_split),
      SEARCH_TEST(test_idle_device_is_passed_over),
      SEARCH_TEST(test_results_are_split),
      SEARCH_TEST(test_impossible_limit),
  };
  return cmocka_run_group_tests_name("decode_closure", tests, NULL, NULL);
}
