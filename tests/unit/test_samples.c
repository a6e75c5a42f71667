/* SPDX-License-Identifier: Apache-2.0 */
/* Real files, as tests/graphs/expected.csv describes them; and graphs that are
 * written and read again: the real ones and random ones.
 */
#include "support/failing_allocator.h"
#include "support/graph_sketch.h"
#include "support/loaded_graph.h"

#include <stdio.h>
#include <unistd.h>

#include "dataset/synthetic/synthetic.h"
#include "format/formats.h"
#include "support/random_cases.h"

/* One line of expected.csv. */
typedef struct sample {
  char file[64], loops[16], order[64];
  unsigned ops, data_edges, control_edges, notes;
  long long work_ns, tensor_bytes, resident_bytes, order_peak;
  unsigned long long checksum;
} sample;

static bool read_sample(FILE *list, sample *sample) {
  char line[512];
  do
    if (!fgets(line, sizeof line, list))
      return false;
  while (line[0] == '#');
  int fields = sscanf(
      line, "%63[^,],%15[^,],%u,%u,%u,%lld,%lld,%lld,%u,%llx,%63[^,],%lld",
      sample->file, sample->loops, &sample->ops, &sample->data_edges,
      &sample->control_edges, &sample->work_ns, &sample->tensor_bytes,
      &sample->resident_bytes, &sample->notes, &sample->checksum, sample->order,
      &sample->order_peak);
  if (fields != 12)
    fail_msg("cannot read \"%s\"", line);
  return true;
}

static regal_graph *load_sample(regal_context *context, const sample *sample) {
  regal_options options = loaded_options(context, "loops", sample->loops, NULL);
  regal_graph *graph;
  if (regal_graph_load(context, sample->file, &options, &graph))
    fail_msg("%s", regal_error(context));
  return graph;
}

typedef void (*sample_fn)(regal_context *context, const sample *sample);

static void for_each_sample(regal_context *context, sample_fn visit) {
  FILE *list = fopen("expected.csv", "r");
  sample sample;
  size_t count = 0;
  assert_non_null(list);
  for (; read_sample(list, &sample); count++)
    visit(context, &sample);
  fclose(list);
  assert_true(count >= 30);
}

/* -- As expected ----------------------------------------------------------- */

static void check_sample(regal_context *context, const sample *sample) {
  regal_graph *graph = load_sample(context, sample);
  regal_graph_info info;
  char found[512], expected[512];
  regal_graph_describe(graph, &info);
  snprintf(found, sizeof found, "%s,%s,%u,%u,%u,%lld,%lld,%lld,%zu,%016llx",
           sample->file, sample->loops, info.ops, info.data_edges,
           info.control_edges, (long long)info.work_ns,
           (long long)info.tensor_bytes, (long long)info.resident_bytes,
           regal_graph_note_count(graph), (unsigned long long)info.checksum);
  snprintf(expected, sizeof expected,
           "%s,%s,%u,%u,%u,%lld,%lld,%lld,%u,%016llx", sample->file,
           sample->loops, sample->ops, sample->data_edges,
           sample->control_edges, sample->work_ns, sample->tensor_bytes,
           sample->resident_bytes, sample->notes, sample->checksum);
  assert_string_equal(found, expected);
  regal_graph_free(graph);
}

static void test_samples_are_as_expected(void **state) {
  for_each_sample(*state, check_sample);
}

/* XLA's order, on one device; its peak leaves out what is resident. */
static void check_order(regal_context *context, const sample *sample) {
  regal_options options = loaded_options(context, "devices", "1", NULL);
  if (!strcmp(sample->order, "-"))
    return;
  regal_graph *graph = load_sample(context, sample);
  regal_problem *problem = NULL;
  regal_plan *plan = NULL;
  regal_cost cost;
  if (regal_problem_create(context, graph, &options, &problem) ||
      regal_plan_load(context, problem, sample->order, &plan) ||
      regal_verify(context, problem, plan, &cost))
    fail_msg("%s", regal_error(context));
  assert_int_equal(cost.max_peak_bytes - graph->total_resident_bytes,
                   sample->order_peak);
  assert_int_equal(cost.runtime_ns, graph->work_ns);
  regal_plan_free(plan);
  regal_problem_free(problem);
  regal_graph_free(graph);
}

static void test_peaks_of_orders(void **state) {
  for_each_sample(*state, check_order);
}

/* -- There and back -------------------------------------------------------- */

