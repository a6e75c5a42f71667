/* SPDX-License-Identifier: Apache-2.0 */
/* The search as a whole: budgets and why it stopped, the same answer for any
 * number of threads, warm starts, the random method, and memory limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/decoding.h"
#include "support/every_method.h"
#include "support/files.h"
#include "support/search_bench.h"

static regal_fitness fitness_of(const regal_result *result) {
  return regal_fitness_of(result->problem, &result->cost);
}

/* -- Budgets --------------------------------------------------------------- */

static void test_evaluations_are_exact(void **state) {
  static const int64_t budgets[] = {1, 50, 99, 100, 101, 180, 181, 1234};
  static const char *const methods[] = {"brkga", "random", "auto"};
  search_bench *b = *state;
  use_synthetic(b, 30, 1);
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
    for (size_t m = 0; m < 3; m++)
      for (int64_t islands = 1; islands <= 3; islands += 2) {
        set_option(b, "method", methods[m]);
        b->options.evaluations = budgets[i];
        b->options.islands = islands;
        b->options.restart = islands;
        b->options.threads = 1 + (int64_t)(i % 2);
        regal_result *result = optimize(b);
        assert_int_equal(result->evaluations, budgets[i]);
        assert_int_equal(result->stop, REGAL_STOP_BUDGET);
        assert_string_equal(result->method, methods[m]);
        regal_result_free(result);
      }
}

static void test_default_budget(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 20, 1);
  set_option(b, "method", "brkga");
  regal_result *result = optimize(b);
  assert_int_equal(result->evaluations, 5000);
  assert_int_equal(result->stop, REGAL_STOP_BUDGET);
  assert_string_equal(result->account,
                      "BRKGA on decoder paper: 63 generations of 1 x 100");
  regal_result_free(result);
}

/* The first evaluations of a longer search are those of a shorter one. */
static void test_more_is_never_worse(void **state) {
  search_bench *b = *state;
  regal_fitness before = REGAL_FITNESS_WORST;
  use_synthetic(b, 40, 6);
  set_option(b, "method", "brkga");
  for (int64_t budget = 1; budget < 4000; budget = budget * 3 / 2 + 1) {
    b->options.evaluations = budget;
    regal_result *result = optimize(b);
    assert_false(regal_fitness_less(before, fitness_of(result)));
    before = fitness_of(result);
    regal_result_free(result);
  }
}

static void test_stops_at_time(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 2);
  set_option(b, "method", "brkga");
  set_option(b, "time", "0.05");
  for (b->options.threads = 1; b->options.threads <= 2; b->options.threads++) {
    regal_result *result = optimize(b);
    assert_int_equal(result->stop, REGAL_STOP_TIME);
    assert_true(result->evaluations > 0 && result->seconds >= 0.05);
    regal_result_free(result);
  }
  b->options.evaluations = 150;
  b->options.time = 1000;
  regal_result *result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_BUDGET);
  assert_int_equal(result->evaluations, 150);
  regal_result_free(result);
}

/* Even when the time is over at once there is a plan. */
static void test_no_time_at_all(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 2);
  set_option(b, "method", "brkga");
  set_option(b, "time", "1e-9");
  regal_result *result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_TIME);
  assert_int_equal(result->evaluations, 1);
  assert_true(result->plan->step_count >= b->graph->ops);
  regal_result_free(result);
}

static void test_stops_at_target(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 40, 2);
  set_option(b, "method", "brkga");
  b->options.evaluations = 5000;
  regal_result *full = optimize(b);
  int64_t target = full->cost.runtime_ns + full->cost.runtime_ns / 20;
  b->options.target = (double)target;
  regal_result *result = optimize(b);
  assert_int_equal(full->stop, REGAL_STOP_BUDGET);
  assert_int_equal(result->stop, REGAL_STOP_TARGET);
  assert_true(result->cost.runtime_ns <= target);
  assert_true(result->evaluations < 5000);
  /* Whole generations: 100, then 80 each. */
  assert_int_equal((result->evaluations - 100) % 80, 0);
  regal_result_free(result);
  regal_result_free(full);
}

/* On one device every plan takes as long as the work. */
static void test_stops_at_bound(void **state) {
  search_bench *b = *state;
  b->options.devices = 1;
  use_synthetic(b, 40, 2);
  set_option(b, "method", "brkga");
  regal_result *result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_BOUND);
  assert_int_equal(result->evaluations, 100);
  assert_int_equal(result->cost.runtime_ns, result->bound.runtime_ns);
  regal_result_free(result);
  set_option(b, "method", "auto");
  result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_BOUND);
  assert_int_equal(result->evaluations, 0);
  assert_non_null(strstr(result->account, "single: 0.00% after 0 evaluations"));
  regal_result_free(result);
}

