/* SPDX-License-Identifier: Apache-2.0 */
/* Pins, groups and times of single ops, from all that can say them: the graph,
 * machine files, options and the C interface; what wins, and what is wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "cost/model/problem.h"
#include "format/plan/machine.h"
#include "support/failing_allocator.h"
#include "support/sample_options.h"

#define GOOD(call)                                                             \
  do {                                                                         \
    if ((call) != REGAL_OK)                                                    \
      fail_msg("%s", regal_error(context));                                    \
  } while (0)

#define BAD(call, status, message)                                             \
  do {                                                                         \
    assert_int_equal(call, status);                                            \
    assert_string_equal(regal_error(context), message);                        \
  } while (0)

/* -- The problem that comes out -------------------------------------------- */

/* What is expected of ids 0 to 5: devices that may run them, and the id of
 * their leader. */
static void check_problem(const regal_problem *problem,
                          const uint64_t allowed[6], const uint32_t leader[6]) {
  for (uint32_t id = 0; id < 6; id++) {
    uint32_t op = problem->graph->op_of_id[id];
    assert_int_equal(problem->allowed[op], allowed[id]);
    assert_int_equal(problem->graph->id[regal_problem_leader(problem, op)],
                     leader[id]);
  }
}

static void check_made(const regal_graph *of, const uint64_t allowed[6],
                       const uint32_t leader[6]) {
  regal_problem *problem;
  GOOD(regal_problem_create(context, of, &options, &problem));
  check_problem(problem, allowed, leader);
  regal_problem_free(problem);
}

#define ANY 3
static const uint32_t alone[6] = {0, 1, 2, 3, 4, 5};

static void options_pin_and_join(void **state) {
  (void)state;
  check_made(graph, (const uint64_t[]){ANY, ANY, ANY, ANY, ANY, ANY}, alone);
  set("pin", "a=1");
  check_made(graph, (const uint64_t[]){2, ANY, ANY, ANY, ANY, ANY}, alone);
  set("pin", "[bc]=0,t*=1"); /* adds up */
  check_made(graph, (const uint64_t[]){2, 1, 1, ANY, 2, 2}, alone);
  set("pin", "*=0,d=1"); /* the last counts */
  check_made(graph, (const uint64_t[]){1, 1, 1, 2, 1, 1}, alone);
  regal_options_init(&options);
  set("together", "[ac]");
  set("together", "twin");
  set("pin", "c=1");
  check_made(graph, (const uint64_t[]){2, ANY, 2, ANY, ANY, ANY},
             (const uint32_t[]){0, 1, 0, 3, 4, 4});
}

static regal_status try_options(void) {
  regal_problem *problem = NULL;
  regal_status status =
      regal_problem_create(context, graph, &options, &problem);
  regal_problem_free(problem);
  return status;
}

static void wrong_options_have_messages(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"pin", "twn=0",
       "--pin 'twn=0': no op matches 'twn'; near: \"twin\", \"a\", \"b\""},
      {"pin", "a=2",
       "--pin 'a=2': there is no device 2; the machine has 0 to 1"},
      {"pin", "a=gpu0",
       "--pin 'a=gpu0': there is no device \"gpu0\"; the machine has 0 to 1"},
      {"pin", "a", "--pin 'a': expected PATTERN=DEVICE, such as 'embed*=0'"},
      {"pin", "a=", "--pin 'a=': expected PATTERN=DEVICE, such as 'embed*=0'"},
      {"pin", "a=0,,b=1",
       "--pin '': expected PATTERN=DEVICE, such as 'embed*=0'"},
      {"together", "z?",
       "--together 'z?': no op matches 'z?'; near: \"a\", \"b\", \"c\""},
      {"together", "a,,b",
       "--together '': expected PATTERN, such as 'layer3.*'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_options_init(&options);
    set(cases[i][0], cases[i][1]);
    BAD(try_options(), REGAL_BAD_INPUT, cases[i][2]);
  }
}

