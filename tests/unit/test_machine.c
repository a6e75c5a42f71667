/* SPDX-License-Identifier: Apache-2.0 */
/* The machine: times, machine files, and what is wrong with them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "cost/model/machine.h"
#include "format/plan/machine.h"
#include "support/defects.h"
#include "support/sample_options.h"

static regal_machine *create(void) {
  regal_machine *machine = NULL;
  if (regal_machine_from_options(context, &options, &machine) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return machine;
}

static regal_machine *load_text(const char *text) {
  regal_machine *machine = NULL;
  files_write_text("m.json", text);
  if (regal_machine_load(context, "m.json", graph, &options, &machine) !=
      REGAL_OK)
    fail_msg("%s", regal_error(context));
  return machine;
}

/* -- From options ---------------------------------------------------------- */

static void comes_from_options(void **state) {
  (void)state;
  regal_machine *machine = create();
  assert_int_equal(machine->devices, 2);
  assert_false(machine->overlapped || machine->control_transfers);
  assert_true(machine->memory_limit[1] == REGAL_UNLIMITED);
  assert_true(machine->speed[1] == 1);
  assert_int_equal(machine->latency_ns[0][1], 0);
  regal_machine_free(machine);
  set("devices", "64");
  set("transfers", "overlapped");
  set("control", "transfer");
  set("memory-limit", "1kB");
  set("latency", "5us");
  set("bandwidth", "1GB");
  machine = create();
  assert_int_equal(machine->devices, 64);
  assert_true(machine->overlapped && machine->control_transfers);
  assert_int_equal(machine->memory_limit[63], 1000);
  assert_int_equal(machine->latency_ns[63][62], 5000);
  assert_int_equal(machine->bandwidth[0][63], 1000000000);
  regal_machine_free(machine);
  regal_machine_free(NULL);
}

static void refuses_wrong_options(void **state) {
  (void)state;
  regal_machine *machine = NULL;
  options.devices = 65;
  assert_int_equal(regal_machine_from_options(context, &options, &machine),
                   REGAL_MISUSE);
  assert_string_equal(regal_error(context), "a machine has 1 to 64 devices");
  options.devices = 2;
  options.latency = -1;
  assert_int_equal(regal_machine_from_options(context, &options, &machine),
                   REGAL_MISUSE);
  assert_string_equal(regal_error(context),
                      "memory limit, latency and bandwidth are never negative");
  assert_null(machine);
}

static void transfer_times_round_up(void **state) {
  (void)state;
  regal_machine *machine = create();
  assert_int_equal(regal_machine_transfer_ns(machine, INT64_MAX, 0, 1), 0);
  machine->latency_ns[0][1] = 7;
  assert_int_equal(regal_machine_transfer_ns(machine, INT64_MAX, 0, 1), 7);
  machine->bandwidth[0][1] = 3000000000;
  assert_int_equal(regal_machine_transfer_ns(machine, 0, 0, 1), 7);
  assert_int_equal(regal_machine_transfer_ns(machine, 1, 0, 1), 8);
  assert_int_equal(regal_machine_transfer_ns(machine, 3, 0, 1), 8);
  assert_int_equal(regal_machine_transfer_ns(machine, 4, 0, 1), 9);
  assert_int_equal(regal_machine_transfer_ns(machine, 4, 1, 0), 0);
  /* Exact far beyond what a double holds. */
  machine->bandwidth[0][1] = 1000000000;
  assert_int_equal(
      regal_machine_transfer_ns(machine, INT64_C(9007199254740993), 0, 1),
      INT64_C(9007199254741000));
  assert_true(regal_machine_transfer_ns(machine, INT64_MAX - 7, 0, 1) ==
              INT64_MAX);
  machine->bandwidth[0][1] = 1;
  assert_true(regal_machine_transfer_ns(machine, INT64_MAX, 0, 1) == INT64_MAX);
  regal_machine_free(machine);
}

