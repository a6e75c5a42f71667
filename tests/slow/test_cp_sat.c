/* SPDX-License-Identifier: Apache-2.0 */
/* CP-SAT as an oracle. On tiny graphs what it proves is the best of all plans,
 * by brute force, for both objectives on every kind of machine; on larger ones
 * it and `auto` check each other: neither is below what the other proves.
 *
 * Needs OR-tools' library (scripts/setup.sh ortools).
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "cost/bound/bound.h"
#include "exact/solve.h"
#include "support/brute_force.h"
#include "support/machine_options.h"
#include "support/random_cases.h"
#include "support/search_bench.h"
#include "support/toy_graph.h"

enum { MOST_PLANS = 20000, EASY_SHARE = 8 };

typedef struct tally {
  int cases, proven, limited, no_fit, timed_out;
  int raised; /* the bound that was there before was not the optimum */
} tally;

static int64_t bound_of(const regal_result *result, int objective) {
  return objective == REGAL_MEMORY ? result->bound.peak_bytes
                                   : result->bound.runtime_ns;
}

static int64_t simple_bound(const search_bench *b) {
  regal_bound bound;
  assert_int_equal(regal_bound_compute(b->context, b->problem, &bound),
                   REGAL_OK);
  return b->problem->objective == REGAL_MEMORY ? bound.peak_bytes
                                               : bound.runtime_ns;
}

/* The best plan always; and it is proven to be. */
static void check_result(search_bench *b, const regal_result *result,
                         regal_fitness optimum, bool in_time,
                         const char *name) {
  regal_fitness found = regal_fitness_of(b->problem, &result->cost);
  int64_t bound = bound_of(result, b->problem->objective);
  if (found.excess < optimum.excess ||
      (found.excess == optimum.excess && found.value < optimum.value))
    fail_msg("%s: %lld is below the optimum of %lld", name,
             (long long)found.value, (long long)optimum.value);
  if (!optimum.excess && bound > optimum.value)
    fail_msg("%s: the bound of %lld is above the optimum of %lld", name,
             (long long)bound, (long long)optimum.value);
  if (in_time && optimum.excess &&
      (found.excess != optimum.excess || found.value != optimum.value))
    fail_msg("%s: %lld with %lld bytes too many, not %lld with %lld", name,
             (long long)found.value, (long long)found.excess,
             (long long)optimum.value, (long long)optimum.excess);
  if (in_time && !optimum.excess &&
      (found.value != optimum.value || found.excess || bound != optimum.value))
    fail_msg("%s: found %lld (bound %lld, excess %lld), not the optimum of "
             "%lld",
             name, (long long)found.value, (long long)bound,
             (long long)found.excess, (long long)optimum.value);
}

/* Most problems whose bound is the optimum need no solver: few are tried. */
static void check_problem(search_bench *b, const regal_test_best *best,
                          const char *kind, uint64_t seed, tally *tally) {
  const regal_problem *problem = b->problem;
  bool memory = problem->objective == REGAL_MEMORY;
  regal_fitness optimum = regal_fitness_of(
      problem, memory ? &best->memory.cost : &best->runtime.cost);
  bool hard = !optimum.excess && optimum.value > simple_bound(b);
  if (!hard && seed % EASY_SHARE)
    return;
  char name[100];
  snprintf(name, sizeof name, "%s, seed %llu, %s", kind,
           (unsigned long long)seed, memory ? "memory" : "run time");
  regal_result *result = optimize(b);
  bool in_time = result->stop != REGAL_STOP_TIME;
  tally->timed_out += !in_time;
  check_result(b, result, optimum, in_time, name);
  tally->cases++;
  tally->proven += result->stop == REGAL_STOP_BOUND;
  tally->limited += problem->limited;
  tally->no_fit += optimum.excess > 0;
  tally->raised += hard && in_time;
  regal_result_free(result);
}

static void check_both(search_bench *b,
                       regal_machine *(*make)(search_bench *, uint64_t),
                       const char *name, uint64_t seed, tally *tally) {
  regal_test_best best;
  for (int objective = 0; objective < 2; objective++) {
    regal_machine *machine = make(b, seed);
    bool known =
        objective || regal_test_brute_force(b->context, b->graph, machine,
                                            MOST_PLANS, &best);
    if (!known) {
      regal_machine_free(machine);
      return;
    }
    b->problem = toy_problem(b->context, b->graph, machine,
                             (enum regal_objective)objective);
    check_problem(b, &best, name, seed, tally);
    regal_problem_free(b->problem);
    b->problem = NULL;
  }
}