static void contradictions_are_errors(void **state) {
  (void)state;
  set("together", "[ab]");
  set("pin", "a=0,b=1");
  BAD(try_options(), REGAL_BAD_INPUT,
      "op \"b\" (id 1) is pinned to device 1, but op \"a\" (id 0) of the same "
      "group to device 0");
  files_write_text("m.json", "{\"regal_machine\": 1, \"op_times\": ["
                             "{\"op\": \"a\", \"run_ns\": {\"1\": null}}]}");
  regal_options_init(&options);
  set("machine", "m.json");
  set("pin", "a=1");
  BAD(try_options(), REGAL_BAD_INPUT,
      "op \"a\" (id 0) is pinned to device 1, where it cannot run");
  regal_options_init(&options);
  set("machine", "m.json");
  set("together", "[ab]");
  set("pin", "b=1");
  BAD(try_options(), REGAL_BAD_INPUT,
      "op \"b\" (id 1) and its group can run on no device");
}

/* -- The graph ------------------------------------------------------------- */

/* The sample with what it asks for. */
static regal_graph *asking_graph(void) {
  regal_builder *builder;
  regal_graph *made;
  GOOD(regal_builder_create(context, &builder));
  GOOD(sample_fill(builder));
  GOOD(regal_builder_set_device(builder, 0, "gpu1"));
  GOOD(regal_builder_set_device(builder, 0, "01")); /* the last counts */
  GOOD(regal_builder_set_device(builder, 3, "cpu"));
  GOOD(regal_builder_set_group(builder, 1, "x"));
  GOOD(regal_builder_set_group(builder, 5, "x"));
  GOOD(regal_builder_set_group(builder, 2, "y"));
  GOOD(regal_builder_finish(builder, &made));
  return made;
}

static void builder_takes_wishes(void **state) {
  (void)state;
  regal_graph *asking = asking_graph(), *copy;
  regal_op_info info;
  regal_graph_op(asking, asking->op_of_id[0], &info);
  assert_string_equal(info.device, "1");
  assert_null(info.group);
  regal_graph_op(asking, asking->op_of_id[5], &info);
  assert_null(info.device);
  assert_string_equal(info.group, "x");
  assert_true(asking->checksum != graph->checksum);
  GOOD(regal_graph_copy(context, asking, &copy));
  regal_graph_op(copy, copy->op_of_id[3], &info);
  assert_string_equal(info.device, "cpu");
  assert_int_equal(regal_graph_checksum(copy), asking->checksum);
  regal_graph_free(copy);
  regal_graph_free(asking);
}

static void builder_refuses_nonsense(void **state) {
  (void)state;
  regal_builder *builder;
  GOOD(regal_builder_create(context, &builder));
  GOOD(regal_builder_add_op(builder, "a", 1, 0, 0, NULL));
  BAD(regal_builder_set_device(builder, 1, "0"), REGAL_MISUSE,
      "device of op 1, but only 1 ops were added");
  BAD(regal_builder_set_group(builder, 0, NULL), REGAL_MISUSE,
      "group of op 0: the pointer is NULL");
  BAD(regal_builder_set_group(builder, 0, ""), REGAL_BAD_INPUT,
      "op \"a\": the name of its group is empty");
  BAD(regal_builder_set_device(builder, 0, "64"), REGAL_BAD_INPUT,
      "op \"a\": found device 64, expected 0 to 63 or a name");
  BAD(regal_builder_set_device(builder, 0, "18446744073709551616"),
      REGAL_BAD_INPUT,
      "op \"a\": found device 18446744073709551616, expected 0 to 63 or a "
      "name");
  assert_int_equal(regal_builder_set_device(NULL, 0, "0"), REGAL_MISUSE);
  assert_int_equal(regal_builder_set_group(NULL, 0, "0"), REGAL_MISUSE);
  regal_builder_free(builder);
}