static void run_times_follow_speed(void **state) {
  (void)state;
  regal_machine *machine = create();
  machine->speed[1] = 3;
  assert_int_equal(regal_machine_run_ns(machine, graph, 0, 0), 100);
  assert_int_equal(regal_machine_run_ns(machine, graph, 0, 1), 33);
  assert_int_equal(regal_machine_run_ns(machine, graph, 1, 1), 67);
  machine->speed[1] = 8; /* 100 / 8 = 12.5 */
  assert_int_equal(regal_machine_run_ns(machine, graph, 0, 1), 13);
  int64_t longest = graph->run_ns[0];
  graph->run_ns[0] = INT64_MAX - 1;
  machine->speed[1] = 0.5;
  assert_true(regal_machine_run_ns(machine, graph, 0, 1) == REGAL_NEVER - 1);
  graph->run_ns[0] = longest;
  regal_machine_free(machine);
}

/* -- From files ------------------------------------------------------------ */

static const char everything[] =
    "{\"regal_machine\": 1,\n"
    " \"transfers\": \"overlapped\", \"control\": \"transfer\",\n"
    " \"latency_ns\": \"10us\", \"bandwidth_bytes_per_s\": \"25GB\",\n"
    " \"memory_limit_bytes\": 4096,\n"
    " \"links\": [{\"from\": 0, \"to\": 1, \"latency_ns\": 5, \"both\": "
    "true},\n"
    "  {\"from\": 2, \"to\": 0, \"bandwidth_bytes_per_s\": 0}],\n"
    " \"op_times\": [{\"op\": \"d\", \"run_ns\": [1, \"2us\", null]},\n"
    "  {\"id\": 0, \"op\": \"a\", \"run_ns\": [7, 8, 9]}],\n"
    " \"groups\": [[5, \"c\"], [1, 0], [\"b\", 4]],\n"
    " \"devices\": [{\"name\": \"gpu0\", \"memory_bytes\": \"16GiB\"},\n"
    "  {\"speed\": 1.5}, {\"name\": \"cpu\", \"memory_bytes\": 0}]}\n";

static void check_everything(const regal_machine *machine) {
  assert_int_equal(machine->devices, 3);
  assert_true(machine->overlapped && machine->control_transfers);
  assert_string_equal(machine->name[0], "gpu0");
  assert_null(machine->name[1]);
  assert_string_equal(machine->name[2], "cpu");
  assert_int_equal(machine->memory_limit[0], 17179869184);
  assert_int_equal(machine->memory_limit[1], 4096);
  assert_true(machine->memory_limit[2] == REGAL_UNLIMITED);
  assert_true(machine->speed[0] == 1 && machine->speed[1] == 1.5);
  assert_int_equal(machine->latency_ns[0][1], 5);
  assert_int_equal(machine->latency_ns[1][0], 5);
  assert_int_equal(machine->latency_ns[2][0], 10000);
  assert_int_equal(machine->bandwidth[0][1], 25000000000);
  assert_int_equal(machine->bandwidth[2][0], 0);
  assert_int_equal(machine->bandwidth[0][2], 25000000000);
  assert_int_equal(regal_machine_count_timed(machine), 2);
  assert_int_equal(regal_machine_run_ns(machine, graph, 0, 1), 8);
  assert_int_equal(regal_machine_run_ns(machine, graph, 1, 1), 133);
  assert_int_equal(regal_machine_run_ns(machine, graph, 3, 1), 2000);
  assert_true(regal_machine_run_ns(machine, graph, 3, 2) == REGAL_NEVER);
  static const uint32_t groups[] = {0, 0, 2, REGAL_NONE, 0, 2};
  for (uint32_t id = 0; id < 6; id++)
    assert_int_equal(machine->group[graph->op_of_id[id]], groups[id]);
}

static void reads_everything(void **state) {
  (void)state;
  regal_machine *machine = load_text(everything);
  check_everything(machine);
  regal_machine_free(machine);
}

/* What is written reads back as the same machine, and writes the same. */
static void writes_everything(void **state) {
  (void)state;
  regal_machine *machine = load_text(everything);
  regal_text first, again;
  regal_text_init(&first, context);
  regal_text_init(&again, context);
  regal_text_format(&first, "{\"regal_plan\": 1,\n \"machine\": ");
  regal_machine_json(&first, machine, graph, "             ");
  regal_text_format(&first, "}\n");
  regal_machine_free(machine);
  machine = load_text(first.bytes);
  check_everything(machine);
  regal_text_format(&again, "{\"regal_plan\": 1,\n \"machine\": ");
  regal_machine_json(&again, machine, graph, "             ");
  regal_text_format(&again, "}\n");
  assert_string_equal(again.bytes, first.bytes);
  regal_machine_free(machine);
  regal_text_free(&first);
  regal_text_free(&again);
}

