/* SPDX-License-Identifier: Apache-2.0 */
/* A soak run: graphs of data/ and generated ones, machines of all kinds, every
 * method, decoder and annealer with random options, for as long as asked.
 *
 * Every case must succeed (which includes that simulator and verifier agree on
 * the plan), respect the bound, and give the same plan with one thread and with
 * three if it has a budget of evaluations; `auto` must not be worse than
 * everything on one device.
 *
 *   REGAL_SOAK_SECONDS  how long (default 60)
 *   REGAL_SOAK_FIRST    the number of the first case (default 0)
 *   REGAL_SOAK_CASE     only this case, and all that is known about it
 *
 * A case follows from its number alone; a failure names it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "anneal/driver/anneal.h"
#include "base/parallel/threads.h"
#include "base/random.h"
#include "cost/bound/bound.h"
#include "cost/verify/verify.h"
#include "dataset/archive/catalog.h"
#include "dataset/synthetic/synthetic.h"
#include "support/every_method.h"
#include "support/random_cases.h"

#define DATA REGAL_TEST_DATA "/../data/"
enum { ARCHIVES = 3, SMALL = 600 };
static const char *const archives[ARCHIVES] = {DATA "torch.zip", DATA "tf.zip",
                                               DATA "xla.zip"};

typedef struct soak {
  regal_context *context;
  regal_catalog *catalogs[ARCHIVES];
  /* the case at hand */
  uint64_t number;
  regal_random random;
  regal_graph *graph;
  regal_problem *problem;
  regal_options options;
  char told[2048]; /* graph, machine and options */
  size_t told_length;
  int failures;
} soak;

static uint64_t below(soak *s, uint64_t n) {
  return regal_random_below(&s->random, n);
}

static bool one_in(soak *s, uint64_t n) {
  return below(s, n) == 0;
}

/* From low to high, alike in every order of magnitude. */
static double scaled(soak *s, double low, double high) {
  return low * pow(high / low, regal_random_unit(&s->random));
}

static void tell(soak *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int wrote = vsnprintf(s->told + s->told_length,
                        sizeof s->told - s->told_length, format, arguments);
  va_end(arguments);
  if (wrote > 0 && s->told_length + (size_t)wrote < sizeof s->told)
    s->told_length += (size_t)wrote;
}

static void must(soak *s, regal_status status) {
  if (status != REGAL_OK)
    fail_msg("case %llu (%s): %s", (unsigned long long)s->number, s->told,
             regal_error(s->context));
}

static void expect(soak *s, bool holds, const char *what) {
  if (holds)
    return;
  print_error("case %llu: %s\n  %s\n", (unsigned long long)s->number, what,
              s->told);
  s->failures++;
}

/* -- The case -------------------------------------------------------------- */

static void load_graph(soak *s, const regal_catalog *catalog,
                       const char *archive) {
  const regal_index *index = &catalog->index;
  const regal_entry *entry;
  do /* large ones now and then */
    entry = &index->rows[below(s, index->count)].entry;
  while (entry->figures.ops > SMALL &&
         !(entry->figures.ops < 3000 && one_in(s, 20)));
  char path[1024];
  regal_options options;
  regal_options_init(&options);
  snprintf(path, sizeof path, "%s:%s", archive, entry->name);
  tell(s, "%s", path + strlen(DATA));
  must(s, regal_graph_load(s->context, path, &options, &s->graph));
}

static void make_graph(soak *s) {
  uint64_t kind = below(s, 10), seed = below(s, 1u << 30);
  if (kind < 6) {
    size_t archive = kind / 2;
    load_graph(s, s->catalogs[archive], archives[archive]);
  } else if (kind < 8) {
    tell(s, "random graph %llu", (unsigned long long)seed);
    regal_test_random_graph(s->context, seed, 1 + (uint32_t)below(s, 150),
                            &s->graph);
  } else if (kind < 9) {
    regal_graph_model model = (regal_graph_model)below(s, REGAL_GRAPH_MODELS);
    tell(s, "synthetic %d %llu", (int)model, (unsigned long long)seed);
    must(s, regal_synthetic_graph(s->context, model, 0, seed, &s->graph));
  } else {
    uint32_t ops = (uint32_t)scaled(s, 10, 1000);
    uint32_t width = 1 + (uint32_t)below(s, 40);
    tell(s, "layered %u %u %llu", ops, width, (unsigned long long)seed);
    must(s, regal_layered_graph(s->context, ops, width, 2, seed, &s->graph));
  }
  regal_graph_info info;
  regal_graph_describe(s->graph, &info);
  tell(s, " (%u ops)", info.ops);
}

