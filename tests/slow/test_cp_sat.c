/* CP-SAT against brute force on tiny graphs, as an oracle in both directions:
 * what it proves is the best of all plans.
 *
 * Needs OR-tools' library (scripts/setup.sh ortools).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cost/bound.h"
#include "exact/library.h"
#include "support/brute_force.h"
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

/* The best plan always; and it is proven to be, except where the model is not
 * exact: a memory limit beside overlapped transfers, outputs over inputs. */
static void check_result(search_bench *b, const regal_result *result,
                         regal_fitness optimum, bool exact, const char *name) {
  regal_fitness found = regal_fitness_of(b->problem, &result->cost);
  int64_t bound = bound_of(result, b->problem->objective);
  if (found.excess < optimum.excess ||
      (found.excess == optimum.excess && found.value < optimum.value))
    fail_msg("%s: %lld is below the optimum of %lld", name,
             (long long)found.value, (long long)optimum.value);
  if (!optimum.excess && bound > optimum.value)
    fail_msg("%s: the bound of %lld is above the optimum of %lld", name,
             (long long)bound, (long long)optimum.value);
  if (optimum.excess && !b->problem->reuses && found.excess > optimum.excess)
    fail_msg("%s: %lld bytes too many, not %lld", name, (long long)found.excess,
             (long long)optimum.excess);
  if (exact && !optimum.excess &&
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
  bool exact = in_time && !problem->reuses &&
               (memory || !problem->limited || !problem->machine->overlapped);
  tally->timed_out += !in_time;
  check_result(b, result, optimum, exact, name);
  tally->cases++;
  tally->proven += result->stop == REGAL_STOP_BOUND;
  tally->limited += problem->limited;
  tally->no_fit += optimum.excess > 0;
  tally->raised += hard && exact;
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

/* Two devices; blocking or overlapped, wait or transfer, free or not. */
static regal_machine *plain_machine(search_bench *b, uint64_t seed) {
  regal_machine *machine = toy_machine(b->context, 2);
  machine->overlapped = seed & 1;
  machine->control_transfers = seed >> 1 & 1;
  for (int from = 0; from < 2 && (seed >> 2 & 1); from++) {
    machine->latency_ns[from][!from] = 3;
    machine->bandwidth[from][!from] = 20 * INT64_C(1000000000);
  }
  return machine;
}

/* Blocking, with a limit between the least peak and that of the fastest plan:
 * run time and memory are at odds. Many ops take no time. */
static regal_machine *tight_machine(search_bench *b, uint64_t seed) {
  regal_machine *machine = plain_machine(b, seed & ~UINT64_C(1));
  regal_test_best best;
  if (!regal_test_brute_force(b->context, b->graph, machine, MOST_PLANS, &best))
    return machine;
  int64_t least = best.memory.cost.max_peak_bytes;
  int64_t most = best.runtime.cost.max_peak_bytes;
  for (int a = 0; a < 2; a++)
    machine->memory_limit[a] = least + (most - least) * (int64_t)(seed % 3) / 3;
  return machine;
}

static regal_machine *single_machine(search_bench *b, uint64_t seed) {
  (void)seed;
  return toy_machine(b->context, 1);
}

static void test_two_devices(void **state) {
  tally tally = {0};
  ((search_bench *)*state)->options.time = 20;
  run_cases(*state, plain_machine, "two devices", 1000, 400, 7, &tally);
  assert_true(tally.cases > 100 && tally.raised > 50 && !tally.timed_out);
}

static void test_one_device(void **state) {
  tally tally = {0};
  ((search_bench *)*state)->options.time = 20;
  run_cases(*state, single_machine, "one device", 2000, 400, 8, &tally);
  assert_true(tally.cases > 50 && tally.raised > 5 && !tally.timed_out);
}

static void test_any_machine(void **state) {
  tally tally = {0};
  ((search_bench *)*state)->options.time = 20;
  run_cases(*state, any_machine, "any machine", 3000, 500, 6, &tally);
  assert_true(tally.cases > 100 && tally.limited > 30 && tally.no_fit > 5);
  assert_true(tally.raised > 30);
}

/* Proofs are slow where the limit is what costs time: the solver moves starts
 * about one tick at a time. */
static void test_tight_limits(void **state) {
  tally tally = {0};
  ((search_bench *)*state)->options.time = 2;
  run_cases(*state, tight_machine, "tight limits", 4000, 250, 7, &tally);
  assert_true(tally.limited > 50 && tally.raised > 20 && tally.no_fit == 0);
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
      SEARCH_TEST(test_stops),
  };
  return cmocka_run_group_tests_name("cp_sat", tests, need_library, NULL);
}