static void writes_defaults_briefly(void **state) {
  (void)state;
  regal_machine *machine = create();
  regal_text text;
  regal_text_init(&text, context);
  regal_machine_json(&text, machine, graph, "  ");
  assert_string_equal(text.bytes,
                      "{\"devices\": 2, \"transfers\": \"blocking\", "
                      "\"control\": \"wait\", \"latency_ns\": 0, "
                      "\"bandwidth_bytes_per_s\": 0,\n"
                      "  \"memory_limit_bytes\": [0, 0]}");
  regal_text_free(&text);
  regal_machine_free(machine);
}

static void options_win_over_files(void **state) {
  (void)state;
  set("transfers", "blocking");
  set("control", "wait");
  set("latency", "1ns");
  set("bandwidth", "2B/s");
  set("memory-limit", "3");
  set("devices", "3");
  regal_machine *machine = load_text(everything);
  assert_false(machine->overlapped || machine->control_transfers);
  for (int a = 0; a < 3; a++) {
    assert_int_equal(machine->memory_limit[a], 3);
    for (int b = 0; b < 3; b++) {
      assert_int_equal(machine->latency_ns[a][b], 1);
      assert_int_equal(machine->bandwidth[a][b], 2);
    }
  }
  assert_true(machine->speed[1] == 1.5);
  regal_machine_free(machine);
  set("devices", "4");
  machine = load_text("{\"regal_machine\": 1, \"devices\": 2}");
  assert_int_equal(machine->devices, 4);
  regal_machine_free(machine);
  files_write_text("m.json", everything);
  machine = NULL;
  assert_int_equal(
      regal_machine_load(context, "m.json", graph, &options, &machine),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "m.json:10: devices: found 3 devices, but --devices is "
                      "4");
  assert_null(machine);
}

/* Options that were not given, but are there, fill what the file leaves out. */
static void options_fill_gaps(void **state) {
  (void)state;
  options.latency = 9;
  options.devices = 5;
  regal_machine *machine = load_text("{\"regal_machine\": 1}");
  assert_int_equal(machine->devices, 5);
  assert_int_equal(machine->latency_ns[3][4], 9);
  regal_machine_free(machine);
}

static void files_are_missing(void **state) {
  (void)state;
  regal_machine *machine = NULL;
  assert_int_equal(
      regal_machine_load(context, "none.json", graph, &options, &machine),
      REGAL_IO);
  assert_string_equal(regal_error(context),
                      "none.json: No such file or directory");
}

static const char *try_machine(const char *path) {
  regal_machine *machine = NULL;
  regal_status status =
      regal_machine_load(context, path, graph, &options, &machine);
  regal_machine_free(machine);
  return status == REGAL_OK ? "" : regal_error(context);
}

static void malformed_files_have_messages(void **state) {
  (void)state;
  assert_true(defects_check(REGAL_TEST_DATA "/machines", ".json", NULL,
                            try_machine) >= 70);
}

static regal_status load_and_write(regal_context *context, const void *state) {
  regal_machine *machine;
  regal_text text;
  (void)state;
  REGAL_TRY(regal_machine_load(context, "m.json", graph, &options, &machine));
  regal_text_init(&text, context);
  regal_machine_json(&text, machine, graph, "");
  bool failed = text.failed;
  regal_text_free(&text);
  regal_machine_free(machine);
  return failed ? REGAL_NO_MEMORY : REGAL_OK;
}

static void survives_failing_allocations(void **state) {
  (void)state;
  files_write_text("m.json", everything);
  fail_each_allocation(load_and_write, NULL);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh_options)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(comes_from_options),
      TEST(refuses_wrong_options),
      TEST(transfer_times_round_up),
      TEST(run_times_follow_speed),
      TEST(reads_everything),
      TEST(writes_everything),
      TEST(writes_defaults_briefly),
      TEST(options_win_over_files),
      TEST(options_fill_gaps),
      TEST(files_are_missing),
      TEST(malformed_files_have_messages),
      TEST(survives_failing_allocations),
  };
  return cmocka_run_group_tests_name("machine", tests, set_up, tear_down);
}
