/* SPDX-License-Identifier: Apache-2.0 */
/* Modules compiled by XLA (tests/hlo/make_modules.py), as graphs. */
#include "support/loaded_graph.h"

static int setup(void **state) {
  return regal_context_create((regal_context **)state, NULL);
}

static int teardown(void **state) {
  assert_int_equal(regal_bytes_in_use(*state), 0);
  regal_context_free(*state);
  return 0;
}

static regal_graph *load(regal_context *context, const char *name) {
  char path[200];
  regal_graph *graph = NULL;
  snprintf(path, sizeof path, "%s/hlo/good/%s", REGAL_TEST_DATA, name);
  regal_status status = regal_graph_load(context, path, NULL, &graph);
  if (status != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

/* A training step: donated weights are there from the start, updates wait for
 * whatever reads them and are results. */
static void training_step(void **state) {
  regal_graph *graph = load(*state, "step.pb");
  assert_int_equal(graph->ops, 21);
  assert_int_equal(graph->file_nodes, 24);
  assert_int_equal(graph->total_resident_bytes, 16 * 32 * 4 + 16 * 8 * 4);
  assert_int_equal(loaded_op(graph, "arguments_0__0_.1"), 0);
  assert_int_equal(loaded_bytes(graph, "arguments_0__0_.1", 0), 32 * 64 * 4);
  assert_int_equal(graph->run_ns[0], 0);
  assert_true(loaded_waits(graph, "copy.1", "arguments_0__2_.1"));
  assert_true(loaded_reads(graph, "multiply_subtract_fusion.2",
                           "arguments_0__0_.1", 0));
  assert_true(
      loaded_waits(graph, "multiply_subtract_fusion.2", "ynn_fusion.4"));
  assert_true(loaded_final(graph, "multiply_subtract_fusion.2", 0));
  regal_graph_free(graph);
}

/* What XLA writes in place: element-wise fusions, but neither products nor
 * copies. */
static void outputs_in_place(void **state) {
  regal_graph *graph = load(*state, "step.pb");
  const uint32_t *of = graph->output_begin;
  assert_true(graph->may_reuse[of[loaded_op(graph, "wrapped_tanh")]]);
  assert_true(graph->may_reuse[of[loaded_op(graph, "multiply_add_fusion")]]);
  assert_false(graph->may_reuse[of[loaded_op(graph, "ynn_fusion.4")]]);
  assert_false(graph->may_reuse[of[loaded_op(graph, "dot.1")]]);
  assert_false(graph->may_reuse[of[loaded_op(graph, "copy.1")]]);
  regal_graph_free(graph);
}

/* A loop is one op in the memory of its state: 8x16 floats, a counter, 20
 * sums. Weights pass through it; its body needs temporaries. */
static void loop(void **state) {
  regal_graph *graph = load(*state, "scan.pb");
  uint32_t op = loaded_op(graph, "while.6");
  assert_int_equal(graph->ops, 4);
  assert_int_equal(graph->output_begin[op + 1] - graph->output_begin[op], 0);
  assert_int_equal(loaded_inputs(graph, "while.6"), 3);
  assert_int_equal(graph->temporary_bytes[op], 8 * 16 * 4 + 4);
  assert_true(graph->run_ns[op] > 20 * 5 * 3300);
  assert_true(loaded_final(graph, "copy.10", 0));
  assert_false(loaded_final(graph, "copy.11", 0));
  regal_graph_free(graph);
}

/* A cache that is donated and updated in place is one tensor. */
static void update_in_place(void **state) {
  regal_graph *graph = load(*state, "update.pb");
  const char *update = "select_dynamic-update-slice_fusion";
  uint32_t op = loaded_op(graph, update);
  assert_int_equal(graph->output_begin[op + 1] - graph->output_begin[op], 0);
  assert_true(loaded_final(graph, "arguments_0_.1", 0));
  assert_true(
      loaded_reads(graph, "wrapped_reduce-window", "arguments_0_.1", 0));
  assert_true(loaded_waits(graph, "wrapped_reduce-window", update));
  regal_graph_free(graph);
}

/* Branches: one op; its result is a tensor of its own. */
static void branches(void **state) {
  regal_graph *graph = load(*state, "cond.pb");
  assert_int_equal(graph->ops, 2);
  assert_int_equal(loaded_bytes(graph, "cond.1.clone", 0), 16 * 16 * 4);
  assert_true(loaded_final(graph, "cond.1.clone", 0));
  regal_graph_free(graph);
}

static const char *const names[] = {"step", "infer",  "scan",
                                    "cond", "update", "outputs"};
#define NAMES (sizeof names / sizeof *names)

static regal_graph *load_form(regal_context *context, const char *name,
                              const char *ending) {
  char file[32];
  snprintf(file, sizeof file, "%s%s", name, ending);
  return load(context, file);
}

/* Dumps have the module within; a text says the same. */
static void all_forms_give_one_graph(void **state) {
  for (size_t i = 0; i < NAMES; i++) {
    regal_graph *dump = load_form(*state, names[i], ".hlo.pb");
    regal_graph *bare = load_form(*state, names[i], ".pb");
    regal_graph *text = load_form(*state, names[i], ".txt");
    assert_int_equal(dump->checksum, bare->checksum);
    assert_int_equal(text->checksum, bare->checksum);
    assert_true(dump->has_schedule && bare->has_schedule && text->has_schedule);
    assert_int_equal(dump->schedule_peak_bytes, text->schedule_peak_bytes);
    assert_true(dump->reported_peak_bytes > 0);
    assert_int_equal(bare->reported_peak_bytes, 0);
    regal_graph_free(dump);
    regal_graph_free(bare);
    regal_graph_free(text);
  }
}

/* Before optimizations there is no schedule. */
static void modules_without_schedule(void **state) {
  regal_graph *bare = load(*state, "before.pb");
  regal_graph *text = load(*state, "before.txt");
  regal_options options =
      loaded_options(*state, "devices", "1", "start", "schedule", NULL);
  regal_result *result = NULL;
  assert_int_equal(bare->checksum, text->checksum);
  assert_false(bare->has_schedule);
  assert_int_equal(regal_solve(*state, bare, &options, &result),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "--start schedule: the graph's file has no schedule "
                      "(modules that XLA has scheduled have one)");
  assert_null(result);
  regal_graph_free(bare);
  regal_graph_free(text);
}

/* What memory_analysis() says (good/report.json): temporaries and results,
 * without donated ones; here with parameters and constants. */
static void reported_peaks(void **state) {
  static const int64_t temporary_and_results[NAMES] = {
      28672 + 24, 8192 + 512, 672 + 608, 136 + 1024, 8 + 20, 80 + 664};
  for (size_t i = 0; i < NAMES; i++) {
    regal_graph *graph = load_form(*state, names[i], ".hlo.pb");
    int64_t donated = 0;
    for (uint32_t op = 0; op < graph->ops; op++)
      if (!strncmp(regal_graph_name(graph, op), "arguments", 9))
        donated += graph->bytes[graph->output_begin[op]];
    assert_int_equal(graph->reported_peak_bytes - graph->total_resident_bytes -
                         donated,
                     temporary_and_results[i]);
    regal_graph_free(graph);
  }
}

static int64_t solve(regal_context *context, const regal_graph *graph,
                     const char *method, bool from_schedule) {
  regal_options options = loaded_options(
      context, "devices", "1", "objective", "memory", "evaluations", "50",
      "method", method, from_schedule ? "start" : NULL, "schedule", NULL);
  regal_result *result;
  if (regal_solve(context, graph, &options, &result) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  assert_int_equal(result->before.max_peak_bytes, graph->schedule_peak_bytes);
  int64_t peak = result->cost.max_peak_bytes;
  regal_result_free(result);
  return peak;
}

/* The reader's peak of XLA's order is the verifier's, and no plan is worse:
 * also of methods that do little with so few evaluations. */
static void never_worse_than_xla(void **state) {
  static const char *const methods[] = {"auto", "brkga", "anneal", "local"};
  for (size_t i = 0; i < NAMES; i++) {
    regal_graph *graph = load_form(*state, names[i], ".pb");
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
      int64_t xla = graph->schedule_peak_bytes;
      assert_true(solve(*state, graph, methods[k], false) <= xla);
      assert_true(solve(*state, graph, methods[k], true) <= xla);
    }
    regal_graph_free(graph);
  }
  regal_graph *step = load(*state, "step.pb");
  assert_true(solve(*state, step, "auto", false) < step->schedule_peak_bytes);
  regal_graph_free(step);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(training_step, setup, teardown),
      cmocka_unit_test_setup_teardown(outputs_in_place, setup, teardown),
      cmocka_unit_test_setup_teardown(loop, setup, teardown),
      cmocka_unit_test_setup_teardown(update_in_place, setup, teardown),
      cmocka_unit_test_setup_teardown(branches, setup, teardown),
      cmocka_unit_test_setup_teardown(all_forms_give_one_graph, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(modules_without_schedule, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(reported_peaks, setup, teardown),
      cmocka_unit_test_setup_teardown(never_worse_than_xla, setup, teardown),
  };
  return cmocka_run_group_tests_name("hlo", tests, NULL, NULL);
}
