/* SPDX-License-Identifier: Apache-2.0 */
/* What every annealer of the table promises (anneal/driver/annealer.h), what
 * the driver, the levels and `auto` promise on top of any of them: on random
 * graphs and machines, for both objectives, judged by the verifier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "anneal/driver/anneal.h"
#include "anneal/levels/multilevel.h"
#include "heuristic/heuristics.h"
#include "support/random_cases.h"
#include "support/search_bench.h"

enum { CASES = 120, STRETCHES = 12, MOVES = 25 };

/* A random problem that the annealer suits; false if this seed has none. */
static bool use_case(search_bench *b, const regal_annealer *annealer,
                     uint64_t seed) {
  regal_machine *machine;
  problem_end(b);
  regal_test_random_graph(b->context, seed, seed % 8 ? 30 : 90, &b->graph);
  regal_test_random_small_machine(b->context, seed, 6, b->graph, &machine);
  assert_int_equal(
      regal_problem_bind(b->context, b->graph, machine,
                         seed % 3 == 2 ? REGAL_MEMORY : REGAL_RUNTIME,
                         &b->problem),
      REGAL_OK);
  b->options.objective = seed % 3 == 2;
  return !annealer || annealer->suits(b->problem);
}

static regal_plan *random_plan(search_bench *b, uint64_t seed) {
  regal_plan *plan;
  regal_test_random_plan(b->context, seed, b->graph, b->problem->machine,
                         &plan);
  return plan;
}

static regal_fitness judged(search_bench *b, const regal_plan *plan) {
  regal_cost cost;
  if (regal_verify(b->context, b->problem, plan, &cost))
    fail_msg("%s", regal_error(b->context));
  return regal_fitness_of(b->problem, &cost);
}

/* -- One chain ------------------------------------------------------------- */

static void *begin_chain(search_bench *b, const regal_annealer *annealer,
                         const regal_plan *start, uint64_t key) {
  void *chain;
  assert_int_equal(annealer->create(b->context, b->problem, &chain), REGAL_OK);
  annealer->begin(chain, start, key);
  return chain;
}

static void run_stretch(const regal_annealer *annealer, void *chain, int i) {
  double progress = (double)i / STRETCHES;
  annealer->run(
      chain, &(regal_anneal_stretch){
                 annealer->hot * pow(annealer->cold / annealer->hot, progress),
                 progress, MOVES, false});
}

static regal_plan *written(search_bench *b, const regal_annealer *annealer,
                           void *chain) {
  regal_plan *plan;
  assert_int_equal(
      regal_plan_create(b->context, regal_plan_most_steps(b->problem), &plan),
      REGAL_OK);
  annealer->write(chain, plan);
  regal_fitness fitness = judged(b, plan);
  assert_false(regal_fitness_less(annealer->best(chain), fitness));
  return plan;
}

typedef void (*case_fn)(search_bench *b, const regal_annealer *annealer,
                        uint64_t seed);

/* Each annealer must have had some cases. */
static void for_all(search_bench *b, case_fn fn) {
  for (size_t i = 0; i < regal_annealer_count(); i++) {
    const regal_annealer *annealer = regal_annealer_at(i);
    int suited = 0;
    for (uint64_t seed = 0; seed < CASES; seed++)
      if (use_case(b, annealer, seed)) {
        fn(b, annealer, seed);
        suited++;
      }
    if (!suited)
      fail_msg("no case suits annealer %s", annealer->name);
  }
}

static void check_best(search_bench *b, const regal_annealer *annealer,
                       uint64_t seed) {
  regal_plan *start = random_plan(b, seed);
  void *chain = begin_chain(b, annealer, start, seed);
  regal_plan_free(start);
  for (int i = 0; i < STRETCHES; i++) {
    regal_fitness before = annealer->best(chain);
    run_stretch(annealer, chain, i);
    assert_false(regal_fitness_less(before, annealer->best(chain)));
    assert_true(isfinite(annealer->energy(chain)));
    regal_plan_free(written(b, annealer, chain));
  }
  annealer->destroy(chain);
}

