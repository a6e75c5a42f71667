/* SPDX-License-Identifier: Apache-2.0 */
/* The page about plans: its data is JSON that equals what else is known about
 * the plans, and nothing in a name can leave it. What the page does with the
 * data is tested in a browser (tests/page). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/text.h"
#include "search/history.h"
#include "support/failing_allocator.h"
#include "support/sample.h"

#define HOSTILE "</script><img src=x onerror=alert(1)><!-- \"'&\\ \x01"

static const char opening[] = "<script type=\"application/json\" id=\"data\">";

static regal_context *context;

static int set_up(void **state) {
  return files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

/* -- Helpers --------------------------------------------------------------- */

/* Two ops, the first with the name, and a tensor between them. */
static regal_graph *graph_of_name(const char *name) {
  regal_builder *builder;
  regal_graph *graph;
  uint32_t op;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  regal_builder_add_op(builder, name, 1000, 64, 0, &op);
  regal_builder_add_output(builder, op, 512, false);
  regal_builder_add_op(builder, "reader_7", 500, 0, 128, &op);
  regal_builder_add_input(builder, op, 0, 0);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  return graph;
}

static regal_result *solve(const regal_graph *graph, const char *method) {
  regal_options options;
  regal_result *result;
  regal_options_init(&options);
  options.threads = 1;
  options.evaluations = 200;
  regal_options_set(context, &options, "method", method);
  regal_options_set(context, &options, "latency", "10ns");
  assert_int_equal(regal_solve(context, graph, &options, &result), REGAL_OK);
  return result;
}

/* The whole page, and where its data begins and ends. */
static char *read_page(const char *path, char **begin, char **end) {
  regal_text text;
  assert_int_equal(regal_read_file(context, path, &text), REGAL_OK);
  char *page = malloc(text.size + 1);
  memcpy(page, text.bytes, text.size);
  page[text.size] = 0;
  regal_text_free(&text);
  *begin = strstr(page, opening);
  assert_non_null(*begin);
  *begin += sizeof opening - 1;
  *end = strstr(*begin, "</script>");
  assert_non_null(*end);
  return page;
}

static json_t *page_data(const regal_result *const *results,
                         const char *const *names, size_t count) {
  char *begin, *end;
  json_error_t error;
  assert_int_equal(
      regal_report_html(context, HOSTILE, results, names, count, "page.html"),
      REGAL_OK);
  char *page = read_page("page.html", &begin, &end);
  json_t *data = json_loadb(begin, (size_t)(end - begin), 0, &error);
  if (!data)
    fail_msg("%s", error.text);
  free(page);
  return data;
}

