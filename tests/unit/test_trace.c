/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: valid JSON, only the four kinds of events, flows in pairs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>

#include "cost/model/plan.h"
#include "support/failing_allocator.h"
#include "support/sample.h"

static regal_context *context;
static regal_graph *graph;

static int set_up(void **state) {
  return files_enter(state) ||
         regal_context_create(&context, NULL) != REGAL_OK ||
         sample_graph(context, &graph) != REGAL_OK;
}

static int tear_down(void **state) {
  regal_graph_free(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

/* a b twin on device 0, c d twin on device 1, with transfers of 500 ns; when
 * control edges are transfers both twins are on device 1, so that there is
 * one. */
static regal_status make_plan(regal_context *on, const regal_graph *from,
                              const char *transfers, const char *control,
                              regal_problem **problem, regal_plan **plan) {
  uint32_t order[6];
  uint8_t placement[6];
  regal_options options;
  regal_machine *machine;
  regal_options_init(&options);
  regal_options_set(on, &options, "latency", "500ns");
  regal_options_set(on, &options, "transfers", transfers);
  regal_options_set(on, &options, "control", control);
  REGAL_TRY(regal_machine_from_options(on, &options, &machine));
  REGAL_TRY(regal_problem_bind(on, from, machine, REGAL_RUNTIME, problem));
  for (uint32_t id = 0; id < 6; id++) {
    order[id] = from->op_of_id[id];
    placement[order[id]] =
        id == 2 || id == 3 || id == 5 || (id == 4 && options.control);
  }
  regal_status status =
      regal_plan_from_order(on, *problem, order, placement, plan);
  if (status != REGAL_OK)
    regal_problem_free(*problem);
  return status;
}

static json_t *trace(const char *transfers, const char *control) {
  regal_problem *problem = NULL;
  regal_plan *plan = NULL;
  if (make_plan(context, graph, transfers, control, &problem, &plan) !=
          REGAL_OK ||
      regal_trace_save(context, problem, plan, "t.json") != REGAL_OK)
    fail_msg("%s", regal_error(context));
  regal_plan_free(plan);
  regal_problem_free(problem);
  json_error_t error;
  json_t *root = json_load_file("t.json", JSON_REJECT_DUPLICATES, &error);
  if (!root)
    fail_msg("line %d: %s", error.line, error.text);
  return root;
}

static const char *text_of(const json_t *event, const char *key) {
  const char *text = json_string_value(json_object_get(event, key));
  return text ? text : "";
}

static double number_of(const json_t *event, const char *key) {
  json_t *value = json_object_get(event, key);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

static int count_kind(const json_t *events, const char *kind) {
  int count = 0;
  size_t i;
  json_t *event;
  json_array_foreach(events, i, event) count +=
      !strcmp(text_of(event, "ph"), kind);
  return count;
}

/* The slice on `track` in which `ts` lies, as a flow with bp "e" binds. */
static json_t *slice_at(const json_t *events, double track, double ts) {
  size_t i;
  json_t *event;
  json_array_foreach(events, i, event) {
    if (strcmp(text_of(event, "ph"), "X") || number_of(event, "tid") != track)
      continue;
    double start = number_of(event, "ts");
    if (start <= ts && ts <= start + number_of(event, "dur"))
      return event;
  }
  return NULL;
}

/* Every flow id begins once and ends once, later or at the same time, each
 * end inside a slice. */
static void check_flows(const json_t *events, int expected) {
  assert_int_equal(count_kind(events, "s"), expected);
  assert_int_equal(count_kind(events, "f"), expected);
  for (int id = 1; id <= expected; id++) {
    json_t *begin = NULL, *end = NULL, *event;
    size_t i;
    json_array_foreach(events, i, event) {
      const char *kind = text_of(event, "ph");
      bool begins = !strcmp(kind, "s");
      if ((!begins && strcmp(kind, "f")) || number_of(event, "id") != id)
        continue;
      assert_null(begins ? begin : end);
      *(begins ? &begin : &end) = event;
    }
    assert_non_null(begin);
    assert_non_null(end);
    assert_string_equal(text_of(end, "bp"), "e");
    assert_string_equal(text_of(end, "name"), text_of(begin, "name"));
    assert_string_equal(text_of(end, "cat"), text_of(begin, "cat"));
    assert_true(number_of(begin, "ts") <= number_of(end, "ts"));
    assert_non_null(
        slice_at(events, number_of(begin, "tid"), number_of(begin, "ts")));
    assert_non_null(
        slice_at(events, number_of(end, "tid"), number_of(end, "ts")));
  }
}

static void check_kinds(const json_t *events) {
  size_t i;
  json_t *event;
  json_array_foreach(events, i, event) {
    assert_non_null(strstr("X C M s f", text_of(event, "ph")));
    assert_true(number_of(event, "pid") == 1);
  }
}

static void check_name(const json_t *events, const char *kind, double track,
                       const char *name) {
  size_t i;
  json_t *event;
  json_array_foreach(events, i, event) {
    if (strcmp(text_of(event, "name"), kind) ||
        number_of(event, "tid") != track)
      continue;
    assert_string_equal(text_of(json_object_get(event, "args"), "name"), name);
    return;
  }
  fail_msg("track %g has no name", track);
}

typedef struct slice {
  double track;
  const char *name;
  double ts, dur;
} slice;

static void check_slices(const json_t *events, const slice *expected,
                         int count) {
  assert_int_equal(count_kind(events, "X"), count);
  size_t i;
  json_t *event;
  json_array_foreach(events, i, event) {
    if (strcmp(text_of(event, "ph"), "X"))
      continue;
    assert_string_equal(text_of(event, "name"), expected->name);
    assert_true(number_of(event, "tid") == expected->track);
    assert_true(number_of(event, "ts") == expected->ts);
    assert_true(number_of(event, "dur") == expected->dur);
    expected++;
  }
}

/* -- Tests ----------------------------------------------------------------- */

static void blocking_transfers_are_on_both_tracks(void **state) {
  (void)state;
  static const slice slices[] = {
      {1, "a", 0, 0.1},   {1, "b", 0.1, 0.2}, {1, "a", 0.3, 0.5},
      {2, "a", 0.3, 0.5}, {2, "c", 0.8, 0.3}, {1, "b", 1.1, 0.5},
      {2, "b", 1.1, 0.5}, {2, "d", 1.6, 0.4}, {1, "twin", 1.6, 0.01},
      {1, "b", 2, 0.5},   {2, "b", 2, 0.5},   {2, "twin", 2.5, 0.02}};
  json_t *root = trace("blocking", "wait");
  json_t *events = json_object_get(root, "traceEvents");
  check_kinds(events);
  check_name(events, "process_name", 0, "regal");
  check_name(events, "thread_name", 1, "device 0");
  check_name(events, "thread_name", 2, "device 1");
  assert_int_equal(count_kind(events, "M"), 3);
  check_slices(events, slices, 12);
  check_flows(events, 3);
  json_decref(root);
}

static void overlapped_transfers_have_link_tracks(void **state) {
  (void)state;
  json_t *root = trace("overlapped", "wait");
  json_t *events = json_object_get(root, "traceEvents");
  check_kinds(events);
  check_name(events, "thread_name", 4, "link 0 to 1");
  assert_int_equal(count_kind(events, "M"), 4);
  assert_int_equal(count_kind(events, "X"), 6 + 3);
  check_flows(events, 6);
  json_decref(root);
}

static void control_transfers_are_drawn(void **state) {
  (void)state;
  static const char *const modes[] = {"blocking", "overlapped"};
  for (int i = 0; i < 2; i++) {
    json_t *root = trace(modes[i], "transfer"), *event;
    json_t *events = json_object_get(root, "traceEvents");
    int control = 0;
    size_t k;
    check_kinds(events);
    check_flows(events, i ? 8 : 4);
    json_array_foreach(events, k, event) {
      json_t *args = json_object_get(event, "args");
      if (json_integer_value(json_object_get(args, "port")) != -1)
        continue;
      assert_string_equal(text_of(event, "name"), "b");
      assert_true(number_of(args, "bytes") == 0);
      assert_true(number_of(event, "dur") == 0);
      control++;
    }
    assert_int_equal(control, i ? 1 : 2);
    json_decref(root);
  }
}

/* Memory on device 0: a 8, then b's 16 + 4 with it, then a sent and freed. */
static void memory_is_counted(void **state) {
  (void)state;
  static const double expected[][2] = {{0, 8},    {0.1, 8},  {0.1, 28},
                                       {0.3, 28}, {0.3, 28}, {0.8, 20}};
  json_t *root = trace("blocking", "wait");
  json_t *events = json_object_get(root, "traceEvents"), *event;
  size_t i, seen = 0;
  json_array_foreach(events, i, event) {
    if (strcmp(text_of(event, "name"), "memory of device 0") || seen == 6)
      continue;
    assert_string_equal(text_of(event, "ph"), "C");
    assert_true(number_of(event, "ts") == expected[seen][0]);
    assert_true(number_of(json_object_get(event, "args"), "bytes") ==
                expected[seen][1]);
    seen++;
  }
  assert_int_equal(seen, 6);
  json_decref(root);
}

static void invalid_plans_are_refused(void **state) {
  (void)state;
  regal_problem *problem;
  regal_plan *plan;
  assert_int_equal(
      make_plan(context, graph, "blocking", "wait", &problem, &plan), REGAL_OK);
  plan->step_count--;
  unlink("t.json");
  assert_int_equal(regal_trace_save(context, problem, plan, "t.json"),
                   REGAL_INVALID_PLAN);
  assert_int_not_equal(access("t.json", F_OK), 0);
  regal_plan_free(plan);
  regal_problem_free(problem);
}

static void survives_failing_allocations(void **state) {
  (void)state;
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *frail;
    regal_problem *problem = NULL;
    regal_plan *plan = NULL;
    assert_int_equal(regal_context_create(&frail, &allocator), REGAL_OK);
    regal_status status =
        make_plan(frail, graph, "overlapped", "wait", &problem, &plan);
    if (status == REGAL_OK) {
      status = regal_trace_save(frail, problem, plan, "frail.json");
      regal_plan_free(plan);
      regal_problem_free(problem);
    }
    regal_context_free(frail);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    assert_int_equal(access("frail.json", F_OK) == 0, !memory.failed);
    if (!memory.failed)
      break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocking_transfers_are_on_both_tracks),
      cmocka_unit_test(overlapped_transfers_have_link_tracks),
      cmocka_unit_test(control_transfers_are_drawn),
      cmocka_unit_test(memory_is_counted),
      cmocka_unit_test(invalid_plans_are_refused),
      cmocka_unit_test(survives_failing_allocations),
  };
  return cmocka_run_group_tests_name("trace", tests, set_up, tear_down);
}
