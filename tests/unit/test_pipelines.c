/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines: names and passes of ops, and the textbook schedules against the
 * closed formulas of their papers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/pipeline.h"
#include "regal_data.h"
#include "support/failing_allocator.h"
#include "support/machine_options.h"

static void use_pipeline(search_bench *b, const char *shape) {
  problem_end(b);
  if (regal_generate_pipeline(b->context, shape, &b->graph))
    fail_msg("%s", regal_error(b->context));
}

/* -- Names and passes ------------------------------------------------------ */

static void test_names(void **state) {
  (void)state;
  assert_int_equal(regal_microbatch_of_name("conv1#0"), 0);
  assert_int_equal(regal_microbatch_of_name("a#b#12"), 12);
  assert_int_equal(regal_microbatch_of_name("F3.7"), 3);
  assert_int_equal(regal_microbatch_of_name("B10.0"), 10);
  assert_int_equal(regal_microbatch_of_name("W0.31"), 0);
  assert_int_equal(regal_microbatch_of_name("F99999999.0"), 99999999);
  static const char *const none[] = {
      "",    "#",     "conv1", "conv#1x", "conv#", "F3",  "F3.",
      "F.3", "F3.7a", "O.7",   "G3.7",    "f3.7",  "3.7", "x#123456789"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (regal_microbatch_of_name(none[i]) != REGAL_NONE)
      fail_msg("%s", none[i]);
  assert_int_equal(regal_pass_of_name("F3.7"), REGAL_PASS_FORWARD);
  assert_int_equal(regal_pass_of_name("B3.7"), REGAL_PASS_BACKWARD);
  assert_int_equal(regal_pass_of_name("W3.7"), REGAL_PASS_WEIGHT);
  assert_int_equal(regal_pass_of_name("F#3"), REGAL_PASS_NONE);
}

typedef struct named {
  const char *name;
  const char *reads; /* names of ops, by spaces */
  const char *waits;
} named;

static uint32_t find_named(const named *ops, size_t count, const char *name,
                           size_t length) {
  for (uint32_t i = 0; i < count; i++)
    if (strlen(ops[i].name) == length && !strncmp(ops[i].name, name, length))
      return i;
  fail_msg("no op %.*s", (int)length, name);
  return 0;
}

/* Each op has one output of a byte and takes 10 ns. */
static regal_graph *build(regal_context *context, const named *ops,
                          size_t count) {
  regal_builder *builder;
  regal_graph *graph = NULL;
  assert_int_equal(regal_builder_create(context, &builder), REGAL_OK);
  for (uint32_t i = 0; i < count; i++) {
    regal_builder_add_op(builder, ops[i].name, 10, 0, 0, NULL);
    regal_builder_add_output(builder, i, 1, false);
    for (const char *at = ops[i].reads; *at; at += strspn(at, " ")) {
      size_t length = strcspn(at, " ");
      regal_builder_add_input(builder, i, find_named(ops, count, at, length),
                              0);
      at += length;
    }
    for (const char *at = ops[i].waits; *at; at += strspn(at, " ")) {
      size_t length = strcspn(at, " ");
      regal_builder_add_control(builder, find_named(ops, count, at, length), i);
      at += length;
    }
  }
  if (regal_builder_finish(builder, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

/* Two layers, two microbatches: f, g forward; y the gradient of the loss; v, w
 * gradients of the weights of g and f, x that of the input of g; sums of
 * gradients, and an optimizer. `s` is read by nobody. */
static const named two_layers[] = {
    {"mask", "", ""},          {"f#0", "mask", ""},
    {"g#0", "f#0 mask", ""},   {"s#0", "f#0", ""},
    {"y#0", "g#0", ""},        {"v#0", "y#0 f#0", ""},
    {"x#0", "y#0 g#0", ""},    {"w#0", "x#0", ""},
    {"f#1", "mask", ""},       {"g#1", "f#1 mask", ""},
    {"s#1", "f#1", ""},        {"y#1", "g#1", ""},
    {"v#1", "y#1 f#1", ""},    {"x#1", "y#1 g#1", ""},
    {"w#1", "x#1", ""},        {"sumv#1", "v#0 v#1", ""},
    {"sumw#1", "w#0 w#1", ""}, {"step", "", "sumv#1 sumw#1"},
};
enum { TWO_LAYERS = sizeof two_layers / sizeof *two_layers };

static void assert_passes(const regal_graph *graph,
                          const regal_pipeline *pipeline,
                          const char *expected) {
  static const char letters[] = "-FBW";
  for (uint32_t op = 0; op < graph->ops; op++) {
    uint32_t id = graph->id[op];
    if (letters[pipeline->pass[op]] != expected[id])
      fail_msg("%s: %c, not %c", regal_graph_name(graph, op),
               letters[pipeline->pass[op]], expected[id]);
  }
}

/* x leads to one gradient only, that of f's weights, until there is u. */
static void test_passes(void **state) {
  search_bench *b = *state;
  regal_pipeline *pipeline;
  b->graph = build(b->context, two_layers, TWO_LAYERS);
  assert_int_equal(regal_graph_microbatches(b->graph), 2);
  assert_int_equal(regal_pipeline_read(b->context, b->graph, &pipeline),
                   REGAL_OK);
  assert_passes(b->graph, pipeline, "-FFFFWWWFFFFWWWWW-");
  regal_pipeline_free(pipeline);
  regal_graph_free(b->graph);

  named three[TWO_LAYERS + 2];
  memcpy(three, two_layers, sizeof two_layers);
  three[TWO_LAYERS] = (named){"u#0", "x#0", ""};
  three[TWO_LAYERS + 1] = (named){"u#1", "x#1", ""};
  three[TWO_LAYERS - 1].waits = "sumv#1 sumw#1 u#0 u#1";
  b->graph = build(b->context, three, TWO_LAYERS + 2);
  assert_int_equal(regal_pipeline_read(b->context, b->graph, &pipeline),
                   REGAL_OK);
  assert_passes(b->graph, pipeline, "-FFFFWBWFFFFWBWWW-WW");
  regal_pipeline_free(pipeline);
}

static void test_passes_by_letters(void **state) {
  search_bench *b = *state;
  regal_pipeline *pipeline;
  use_pipeline(b, "layers=2,microbatches=2");
  assert_int_equal(regal_pipeline_read(b->context, b->graph, &pipeline),
                   REGAL_OK);
  assert_int_equal(pipeline->microbatches, 2);
  assert_passes(b->graph, pipeline, "FFBWBWFFBWBW--");
  regal_pipeline_free(pipeline);
}

/* A microbatch that is missing, or larger than the others. */
static void test_no_pipeline(void **state) {
  search_bench *b = *state;
  static const named gap[] = {{"a#0", "", ""}, {"a#2", "", ""}};
  static const named infer[] = {{"a#0", "", ""},
                                {"b#0", "a#0", ""},
                                {"a#1", "", ""},
                                {"b#1", "a#1", ""},
                                {"all", "b#0 b#1", ""}};
  static const named uneven[] = {
      {"a#0", "", ""}, {"a#1", "", ""}, {"a#2", "", ""}, {"b#2", "", ""}};
  regal_pipeline *pipeline;
  b->graph = build(b->context, gap, 2);
  assert_int_equal(regal_graph_microbatches(b->graph), 0);
  assert_int_equal(regal_pipeline_read(b->context, b->graph, &pipeline),
                   REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(b->context),
      "not a pipeline graph: the names of its ops have no microbatches "
      "(NAME#0, NAME#1, ...); 'regal pipeline' makes one");
  regal_graph_free(b->graph);
  b->graph = build(b->context, uneven, 4);
  assert_int_equal(regal_graph_microbatches(b->graph), 0);
  regal_graph_free(b->graph);
  b->graph = build(b->context, infer, 5);
  assert_int_equal(regal_pipeline_read(b->context, b->graph, &pipeline),
                   REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(b->context),
      "not a pipeline graph: its microbatches have no backward pass");
}

/* -- Schedules ------------------------------------------------------------- */

static int64_t run_time(search_bench *b, const char *method) {
  set_option(b, "method", method);
  make_problem(b);
  regal_result *result = optimize(b);
  int64_t runtime_ns = result->cost.runtime_ns;
  regal_result_free(result);
  return runtime_ns;
}

/* p stages of F and B in a row, m microbatches, no costs of transfers: gpipe
 * and 1f1b take (m + p - 1)(F + B), interleaved with v chunks of 1 / v of that
 * m (F + B) + (p - 1)(F + B) / v. */
static void test_fused_formulas(void **state) {
  search_bench *b = *state;
  set_option(b, "transfers", "overlapped");
  for (int64_t p = 2; p <= 6; p++)
    for (int64_t m = p; m <= 3 * p; m += p) {
      char shape[200], number[8];
      snprintf(number, sizeof number, "%d", (int)p);
      set_option(b, "devices", number);
      snprintf(shape, sizeof shape,
               "layers=%d,microbatches=%d,forward=300ns,backward=400ns,"
               "weight=200ns,fused",
               (int)(2 * p), (int)m);
      use_pipeline(b, shape);
      assert_int_equal(run_time(b, "gpipe"), (m + p - 1) * 2 * 900);
      assert_int_equal(run_time(b, "1f1b"), (m + p - 1) * 2 * 900);
      set_option(b, "pipeline-chunks", "2");
      assert_int_equal(run_time(b, "interleaved"), m * 2 * 900 + (p - 1) * 900);
      set_option(b, "pipeline-chunks", "1");
      assert_int_equal(run_time(b, "interleaved"), (m + p - 1) * 2 * 900);
    }
}

/* With F = B = W the bubble of zb-h1 is (p - 1)(F + B - W), a third of 1f1b's,
 * at the memory of 1f1b: p activations. */
static void test_zero_bubble(void **state) {
  search_bench *b = *state;
  set_option(b, "transfers", "overlapped");
  for (int64_t p = 2; p <= 8; p++)
    for (int64_t m = p; m <= 3 * p; m += p) {
      char shape[200], number[16];
      snprintf(number, sizeof number, "%d", (int)p);
      set_option(b, "devices", number);
      snprintf(number, sizeof number, "%d", (int)(p * 1000 + 50));
      set_option(b, "memory-limit", number);
      snprintf(shape, sizeof shape,
               "layers=%d,microbatches=%d,forward=100ns,backward=100ns,"
               "weight=100ns,activation=500,weight-activation=500,wire=1",
               (int)p, (int)m);
      use_pipeline(b, shape);
      make_problem(b);
      set_option(b, "method", "zb-h1");
      regal_result *result = optimize(b);
      assert_int_equal(result->cost.runtime_ns, m * 300 + (p - 1) * 100);
      assert_true(result->fits);
      regal_result_free(result);
    }
}

/* The stage of op `name` in a plan. */
static uint32_t device_of(search_bench *b, const regal_result *result,
                          const char *name) {
  for (uint32_t i = 0; i < result->plan->step_count; i++) {
    const regal_step *step = &result->plan->steps[i];
    if (step->port == REGAL_RUN &&
        !strcmp(regal_graph_name(b->graph, step->op), name))
      return step->device;
  }
  fail_msg("%s does not run", name);
  return 0;
}

/* Seven layers on two devices: the first holds activations of two microbatches,
 * so that only three layers fit there; the second has room for four. */
static void test_stages_fit(void **state) {
  search_bench *b = *state;
  set_option(b, "devices", "2");
  set_option(b, "transfers", "overlapped");
  set_option(b, "memory-limit", "4450");
  set_option(b, "method", "1f1b");
  use_pipeline(b, "layers=7,microbatches=4,activation=100,weight-activation=0,"
                  "wire=0,parameter=1000");
  make_problem(b);
  regal_result *result = optimize(b);
  assert_true(result->fits);
  assert_int_equal(device_of(b, result, "F0.2"), 0);
  assert_int_equal(device_of(b, result, "W3.2"), 0);
  assert_int_equal(device_of(b, result, "O.2"), 0);
  assert_int_equal(device_of(b, result, "F0.3"), 1);
  assert_int_equal(device_of(b, result, "B1.3"), 1);
  assert_int_equal(device_of(b, result, "O.6"), 1);
  regal_result_free(result);
}

static const char *const methods[] = {"gpipe", "1f1b", "interleaved", "zb-h1"};

/* Every kind of machine, also with fewer layers than devices, microbatches that
 * p does not divide, and groups that tear stages apart. */
static void test_machines(void **state) {
  search_bench *b = *state;
  static const char *const shapes[] = {
      "layers=7,microbatches=5,parameter=100MB",
      "layers=2,microbatches=3,fused", "layers=12,microbatches=1"};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    use_pipeline(b, shapes[s]);
    for (int i = 0; i < MACHINE_OPTIONS; i++) {
      use_machine(b, &machine_options[i]);
      for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        char name[100];
        set_option(b, "method", methods[m]);
        snprintf(name, sizeof name, "%s, %s on %s", shapes[s], methods[m],
                 machine_options[i].name);
        regal_result *result = optimize(b);
        check_plan_of(b, result, name);
        regal_result_free(result);
      }
    }
  }
}

/* `auto` begins with them, and each of them looks for cuts that fit whatever
 * the others have found. */
static void test_auto_is_no_worse(void **state) {
  search_bench *b = *state;
  set_option(b, "transfers", "overlapped");
  set_option(b, "devices", "4");
  b->options.evaluations = 1;
  use_pipeline(b, "layers=12,microbatches=6,parameter=300MB,activation=20MB,"
                  "weight-activation=10MB,wire=150MB");
  for (int64_t limit = 1300; limit <= 2300; limit += 50) {
    b->options.memory_limit = limit * 1000000;
    set_option(b, "method", "auto");
    make_problem(b);
    regal_result *found = optimize(b);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      set_option(b, "method", methods[m]);
      regal_result *other = optimize(b);
      if (other->fits)
        assert_true(found->fits &&
                    found->cost.runtime_ns <= other->cost.runtime_ns);
      regal_result_free(other);
    }
    regal_result_free(found);
  }
}

static void test_pins_and_groups(void **state) {
  search_bench *b = *state;
  static const char *const machines[] = {
      "{\"regal_machine\": 1, \"devices\": 3, \"op_times\": ["
      "{\"op\": \"F0.1\", \"run_ns\": [null, null, 5000]},"
      "{\"op\": \"B1.3\", \"run_ns\": [7000, null, null]}]}",
      "{\"regal_machine\": 1, \"devices\": 2, \"groups\": ["
      "[\"F0.0\", \"F0.3\", \"W1.2\"], [\"F0.1\", \"B0.1\"]]}"};
  for (size_t i = 0; i < 2; i++) {
    FILE *file = fopen("pipeline_machine.json", "w");
    assert_non_null(file);
    fputs(machines[i], file);
    fclose(file);
    use_pipeline(b, "layers=4,microbatches=2");
    set_option(b, "machine", "pipeline_machine.json");
    make_problem(b);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      set_option(b, "method", methods[m]);
      regal_result *result = optimize(b);
      check_plan_of(b, result, methods[m]);
      regal_result_free(result);
    }
  }
  remove("pipeline_machine.json");
}

