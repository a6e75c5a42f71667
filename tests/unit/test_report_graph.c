/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a graph, regal_evaluate, and the reports on both when memory runs
 * out. What the reports look like is pinned in tests/cli. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "report/figures.h"
#include "support/failing_allocator.h"

static const struct {
  const char *name;
  int64_t run_ns, bytes;
} ops[] = {
    {"in", 1, 7},       {"block/MatMul", 10, 500}, {"block/MatMul_1", 30, 400},
    {"add.12", 5, 300}, {"add", 2, 200},           {"FusedV3", 5, 0},
    {"end/", 0, 100}};

/* in feeds the two MatMuls, both feed add.12; then add, FusedV3 and, by a
 * control edge, the end. */
static regal_status build(regal_context *context, regal_graph **graph) {
  static const uint32_t inputs[][2] = {{1, 0}, {2, 0}, {3, 1},
                                       {3, 2}, {4, 3}, {5, 4}};
  regal_builder *builder;
  regal_status status = regal_builder_create(context, &builder);
  if (status != REGAL_OK)
    return status;
  for (uint32_t i = 0; i < 7 && status == REGAL_OK; i++) {
    uint32_t id;
    status =
        regal_builder_add_op(builder, ops[i].name, ops[i].run_ns, 0, 0, &id);
    if (status == REGAL_OK)
      status = regal_builder_add_output(builder, id, ops[i].bytes, false);
  }
  for (int i = 0; i < 6 && status == REGAL_OK; i++)
    status = regal_builder_add_input(builder, inputs[i][0], inputs[i][1], 0);
  if (status == REGAL_OK)
    status = regal_builder_add_control(builder, 5, 6);
  if (status == REGAL_OK)
    return regal_builder_finish(builder, graph);
  regal_builder_free(builder);
  return status;
}

static void check_kind(const regal_kind *kind, const char *name, uint32_t count,
                       int64_t run_ns) {
  assert_int_equal(kind->length, strlen(name));
  assert_memory_equal(kind->name, name, kind->length);
  assert_int_equal(kind->ops, count);
  assert_int_equal(kind->run_ns, run_ns);
}

static void test_figures(void **state) {
  static const uint32_t top_op[] = {2, 1, 3, 5, 4};
  static const uint32_t top_tensor[] = {1, 2, 3, 4, 6};
  regal_context *context;
  regal_graph *graph;
  regal_graph_figures figures;
  (void)state;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  assert_int_equal(build(context, &graph), REGAL_OK);
  assert_int_equal(regal_figures_compute(context, graph, &figures), REGAL_OK);
  assert_int_equal(figures.depth, 6);
  assert_int_equal(figures.width, 2);
  assert_int_equal(figures.top_ops, 5);
  assert_memory_equal(figures.top_op, top_op, sizeof top_op);
  assert_int_equal(figures.top_tensors, 5);
  assert_memory_equal(figures.top_tensor, top_tensor, sizeof top_tensor);
  assert_int_equal(figures.kind_count, 5);
  check_kind(&figures.kinds[0], "MatMul", 2, 40);
  check_kind(&figures.kinds[1], "add", 2, 7);
  check_kind(&figures.kinds[2], "FusedV3", 1, 5);
  check_kind(&figures.kinds[3], "in", 1, 1);
  check_kind(&figures.kinds[4], "end/", 1, 0);
  regal_figures_free(&figures);
  regal_graph_free(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
}

/* Evaluates the plan of `solved`, and reports on everything. */
static regal_status report(regal_context *context, const regal_graph *graph,
                           const regal_result *solved, FILE *stream) {
  regal_result *given;
  REGAL_TRY(regal_evaluate(context, solved->problem, solved->plan, &given));
  regal_status status = regal_report_summary(context, given, stream);
  if (status == REGAL_OK) {
    assert_string_equal(given->method, "given");
    assert_string_equal(given->account, "");
    assert_int_equal(given->threads, 0);
    assert_int_equal(given->cost.runtime_ns, solved->cost.runtime_ns);
    assert_int_equal(given->before.runtime_ns, 53);
    assert_int_equal(given->bound.runtime_ns, solved->bound.runtime_ns);
    assert_ptr_not_equal(given->plan, solved->plan);
    status = regal_report_graph(context, graph, stream);
  }
  if (status == REGAL_OK)
    status = regal_graph_info_save_json(context, graph, "/dev/null");
  regal_result_free(given);
  return status;
}

static regal_status solve_and_report(regal_context *context,
                                     const void *state) {
  FILE *stream = *(FILE *const *)state;
  regal_options options;
  regal_graph *graph;
  regal_result *result;
  regal_options_init(&options);
  options.threads = 1;
  strcpy(options.method, "heft");
  REGAL_TRY(build(context, &graph));
  regal_status status = regal_solve(context, graph, &options, &result);
  if (status == REGAL_OK) {
    status = report(context, graph, result, stream);
    regal_result_free(result);
  }
  regal_graph_free(graph);
  return status;
}

static void test_out_of_memory(void **state) {
  FILE *stream = fopen("/dev/null", "w");
  (void)state;
  assert_non_null(stream);
  fail_each_allocation(solve_and_report, &stream);
  fclose(stream);
}

static void test_evaluate_rejects(void **state) {
  regal_context *context;
  regal_graph *graph;
  regal_problem *problem;
  regal_options options;
  regal_result *result = NULL;
  regal_step step = {0, REGAL_RUN, 0, 0};
  regal_plan plan = {NULL, 1, &step};
  (void)state;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  regal_options_init(&options);
  assert_int_equal(build(context, &graph), REGAL_OK);
  assert_int_equal(regal_problem_create(context, graph, &options, &problem),
                   REGAL_OK);
  assert_int_equal(regal_evaluate(context, problem, &plan, &result),
                   REGAL_INVALID_PLAN);
  assert_null(result);
  regal_problem_free(problem);
  regal_graph_free(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_evaluate_rejects),
  };
  return cmocka_run_group_tests_name("report_graph", tests, NULL, NULL);
}