static void graph_is_obeyed(void **state) {
  (void)state;
  regal_graph *asking = asking_graph();
  regal_problem *problem = NULL;
  BAD(regal_problem_create(context, asking, &options, &problem),
      REGAL_BAD_INPUT,
      "op \"d\" (id 3): there is no device \"cpu\"; the machine has 0 to 1");
  files_write_text("m.json", "{\"regal_machine\": 1, \"devices\": "
                             "[{\"name\": \"cpu\"}, {}]}");
  set("machine", "m.json");
  check_made(asking, (const uint64_t[]){2, ANY, ANY, 1, ANY, ANY},
             (const uint32_t[]){0, 1, 2, 3, 4, 1});
  regal_options_init(&options);
  options.devices = 1;
  BAD(regal_problem_create(context, asking, &options, &problem),
      REGAL_BAD_INPUT,
      "op \"a\" (id 0): there is no device 1; the machine has 0 to 0");
  regal_graph_free(asking);
}

/* Names of devices count when the problem is made or the machine saved. */
static void graph_asks_for_devices_that_calls_name(void **state) {
  (void)state;
  regal_graph *asking = asking_graph();
  regal_machine *machine;
  regal_problem *problem = NULL;
  GOOD(regal_machine_create(context, asking, &options, &machine));
  BAD(regal_problem_create_on(context, machine, &options, &problem),
      REGAL_BAD_INPUT,
      "op \"d\" (id 3): there is no device \"cpu\"; the machine has 0 to 1");
  assert_int_equal(regal_machine_save(context, machine, "cpu.json"),
                   REGAL_BAD_INPUT);
  GOOD(regal_machine_set_name(machine, 0, "cpu"));
  GOOD(regal_problem_create_on(context, machine, &options, &problem));
  check_problem(problem, (const uint64_t[]){2, ANY, ANY, 1, ANY, ANY},
                (const uint32_t[]){0, 1, 2, 3, 4, 1});
  regal_problem_free(problem);
  GOOD(regal_machine_pin(machine, 3, 1)); /* wins */
  GOOD(regal_machine_save(context, machine, "cpu.json"));
  regal_machine_free(machine);
  set("machine", "cpu.json");
  check_made(asking, (const uint64_t[]){2, ANY, ANY, 2, ANY, ANY},
             (const uint32_t[]){0, 1, 2, 3, 4, 1});
  regal_graph_free(asking);
}

/* Options win over the file, the file over the graph; groups add up. */
static void sources_have_ranks(void **state) {
  (void)state;
  regal_graph *asking = asking_graph();
  files_write_text("m.json",
                   "{\"regal_machine\": 1, \"names\": [\"cpu\", \"gpu\"],"
                   " \"pins\": [{\"ops\": [0, \"twin*\"], \"device\": 0},"
                   "  {\"ops\": 4, \"device\": \"gpu\"}],"
                   " \"groups\": [[2, 3]]}");
  set("machine", "m.json");
  check_made(asking, (const uint64_t[]){1, 1, 1, 1, 2, 1},
             (const uint32_t[]){0, 1, 2, 2, 4, 1});
  set("pin", "a=gpu,twin=1,d=1");
  check_made(asking, (const uint64_t[]){2, 2, 2, 2, 2, 2},
             (const uint32_t[]){0, 1, 2, 2, 4, 1});
  regal_graph_free(asking);
}

/* A pattern may name an op that cannot run there, if a later pin moves it. */
static void last_pin_counts(void **state) {
  (void)state;
  static const uint64_t devices[] = {2, 1, 1, 1, 1, 1};
  static const uint32_t first[] = {0, 1, 2, 3, 4, 5};
  files_write_text("m.json",
                   "{\"regal_machine\": 1, \"op_times\": [{\"op\": \"a\","
                   " \"run_ns\": {\"0\": null}}],"
                   " \"pins\": [{\"ops\": \"*\", \"device\": 0},"
                   "  {\"ops\": \"a\", \"device\": 1}]}");
  set("machine", "m.json");
  check_made(graph, devices, first);
  files_write_text("m.json",
                   "{\"regal_machine\": 1, \"op_times\": [{\"op\": \"a\","
                   " \"run_ns\": {\"0\": null}}]}");
  set("pin", "*=0,a=1");
  check_made(graph, devices, first);
}

/* -- Machine files --------------------------------------------------------- */

static regal_machine *load_text(const char *text) {
  regal_machine *machine = NULL;
  files_write_text("m.json", text);
  if (regal_machine_load(context, "m.json", graph, &options, &machine) !=
      REGAL_OK)
    fail_msg("%s", regal_error(context));
  return machine;
}