/* -- From one microbatch to several ---------------------------------------- */

static void unroll(search_bench *b, const char *shape,
                   const char *microbatches) {
  regal_graph *pipeline = NULL;
  use_pipeline(b, shape);
  set_option(b, "microbatches", microbatches);
  set_option(b, "optimizer", "O.*");
  if (regal_graph_pipeline(b->context, b->graph, &b->options, &pipeline))
    fail_msg("%s", regal_error(b->context));
  regal_graph_free(b->graph);
  b->graph = pipeline;
}

/* Copies of a generated step of one microbatch are the generated step of
 * several, apart from names. */
static void test_copies(void **state) {
  search_bench *b = *state;
  static const char shape[] = "layers=5,microbatches=%d,forward=3us,weight=2us,"
                              "parameter=7KB,optimizer=1us%s";
  for (int fused = 0; fused < 2; fused++) {
    regal_graph_info info, copied;
    char text[200];
    memset(&info, 0, sizeof info); /* what is between the fields, too */
    memset(&copied, 0, sizeof copied);
    snprintf(text, sizeof text, shape, 4, fused ? ",fused" : "");
    use_pipeline(b, text);
    regal_graph_describe(b->graph, &info);
    snprintf(text, sizeof text, shape, 1, fused ? ",fused" : "");
    b->options.split_backward = true;
    unroll(b, text, "4");
    regal_graph_describe(b->graph, &copied);
    copied.checksum = info.checksum;
    assert_memory_equal(&info, &copied, sizeof info);
    assert_string_equal(regal_graph_name(b->graph, 0), "F0.0#0");
    b->options.split_backward = false;
    unroll(b, text, "4");
    regal_graph_describe(b->graph, &copied);
    /* W ties up the B below it, if that leads to several gradients. */
    assert_int_equal(copied.control_edges,
                     info.control_edges + (fused ? 0 : 12));
  }
}

