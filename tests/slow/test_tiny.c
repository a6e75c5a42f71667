/* SPDX-License-Identifier: Apache-2.0 */
/* A soak run of `auto` on tiny problems: graphs of up to six ops on up to three
 * devices of all kinds, both objectives, against brute force over all plans.
 *
 *   REGAL_SOAK_SECONDS  how long (default 60)
 *   REGAL_SOAK_FIRST    the number of the first case (default 0)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/parallel/threads.h"
#include "support/brute_force.h"
#include "support/random_cases.h"
#include "support/search_bench.h"
#include "support/toy_graph.h"

#define MOST_PLANS 300000

static void use_random(search_bench *b, uint64_t seed, int objective) {
  regal_machine *machine;
  problem_end(b);
  regal_test_random_graph(b->context, seed, 6, &b->graph);
  regal_test_random_small_machine(b->context, seed, 3, b->graph, &machine);
  b->problem = toy_problem(b->context, b->graph, machine,
                           (enum regal_objective)objective);
}

/* Its value; with a limit that no plan meets, that it says so. */
static void check(search_bench *b, uint64_t seed, const regal_cost *optimum) {
  regal_fitness best = regal_fitness_of(b->problem, optimum);
  regal_result *result = optimize(b);
  regal_fitness found = regal_fitness_of(b->problem, &result->cost);
  bool right = best.excess ? found.excess && result->shortage
                           : !found.excess && found.value == best.value;
  if (!right)
    fail_msg("case %llu: auto found %lld (%lld beyond the limit), the optimum "
             "is %lld (%lld)",
             (unsigned long long)seed, (long long)found.value,
             (long long)found.excess, (long long)best.value,
             (long long)best.excess);
  regal_result_free(result);
}

static double number_of(const char *name, double otherwise) {
  const char *value = getenv(name);
  return value ? atof(value) : otherwise;
}

static void test_tiny(void **state) {
  search_bench *b = *state;
  double end = regal_seconds() + number_of("REGAL_SOAK_SECONDS", 60);
  uint64_t seed = (uint64_t)number_of("REGAL_SOAK_FIRST", 0);
  int cases = 0;
  for (; regal_seconds() < end; seed++) {
    regal_test_best best;
    use_random(b, seed, REGAL_RUNTIME);
    if (!regal_test_brute_force(b->context, b->graph, b->problem->machine,
                                MOST_PLANS, &best))
      continue;
    check(b, seed, &best.runtime.cost);
    use_random(b, seed, REGAL_MEMORY);
    check(b, seed, &best.memory.cost);
    cases += 2;
  }
  print_message("%d cases\n", cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {SEARCH_TEST(test_tiny)};
  return cmocka_run_group_tests_name("tiny", tests, NULL, NULL);
}
