/* SPDX-License-Identifier: Apache-2.0 */
/* Every call that returns a status refuses null pointers: other languages pass
 * them easily. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regal_data.h"
#include "regal_train.h"
#include "support/sample.h"

static regal_context *context;
static regal_options *options;
static regal_graph *graph;
static regal_problem *problem;
static regal_result *result;

static int set_up(void **state) {
  (void)state;
  return regal_context_create(&context, NULL) ||
         regal_options_create(context, &options) ||
         regal_options_set(context, options, "method", "single") ||
         sample_graph(context, &graph) ||
         regal_problem_create(context, graph, options, &problem) ||
         regal_optimize(context, problem, options, &result);
}

static int tear_down(void **state) {
  (void)state;
  regal_result_free(result);
  regal_problem_free(problem);
  regal_graph_free(graph);
  regal_options_free(options);
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return 0;
}

#define REFUSED(call) assert_int_equal(call, REGAL_MISUSE)

/* Of a call with three arguments after its context. */
#define ALL_REFUSED(call, a, b, c)                                             \
  do {                                                                         \
    REFUSED(call(NULL, a, b, c));                                              \
    REFUSED(call(context, NULL, b, c));                                        \
    REFUSED(call(context, a, NULL, c));                                        \
    REFUSED(call(context, a, b, NULL));                                        \
  } while (0)

static void options_and_problems_refuse_them(void **state) {
  (void)state;
  regal_problem *made;
  REFUSED(regal_options_set(NULL, options, "seed", "1"));
  REFUSED(regal_options_set(context, NULL, "seed", "1"));
  REFUSED(regal_options_set(context, options, NULL, "1"));
  REFUSED(regal_plan_options(NULL, "a.plan", options));
  REFUSED(regal_plan_options(context, NULL, options));
  REFUSED(regal_plan_options(context, "a.plan", NULL));
  ALL_REFUSED(regal_problem_create, graph, options, &made);
  assert_string_equal(regal_error(context),
                      "a problem needs a graph, options and a place to put it");
}

static void searches_refuse_them(void **state) {
  (void)state;
  regal_result *made;
  regal_plan *plan;
  ALL_REFUSED(regal_optimize, problem, options, &made);
  ALL_REFUSED(regal_solve, graph, options, &made);
  ALL_REFUSED(regal_evaluate, problem, result->plan, &made);
  ALL_REFUSED(regal_plan_load, problem, "a.plan", &plan);
  REFUSED(regal_optimize_from(context, NULL, options, result->plan, &made));
  REFUSED(regal_optimize_from(context, problem, NULL, result->plan, &made));
  REFUSED(regal_optimize_from(context, problem, options, result->plan, NULL));
  REFUSED(regal_optimize_guided(context, problem, options, NULL, &made));
  assert_string_equal(regal_error(context), "a guided search needs a proposal");
  REFUSED(regal_optimize(context, problem, options, NULL));
  assert_string_equal(regal_error(context),
                      "a search needs a problem, options and a place for its "
                      "result");
}

static void proposals_refuse_them(void **state) {
  (void)state;
  regal_proposal *made;
  ALL_REFUSED(regal_proposal_create, problem, "paper", &made);
  assert_int_equal(regal_proposal_create(context, problem, "paper", &made),
                   REGAL_OK);
  REFUSED(regal_proposal_set_beta(NULL, "priority", 0, 1, 1));
  REFUSED(regal_proposal_set_beta(made, NULL, 0, 1, 1));
  REFUSED(regal_proposal_set_bias(NULL, "priority", 0, 0.5));
  REFUSED(regal_proposal_set_bias(made, NULL, 0, 0.5));
  regal_proposal_free(made);
}

static void files_refuse_them(void **state) {
  (void)state;
  static regal_status (*const save[])(regal_context *, const regal_result *,
                                      const char *) = {
      regal_plan_save, regal_plan_save_times, regal_result_save_json};
  for (size_t i = 0; i < sizeof save / sizeof *save; i++) {
    REFUSED(save[i](NULL, result, "a"));
    REFUSED(save[i](context, NULL, "a"));
    REFUSED(save[i](context, result, NULL));
  }
  REFUSED(regal_graph_info_save_json(NULL, graph, "a"));
  REFUSED(regal_graph_info_save_json(context, NULL, "a"));
  REFUSED(regal_graph_info_save_json(context, graph, NULL));
  ALL_REFUSED(regal_trace_save, problem, result->plan, "a");
  ALL_REFUSED(regal_plan_save_onnx, result, "a.onnx", "b.onnx");
  REFUSED(regal_plan_draw(NULL, result, REGAL_PICTURE_SVG, "a"));
  REFUSED(regal_plan_draw(context, NULL, REGAL_PICTURE_SVG, "a"));
  REFUSED(regal_plan_draw(context, result, REGAL_PICTURE_SVG, NULL));
  REFUSED(regal_plan_draw(context, result, (regal_picture_format)9, "a"));
}

static void reports_refuse_them(void **state) {
  (void)state;
  const regal_result *const none[] = {result, NULL};
  REFUSED(regal_report_summary(NULL, result, stdout));
  REFUSED(regal_report_summary(context, NULL, stdout));
  REFUSED(regal_report_summary(context, result, NULL));
  REFUSED(regal_report_graph(NULL, graph, stdout));
  REFUSED(regal_report_graph(context, NULL, stdout));
  REFUSED(regal_report_graph(context, graph, NULL));
  ALL_REFUSED(regal_report_explain, problem, result->plan, stdout);
  REFUSED(regal_report_timeline(NULL, problem, result->plan, 9, stdout));
  REFUSED(regal_report_timeline(context, NULL, result->plan, 9, stdout));
  REFUSED(regal_report_timeline(context, problem, NULL, 9, stdout));
  REFUSED(regal_report_timeline(context, problem, result->plan, 9, NULL));
  REFUSED(regal_report_html(NULL, NULL, none, NULL, 1, "a"));
  REFUSED(regal_report_html(context, NULL, NULL, NULL, 1, "a"));
  REFUSED(regal_report_html(context, NULL, none, NULL, 1, NULL));
  REFUSED(regal_report_html(context, NULL, none, NULL, 2, "a"));
  assert_string_equal(regal_error(context), "result 1 of a page is NULL");
}

static void actions_and_datasets_refuse_them(void **state) {
  (void)state;
  regal_actions *actions;
  regal_dataset *dataset;
  const regal_dataset *const none[] = {NULL};
  ALL_REFUSED(regal_actions_create, problem, options, &actions);
  REFUSED(regal_actions_save(NULL, NULL, "a"));
  REFUSED(regal_actions_save(context, NULL, "a"));
  assert_int_equal(regal_dataset_open(context, NULL, &dataset), REGAL_OK);
  REFUSED(regal_dataset_split_like(dataset, NULL, 1, 1));
  REFUSED(regal_dataset_split_like(dataset, none, 1, 1));
  assert_string_equal(regal_error(context),
                      "splitting like other datasets needs them");
  regal_dataset_free(dataset);
}

static void tables_end(void **state) {
  (void)state;
  assert_null(regal_method_at(regal_method_count()).name);
  assert_null(regal_decoder_at(regal_decoder_count()).name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_and_problems_refuse_them),
      cmocka_unit_test(searches_refuse_them),
      cmocka_unit_test(proposals_refuse_them),
      cmocka_unit_test(files_refuse_them),
      cmocka_unit_test(reports_refuse_them),
      cmocka_unit_test(actions_and_datasets_refuse_them),
      cmocka_unit_test(tables_end),
  };
  return cmocka_run_group_tests_name("null pointers", tests, set_up, tear_down);
}