static long long number(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

static long long entry(const json_t *object, const char *key, size_t i) {
  return json_integer_value(json_array_get(json_object_get(object, key), i));
}

/* -- Tests ----------------------------------------------------------------- */

static void names_cannot_leave_the_data(void **state) {
  (void)state;
  char *begin, *end;
  regal_graph *graph = graph_of_name(HOSTILE);
  const regal_result *result = solve(graph, "auto");
  const char *name = HOSTILE;
  json_t *data = page_data(&result, &name, 1);
  json_t *names = json_object_get(json_object_get(data, "graph"), "names");
  assert_string_equal(json_string_value(json_array_get(names, 0)), HOSTILE);
  assert_string_equal(json_string_value(json_object_get(data, "title")),
                      HOSTILE);
  char *page = read_page("page.html", &begin, &end);
  assert_null(memchr(begin, '<', (size_t)(end - begin)));
  assert_null(strstr(page, "<img"));
  free(page);
  json_decref(data);
  regal_result_free((regal_result *)result);
  regal_graph_free(graph);
}

/* Only scripts and styles with a known hash, nothing from elsewhere. */
static void the_page_has_a_strict_policy(void **state) {
  (void)state;
  char *begin, *end;
  regal_graph *graph = graph_of_name("a");
  const regal_result *result = solve(graph, "auto");
  json_decref(page_data(&result, NULL, 1));
  char *page = read_page("page.html", &begin, &end);
  assert_non_null(strstr(page, "default-src 'none'; script-src 'sha256-"));
  assert_null(strstr(page, "unsafe-inline"));
  assert_null(strstr(page, "https://"));
  assert_null(strstr(page, "@DATA@"));
  assert_null(strstr(page, "@SCRIPT"));
  free(page);
  regal_result_free((regal_result *)result);
  regal_graph_free(graph);
}

static void check_plan(const json_t *plan, const regal_result *result) {
  const json_t *cost = json_object_get(json_object_get(plan, "result"), "cost");
  const json_t *figures = json_object_get(plan, "figures");
  uint32_t steps = result->plan->step_count;
  int64_t *start = calloc(steps, sizeof *start), *end = calloc(steps, 8);
  assert_int_equal(
      regal_plan_times(context, result->problem, result->plan, start, end),
      REGAL_OK);
  assert_int_equal(number(cost, "runtime_ns"), result->cost.runtime_ns);
  assert_int_equal(entry(figures, "runtime", 1), result->cost.runtime_ns);
  assert_int_equal(entry(figures, "peak", 1), result->cost.max_peak_bytes);
  assert_int_equal(json_array_size(json_object_get(plan, "op")), steps);
  for (uint32_t i = 0; i < steps; i++) {
    assert_int_equal(entry(plan, "op", i), result->plan->steps[i].op);
    assert_int_equal(entry(plan, "start", i), start[i]);
    assert_int_equal(entry(plan, "takes", i), end[i] - start[i]);
  }
  free(start);
  free(end);
}

static void plans_are_as_elsewhere(void **state) {
  (void)state;
  regal_graph *graph;
  assert_int_equal(sample_graph(context, &graph), REGAL_OK);
  regal_result *expected = solve(graph, "auto");
  const regal_result *results[2] = {expected, solve(graph, "heft")};
  expected->expected_ns = 12345;
  json_t *data = page_data(results, NULL, 2);
  json_t *plans = json_object_get(data, "plans");
  assert_int_equal(json_array_size(plans), 3);
  for (size_t i = 0; i < 2; i++) {
    const json_t *plan = json_array_get(plans, i);
    const json_t *figures = json_object_get(plan, "figures");
    check_plan(plan, results[i]);
    assert_int_equal(entry(figures, "expected", 1), i ? 0 : 12345);
    assert_int_equal(!json_object_get(figures, "expected"), i);
  }
  assert_int_equal(
      entry(json_object_get(json_array_get(plans, 2), "figures"), "runtime", 1),
      results[0]->before.runtime_ns);
  assert_string_equal(
      json_string_value(json_object_get(json_array_get(plans, 1), "name")),
      "heft 2");
  json_decref(data);
  regal_result_free((regal_result *)results[0]);
  regal_result_free((regal_result *)results[1]);
  regal_graph_free(graph);
}

/* The peak beside it is in the same units. */
static void limits_are_as_they_were_given(void **state) {
  (void)state;
  regal_options options;
  regal_result *made;
  regal_graph *graph = graph_of_name("a");
  regal_options_init(&options);
  options.threads = 1;
  options.evaluations = 200;
  regal_options_set(context, &options, "devices", "1");
  regal_options_set(context, &options, "memory-limit", "80GB");
  assert_int_equal(regal_solve(context, graph, &options, &made), REGAL_OK);
  const regal_result *result = made;
  json_t *data = page_data(&result, NULL, 1);
  const json_t *plan = json_array_get(json_object_get(data, "plans"), 0);
  const json_t *device = json_array_get(json_object_get(plan, "devices"), 0);
  assert_string_equal(
      json_string_value(json_array_get(json_object_get(device, "limit"), 0)),
      "80 GB");
  assert_string_equal(
      json_string_value(json_array_get(json_object_get(device, "peak"), 0)),
      regal_show_bytes_like(80000000000, result->cost.peak_bytes[0]).text);
  json_decref(data);
  regal_result_free(made);
  regal_graph_free(graph);
}

static void plans_are_of_one_graph(void **state) {
  (void)state;
  regal_graph *one = graph_of_name("a"), *two = graph_of_name("a");
  const regal_result *results[2] = {solve(one, "auto"), solve(two, "auto")};
  assert_int_equal(
      regal_report_html(context, NULL, results, NULL, 2, "page.html"),
      REGAL_MISUSE);
  assert_string_equal(regal_error(context), "a page shows plans of one graph");
  assert_int_equal(
      regal_report_html(context, NULL, results, NULL, 0, "page.html"),
      REGAL_MISUSE);
  assert_string_equal(regal_error(context),
                      "a page shows 1 to 64 plans, not 0");
  regal_result_free((regal_result *)results[0]);
  regal_result_free((regal_result *)results[1]);
  regal_graph_free(one);
  regal_graph_free(two);
}

/* -- The history of a search ----------------------------------------------- */

static void a_search_has_a_history(void **state) {
  (void)state;
  regal_graph *graph;
  assert_int_equal(sample_graph(context, &graph), REGAL_OK);
  regal_result *result = solve(graph, "auto");
  bool stage = false;
  assert_true(result->history_count > 0);
  for (size_t i = 0; i < result->history_count; i++) {
    const regal_progress *at = &result->history[i].at;
    assert_true(at->best >= result->cost.runtime_ns);
    assert_true(!i || at->seconds >= result->history[i - 1].at.seconds);
    stage = stage || result->history[i].stage[0];
  }
  assert_true(stage);
  assert_int_equal(result->history[result->history_count - 1].at.best,
                   result->cost.runtime_ns);
  regal_result_free(result);
  regal_graph_free(graph);
}

static void a_long_history_is_thinned_out(void **state) {
  (void)state;
  static regal_history history;
  history.count = 0;
  for (int64_t i = 0; i < 10000; i++) {
    regal_progress at = {.seconds = (double)i, .best = 10000 - i};
    regal_history_add(&history, &at, i % 1000 == 999 ? "a stage" : "");
  }
  size_t stages = 0;
  assert_in_range(history.count, REGAL_HISTORY_POINTS / 4,
                  REGAL_HISTORY_POINTS);
  for (size_t i = 0; i < history.count; i++) {
    stages += history.points[i].stage[0] != 0;
    assert_true(!i || history.points[i].at.seconds >
                          history.points[i - 1].at.seconds);
  }
  assert_int_equal(stages, 10);
  assert_int_equal(history.points[0].at.best, 10000);
  regal_history_add(NULL, &history.points[0].at, ""); /* nothing is kept */
}

/* -- Times in plan files --------------------------------------------------- */

static void plan_files_can_have_times(void **state) {
  (void)state;
  regal_graph *graph;
  regal_plan *again;
  json_error_t error;
  assert_int_equal(sample_graph(context, &graph), REGAL_OK);
  regal_result *result = solve(graph, "auto");
  uint32_t count = result->plan->step_count;
  int64_t *start = calloc(count, sizeof *start), *end = calloc(count, 8);
  regal_plan_times(context, result->problem, result->plan, start, end);
  assert_int_equal(regal_plan_save_times(context, result, "t.plan"), REGAL_OK);
  json_t *file = json_load_file("t.plan", JSON_REJECT_DUPLICATES, &error);
  json_t *steps = json_object_get(file, "steps");
  assert_int_equal(json_array_size(steps), count);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(number(json_array_get(steps, i), "start_ns"), start[i]);
    assert_int_equal(number(json_array_get(steps, i), "end_ns"), end[i]);
  }
  assert_int_equal(regal_plan_load(context, result->problem, "t.plan", &again),
                   REGAL_OK);
  assert_int_equal(again->step_count, count);
  assert_memory_equal(again->steps, result->plan->steps,
                      count * sizeof *again->steps);
  regal_plan_free(again);
  json_decref(file);
  free(start);
  free(end);
  regal_result_free(result);
  regal_graph_free(graph);
}

