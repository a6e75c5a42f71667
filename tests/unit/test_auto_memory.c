/* SPDX-License-Identifier: Apache-2.0 */
/* `auto` where memory decides: shared parameters on several devices, and limits
 * for which it goes two ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/search_bench.h"

#define OK(call) assert_int_equal(call, REGAL_OK)

enum { LAYERS = 8, BATCHES = 12 };

/* An op that reads the outputs of two others, as far as these exist. */
static regal_status add_op(regal_builder *builder, int64_t ns, int64_t bytes,
                           const int64_t inputs[2], uint32_t *op) {
  REGAL_TRY(regal_builder_add_op(builder, "", ns, 0, 0, op));
  REGAL_TRY(regal_builder_add_output(builder, *op, bytes, false));
  for (size_t i = 0; i < 2; i++)
    if (inputs[i] >= 0)
      REGAL_TRY(regal_builder_add_input(builder, *op, (uint32_t)inputs[i], 0));
  return REGAL_OK;
}

/* One microbatch, forward and backward. */
static regal_status add_batch(regal_builder *builder,
                              const uint32_t parameter[LAYERS]) {
  int64_t forward[LAYERS], before = -1;
  for (int l = 0; l < 2 * LAYERS; l++) {
    bool back = l >= LAYERS;
    int layer = back ? 2 * LAYERS - 1 - l : l;
    int64_t inputs[] = {before, back ? forward[layer] : -1};
    uint32_t op;
    REGAL_TRY(add_op(builder, 100, back ? 34 : 230, inputs, &op));
    REGAL_TRY(regal_builder_add_parameter_use(builder, op, parameter[layer]));
    before = op;
    if (!back)
      forward[layer] = op;
  }
  return REGAL_OK;
}

static regal_status add_layers(regal_builder *builder, int batches) {
  uint32_t parameter[LAYERS];
  for (int l = 0; l < LAYERS; l++)
    REGAL_TRY(regal_builder_add_parameter(builder, 360, &parameter[l]));
  for (int batch = 0; batch < batches; batch++)
    REGAL_TRY(add_batch(builder, parameter));
  return REGAL_OK;
}

static regal_status make_layers(regal_context *context, int batches,
                                regal_graph **graph) {
  regal_builder *builder;
  REGAL_TRY(regal_builder_create(context, &builder));
  regal_status status = add_layers(builder, batches);
  if (status == REGAL_OK)
    return regal_builder_finish(builder, graph);
  regal_builder_free(builder);
  return status;
}

/* Annealing alone ends 130 to 170% above the bound. */
static void test_shared_parameters(void **state) {
  search_bench *b = *state;
  set_option(b, "devices", "4");
  set_option(b, "objective", "memory");
  set_option(b, "evaluations", "20000");
  OK(make_layers(b->context, BATCHES, &b->graph));
  make_problem(b);
  regal_result *result = optimize(b);
  int64_t peak = 0;
  for (uint32_t a = 0; a < 4; a++)
    peak =
        result->cost.peak_bytes[a] > peak ? result->cost.peak_bytes[a] : peak;
  assert_in_range(peak, result->bound.peak_bytes,
                  result->bound.peak_bytes * 11 / 10);
  regal_result_free(result);
}

/* The account names the decoder that the user wants instead. */
static void test_other_decoder(void **state) {
  search_bench *b = *state;
  set_option(b, "devices", "4");
  set_option(b, "objective", "memory");
  set_option(b, "evaluations", "300");
  set_option(b, "decoder", "batched");
  OK(make_layers(b->context, 2, &b->graph));
  make_problem(b);
  regal_result *result = optimize(b);
  assert_non_null(strstr(result->account, "brkga on batched"));
  regal_result_free(result);
}

static regal_status solve_layers(regal_context *context, const void *state) {
  search_bench b = {.context = context};
  regal_result *result = NULL;
  (void)state;
  regal_options_init(&b.options);
  b.options.threads = 1;
  b.options.devices = 4;
  b.options.objective = REGAL_MEMORY;
  b.options.evaluations = 300;
  regal_status status = make_layers(context, 2, &b.graph);
  if (status == REGAL_OK)
    status = regal_problem_create(context, b.graph, &b.options, &b.problem);
  if (status == REGAL_OK)
    status = regal_optimize(context, b.problem, &b.options, &result);
  regal_result_free(result);
  regal_problem_free(b.problem);
  regal_graph_free(b.graph);
  return status;
}

static void test_memory_runs_out(void **state) {
  (void)state;
  assert_true(fail_each_allocation(solve_layers, NULL) > 100);
}

enum { ROWS = 8, COLUMNS = 20 };

static void use_grid(search_bench *b) {
  regal_builder *builder;
  uint32_t op;
  OK(regal_builder_create(b->context, &builder));
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    int64_t inputs[] = {i - COLUMNS, i % COLUMNS ? i - 1 : -1};
    OK(add_op(builder, 2000 + 1000 * (i * 7 % 9), 10000 + 10000 * (i * 5 % 11),
              inputs, &op));
  }
  OK(regal_builder_finish(builder, &b->graph));
  make_problem(b);
}

/* Stages in searches of their own count what was before them, too. */
static void check_account(const char *account) {
  unsigned long long before = 0, used;
  int stages = 0;
  while ((account = strstr(account, " after "))) {
    account += strlen(" after ");
    used = strtoull(account, NULL, 10);
    assert_true(used >= before);
    before = used;
    stages++;
  }
  assert_true(stages > 4);
}

/* From a fast plan that is made to fit, annealing ends at 594500 ns. */
static void test_two_ways_within_a_limit(void **state) {
  search_bench *b = *state;
  set_option(b, "transfers", "overlapped");
  set_option(b, "bandwidth", "20GB/s");
  set_option(b, "memory-limit", "351000");
  set_option(b, "evaluations", "875000");
  use_grid(b);
  regal_result *result = optimize(b);
  assert_true(result->fits);
  assert_in_range(result->cost.runtime_ns, result->bound.runtime_ns, 510000);
  check_account(result->account);
  regal_result_free(result);
}

/* With so few moves annealing alone ends at 389 ms, summed over the graphs. */
static void test_large_for_the_time(void **state) {
  search_bench *b = *state;
  set_option(b, "devices", "4");
  set_option(b, "bandwidth", "100kB/s");
  set_option(b, "latency", "10us");
  set_option(b, "memory-limit", "1000");
  set_option(b, "evaluations", "5000");
  int64_t sum_ns = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    problem_end(b);
    OK(regal_layered_graph(b->context, 400, 16, 2, seed, &b->graph));
    make_problem(b);
    regal_result *result = optimize(b);
    assert_true(result->fits);
    sum_ns += result->cost.runtime_ns;
    regal_result_free(result);
  }
  assert_in_range(sum_ns, 1, 360000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_shared_parameters),
      SEARCH_TEST(test_other_decoder),
      cmocka_unit_test(test_memory_runs_out),
      SEARCH_TEST(test_two_ways_within_a_limit),
      SEARCH_TEST(test_large_for_the_time),
  };
  return cmocka_run_group_tests_name("auto_memory", tests, NULL, NULL);
}