/* -- Interrupts and progress ----------------------------------------------- */

typedef struct listener {
  regal_context *context;
  uint64_t stop_after; /* evaluations */
  int calls;
  regal_progress last;
} listener;

/* Progress never goes back. */
static void listen(void *state, const regal_progress *progress) {
  listener *l = state;
  if (l->calls++) {
    assert_true(progress->evaluations >= l->last.evaluations);
    assert_true(progress->seconds >= l->last.seconds);
    assert_true(progress->best <= l->last.best);
    assert_int_equal(progress->bound, l->last.bound);
    assert_true(progress->fits);
  }
  l->last = *progress;
  if (progress->evaluations >= l->stop_after)
    regal_stop_request(l->context);
}

static void test_interrupt(void **state) {
  search_bench *b = *state;
  listener l = {.context = b->context, .stop_after = 1000};
  use_synthetic(b, 60, 3);
  set_option(b, "method", "brkga");
  b->options.evaluations = 1000000000;
  b->options.threads = 2;
  regal_set_progress(b->context, listen, &l);
  regal_result *result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_INTERRUPT);
  assert_true(result->evaluations >= 1000 && result->evaluations < 1000000000);
  assert_int_equal(result->evaluations, l.last.evaluations);
  assert_int_equal(result->cost.runtime_ns, l.last.best);
  assert_int_equal(result->bound.runtime_ns, l.last.bound);
  assert_true(l.calls > 3);
  regal_result_free(result);
  /* It stays requested: the next search makes one plan. */
  l.calls = 0;
  result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_INTERRUPT);
  assert_int_equal(result->evaluations, 1);
  regal_result_free(result);
  regal_stop_clear(b->context);
  l = (listener){.context = b->context, .stop_after = UINT64_MAX};
  b->options.evaluations = 500;
  result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_BUDGET);
  assert_int_equal(result->evaluations, 500);
  regal_result_free(result);
  regal_set_progress(b->context, NULL, NULL);
}

/* -- Threads and seeds ----------------------------------------------------- */

static void check_threads(search_bench *b, const regal_proposal *proposal) {
  static const int64_t threads[] = {1, 2, 7};
  regal_result *first = NULL;
  for (size_t i = 0; i < 3; i++) {
    regal_result *result;
    b->options.threads = threads[i];
    assert_int_equal(
        proposal ? regal_optimize_guided(b->context, b->problem, &b->options,
                                         proposal, &result)
                 : regal_optimize(b->context, b->problem, &b->options, &result),
        REGAL_OK);
    assert_int_equal(result->threads, threads[i]);
    if (first) {
      assert_int_equal(result->evaluations, first->evaluations);
      assert_int_equal(result->stop, first->stop);
      assert_memory_equal(&result->cost, &first->cost, sizeof first->cost);
      assert_string_equal(result->account, first->account);
      assert_true(same_plan(result->plan, first->plan));
      regal_result_free(result);
    } else {
      first = result;
    }
  }
  regal_result_free(first);
}

static regal_proposal *make_proposal(search_bench *b, const char *decoder) {
  regal_proposal *proposal;
  assert_int_equal(
      regal_proposal_create(b->context, b->problem, decoder, &proposal),
      REGAL_OK);
  for (size_t op = 0; op < b->graph->ops; op++)
    assert_int_equal(regal_proposal_set_beta(proposal, "priority", op,
                                             op % 2 ? 6 : 0.5, 1 + op % 3),
                     REGAL_OK);
  assert_int_equal(regal_proposal_set_bias(proposal, "affinity", SIZE_MAX, 0.9),
                   REGAL_OK);
  return proposal;
}

static void test_same_for_any_threads(void **state) {
  search_bench *b = *state;
  set_option(b, "method", "brkga");
  b->options.evaluations = 700;
  b->options.population = 30;
  b->options.restart = 4;
  b->options.exchange = 3;
  for (uint64_t seed = 1; seed <= 4; seed++)
    for (int kind = 0; kind < 4; kind++) {
      const char *decoder = kind % 2 ? "batched" : "paper";
      b->options.seed = (int64_t)seed;
      b->options.objective = seed % 2;
      b->options.devices = 2 + (int64_t)seed % 2;
      b->options.islands = kind < 2 ? 1 : 3;
      set_option(b, "decoder", decoder);
      use_synthetic(b, 25, seed);
      check_threads(b, NULL);
      regal_proposal *proposal = make_proposal(b, decoder);
      check_threads(b, proposal);
      regal_proposal_free(proposal);
    }
}