static void run_cases(search_bench *b,
                      regal_machine *(*make)(search_bench *, uint64_t),
                      const char *name, uint64_t from, uint64_t count,
                      uint32_t ops, tally *tally) {
  set_option(b, "method", "cp-sat");
  b->options.threads = 2;
  for (uint64_t seed = from; seed < from + count; seed++) {
    problem_end(b);
    regal_test_random_graph(b->context, seed, ops, &b->graph);
    check_both(b, make, name, seed, tally);
  }
  print_message("%s: %d problems, %d proven by the bound, %d with a limit "
                "(%d that nothing fits), %d bounds raised, "
                "%d timed out\n",
                name, tally->cases, tally->proven, tally->limited,
                tally->no_fit, tally->raised, tally->timed_out);
}

static regal_machine *any_machine(search_bench *b, uint64_t seed) {
  regal_machine *machine;
  regal_test_random_small_machine(b->context, seed, 3, b->graph, &machine);
  return machine;
}

/* Blocking or overlapped, wait or transfer, free or not. */
static regal_machine *plain(search_bench *b, uint32_t devices, uint64_t seed) {
  regal_machine *machine = toy_machine(b->context, devices);
  machine->overlapped = seed & 1;
  machine->control_transfers = seed >> 1 & 1;
  for (uint32_t from = 0; from < devices && (seed >> 2 & 1); from++)
    for (uint32_t to = 0; to < devices; to++)
      if (from != to) {
        machine->latency_ns[from][to] = 3;
        machine->bandwidth[from][to] = 20 * INT64_C(1000000000);
      }
  return machine;
}

static regal_machine *two_devices(search_bench *b, uint64_t seed) {
  return plain(b, 2, seed);
}

static regal_machine *one_device(search_bench *b, uint64_t seed) {
  (void)seed;
  return toy_machine(b->context, 1);
}

/* With a limit between the least peak and that of the fastest plan, so that run
 * time and memory are at odds. Many ops take no time. */
static regal_machine *tight(search_bench *b, uint32_t devices, uint64_t seed) {
  regal_machine *machine = plain(b, devices, seed);
  regal_test_best best;
  if (!regal_test_brute_force(b->context, b->graph, machine, MOST_PLANS, &best))
    return machine;
  int64_t least = best.memory.cost.max_peak_bytes;
  int64_t most = best.runtime.cost.max_peak_bytes;
  for (uint32_t a = 0; a < devices; a++)
    machine->memory_limit[a] = least + (most - least) * (int64_t)(seed % 3) / 3;
  return machine;
}

static regal_machine *tight_two(search_bench *b, uint64_t seed) {
  return tight(b, 2, seed);
}

static regal_machine *tight_many(search_bench *b, uint64_t seed) {
  return tight(b, 3 + seed % 2, seed / 2);
}

static void test_two_devices(void **state) {
  tally tally = {0};
  ((search_bench *)*state)->options.time = 20;
  run_cases(*state, two_devices, "two devices", 1000, 400, 7, &tally);
  assert_true(tally.cases > 100 && tally.raised > 30 && !tally.timed_out);
}

static void test_one_device(void **state) {
  tally tally = {0};
  ((search_bench *)*state)->options.time = 20;
  run_cases(*state, one_device, "one device", 2000, 400, 8, &tally);
  assert_true(tally.cases > 50 && !tally.timed_out);
}

static void test_any_machine(void **state) {
  tally tally = {0};
  ((search_bench *)*state)->options.time = 20;
  run_cases(*state, any_machine, "any machine", 3000, 500, 6, &tally);
  assert_true(tally.cases > 100 && tally.limited > 30 && tally.no_fit > 5);
  assert_true(tally.raised > 30 && !tally.timed_out);
}

static void test_tight_limits(void **state) {
  tally two = {0}, many = {0};
  ((search_bench *)*state)->options.time = 20;
  run_cases(*state, tight_two, "tight limits", 4000, 400, 7, &two);
  assert_true(two.limited > 50 && two.raised > 30 && !two.no_fit);
  run_cases(*state, tight_many, "tight limits, 3 and 4 devices", 5000, 400, 6,
            &many);
  assert_true(many.limited > 50 && many.raised > 12 && !many.no_fit);
  assert_false(two.timed_out || many.timed_out);
}

/* -- Beyond brute force ---------------------------------------------------- */

typedef struct agreement {
  int both, auto_only, oracle_only, neither;
} agreement;