/* Names say nothing about passes here. */
static void test_schedules_of_copies(void **state) {
  search_bench *b = *state;
  set_option(b, "transfers", "overlapped");
  set_option(b, "devices", "4");
  unroll(b,
         "layers=8,microbatches=1,forward=300ns,backward=400ns,weight=200ns,"
         "fused",
         "8");
  assert_int_equal(run_time(b, "gpipe"), 11 * 2 * 900);
  assert_int_equal(run_time(b, "1f1b"), 11 * 2 * 900);
  assert_int_equal(run_time(b, "interleaved"), 8 * 2 * 900 + 3 * 900);
}

/* -- Allocation ------------------------------------------------------------ */

static regal_status solve_demo(regal_context *context, const void *state) {
  regal_graph *graph;
  regal_result *result;
  regal_options options;
  (void)state;
  regal_options_init(&options);
  strcpy(options.method, "1f1b");
  options.threads = 1;
  REGAL_TRY(
      regal_generate_pipeline(context, "layers=2,microbatches=2", &graph));
  regal_status status = regal_solve(context, graph, &options, &result);
  if (status == REGAL_OK)
    regal_result_free(result);
  regal_graph_free(graph);
  return status;
}

static regal_status unroll_demo(regal_context *context, const void *state) {
  regal_graph *graph, *pipeline;
  regal_options options;
  (void)state;
  regal_options_init(&options);
  options.microbatches = 3;
  strcpy(options.optimizer, "O.*");
  strcpy(options.gradients, "W*");
  REGAL_TRY(
      regal_generate_pipeline(context, "layers=3,microbatches=1", &graph));
  regal_status status =
      regal_graph_pipeline(context, graph, &options, &pipeline);
  regal_graph_free(graph);
  if (status == REGAL_OK)
    regal_graph_free(pipeline);
  return status;
}

static void test_failing_allocations(void **state) {
  (void)state;
  fail_each_allocation(solve_demo, NULL);
  fail_each_allocation(unroll_demo, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      SEARCH_TEST(test_passes),
      SEARCH_TEST(test_passes_by_letters),
      SEARCH_TEST(test_no_pipeline),
      SEARCH_TEST(test_fused_formulas),
      SEARCH_TEST(test_zero_bubble),
      SEARCH_TEST(test_stages_fit),
      SEARCH_TEST(test_machines),
      SEARCH_TEST(test_auto_is_no_worse),
      SEARCH_TEST(test_pins_and_groups),
      SEARCH_TEST(test_copies),
      SEARCH_TEST(test_schedules_of_copies),
      cmocka_unit_test(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("pipelines", tests, NULL, NULL);
}