static void test_best_never_worsens(void **state) {
  for_all(*state, check_best);
}

static void check_key(search_bench *b, const regal_annealer *annealer,
                      uint64_t seed) {
  regal_plan *start = random_plan(b, seed);
  void *one = begin_chain(b, annealer, start, seed);
  void *other = begin_chain(b, annealer, start, seed);
  /* a state that has run before begins anew like a fresh one */
  run_stretch(annealer, other, 0);
  annealer->begin(other, start, seed);
  for (int i = 0; i < STRETCHES; i++) {
    run_stretch(annealer, one, i);
    run_stretch(annealer, other, i);
    assert_true(same_fitness(annealer->best(one), annealer->best(other)));
    assert_true(annealer->energy(one) == annealer->energy(other));
  }
  regal_plan *plan = written(b, annealer, one);
  regal_plan *twin = written(b, annealer, other);
  assert_true(same_plan(plan, twin));
  regal_plan_free(plan);
  regal_plan_free(twin);
  regal_plan_free(start);
  annealer->destroy(one);
  annealer->destroy(other);
}

static void test_the_key_decides(void **state) {
  for_all(*state, check_key);
}

static void check_copy(search_bench *b, const regal_annealer *annealer,
                       uint64_t seed) {
  regal_plan *start = random_plan(b, seed);
  void *from = begin_chain(b, annealer, start, seed);
  void *twin = begin_chain(b, annealer, start, seed);
  /* from the same plan, as in the driver: units may depend on it */
  void *to = begin_chain(b, annealer, start, seed + 1);
  for (int i = 0; i < STRETCHES / 2; i++) {
    run_stretch(annealer, from, i);
    run_stretch(annealer, twin, i);
    run_stretch(annealer, to, i);
  }
  regal_fitness before = annealer->best(to);
  annealer->copy(to, from);
  assert_true(annealer->energy(to) == annealer->energy(from));
  assert_false(regal_fitness_less(before, annealer->best(to)));
  for (int i = STRETCHES / 2; i < STRETCHES; i++) {
    run_stretch(annealer, to, i); /* must not disturb `from` */
    run_stretch(annealer, from, i);
    run_stretch(annealer, twin, i);
    assert_true(annealer->energy(from) == annealer->energy(twin));
  }
  assert_true(same_fitness(annealer->best(from), annealer->best(twin)));
  regal_plan_free(written(b, annealer, to));
  regal_plan_free(written(b, annealer, from));
  regal_plan_free(start);
  annealer->destroy(from);
  annealer->destroy(twin);
  annealer->destroy(to);
}

static void test_copy(void **state) {
  for_all(*state, check_copy);
}

/* -- The driver and the levels --------------------------------------------- */

static regal_plan *drive(search_bench *b, const regal_annealer *annealer,
                         const regal_plan *start, int threads) {
  b->options.threads = threads;
  search_begin(b);
  b->search.budget.limit = 600;
  regal_anneal_job job = {.annealer = annealer,
                          .start = start,
                          .hot = annealer->hot,
                          .cold = annealer->cold};
  regal_plan *best;
  assert_int_equal(regal_anneal(&b->search, b->problem, 0.5, &job, &best),
                   REGAL_OK);
  assert_int_equal(b->search.budget.used, 300);
  return best;
}

static void check_threads(search_bench *b, const regal_annealer *annealer,
                          uint64_t seed) {
  regal_plan *start = random_plan(b, seed);
  regal_plan *one = drive(b, annealer, start, 1);
  /* what the search was told of is no better than the plan */
  assert_false(regal_fitness_less(b->search.best_fitness, judged(b, one)));
  regal_plan *three = drive(b, annealer, start, 3);
  assert_true(same_plan(one, three));
  regal_plan_free(start);
  regal_plan_free(one);
  regal_plan_free(three);
}

static void test_threads_do_not_matter(void **state) {
  for_all(*state, check_threads);
}