static regal_text saved(regal_context *context, const regal_graph *graph,
                        regal_graph_format format) {
  regal_text text;
  regal_text_init(&text, context);
  if (regal_format_written(format)->save(context, "t", graph, &text))
    fail_msg("%s", regal_error(context));
  return text;
}

static regal_graph *reloaded(regal_context *context, const regal_text *text) {
  regal_graph *graph;
  if (regal_graph_load_bytes(context, "t", text->bytes, text->size, NULL,
                             &graph))
    fail_msg("%s", regal_error(context));
  return graph;
}

/* Binary, text, binary: the same bytes and the same graph. Nodes that the
 * reader dropped leave gaps in the ids, which saving closes. */
static void check_round_trip(regal_context *context, const regal_graph *graph) {
  regal_text binary = saved(context, graph, REGAL_GRAPH_BINARY);
  regal_graph *first = reloaded(context, &binary);
  regal_text text = saved(context, first, REGAL_GRAPH_TEXT);
  regal_graph *second = reloaded(context, &text);
  regal_text again = saved(context, second, REGAL_GRAPH_BINARY);
  if (graph->ops == graph->file_nodes)
    assert_true(first->checksum == graph->checksum);
  assert_int_equal(first->file_nodes, graph->ops);
  assert_int_equal(first->work_ns, graph->work_ns);
  assert_int_equal(first->tensor_bytes, graph->tensor_bytes);
  assert_int_equal(first->uses, graph->uses);
  assert_int_equal(first->controls, graph->controls);
  assert_true(second->checksum == first->checksum);
  assert_int_equal(again.size, binary.size);
  assert_memory_equal(again.bytes, binary.bytes, binary.size);
  regal_graph_free(first);
  regal_graph_free(second);
  regal_text_free(&binary);
  regal_text_free(&text);
  regal_text_free(&again);
}

static void round_trip_sample(regal_context *context, const sample *sample) {
  regal_graph *graph = load_sample(context, sample);
  check_round_trip(context, graph);
  regal_graph_free(graph);
}

static void test_round_trip_of_samples(void **state) {
  for_each_sample(*state, round_trip_sample);
}

static void test_round_trip_of_random_graphs(void **state) {
  for (uint64_t seed = 1; seed <= 500; seed++) {
    regal_graph *graph;
    regal_test_random_graph(*state, seed, 30, &graph);
    check_round_trip(*state, graph);
    regal_graph_free(graph);
  }
  for (int model = 0; model < REGAL_GRAPH_MODELS; model++) {
    regal_graph *graph;
    assert_int_equal(
        regal_synthetic_graph(*state, (regal_graph_model)model, 0, 7, &graph),
        REGAL_OK);
    check_round_trip(*state, graph);
    regal_graph_free(graph);
  }
}

static void add(regal_builder *builder, const char *name, int64_t run_ns,
                int64_t resident, int64_t bytes, bool is_final) {
  uint32_t id;
  assert_int_equal(
      regal_builder_add_op(builder, name, run_ns, 0, resident, &id), REGAL_OK);
  if (bytes >= 0)
    assert_int_equal(regal_builder_add_output(builder, id, bytes, is_final),
                     REGAL_OK);
}

/* Everything that the reader would take for something else. */
static void test_round_trip_of_pitfalls(void **state) {
  regal_builder *builder;
  regal_graph *graph;
  assert_int_equal(regal_builder_create(*state, &builder), REGAL_OK);
  add(builder, "constant", 1, 8, 8, false);   /* resident and as large */
  add(builder, "_SOURCE", 499, 0, -1, false); /* not the first */
  add(builder, "_SOURCE", 500, 0, 0, false);  /* nor the only one */
  add(builder, "_SINK", 999, 0, -1, false);
  add(builder, "_SINK", 1000, 0, -1, false);
  add(builder, "_retval_a", 1500, 0, -1, false); /* reads what is not final */
  add(builder, "NextIteration", 0, 0, 4, true);
  add(builder, "x/_4", 0, 0, -1, false);
  add(builder, "x/_5", 0, 0, 4, true);
  add(builder, "", 0, 0, 4, false);
  add(builder, "tab\t quote\" \xC3\xA9 \x01\x7F", INT64_C(1) << 60, 0, 5, true);
  regal_builder_add_output(builder, 10, 6, false); /* only port 0 is final */
  regal_builder_add_output(builder, 6, 6, true);
  regal_builder_add_input(builder, 5, 0, 0);
  regal_builder_add_input(builder, 5, 6, 0);
  regal_builder_add_input(builder, 7, 10, 1);
  regal_builder_add_input(builder, 7, 10, 0);
  regal_builder_add_control(builder, 8, 0);
  regal_builder_add_control(builder, 2, 1);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  check_round_trip(*state, graph);
  regal_graph_free(graph);
}

