/* SPDX-License-Identifier: Apache-2.0 */
/* Plan files and bare orders: written, read back, refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>

#include "cost/model/plan.h"
#include "format/plan/machine.h"
#include "support/defects.h"
#include "support/sample.h"

static regal_context *context;
static regal_graph *graph;
static regal_problem *problem; /* two devices, all defaults */

static regal_problem *bind(const char *name, const char *value) {
  regal_options options;
  regal_machine *machine;
  regal_problem *made = NULL;
  regal_options_init(&options);
  if (name && regal_options_set(context, &options, name, value) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  if (regal_machine_from_options(context, &options, &machine) != REGAL_OK ||
      regal_problem_bind(context, graph, machine, REGAL_RUNTIME, &made) !=
          REGAL_OK)
    fail_msg("%s", regal_error(context));
  return made;
}

static int set_up(void **state) {
  if (files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK ||
      sample_graph(context, &graph) != REGAL_OK)
    return -1;
  problem = bind(NULL, NULL);
  return 0;
}

static int tear_down(void **state) {
  regal_problem_free(problem);
  regal_graph_free(graph);
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

static int enter_folder(void **state) {
  (void)state;
  return chdir(files_folder);
}

static const regal_step steps[] = {{0, REGAL_RUN, 0, 0}, {1, REGAL_RUN, 0, 0},
                                   {0, 0, 0, 1},         {2, REGAL_RUN, 1, 1},
                                   {2, 0, 1, 0},         {3, REGAL_RUN, 0, 0},
                                   {4, REGAL_RUN, 0, 0}, {5, REGAL_RUN, 0, 0}};
#define STEPS (sizeof steps / sizeof *steps)

/* A result as a search would leave it; `plan` is written in file order. */
static regal_result make_result(regal_plan *plan) {
  static regal_step copy[STEPS];
  for (size_t i = 0; i < STEPS; i++) {
    copy[i] = steps[i];
    copy[i].op = graph->op_of_id[steps[i].op];
  }
  *plan = (regal_plan){context, STEPS, copy};
  return (regal_result){.problem = problem,
                        .plan = plan,
                        .cost = {.runtime_ns = 730, .peak_bytes = {124, 40}},
                        .bound = {.runtime_ns = 700, .peak_bytes = 112},
                        .stop = REGAL_STOP_BUDGET,
                        .fits = true,
                        .method = "brkga",
                        .seed = 7,
                        .evaluations = 5000,
                        .seconds = 0.41,
                        .threads = 2};
}

static regal_plan *load(const regal_problem *on, const char *path) {
  regal_plan *plan = NULL;
  if (regal_plan_load(context, on, path, &plan) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return plan;
}

static void check_steps(const regal_plan *plan) {
  assert_int_equal(plan->step_count, STEPS);
  for (size_t i = 0; i < STEPS; i++) {
    assert_int_equal(plan->steps[i].op, graph->op_of_id[steps[i].op]);
    assert_int_equal(plan->steps[i].port, steps[i].port);
    assert_int_equal(plan->steps[i].device, steps[i].device);
    assert_int_equal(plan->steps[i].to, steps[i].to);
  }
}

/* -- Plan files ------------------------------------------------------------ */

#define HEAD                                                                   \
  "{\"regal_plan\": 1,\n"                                                      \
  " \"graph\": {\"ops\": 6, \"checksum\": \"%016llx\"},\n"                     \
  " \"machine\": {\"devices\": 2, \"transfers\": \"blocking\", "               \
  "\"control\": \"wait\", \"latency_ns\": 0, \"bandwidth_bytes_per_s\": 0,\n"  \
  "             \"memory_limit_bytes\": [0, 0]},\n"                            \
  " \"objective\": \"runtime\", \"method\": \"brkga\", \"seed\": 7, "          \
  "\"evaluations\": 5000, \"seconds\": 0.410000,\n"                            \
  " \"cost\": {\"runtime_ns\": 730, \"peak_bytes\": [124, 40]},\n"             \
  " \"bound\": {\"runtime_ns\": 700, \"peak_bytes\": 112},\n"                  \
  " \"fits\": true, \"stop\": \"budget\", \"threads\": 2, "                    \
  "\"version\": \"%s\""

#define TAIL                                                                   \
  ",\n \"steps\": [\n"                                                         \
  "  {\"op\": \"a\", \"id\": 0, \"device\": 0},\n"                             \
  "  {\"op\": \"b\", \"id\": 1, \"device\": 0},\n"                             \
  "  {\"send\": \"a\", \"id\": 0, \"port\": 0, \"from\": 0, \"to\": 1},\n"     \
  "  {\"op\": \"c\", \"id\": 2, \"device\": 1},\n"                             \
  "  {\"send\": \"c\", \"id\": 2, \"port\": 0, \"from\": 1, \"to\": 0},\n"     \
  "  {\"op\": \"d\", \"id\": 3, \"device\": 0},\n"                             \
  "  {\"op\": \"twin\", \"id\": 4, \"device\": 0},\n"                          \
  "  {\"op\": \"twin\", \"id\": 5, \"device\": 0}\n"                           \
  " ]}\n"

static void check_file(const char *path, const char *format) {
  char expected[4096], *written = files_read(path);
  snprintf(expected, sizeof expected, format,
           (unsigned long long)graph->checksum, regal_version());
  assert_string_equal(written, expected);
  json_error_t error;
  json_t *parsed = json_loads(written, JSON_REJECT_DUPLICATES, &error);
  if (!parsed)
    fail_msg("%s", error.text);
  json_decref(parsed);
  free(written);
}

static void saves_and_loads(void **state) {
  (void)state;
  regal_plan plan;
  regal_result result = make_result(&plan);
  assert_int_equal(regal_plan_save(context, &result, "p.json"), REGAL_OK);
  check_file("p.json", HEAD TAIL);
  regal_plan *again = load(problem, "p.json");
  check_steps(again);
  regal_plan_free(again);
  assert_int_equal(regal_result_save_json(context, &result, "r.json"),
                   REGAL_OK);
  check_file("r.json", HEAD "}\n");
}

static void reads_names_without_ids(void **state) {
  (void)state;
  files_write_text("p.json",
                   " \n{\"regal_plan\": 1, \"more\": [1, {\"x\": null}],\n"
                   "\"steps\": [{\"op\": \"d\", \"device\": 1, \"why\": 2},"
                   "{\"send\": \"b\", \"port\": -1, \"from\": 1, \"to\": 0},"
                   "{\"op\": \"\\u0061\", \"id\": 0, \"device\": 0}]}");
  regal_plan *plan = load(problem, "p.json");
  assert_int_equal(plan->step_count, 3);
  assert_int_equal(plan->steps[0].op, graph->op_of_id[3]);
  assert_int_equal(plan->steps[1].op, graph->op_of_id[1]);
  assert_int_equal(plan->steps[1].port, -1);
  regal_plan_free(plan);
}

static void refuses_another_graph(void **state) {
  (void)state;
  char message[256];
  regal_plan *plan = NULL;
  files_write_text("p.json", "{\"regal_plan\": 1,\n \"graph\": {\"ops\": 6,\n"
                             "  \"checksum\": \"0123\"}, \"steps\": []}");
  assert_int_equal(regal_plan_load(context, problem, "p.json", &plan),
                   REGAL_BAD_INPUT);
  snprintf(message, sizeof message,
           "p.json:3: graph: checksum: the plan is for another graph: one with "
           "checksum 0123, "
           "this one has %016llx",
           (unsigned long long)graph->checksum);
  assert_string_equal(regal_error(context), message);
  assert_null(plan);
}

/* Names that are not UTF-8 are written with U+FFFD and still match. */
static void strange_names_read_back(void **state) {
  (void)state;
  regal_builder *builder;
  regal_graph *strange, *keep = graph;
  regal_problem *on;
  uint32_t id;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  regal_builder_add_op(builder, "q\"\\\n\xFF\xC3\xA9", 1, 0, 0, &id);
  assert_int_equal(regal_builder_finish(builder, &strange), REGAL_OK);
  graph = strange;
  on = bind("devices", "1");
  regal_step step = {0, REGAL_RUN, 0, 0};
  regal_plan plan = {context, 1, &step};
  regal_result result = {.problem = on, .plan = &plan};
  assert_int_equal(regal_plan_save(context, &result, "p.json"), REGAL_OK);
  regal_plan *again = load(on, "p.json");
  assert_int_equal(again->step_count, 1);
  regal_plan_free(again);
  regal_problem_free(on);
  regal_graph_free(strange);
  graph = keep;
}

/* -- Bare orders ----------------------------------------------------------- */

static void reads_bare_orders(void **state) {
  (void)state;
  files_write_text("x.order", "# XLA\n0\n\t1 0 # here\r\n\n2 1\n3\n4\n5");
  regal_plan *plan = load(problem, "x.order");
  check_steps(plan);
  regal_plan_free(plan);
}

/* By name, also one with blanks and '#', and by id in the same file. */
static void reads_orders_of_names(void **state) {
  (void)state;
  static const char *const names[] = {"a", "b # c", "d 1", "7", "e#0"};
  regal_builder *builder;
  regal_graph *named;
  regal_problem *on;
  regal_options options;
  regal_plan *plan;
  uint32_t id;
  regal_options_init(&options);
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (size_t i = 0; i < 5; i++)
    regal_builder_add_op(builder, names[i], 10, 0, 0, &id);
  assert_int_equal(regal_builder_finish(builder, &named), REGAL_OK);
  assert_int_equal(regal_problem_create(context, named, &options, &on),
                   REGAL_OK);
  files_write_text("n.order", "d 1 1\nb # c\n3 1\te#0\n");
  assert_int_equal(regal_plan_load(context, on, "n.order", &plan),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "n.order:3: found \"3 1\te#0\", expected the id or name "
                      "of an op, and perhaps a device");
  files_write_text("n.order", "d 1 1\nb # c\n3 1\ne#0\t1 # comment\r\n a\n");
  plan = load(on, "n.order");
  static const uint32_t order[] = {2, 1, 3, 4, 0}, place[] = {1, 0, 1, 1, 0};
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(plan->steps[i].op, order[i]);
    assert_int_equal(plan->steps[i].device, place[i]);
  }
  regal_plan_free(plan);
  regal_problem_free(on);
  regal_graph_free(named);
}

static const char *try_plan(const char *path) {
  regal_plan *plan = NULL;
  if (regal_plan_load(context, problem, path, &plan) != REGAL_OK)
    return regal_error(context);
  regal_plan_free(plan);
  return "";
}

static void malformed_files_have_messages(void **state) {
  (void)state;
  assert_true(defects_check(REGAL_TEST_DATA "/plans", ".json", ".order",
                            try_plan) >= 45);
}

/* -- The machine of a plan ------------------------------------------------- */

static void check_options(regal_options *options, const char *path) {
  if (regal_plan_options(context, path, options) != REGAL_OK)
    fail_msg("%s", regal_error(context));
}

static const char simple_machine[] =
    "{\"regal_plan\": 1, \"machine\": {\"devices\": 3, \"transfers\": "
    "\"overlapped\", \"control\": \"transfer\", \"latency_ns\": 10,\n"
    "\"bandwidth_bytes_per_s\": \"1GB\", \"memory_limit_bytes\": "
    "[5, 5, 5]}, \"objective\": \"memory\"}";

static void plan_sets_options(void **state) {
  (void)state;
  regal_options options;
  regal_options_init(&options);
  files_write_text("p.json", simple_machine);
  check_options(&options, "p.json");
  assert_int_equal(options.devices, 3);
  assert_int_equal(options.transfers, 1);
  assert_int_equal(options.control, 1);
  assert_int_equal(options.latency, 10);
  assert_int_equal(options.bandwidth, 1000000000);
  assert_int_equal(options.memory_limit, 5);
  assert_int_equal(options.objective, 1);
  assert_string_equal(options.machine, "");
  assert_int_equal(options.given[0], 0);
}

static void given_options_stay(void **state) {
  (void)state;
  regal_options options, before;
  static const char *const given[][2] = {
      {"devices", "2"},        {"transfers", "blocking"}, {"control", "wait"},
      {"latency", "1ns"},      {"bandwidth", "2B/s"},     {"memory-limit", "7"},
      {"objective", "runtime"}};
  regal_options_init(&options);
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    assert_int_equal(
        regal_options_set(context, &options, given[i][0], given[i][1]),
        REGAL_OK);
  before = options;
  files_write_text("p.json", simple_machine);
  check_options(&options, "p.json");
  assert_memory_equal(&options, &before, sizeof options);
}

static void bare_orders_set_nothing(void **state) {
  (void)state;
  regal_options options, before;
  regal_options_init(&options);
  before = options;
  files_write_text("x.order", "0\n");
  check_options(&options, "x.order");
  assert_memory_equal(&options, &before, sizeof options);
}

/* A machine beyond the options: the plan is its own machine file. */
static void plan_is_its_machine_file(void **state) {
  (void)state;
  static const char *const machines[] = {
      "\"speeds\": [1, 2]", "\"memory_limit_bytes\": [1, 2]",
      "\"links\": [{\"from\": 0, \"to\": 1, \"latency_ns\": 1}]",
      "\"groups\": [[0, 1]]", "\"devices\": [{}, {}]"};
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    char text[256];
    regal_options options;
    regal_machine *machine;
    snprintf(text, sizeof text,
             "{\"regal_plan\": 1, \"machine\": {%s}, \"steps\": []}",
             machines[i]);
    files_write_text("p.json", text);
    regal_options_init(&options);
    check_options(&options, "p.json");
    assert_string_equal(options.machine, "p.json");
    assert_int_equal(
        regal_machine_load(context, "p.json", graph, &options, &machine),
        REGAL_OK);
    regal_machine_free(machine);
    regal_options_init(&options);
    regal_options_set(context, &options, "machine", "m.json");
    check_options(&options, "p.json");
    assert_string_equal(options.machine, "m.json");
  }
}

static void refuse_options(const char *text, const char *message) {
  regal_options options, before;
  regal_options_init(&options);
  before = options;
  files_write_text("p.json", text);
  assert_int_equal(regal_plan_options(context, "p.json", &options),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), message);
  assert_memory_equal(&options, &before, sizeof options);
}