static const char rich[] =
    "{\"regal_machine\": 1, \"speeds\": [1, 2, 1],\n"
    " \"devices\": [{\"name\": \"gpu0\"}, {\"name\": \"gpu1\"},\n"
    "  {\"name\": \"cpu\"}],\n"
    " \"links\": [{\"from\": \"gpu0\", \"to\": \"cpu\", \"latency_ns\": 7,\n"
    "  \"both\": true}, {\"from\": \"1\", \"to\": 0, \"latency_ns\": 3}],\n"
    " \"op_times\": [{\"op\": \"a\", \"run_ns\": {\"cpu\": 900, \"0\": 5}},\n"
    "  {\"op\": \"[a-d]\", \"run_ns\": {\"cpu\": null}},\n"
    "  {\"op\": \"d\", \"run_ns\": {}}],\n"
    " \"pins\": [{\"ops\": \"*\", \"device\": \"gpu0\"},\n"
    "  {\"ops\": [1, \"c\"], \"device\": 1}],\n"
    " \"groups\": [[\"[bc]\"], [4, \"d\"]]}\n";

static void check_rich(const regal_machine *machine) {
  static const int64_t times[][3] = {{5, 50, 900},
                                     {200, 100, REGAL_NEVER},
                                     {300, 150, REGAL_NEVER},
                                     {400, 200, REGAL_NEVER},
                                     {10, 5, 10},
                                     {20, 10, 20}};
  static const uint32_t pins[] = {0, 1, 1, 0, 0, 0};
  static const uint32_t groups[] = {REGAL_NONE, 1, 1, 3, 3, REGAL_NONE};
  for (uint32_t id = 0; id < 6; id++) {
    uint32_t op = graph->op_of_id[id];
    for (uint32_t a = 0; a < 3; a++)
      assert_true(regal_machine_run_ns(machine, graph, op, a) == times[id][a]);
    assert_int_equal(machine->pin[op], pins[id]);
    assert_int_equal(machine->group[op], groups[id] == REGAL_NONE
                                             ? REGAL_NONE
                                             : graph->op_of_id[groups[id]]);
  }
  assert_int_equal(machine->latency_ns[0][2], 7);
  assert_int_equal(machine->latency_ns[2][0], 7);
  assert_int_equal(machine->latency_ns[1][0], 3);
  assert_int_equal(machine->latency_ns[0][1], 0);
  assert_int_equal(regal_machine_count_timed(machine), 4);
}

static void file_says_everything(void **state) {
  (void)state;
  regal_machine *machine = load_text(rich);
  check_rich(machine);
  GOOD(regal_machine_save(context, machine, "again.json"));
  regal_machine_free(machine);
  char *text = files_read("again.json"), *again;
  machine = load_text(text);
  check_rich(machine);
  GOOD(regal_machine_save(context, machine, "again.json"));
  again = files_read("again.json");
  assert_string_equal(again, text);
  free(text);
  free(again);
  regal_machine_free(machine);
}

/* -- The C interface ------------------------------------------------------- */

static regal_machine *built_machine(regal_context *of) {
  regal_machine *machine = NULL;
  regal_options plain;
  regal_options_init(&plain);
  plain.devices = 3;
  if (regal_machine_create(of, graph, &plain, &machine) != REGAL_OK)
    return NULL;
  const uint32_t some[] = {1, 2}, other[] = {4, 3};
  bool made =
      regal_machine_set_name(machine, 0, "gpu0") == REGAL_OK &&
      regal_machine_set_name(machine, 1, "gpu1") == REGAL_OK &&
      regal_machine_set_name(machine, 2, "cpu") == REGAL_OK &&
      regal_machine_set_link(machine, 0, 2, 7, 0) == REGAL_OK &&
      regal_machine_set_link(machine, 2, 0, 7, 0) == REGAL_OK &&
      regal_machine_set_link(machine, 1, 0, 3, 0) == REGAL_OK &&
      regal_machine_set_op_time(machine, 0, 2, 900) == REGAL_OK &&
      regal_machine_set_op_time(machine, 0, 0, 5) == REGAL_OK &&
      regal_machine_set_op_time(machine, 1, 2, REGAL_NEVER) == REGAL_OK &&
      regal_machine_set_op_time(machine, 2, 2, REGAL_NEVER) == REGAL_OK &&
      regal_machine_set_op_time(machine, 3, 2, REGAL_NEVER) == REGAL_OK &&
      regal_machine_set_speed(machine, 1, 2) == REGAL_OK &&
      regal_machine_pin_matching(machine, "*", "gpu0") == REGAL_OK &&
      regal_machine_pin(machine, 1, 1) == REGAL_OK &&
      regal_machine_pin_matching(machine, "c", "1") == REGAL_OK &&
      regal_machine_group(machine, some, 2) == REGAL_OK &&
      regal_machine_group(machine, other, 2) == REGAL_OK;
  if (made)
    return machine;
  regal_machine_free(machine);
  return NULL;
}