/* -- Memory runs out ------------------------------------------------------- */

static regal_status write_page(regal_context *on, const void *state) {
  (void)state;
  regal_options options;
  regal_graph *graph = NULL;
  regal_result *result = NULL;
  regal_options_init(&options);
  options.threads = 1;
  snprintf(options.method, sizeof options.method, "heft");
  regal_status status = sample_graph(on, &graph);
  if (status == REGAL_OK)
    status = regal_solve(on, graph, &options, &result);
  if (status == REGAL_OK) {
    const regal_result *only = result;
    status = regal_report_html(on, "t", &only, NULL, 1, "page.html");
    if (status == REGAL_OK)
      status = regal_plan_save_times(on, result, "t.plan");
  }
  regal_result_free(result);
  regal_graph_free(graph);
  return status;
}

static void survives_failing_allocations(void **state) {
  (void)state;
  fail_each_allocation(write_page, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_cannot_leave_the_data),
      cmocka_unit_test(the_page_has_a_strict_policy),
      cmocka_unit_test(plans_are_as_elsewhere),
      cmocka_unit_test(limits_are_as_they_were_given),
      cmocka_unit_test(plans_are_of_one_graph),
      cmocka_unit_test(a_search_has_a_history),
      cmocka_unit_test(a_long_history_is_thinned_out),
      cmocka_unit_test(plan_files_can_have_times),
      cmocka_unit_test(survives_failing_allocations),
  };
  return cmocka_run_group_tests_name("page", tests, set_up, tear_down);
}
