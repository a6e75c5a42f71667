/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of plans: DOT and SVG whose names cannot be markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/sample.h"

#define HOSTILE "</svg><script>x</script>\"\\&\x01\xFF an op with a long name"

static regal_context *context;

static int set_up(void **state) {
  return files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

static regal_status make_graph(regal_context *on, uint32_t ops,
                               regal_graph **graph) {
  regal_builder *builder;
  uint32_t op;
  REGAL_TRY(regal_builder_create(on, &builder));
  regal_status status = REGAL_OK;
  for (uint32_t i = 0; i < ops && status == REGAL_OK; i++) {
    status =
        regal_builder_add_op(builder, i ? "reader" : HOSTILE, 10, 0, 0, &op);
    if (status == REGAL_OK)
      status = regal_builder_add_output(builder, op, 2048, false);
    if (status == REGAL_OK && i == 1)
      status = regal_builder_add_input(builder, op, 0, 0);
    if (status == REGAL_OK && i == 2)
      status = regal_builder_add_control(builder, 1, op);
  }
  if (status == REGAL_OK)
    return regal_builder_finish(builder, graph);
  regal_builder_free(builder);
  return status;
}

/* The first op on device 0, all others on device 1. */
static regal_status evaluate(regal_context *on, const regal_graph *graph,
                             regal_problem **problem, regal_result **result) {
  static const uint32_t ids[] = {0, 1, 2};
  static const uint16_t devices[] = {0, 1, 1};
  regal_plan *plan;
  regal_options options;
  regal_options_init(&options);
  REGAL_TRY(regal_problem_create(on, graph, &options, problem));
  REGAL_TRY(regal_plan_from_ids(on, *problem, ids, devices, 3, &plan));
  regal_status status = regal_evaluate(on, *problem, plan, result);
  regal_plan_free(plan);
  return status;
}

static regal_status draw(regal_context *on, regal_picture_format format) {
  regal_graph *graph = NULL;
  regal_problem *problem = NULL;
  regal_result *result = NULL;
  regal_status status = make_graph(on, 3, &graph);
  if (status == REGAL_OK)
    status = evaluate(on, graph, &problem, &result);
  if (status == REGAL_OK)
    status = regal_plan_draw(on, result, format, "picture");
  regal_result_free(result);
  regal_problem_free(problem);
  regal_graph_free(graph);
  return status;
}

static void expect_parts(const char *const *parts) {
  char *written = files_read("picture");
  for (; *parts; parts++)
    if (!strstr(written, *parts))
      fail_msg("%s is not in: %s", *parts, written);
  free(written);
}

static void dot_quotes_names(void **state) {
  (void)state;
  static const char *const parts[] = {
      "digraph plan {",
      "n0 [label=\"</svg><script>x</script>\\\"\\\\&?\xEF\xBF\xBD an op with a "
      "long name\\nstep 0, device 0\", fillcolor=\"#0072b2\"",
      "n0 -> n1 [style=dashed, label=\"2.0 KiB\"];", "n1 -> n2 [style=dotted];",
      NULL};
  assert_int_equal(draw(context, REGAL_PICTURE_DOT), REGAL_OK);
  expect_parts(parts);
}

static void svg_escapes_names(void **state) {
  (void)state;
  static const char *const parts[] = {
      "<title>&lt;/svg&gt;&lt;script&gt;x&lt;/script&gt;&quot;\\&amp;?"
      "\xEF\xBF\xBD an op with a long name\nstep 0, device 0, from 0 ns to 10 "
      "ns</title>",
      ">&lt;/svg&gt;&lt;script&gt;x&lt;/s\xE2\x80\xA6</text>",
      "class=\"sent\"",
      "class=\"control\"",
      "run time 30 ns, peak memory 4.0 KiB",
      NULL};
  assert_int_equal(draw(context, REGAL_PICTURE_SVG), REGAL_OK);
  expect_parts(parts);
  char *written = files_read("picture");
  assert_null(strstr(written, "<script"));
  free(written);
}

static void large_graphs_are_refused(void **state) {
  (void)state;
  regal_graph *graph;
  regal_options options;
  regal_result *result;
  regal_options_init(&options);
  options.threads = 1;
  snprintf(options.method, sizeof options.method, "heft");
  assert_int_equal(make_graph(context, 2001, &graph), REGAL_OK);
  assert_int_equal(regal_solve(context, graph, &options, &result), REGAL_OK);
  assert_int_equal(regal_plan_draw(context, result, REGAL_PICTURE_SVG, "a.svg"),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "a.svg: a picture shows at most 2000 ops, the graph has "
                      "2001; a page (--html) shows them all");
  regal_result_free(result);
  regal_graph_free(graph);
}

static regal_status draw_svg(regal_context *context, const void *state) {
  (void)state;
  return draw(context, REGAL_PICTURE_SVG);
}

static void survives_failing_allocations(void **state) {
  (void)state;
  fail_each_allocation(draw_svg, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dot_quotes_names),
      cmocka_unit_test(svg_escapes_names),
      cmocka_unit_test(large_graphs_are_refused),
      cmocka_unit_test(survives_failing_allocations),
  };
  return cmocka_run_group_tests_name("picture", tests, set_up, tear_down);
}