static void wrong_machines_are_refused(void **state) {
  (void)state;
  refuse_options("{\"regal_plan\": 1,\n \"objective\": \"speed\"}",
                 "p.json:2: objective: found \"speed\", expected one of "
                 "runtime|memory");
  refuse_options("{\"machine\": 2}",
                 "p.json:1: machine: found 2, expected an object");
  refuse_options(
      "{\"machine\": {\"latency_ns\": 3,\n \"devices\": 0}}",
      "p.json:2: machine: devices: found 0, expected a whole number from 1 to "
      "64");
  refuse_options("{\"machine\": ", "p.json:1:13: the file ends, expected a "
                                   "value");
}

/* -- Running out of memory ------------------------------------------------- */

static regal_status use_all(regal_context *frail, const void *state) {
  regal_graph *own_graph = NULL;
  regal_machine *machine;
  regal_problem *on = NULL;
  regal_plan *plan = NULL;
  regal_options options;
  (void)state;
  regal_options_init(&options);
  regal_status status = sample_graph(frail, &own_graph);
  if (status == REGAL_OK)
    status = regal_machine_from_options(frail, &options, &machine);
  if (status == REGAL_OK)
    status = regal_problem_bind(frail, own_graph, machine, REGAL_RUNTIME, &on);
  if (status == REGAL_OK)
    status = regal_plan_load(frail, on, "p.json", &plan);
  if (status == REGAL_OK)
    status = regal_plan_options(frail, "p.json", &options);
  if (status == REGAL_OK) {
    regal_result result = {.problem = on, .plan = plan, .method = "x"};
    status = regal_plan_save(frail, &result, "q.json");
  }
  regal_plan_free(plan);
  plan = NULL;
  if (status == REGAL_OK)
    status = regal_plan_load(frail, on, "x.order", &plan);
  regal_plan_free(plan);
  regal_problem_free(on);
  regal_graph_free(own_graph);
  return status;
}

static void survives_failing_allocations(void **state) {
  (void)state;
  files_write_text("x.order", "0\n1\n2 1\n3\n4\n5\n");
  files_write_text("p.json", "{\"regal_plan\": 1, \"objective\": \"memory\", "
                             "\"machine\": {\"devices\": 2}, \"steps\": ["
                             "{\"op\": \"a\", \"device\": 1},"
                             "{\"op\": \"b\", \"id\": 1, \"device\": 0}]}");
  fail_each_allocation(use_all, NULL);
}

#define TEST(name) cmocka_unit_test_setup(name, enter_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(saves_and_loads),
      TEST(reads_names_without_ids),
      TEST(refuses_another_graph),
      TEST(strange_names_read_back),
      TEST(reads_bare_orders),
      TEST(reads_orders_of_names),
      TEST(malformed_files_have_messages),
      TEST(plan_sets_options),
      TEST(given_options_stay),
      TEST(bare_orders_set_nothing),
      TEST(plan_is_its_machine_file),
      TEST(wrong_machines_are_refused),
      TEST(survives_failing_allocations),
  };
  return cmocka_run_group_tests_name("plan file", tests, set_up, tear_down);
}