static void set(soak *s, const char *name, const char *format, ...) {
  char value[128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  tell(s, " %s=%s", name, value);
  must(s, regal_options_set(s->context, &s->options, name, value));
}

/* A multiple of the bound, now and then one that nothing can meet. */
static void set_limit(soak *s) {
  regal_problem *problem;
  int64_t peak;
  must(s, regal_problem_create(s->context, s->graph, &s->options, &problem));
  regal_status status = regal_bound_memory(s->context, problem, &peak);
  regal_problem_free(problem);
  must(s, status);
  set(s, "memory-limit", "%.0f",
      1 + (double)peak * (0.9 + 2 * regal_random_unit(&s->random)));
}

/* Devices that are alike; the other machines are those of random_cases.h. */
static void make_plain_machine(soak *s) {
  set(s, "devices", "%d", 1 + (int)(one_in(s, 3) ? 1 : below(s, 8)));
  if (one_in(s, 2))
    set(s, "transfers", "overlapped");
  if (one_in(s, 3))
    set(s, "control", "transfer");
  if (one_in(s, 2))
    set(s, "latency", "%.0fns", scaled(s, 1, 1e6));
  if (one_in(s, 2))
    set(s, "bandwidth", "%.0fB/s", scaled(s, 1e8, 1e12));
  if (one_in(s, 3))
    set_limit(s);
  must(s, regal_problem_create(s->context, s->graph, &s->options, &s->problem));
}

static void make_machine(soak *s) {
  if (one_in(s, 3))
    set(s, "objective", "memory");
  if (below(s, 3)) {
    make_plain_machine(s);
    return;
  }
  regal_machine *machine;
  uint64_t seed = below(s, 1u << 30);
  tell(s, " random machine %llu", (unsigned long long)seed);
  regal_test_random_small_machine(s->context, seed, 8, s->graph, &machine);
  must(s, regal_problem_bind(s->context, s->graph, machine,
                             (enum regal_objective)s->options.objective,
                             &s->problem));
}

static void set_budget(soak *s) {
  /* about as long on every graph */
  double most = 6e5 / (double)regal_problem_graph(s->problem)->ops + 20;
  if (one_in(s, 8))
    set(s, "time", "%.3f", scaled(s, 0.001, 0.1));
  else
    set(s, "evaluations", "%.0f", scaled(s, 1, most));
}

static void set_search(soak *s) {
  set(s, "seed", "%d", (int)below(s, 1000));
  size_t method = below(s, regal_method_count() + 4);
  const char *name =
      method < regal_method_count() ? regal_method_at(method).name : "auto";
  set(s, "method", "%s", can_run(name) ? name : "auto");
  bool guided =
      give_policy(s->options.method, &s->options) && s->options.policy[0];
  if (one_in(s, 2) && !guided) /* the rule is not for every decoder */
    set(s, "decoder", "%s",
        regal_decoder_at(below(s, regal_decoder_count())).name);
  set_budget(s);
  if (one_in(s, 4)) {
    set(s, "population", "%d", 10 + (int)below(s, 90));
    set(s, "islands", "%d", 1 + (int)below(s, 3));
    set(s, "exchange", "%d", 1 + (int)below(s, 4));
    set(s, "restart", "%d", (int)below(s, 4));
  }
}

static void set_annealing(soak *s) {
  if (one_in(s, 3))
    set(s, "annealer", "%s",
        regal_annealer_at(below(s, regal_annealer_count()))->name);
  if (one_in(s, 2))
    set(s, "hot", "%g", scaled(s, 1e-4, 1e3));
  if (one_in(s, 2)) /* now and then above hot */
    set(s, "cold", "%g", scaled(s, 1e-7, 1));
  if (one_in(s, 2))
    set(s, "fall", "%g", regal_random_unit(&s->random));
  if (one_in(s, 2))
    set(s, "coarse-share", "%g", 0.99 * regal_random_unit(&s->random));
  if (one_in(s, 2))
    set(s, "coarsest", "%.0f", scaled(s, 1, 1000));
}

/* -- What must hold -------------------------------------------------------- */

/* An annealer that does not suit is refused by the methods that only anneal. */
static bool may_refuse(const soak *s) {
  const regal_annealer *annealer = regal_annealer_find(s->options.annealer);
  return (!strcmp(s->options.method, "anneal") ||
          !strcmp(s->options.method, "multilevel")) &&
         annealer && !annealer->suits(s->problem);
}

static regal_result *solve(soak *s, int threads) {
  regal_result *result = NULL;
  s->options.threads = threads;
  regal_status status =
      regal_optimize(s->context, s->problem, &s->options, &result);
  if (status != REGAL_OK && !(status == REGAL_BAD_INPUT && may_refuse(s)))
    expect(s, false, regal_error(s->context));
  return result;
}

static void check_result(soak *s, const regal_result *result) {
  const regal_cost *cost = &result->cost;
  regal_fitness fitness = regal_fitness_of(s->problem, cost);
  bool memory = s->options.objective;
  regal_cost again;
  expect(s,
         regal_verify(s->context, s->problem, result->plan, &again) ==
                 REGAL_OK &&
             again.runtime_ns == cost->runtime_ns &&
             again.max_peak_bytes == cost->max_peak_bytes &&
             again.excess_bytes == cost->excess_bytes,
         "the cost is not the plan's");
  expect(s, !result->fits || result->bound.runtime_ns <= cost->runtime_ns,
         "runtime below bound");
  expect(s, result->bound.peak_bytes <= cost->max_peak_bytes,
         "peak below bound");
  expect(s, result->fits == !cost->excess_bytes, "fits is wrong");
  expect(s,
         result->stop != REGAL_STOP_BOUND ||
             (memory ? cost->max_peak_bytes == result->bound.peak_bytes
                     : cost->runtime_ns == result->bound.runtime_ns),
         "stopped at the bound, but not there");
  expect(s,
         strcmp(result->method, "auto") ||
             !regal_fitness_less(regal_fitness_of(s->problem, &result->before),
                                 fitness),
         "auto is worse than single");
  expect(s,
         s->options.evaluations == 0 ||
             result->evaluations <= (uint64_t)s->options.evaluations,
         "more evaluations than allowed");
}

static bool same_plan(const regal_plan *a, const regal_plan *b) {
  return a->step_count == b->step_count &&
         !memcmp(a->steps, b->steps, a->step_count * sizeof *a->steps);
}

static void run_case(soak *s, uint64_t number) {
  size_t held = regal_bytes_in_use(s->context);
  s->number = number;
  s->random =
      (regal_random){regal_random_key(20, REGAL_PURPOSE_TEST, number, 0), 0};
  s->told_length = 0;
  regal_options_init(&s->options);
  make_graph(s);
  make_machine(s);
  set_search(s);
  set_annealing(s);
  regal_result *one = solve(s, 1);
  if (one)
    check_result(s, one);
  if (one && s->options.evaluations) {
    regal_result *three = solve(s, 3);
    expect(s, three && same_plan(one->plan, three->plan),
           "the plan depends on the number of threads");
    regal_result_free(three);
  }
  regal_result_free(one);
  regal_problem_free(s->problem);
  regal_graph_free(s->graph);
  s->problem = NULL;
  s->graph = NULL;
  expect(s, regal_bytes_in_use(s->context) == held, "memory leaked");
}

static double number_of(const char *name, double otherwise) {
  const char *value = getenv(name);
  return value ? atof(value) : otherwise;
}

static void test_soak(void **state) {
  soak *s = *state;
  if (getenv("REGAL_SOAK_CASE")) {
    run_case(s, (uint64_t)number_of("REGAL_SOAK_CASE", 0));
    print_message("%s\n", s->told);
    assert_int_equal(s->failures, 0);
    return;
  }
  double end = regal_seconds() + number_of("REGAL_SOAK_SECONDS", 60);
  uint64_t first = (uint64_t)number_of("REGAL_SOAK_FIRST", 0), number = first;
  while (regal_seconds() < end)
    run_case(s, number++);
  print_message("%llu cases\n", (unsigned long long)(number - first));
  assert_int_equal(s->failures, 0);
}

static int set_up(void **state) {
  soak *s = calloc(1, sizeof *s);
  if (!s || regal_context_create(&s->context, NULL))
    return -1;
  for (int i = 0; i < ARCHIVES; i++)
    if (regal_catalog_open(s->context, archives[i], &s->catalogs[i]))
      return -1;
  *state = s;
  return 0;
}

static int tear_down(void **state) {
  soak *s = *state;
  for (int i = 0; i < ARCHIVES; i++)
    regal_catalog_free(s->catalogs[i]);
  bool leaked = regal_bytes_in_use(s->context) != 0;
  regal_context_free(s->context);
  free(s);
  return leaked;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_soak, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("soak", tests, NULL, NULL);
}