/* All that the file says, by calls: the same machine, the same problem. */
static void calls_say_everything(void **state) {
  (void)state;
  regal_machine *machine = built_machine(context);
  regal_problem *problem;
  assert_non_null(machine);
  assert_int_equal(regal_machine_devices(machine), 3);
  GOOD(regal_problem_create_on(context, machine, &options, &problem));
  check_rich(problem->machine); /* its own copy */
  check_problem(problem, (const uint64_t[]){1, 2, 2, 1, 1, 1},
                (const uint32_t[]){0, 1, 1, 3, 3, 5});
  regal_problem_free(problem);
  GOOD(regal_machine_save(context, machine, "built.json"));
  GOOD(regal_machine_set_memory_limit(machine, 1, 4096));
  GOOD(regal_machine_set_transfers(machine, true));
  GOOD(regal_machine_set_control(machine, true));
  GOOD(regal_machine_group_matching(machine, "twin"));
  GOOD(regal_problem_create_on(context, machine, &options, &problem));
  assert_true(problem->limited && problem->limit[1] == 4096 &&
              problem->limit[0] == REGAL_UNLIMITED);
  assert_true(problem->machine->overlapped &&
              problem->machine->control_transfers);
  check_problem(problem, (const uint64_t[]){1, 2, 2, 1, 1, 1},
                (const uint32_t[]){0, 1, 1, 3, 3, 3});
  regal_problem_free(problem);
  regal_machine_free(machine);
  machine = load_text(rich);
  GOOD(regal_machine_save(context, machine, "read.json"));
  regal_machine_free(machine);
  char *built = files_read("built.json"), *read = files_read("read.json");
  assert_string_equal(built, read);
  free(built);
  free(read);
}

static void ops_are_found_by_patterns(void **state) {
  (void)state;
  regal_machine *machine;
  uint32_t ids[6], count = 0;
  GOOD(regal_machine_create(context, graph, &options, &machine));
  GOOD(regal_machine_find_ops(machine, "twin", ids, &count));
  assert_int_equal(count, 2);
  assert_true(ids[0] == 4 && ids[1] == 5);
  GOOD(regal_machine_find_ops(machine, "*", ids, &count));
  assert_int_equal(count, 6);
  BAD(regal_machine_find_ops(machine, "twinn", ids, &count), REGAL_BAD_INPUT,
      "no op matches 'twinn'; near: \"twin\", \"a\", \"b\"");
  BAD(regal_machine_find_ops(machine, "*", ids, NULL), REGAL_MISUSE,
      "ops are found by a pattern, and need a place for their ids and number");
  assert_int_equal(count, 6);
  regal_machine_free(machine);
}

static void an_op_needs_a_device(void **state) {
  (void)state;
  regal_machine *machine;
  regal_problem *problem;
  GOOD(regal_machine_create(context, graph, &options, &machine));
  for (uint32_t a = 0; a < 2; a++)
    GOOD(regal_machine_set_op_time(machine, 1, a, REGAL_NEVER));
  GOOD(regal_machine_pin(machine, 1, 0));
  BAD(regal_problem_create_on(context, machine, &options, &problem),
      REGAL_BAD_INPUT, "op \"b\" (id 1) can run on no device");
  regal_machine_free(machine);
}