/* The methods that use no decoder of the user's choice, too. */
static void test_methods_with_threads(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 40, 4);
  b->options.evaluations = 400;
  for (size_t m = 0; m < regal_method_count(); m++) {
    if (!give_policy(regal_method_at(m).name, &b->options))
      continue;
    set_option(b, "method", regal_method_at(m).name);
    check_threads(b, NULL);
  }
}

static void test_seeds_differ(void **state) {
  search_bench *b = *state;
  regal_result *results[5];
  use_synthetic(b, 40, 4);
  set_option(b, "method", "brkga");
  b->options.evaluations = 300;
  for (int64_t seed = 0; seed < 5; seed++) {
    b->options.seed = seed;
    results[seed] = optimize(b);
    assert_int_equal(results[seed]->seed, seed);
    for (int64_t other = 0; other < seed; other++)
      assert_false(same_plan(results[seed]->plan, results[other]->plan));
  }
  for (int64_t seed = 0; seed < 5; seed++) {
    b->options.seed = seed;
    regal_result *again = optimize(b);
    assert_true(same_plan(again->plan, results[seed]->plan));
    regal_result_free(again);
    regal_result_free(results[seed]);
  }
}

/* -- Random chromosomes ---------------------------------------------------- */

/* The best of exactly the chromosomes that the streams give. */
static void test_random_method(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 30, 8);
  set_option(b, "method", "random");
  b->options.population = 10;
  for (size_t d = 0; d < regal_decoder_count(); d++)
    for (int64_t budget = 1; budget < 40; budget += 6) {
      const char *name = regal_decoder_at(d).name;
      const regal_decoder *decoder = regal_decoder_find(name);
      regal_fitness best = REGAL_FITNESS_WORST;
      regal_test_decoding decoding;
      set_option(b, "decoder", name);
      b->options.evaluations = budget;
      regal_result *result = optimize(b);
      regal_test_decoding_begin(&decoding, b->context, b->problem);
      for (uint64_t i = 0; i < (uint64_t)budget; i++) {
        uint64_t key =
            regal_random_key(1, REGAL_PURPOSE_SAMPLE, i / 10, i % 10);
        for (size_t c = 0; c < regal_decoder_class_count(decoder); c++) {
          size_t begin = regal_class_begin(decoder, b->problem, c);
          regal_sample_uniform(
              key, begin, decoding.genes + begin,
              regal_class_genes(b->problem, decoder->classes[c].domain));
        }
        regal_fitness fitness = regal_test_check_decoder(&decoding, d);
        best = regal_fitness_less(fitness, best) ? fitness : best;
      }
      assert_true(same_fitness(best, fitness_of(result)));
      regal_test_decoding_end(&decoding);
      regal_result_free(result);
    }
}

/* -- Warm start ------------------------------------------------------------ */

static void check_start(search_bench *b, const char *path,
                        regal_fitness given) {
  set_option(b, "start", path);
  for (size_t m = 0; m < regal_method_count(); m++)
    for (size_t d = 0; d < regal_decoder_count(); d++) {
      if (!give_policy(regal_method_at(m).name, &b->options))
        continue;
      set_option(b, "method", regal_method_at(m).name);
      set_option(b, "decoder", regal_decoder_at(d).name);
      if (b->options.policy[0] && !strcmp(regal_decoder_at(d).name, "closure"))
        continue; /* no priorities for the rule to speak of */
      b->options.evaluations = 1 + (int64_t)d * 200;
      regal_result *result = optimize(b);
      assert_false(regal_fitness_less(given, fitness_of(result)));
      regal_result_free(result);
    }
}

static void test_start_is_never_worsened(void **state) {
  search_bench *b = *state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    b->options.objective = seed % 2;
    b->options.start[0] = 0;
    set_option(b, "bandwidth", seed < 3 ? "0" : "1GB");
    use_synthetic(b, 30, seed);
    set_option(b, "method", "auto");
    b->options.decoder[0] = 0;
    b->options.evaluations = 3000;
    regal_result *good = optimize(b);
    assert_int_equal(regal_plan_save(b->context, good, "good.plan"), REGAL_OK);
    check_start(b, "good.plan", fitness_of(good));
    regal_result_free(good);
  }
}

/* A start in the form of a bare order, all on one device: the file's order. */
static void test_start_from_an_order(void **state) {
  search_bench *b = *state;
  char order[4096] = "";
  b->options.objective = REGAL_MEMORY;
  b->options.devices = 1;
  use_synthetic(b, 30, 3);
  for (uint32_t op = 0; op < b->graph->ops; op++)
    sprintf(order + strlen(order), "%u\n", b->graph->id[op]);
  files_write_text("start.order", order);
  set_option(b, "method", "single");
  regal_result *single = optimize(b);
  set_option(b, "method", "brkga");
  set_option(b, "start", "start.order");
  b->options.evaluations = 1;
  regal_result *result = optimize(b);
  assert_true(same_plan(single->plan, result->plan));
  assert_string_equal(result->account,
                      "BRKGA on decoder paper: 1 generation of 1 x 100");
  regal_result_free(result);
  regal_result_free(single);
}