static regal_result *run_method(search_bench *b, const char *method,
                                const char *seconds) {
  set_option(b, "method", method);
  set_option(b, "time", seconds);
  return optimize(b);
}

/* Either proves something or nothing; what is proven holds for the other. */
static void compare_with_auto(search_bench *b, const char *name,
                              agreement *count) {
  regal_result *quick = run_method(b, "auto", "0.2");
  regal_result *oracle = run_method(b, "cp-sat", "5");
  int objective = (int)b->problem->objective;
  regal_fitness a = regal_fitness_of(b->problem, &quick->cost);
  regal_fitness o = regal_fitness_of(b->problem, &oracle->cost);
  bool auto_proves = quick->stop == REGAL_STOP_BOUND;
  bool oracle_proves = oracle->stop == REGAL_STOP_BOUND;
  count->both += auto_proves && oracle_proves;
  count->auto_only += auto_proves && !oracle_proves;
  count->oracle_only += !auto_proves && oracle_proves;
  count->neither += !auto_proves && !oracle_proves;
  if (!a.excess && bound_of(oracle, objective) > a.value)
    fail_msg("%s: cp-sat's bound of %lld is above auto's %lld", name,
             (long long)bound_of(oracle, objective), (long long)a.value);
  if (!o.excess && bound_of(quick, objective) > o.value)
    fail_msg("%s: the bound of %lld is above cp-sat's %lld", name,
             (long long)bound_of(quick, objective), (long long)o.value);
  if (auto_proves && oracle_proves && a.value != o.value)
    fail_msg("%s: auto proves %lld and cp-sat %lld", name, (long long)a.value,
             (long long)o.value);
  regal_result_free(quick);
  regal_result_free(oracle);
}

static void set_machine(search_bench *b, uint64_t seed) {
  bool costs = seed & 1;
  set_option(b, "objective", seed >> 1 & 1 ? "memory" : "runtime");
  set_option(b, "transfers", seed >> 2 & 1 ? "overlapped" : "blocking");
  set_option(b, "latency", costs ? "10us" : "0");
  set_option(b, "bandwidth", costs ? "25GB" : "0");
  set_option(b, "devices", seed % 3 ? "2" : "3");
}

static void test_with_auto(void **state) {
  search_bench *b = *state;
  agreement count = {0};
  b->options.threads = 2;
  for (uint64_t seed = 0; seed < 24; seed++) {
    char name[40];
    snprintf(name, sizeof name, "synthetic graph %d", (int)seed);
    set_machine(b, seed);
    use_synthetic(b, 8 + (uint32_t)(seed % 5), seed);
    compare_with_auto(b, name, &count);
  }
  print_message("with auto: both prove %d, auto alone %d, cp-sat alone %d, "
                "neither %d\n",
                count.both, count.auto_only, count.oracle_only, count.neither);
  assert_true(count.both > 3 && count.both + count.oracle_only > 12);
}

/* -- Machines, budgets, interruptions -------------------------------------- */

/* As tests/unit/test_methods.c does for all other methods. */
static void test_machines(void **state) {
  search_bench *b = *state;
  set_option(b, "method", "cp-sat");
  b->options.threads = 2;
  b->options.time = 1;
  for (int objective = 0; objective < 2; objective++) {
    set_option(b, "objective", objective ? "memory" : "runtime");
    use_synthetic(b, 10, 5 + (uint64_t)objective);
    for (int i = 0; i < MACHINE_OPTIONS; i++) {
      use_machine(b, &machine_options[i]);
      regal_result *result = optimize(b);
      check_plan_of(b, result, machine_options[i].name);
      assert_int_equal(result->fits, machine_options[i].limit == 0 ||
                                         machine_options[i].limit > 1);
      regal_result_free(result);
    }
  }
}

/* Evaluations are for the hint; the solver's time is not limited by them. */
static void test_evaluations(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 60, 5);
  set_option(b, "method", "cp-sat");
  set_option(b, "latency", "10us");
  make_problem(b);
  b->options.time = 2;
  b->options.evaluations = 500;
  regal_result *result = optimize(b);
  assert_true(result->evaluations > 450 && result->evaluations <= 500);
  assert_int_equal(result->stop, REGAL_STOP_TIME);
  regal_result_free(result);
}

static void *interrupt(void *context) {
  struct timespec moment = {.tv_sec = 1};
  nanosleep(&moment, NULL);
  regal_stop_request(context);
  return NULL;
}

