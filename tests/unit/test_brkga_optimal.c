/* SPDX-License-Identifier: Apache-2.0 */
/* Brute force over all plans of tiny graphs: no method ever beats it, and BRKGA
 * reaches it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/brute_force.h"
#include "support/every_method.h"
#include "support/random_cases.h"
#include "support/search_bench.h"
#include "support/toy_graph.h"

#define CASES 400
#define MOST_PLANS 6000

/* The random graph and machine of a seed, with one of the objectives. */
static void use_random(search_bench *b, uint64_t seed, int objective) {
  regal_machine *machine;
  problem_end(b);
  regal_test_random_graph(b->context, seed, 7, &b->graph);
  regal_test_random_small_machine(b->context, seed, 3, b->graph, &machine);
  b->problem = toy_problem(b->context, b->graph, machine,
                           (enum regal_objective)objective);
}

static regal_fitness optimum_of(const search_bench *b,
                                const regal_test_best *best) {
  return regal_fitness_of(b->problem, b->problem->objective == REGAL_MEMORY
                                          ? &best->memory.cost
                                          : &best->runtime.cost);
}

/* The fitness that a method finds. It must not be better than the optimum,
 * nor the optimum better than the bound. */
static bool reaches(search_bench *b, const char *method, const char *decoder,
                    int64_t evaluations, regal_fitness optimum, uint64_t seed) {
  if (!give_policy(method, &b->options))
    return false;
  set_option(b, "method", method);
  set_option(b, "decoder", decoder);
  b->options.evaluations = evaluations;
  regal_result *result = optimize(b);
  regal_fitness found = regal_fitness_of(b->problem, &result->cost);
  int64_t bound = b->problem->objective == REGAL_MEMORY
                      ? result->bound.peak_bytes
                      : result->bound.runtime_ns;
  if (regal_fitness_less(found, optimum))
    fail_msg("seed %llu: %s on %s found %lld, below the optimum of %lld",
             (unsigned long long)seed, method, decoder, (long long)found.value,
             (long long)optimum.value);
  if (!optimum.excess && optimum.value < bound)
    fail_msg("seed %llu: the optimum of %lld is below the bound of %lld",
             (unsigned long long)seed, (long long)optimum.value,
             (long long)bound);
  bool proven = result->stop == REGAL_STOP_NO_FIT;
  if (proven && !optimum.excess)
    fail_msg("seed %llu: there is a plan that fits, but: %s",
             (unsigned long long)seed, result->shortage);
  regal_result_free(result);
  if (proven)
    return true;
  /* Run time breaks ties of memory, but the search ends at the bound. */
  return found.excess == optimum.excess && found.value == optimum.value;
}

typedef struct score {
  int cases, paper, batched;
} score;

static void try_case(search_bench *b, uint64_t seed, score *reached) {
  regal_test_best best;
  use_random(b, seed, REGAL_RUNTIME);
  if (!regal_test_brute_force(b->context, b->graph, b->problem->machine,
                              MOST_PLANS, &best))
    return;
  for (int objective = 0; objective < 2; objective++) {
    use_random(b, seed, objective);
    regal_fitness optimum = optimum_of(b, &best);
    for (size_t m = 0; m < regal_method_count(); m++)
      if (can_run(regal_method_at(m).name))
        reaches(b, regal_method_at(m).name, m % 2 ? "paper" : "batched", 150,
                optimum, seed);
    score *mine = &reached[objective];
    mine->cases++;
    mine->paper += reaches(b, "brkga", "paper", 3000, optimum, seed);
    mine->batched += reaches(b, "brkga", "batched", 3000, optimum, seed);
  }
}

/* Deterministic, so the numbers are exact: every optimum is found. (`batched`
 * cannot say every plan, but nearly always one of the best.) */
static void test_brute_force_is_reached(void **state) {
  search_bench *b = *state;
  score reached[2] = {{0}, {0}};
  for (uint64_t seed = 0; seed < CASES; seed++)
    try_case(b, 20000 + seed, reached);
  for (int objective = 0; objective < 2; objective++) {
    int cases = reached[objective].cases;
    assert_true(cases > 300);
    assert_int_equal(reached[objective].paper, cases);
    assert_true(reached[objective].batched >= cases * 99 / 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_brute_force_is_reached),
  };
  return cmocka_run_group_tests_name("brkga_optimal", tests, NULL, NULL);
}