/* A job that goes on until its plan fits takes all of its evaluations where
 * none can, and nearly none where all do. */
static void check_until_fits(search_bench *b, const regal_annealer *annealer,
                             uint64_t seed) {
  if (!b->problem->limited)
    return;
  regal_plan *start = random_plan(b, seed), *best;
  for (int possible = 0; possible < 2; possible++) {
    for (uint32_t a = 0; a < b->problem->devices; a++)
      b->problem->limit[a] = possible ? INT64_MAX / 4 : -1;
    search_begin(b);
    b->search.budget.limit = 2000;
    regal_anneal_job job = {.annealer = annealer,
                            .start = start,
                            .hot = annealer->hot,
                            .cold = annealer->cold,
                            .until_fits = true};
    assert_int_equal(regal_anneal(&b->search, b->problem, 1, &job, &best),
                     REGAL_OK);
    regal_plan_free(best);
    assert_int_equal(b->search.budget.used, possible ? 0 : 2000);
  }
  regal_plan_free(start);
}

static void test_until_fits(void **state) {
  for_all(*state, check_until_fits);
}

static void check_levels(search_bench *b, const regal_annealer *annealer,
                         uint64_t seed) {
  regal_multilevel_settings settings = {.start = regal_method_single,
                                        .hot = annealer->hot,
                                        .cold = annealer->cold,
                                        .fall = 0.5,
                                        .coarse_share = 0.6,
                                        .target_ops = 4 + seed % 9};
  regal_plan *first = NULL;
  for (int threads = 1; threads <= 3; threads += 2) {
    b->options.threads = threads;
    search_begin(b);
    b->search.budget.limit = 200;
    if (regal_multilevel(&b->search, annealer, &settings))
      fail_msg("seed %d: %s", (int)seed, regal_error(b->context));
    assert_non_null(b->search.best);
    assert_true(b->search.budget.used <= b->search.budget.limit);
    assert_true(
        same_fitness(judged(b, b->search.best), b->search.plan_fitness));
    if (first)
      assert_true(same_plan(first, b->search.best));
    else
      assert_int_equal(regal_plan_copy(b->context, b->search.best, &first),
                       REGAL_OK);
  }
  regal_plan_free(first);
}

static void test_levels(void **state) {
  for_all(*state, check_levels);
}

/* -- Methods --------------------------------------------------------------- */

static regal_fitness solved(search_bench *b, const char *method) {
  set_option(b, "method", method);
  regal_result *result = optimize(b);
  regal_fitness fitness = regal_fitness_of(b->problem, &result->cost);
  regal_result_free(result);
  return fitness;
}

static void test_auto_is_never_worse(void **state) {
  static const char *const methods[] = {"single", "heft", "dfs",
                                        "bfs",    "lpmf", "xla-list"};
  search_bench *b = *state;
  set_option(b, "evaluations", "60");
  for (uint64_t seed = 0; seed < CASES; seed++) {
    use_case(b, NULL, seed);
    regal_fitness best = solved(b, "auto");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
      if (regal_fitness_less(solved(b, methods[i]), best))
        fail_msg("seed %d: %s is better than auto", (int)seed, methods[i]);
  }
}

static void test_names(void **state) {
  (void)state;
  for (size_t i = 0; i < regal_annealer_count(); i++) {
    const regal_annealer *annealer = regal_annealer_at(i);
    assert_ptr_equal(regal_annealer_find(annealer->name), annealer);
    assert_true(annealer->hot >= annealer->cold && annealer->cold > 0);
  }
  assert_null(regal_annealer_find("none"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_best_never_worsens),
      SEARCH_TEST(test_the_key_decides),
      SEARCH_TEST(test_copy),
      SEARCH_TEST(test_threads_do_not_matter),
      SEARCH_TEST(test_until_fits),
      SEARCH_TEST(test_levels),
      SEARCH_TEST(test_auto_is_never_worse),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests_name("anneal", tests, NULL, NULL);
}