static void calls_refuse_nonsense(void **state) {
  (void)state;
  regal_machine *machine = NULL;
  regal_problem *problem = NULL;
  const uint32_t ids[] = {0, 17};
  GOOD(regal_machine_create(context, graph, &options, &machine));
  BAD(regal_machine_set_name(machine, 2, "x"), REGAL_MISUSE,
      "there is no device 2; the machine has 0 to 1");
  BAD(regal_machine_set_speed(machine, 0, 0), REGAL_MISUSE,
      "speed 0 is not from 1e-06 to 1e+06");
  BAD(regal_machine_set_memory_limit(machine, 0, -1), REGAL_MISUSE,
      "memory limit -1 is negative");
  BAD(regal_machine_set_link(machine, 1, 1, 0, 0), REGAL_MISUSE,
      "a link from device 1 to itself");
  BAD(regal_machine_set_link(machine, 0, 1, -1, 0), REGAL_MISUSE,
      "latency and bandwidth are never negative");
  BAD(regal_machine_set_op_time(machine, 6, 0, 1), REGAL_MISUSE,
      "there is no op with id 6");
  BAD(regal_machine_set_op_time(machine, 0, 0, -1), REGAL_MISUSE,
      "run time -1 is negative");
  BAD(regal_machine_pin(machine, 0, 2), REGAL_MISUSE,
      "there is no device 2; the machine has 0 to 1");
  BAD(regal_machine_group(machine, ids, 2), REGAL_MISUSE,
      "there is no op with id 17");
  BAD(regal_machine_group(machine, ids, 0), REGAL_MISUSE, "the group is empty");
  assert_null(machine->group); /* nothing of it was done */
  BAD(regal_machine_pin_matching(machine, "twinn", "0"), REGAL_BAD_INPUT,
      "no op matches 'twinn'; near: \"twin\", \"a\", \"b\"");
  BAD(regal_machine_pin_matching(machine, NULL, "0"), REGAL_MISUSE,
      "a pin needs a pattern and a device");
  BAD(regal_machine_group_matching(machine, NULL), REGAL_MISUSE,
      "a group needs a pattern");
  BAD(regal_problem_create_on(context, NULL, &options, &problem), REGAL_MISUSE,
      "a problem needs a machine, options and a place to put it");
  BAD(regal_machine_create(context, NULL, &options, &machine), REGAL_MISUSE,
      "a machine needs a graph, options and a place to put it");
  regal_machine_free(machine);
}

static void survives_failing_allocations(void **state) {
  (void)state;
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *frail;
    regal_problem *problem = NULL;
    assert_int_equal(regal_context_create(&frail, &allocator), REGAL_OK);
    regal_machine *machine = built_machine(frail);
    regal_status status = REGAL_NO_MEMORY;
    if (machine)
      status = regal_problem_create_on(frail, machine, &options, &problem);
    if (machine && status == REGAL_OK)
      status = regal_machine_save(frail, machine, "frail.json");
    regal_problem_free(problem);
    regal_machine_free(machine);
    regal_context_free(frail);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    if (!memory.failed)
      break;
  }
}

/* -- Presets --------------------------------------------------------------- */

static void presets_are_sound(void **state) {
  (void)state;
  assert_true(regal_preset_count() > 5);
  assert_null(regal_preset_at(regal_preset_count()));
  for (size_t i = 0; i < regal_preset_count(); i++) {
    const regal_preset *preset = regal_preset_at(i);
    char first[32];
    regal_machine *machine, *read;
    regal_options_init(&options);
    set("machine", preset->name);
    GOOD(regal_machine_create(context, graph, &options, &machine));
    assert_int_equal(machine->devices, preset->devices);
    assert_int_equal(machine->memory_limit[1], preset->memory_bytes);
    assert_int_equal(machine->bandwidth[0][1], preset->bytes_per_s);
    assert_int_equal(machine->latency_ns[1][0], preset->latency_ns);
    assert_int_equal(machine->overlapped, preset->overlapped);
    snprintf(first, sizeof first, "%s0", preset->device_name);
    assert_string_equal(machine->name[0], first);
    assert_true(*preset->about && *preset->memory_source &&
                *preset->bandwidth_source && *preset->latency_source);
    /* the file that it prints is the same machine */
    GOOD(regal_preset_save(context, preset->name, "preset.json"));
    set("machine", "preset.json");
    GOOD(regal_machine_create(context, graph, &options, &read));
    GOOD(regal_machine_save(context, machine, "one.json"));
    GOOD(regal_machine_save(context, read, "two.json"));
    char *one = files_read("one.json"), *two = files_read("two.json");
    assert_string_equal(one, two);
    free(one);
    free(two);
    regal_machine_free(machine);
    regal_machine_free(read);
  }
}