/* -- Memory limits --------------------------------------------------------- */

/* Any plan within the limit beats any beyond; beyond it, less is better. */
static void test_order_of_fitness(void **state) {
  static const regal_fitness ascending[] = {
      {0, 1, 9}, {0, 2, 0}, {0, 2, 1}, {0, INT64_MAX, 0},
      {1, 0, 0}, {1, 5, 0}, {2, 0, 0}, {INT64_MAX, INT64_MAX, INT64_MAX}};
  (void)state;
  for (size_t i = 0; i < 8; i++)
    for (size_t k = 0; k < 8; k++)
      assert_int_equal(regal_fitness_less(ascending[i], ascending[k]), i < k);
}

/* The fastest plan needs too much memory: the search then finds one that fits
 * and is slower, and says so. */
static void test_memory_limit(void **state) {
  search_bench *b = *state;
  char limit[32];
  use_synthetic(b, 30, 1);
  set_option(b, "method", "brkga");
  b->options.evaluations = 3000;
  regal_result *fast = optimize(b);
  snprintf(limit, sizeof limit, "%lld",
           (long long)(fast->cost.max_peak_bytes * 8 / 10));
  set_option(b, "memory-limit", limit);
  regal_result_free(fast);
  make_problem(b);
  for (int batched = 0; batched < 2; batched++) {
    set_option(b, "decoder", batched ? "batched" : "paper");
    regal_result *result = optimize(b);
    assert_true(result->fits);
    assert_int_equal(result->cost.excess_bytes, 0);
    assert_true(result->cost.max_peak_bytes <= atoll(limit));
    regal_result_free(result);
  }
}

/* No plan fits, which is proven: the search ends with the first plan, which is
 * never counted as having met a target or the bound. */
static void test_impossible_limit(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 20, 1);
  set_option(b, "memory-limit", "1");
  make_problem(b);
  b->options.evaluations = 500;
  b->options.target = 9e18;
  for (int objective = 0; objective < 2; objective++) {
    b->options.objective = objective;
    make_problem(b);
    set_option(b, "method", "brkga");
    regal_result *result = optimize(b);
    assert_false(result->fits);
    assert_true(result->cost.excess_bytes > 0);
    assert_int_equal(result->stop, REGAL_STOP_NO_FIT);
    assert_non_null(strstr(result->shortage, "the limit of device 0 is 1 B"));
    assert_true(result->evaluations < 500);
    set_option(b, "method", "auto");
    regal_result *better = optimize(b);
    assert_false(better->fits);
    assert_true(better->cost.excess_bytes > 0);
    assert_int_equal(better->stop, REGAL_STOP_NO_FIT);
    regal_result_free(result);
    regal_result_free(better);
  }
}

/* On one device every plan meets the bound on run time, but here none fits. */
static void test_bound_beyond_the_limit(void **state) {
  search_bench *b = *state;
  b->options.devices = 1;
  set_option(b, "memory-limit", "1");
  use_synthetic(b, 20, 1);
  set_option(b, "method", "brkga");
  b->options.evaluations = 500;
  regal_result *result = optimize(b);
  assert_int_equal(result->cost.runtime_ns, result->bound.runtime_ns);
  assert_false(result->fits);
  assert_int_equal(result->stop, REGAL_STOP_NO_FIT);
  regal_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_evaluations_are_exact),
      SEARCH_TEST(test_default_budget),
      SEARCH_TEST(test_more_is_never_worse),
      SEARCH_TEST(test_stops_at_time),
      SEARCH_TEST(test_no_time_at_all),
      SEARCH_TEST(test_stops_at_target),
      SEARCH_TEST(test_stops_at_bound),
      SEARCH_TEST(test_interrupt),
      SEARCH_TEST(test_same_for_any_threads),
      SEARCH_TEST(test_methods_with_threads),
      SEARCH_TEST(test_seeds_differ),
      SEARCH_TEST(test_random_method),
      SEARCH_TEST(test_start_is_never_worsened),
      SEARCH_TEST(test_start_from_an_order),
      SEARCH_TEST(test_order_of_fitness),
      SEARCH_TEST(test_memory_limit),
      SEARCH_TEST(test_impossible_limit),
      SEARCH_TEST(test_bound_beyond_the_limit),
  };
  return cmocka_run_group_tests_name("brkga_search", tests, files_enter,
                                     files_leave);
}