/* As Ctrl-C does: the best plan so far, and the bound. */
static void test_interrupt(void **state) {
  search_bench *b = *state;
  pthread_t thread;
  use_synthetic(b, 80, 5);
  set_option(b, "method", "cp-sat");
  set_option(b, "latency", "10us");
  make_problem(b);
  b->options.time = 0; /* a minute */
  b->options.evaluations = 100;
  double began = regal_seconds();
  assert_int_equal(pthread_create(&thread, NULL, interrupt, b->context), 0);
  regal_result *result = optimize(b);
  pthread_join(thread, NULL);
  assert_true(regal_seconds() - began < 15);
  assert_int_equal(result->stop, REGAL_STOP_INTERRUPT);
  check_plan_of(b, result, "interrupted");
  regal_result_free(result);
}

/* LSTM layers over time steps, one parameter for each layer: 24 ops. */
static void use_unrolled(search_bench *b) {
  enum { LAYERS = 4, STEPS = 6 };
  regal_builder *builder;
  uint32_t parameter, id;
  problem_end(b);
  assert_int_equal(regal_builder_create(b->context, &builder), REGAL_OK);
  for (uint32_t layer = 0; layer < LAYERS; layer++)
    regal_builder_add_parameter(builder, 60 << 20, &parameter);
  for (uint32_t layer = 0; layer < LAYERS; layer++)
    for (uint32_t step = 0; step < STEPS; step++) {
      char name[24];
      snprintf(name, sizeof name, "%u.%u", layer, step);
      regal_builder_add_op(builder, name, 100000, 0, 0, &id);
      regal_builder_add_output(builder, id, 1 << 20, false);
      regal_builder_add_parameter_use(builder, id, layer);
      if (layer)
        regal_builder_add_input(builder, id, id - STEPS, 0);
      if (step)
        regal_builder_add_input(builder, id, id - 1, 0);
    }
  assert_int_equal(regal_builder_finish(builder, &b->graph), REGAL_OK);
}

/* A model with too many pairs of steps for all of the limit: what it proves is
 * a bound, and the search is not done before its time unless that is met. */
static void test_done_is_proven(void **state) {
  search_bench *b = *state;
  use_unrolled(b);
  set_option(b, "method", "cp-sat");
  set_option(b, "devices", "24");
  set_option(b, "memory-limit", "70MiB");
  set_option(b, "transfers", "overlapped");
  set_option(b, "bandwidth", "25GB");
  make_problem(b);
  b->options.threads = 2;
  b->options.evaluations = 1;
  b->options.time = 10;
  regal_result *result = optimize(b);
  assert_true(result->fits);
  if (result->stop != REGAL_STOP_TIME)
    assert_int_equal(result->stop, REGAL_STOP_BOUND);
  /* six steps of one layer, and three layers after the first: a transfer each,
   * for no device holds two layers */
  assert_true(result->bound.runtime_ns > 9 * 100000 + 3 * 41943);
  regal_result_free(result);
}

/* Stops when told to: time, and a target. */
static void test_stops(void **state) {
  search_bench *b = *state;
  use_synthetic(b, 120, 5);
  set_option(b, "method", "cp-sat");
  b->options.threads = 1;
  b->options.time = 3;
  double began = regal_seconds();
  regal_result *result = optimize(b);
  assert_true(regal_seconds() - began < 10);
  int64_t found = result->cost.runtime_ns;
  assert_true(result->bound.runtime_ns <= found);
  regal_result_free(result);
  b->options.target = 2.0 * (double)found;
  result = optimize(b);
  assert_int_equal(result->stop, REGAL_STOP_TARGET);
  regal_result_free(result);
}

static int need_library(void **state) {
  regal_context *context;
  regal_cp_library library;
  (void)state;
  if (regal_context_create(&context, NULL))
    return -1;
  regal_status status = regal_cp_library_open(context, "", &library);
  if (status != REGAL_OK)
    print_error("%s\n", regal_error(context));
  regal_context_free(context);
  return status != REGAL_OK;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_two_devices), SEARCH_TEST(test_one_device),
      SEARCH_TEST(test_any_machine), SEARCH_TEST(test_tight_limits),
      SEARCH_TEST(test_with_auto),   SEARCH_TEST(test_machines),
      SEARCH_TEST(test_evaluations), SEARCH_TEST(test_interrupt),
      SEARCH_TEST(test_stops),       SEARCH_TEST(test_done_is_proven),
  };
  return cmocka_run_group_tests_name("cp_sat", tests, need_library, NULL);
}