static void options_win_over_presets(void **state) {
  (void)state;
  regal_machine *machine;
  set("machine", "a100x4-pcie");
  set("devices", "2");
  set("memory-limit", "1kB");
  set("bandwidth", "0");
  set("transfers", "blocking");
  GOOD(regal_machine_create(context, graph, &options, &machine));
  assert_int_equal(machine->devices, 2);
  assert_int_equal(machine->memory_limit[0], 1000);
  assert_int_equal(machine->bandwidth[0][1], 0);
  assert_int_equal(machine->latency_ns[0][1], 5700);
  assert_false(machine->overlapped);
  regal_machine_free(machine);
}

/* A preset wins over a file of its name; with a folder it is the file. */
static void names_and_files_are_told_apart(void **state) {
  (void)state;
  regal_machine *machine;
  files_write_text("l4x4-pcie", "{\"regal_machine\": 1, \"devices\": 3}");
  set("machine", "l4x4-pcie");
  GOOD(regal_machine_create(context, graph, &options, &machine));
  assert_int_equal(machine->devices, 4);
  regal_machine_free(machine);
  set("machine", "./l4x4-pcie");
  GOOD(regal_machine_create(context, graph, &options, &machine));
  assert_int_equal(machine->devices, 3);
  regal_machine_free(machine);
  set("machine", "h100x8");
  BAD(regal_machine_create(context, graph, &options, &machine), REGAL_IO,
      "h100x8: No such file or directory, and no machine has this name; "
      "near: h100x8-nvlink, h200x8-nvlink, h100x4-pcie; 'regal machines' lists "
      "them");
  set("machine", "h100x8-nvlnk");
  BAD(regal_machine_create(context, graph, &options, &machine), REGAL_IO,
      "h100x8-nvlnk: No such file or directory, and no machine has this name; "
      "near: h100x8-nvlink, h200x8-nvlink, a100x8-nvlink; 'regal machines' "
      "lists them");
  set("machine", "none.json");
  BAD(regal_machine_create(context, graph, &options, &machine), REGAL_IO,
      "none.json: No such file or directory");
  BAD(regal_preset_save(context, "h100", "x.json"), REGAL_BAD_INPUT,
      "there is no machine \"h100\"; near: h100x8-nvlink, h100x4-pcie, "
      "h200x8-nvlink; 'regal machines' lists them");
  set("machine", "nothing");
  BAD(regal_machine_create(context, graph, &options, &machine), REGAL_IO,
      "nothing: No such file or directory, and no machine has this name; "
      "'regal machines' lists them");
}

#define TEST(name) cmocka_unit_test_setup(name, fresh_options)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(options_pin_and_join),
      TEST(wrong_options_have_messages),
      TEST(contradictions_are_errors),
      TEST(builder_takes_wishes),
      TEST(builder_refuses_nonsense),
      TEST(graph_is_obeyed),
      TEST(graph_asks_for_devices_that_calls_name),
      TEST(sources_have_ranks),
      TEST(last_pin_counts),
      TEST(file_says_everything),
      TEST(calls_say_everything),
      TEST(ops_are_found_by_patterns),
      TEST(an_op_needs_a_device),
      TEST(calls_refuse_nonsense),
      TEST(survives_failing_allocations),
      TEST(presets_are_sound),
      TEST(options_win_over_presets),
      TEST(names_and_files_are_told_apart),
  };
  return cmocka_run_group_tests_name("wishes", tests, set_up, tear_down);
}