/* An ordinary graph is written without any field of our own. */
static void test_plain_text(void **state) {
  static const char text[] = "node {\n"
                             "  name: \"a\"\n"
                             "  output_info {\n"
                             "    size: 4\n"
                             "    alias_input_port: -1\n"
                             "  }\n"
                             "  temporary_memory_size: 3\n"
                             "  is_final: true\n"
                             "  compute_cost: 2\n"
                             "  persistent_memory_size: 5\n"
                             "}\n"
                             "node {\n"
                             "  name: \"_retval_a\"\n"
                             "  id: 1\n"
                             "  input_info {\n"
                             "  }\n"
                             "  control_input: 0\n"
                             "}\n";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  regal_text out = saved(*state, graph, REGAL_GRAPH_TEXT);
  assert_string_equal(out.bytes, text);
  regal_text_free(&out);
  regal_graph_free(graph);
}

static void test_name_that_cannot_be_saved(void **state) {
  regal_builder *builder;
  regal_graph *graph;
  assert_int_equal(regal_builder_create(*state, &builder), REGAL_OK);
  add(builder, "a", 0, 0, -1, false);
  add(builder, "\xFF", 0, 0, -1, false);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  assert_int_equal(
      regal_graph_save(*state, graph, "/dev/null", REGAL_GRAPH_BINARY),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "/dev/null: the name of op 1 is not UTF-8, which a "
                      "CostGraphDef needs");
  regal_graph_free(graph);
}

/* -- Misuse and memory ----------------------------------------------------- */

static void test_misuse(void **state) {
  regal_graph *graph = sketch(*state, "ab", "a>b");
  assert_int_equal(regal_graph_load(NULL, "x", NULL, &graph), REGAL_MISUSE);
  assert_int_equal(regal_graph_load(*state, NULL, NULL, &graph), REGAL_MISUSE);
  assert_int_equal(regal_graph_load(*state, "x", NULL, NULL), REGAL_MISUSE);
  assert_int_equal(regal_graph_load_bytes(*state, "x", NULL, 1, NULL, &graph),
                   REGAL_MISUSE);
  assert_int_equal(regal_graph_save(*state, NULL, "x", REGAL_GRAPH_TEXT),
                   REGAL_MISUSE);
  assert_int_equal(regal_graph_save(*state, graph, "x", (regal_graph_format)7),
                   REGAL_MISUSE);
  regal_graph_free(graph);
}

/* Loads and saves with the n-th allocation failing. */
static regal_status load_and_save(regal_context *context, const char *path) {
  regal_options options = loaded_options(context, "loops", "cut", "variables",
                                         "resident", "aliases", "share", NULL);
  regal_graph *graph;
  REGAL_TRY(regal_graph_load(context, path, &options, &graph));
  regal_status status = REGAL_OK;
  for (int format = 0; format < 2 && status == REGAL_OK; format++)
    status = regal_graph_save(context, graph, "/dev/null",
                              (regal_graph_format)format);
  regal_graph_free(graph);
  return status;
}

static void test_failing_allocations(void **state) {
  static const char *const files[] = {
      "tf/pipeline_2dev_infer.pb", "tf/while_cond_v2_infer.pbtxt",
      "tf/untracked_ref_variables_train.pb", "torch/tv_alexnet_infer.pb"};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    for (size_t n = 2;; n++) { /* 1 is the context itself */
      failing_allocator memory = {.fail_at = n};
      regal_allocator allocator = failing_allocator_of(&memory);
      regal_context *context;
      assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
      regal_status status = load_and_save(context, files[i]);
      assert_int_equal(regal_bytes_in_use(context), 0);
      regal_context_free(context);
      assert_int_equal(memory.blocks, 0);
      assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
      if (!memory.failed)
        break;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_samples_are_as_expected),
      CONTEXT_TEST(test_peaks_of_orders),
      CONTEXT_TEST(test_round_trip_of_samples),
      CONTEXT_TEST(test_round_trip_of_random_graphs),
      CONTEXT_TEST(test_round_trip_of_pitfalls),
      CONTEXT_TEST(test_plain_text),
      CONTEXT_TEST(test_name_that_cannot_be_saved),
      CONTEXT_TEST(test_misuse),
      CONTEXT_TEST(test_failing_allocations),
  };
  if (chdir(REGAL_TEST_DATA "/graphs"))
    return 1;
  return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
