/* SPDX-License-Identifier: Apache-2.0 */
/* JSON graphs: what is read, what is written, and that both are the same. */
#include "support/graph_sketch.h"

#include <jansson.h>

#include "format/formats.h"
#include "format/json/graph.h"
#include "format/tensorflow/cost_graph.h"
#include "support/defects.h"
#include "support/loaded_graph.h"
#include "support/random_cases.h"
#include "support/sample.h"

#define DEFECTS 86
#define GOOD REGAL_TEST_DATA "/json_graphs/good/"
#define DOCS REGAL_TEST_DATA "/../docs/"

/* The graph in a format; the caller frees the text. */
static regal_text saved(regal_context *context, const regal_graph *graph,
                        regal_graph_format format) {
  regal_text text;
  regal_text_init(&text, context);
  regal_status status =
      regal_format_written(format)->save(context, "out", graph, &text);
  if (status != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return text;
}

static regal_graph *loaded(regal_context *context, const regal_text *text) {
  regal_graph *graph;
  if (regal_graph_load_bytes(context, "t", text->bytes, text->size, NULL,
                             &graph) != REGAL_OK)
    fail_msg("%s\n%.2000s", regal_error(context), text->bytes);
  return graph;
}

static void assert_same_text(const regal_text *a, const regal_text *b) {
  assert_int_equal(a->size, b->size);
  assert_memory_equal(a->bytes, b->bytes, a->size);
}

/* The graph goes through the format and comes back the same, and so does the
 * text. */
static void check_trip(regal_context *context, const regal_graph *graph,
                       regal_graph_format format) {
  regal_text first = saved(context, graph, format);
  regal_graph *again = loaded(context, &first);
  regal_text second = saved(context, again, format);
  assert_same_text(&first, &second);
  if (graph->file_nodes == graph->ops)
    assert_true(graph->checksum == again->checksum);
  assert_int_equal(graph->parameters, again->parameters);
  assert_int_equal(graph->reusing_tensors, again->reusing_tensors);
  assert_true(graph->total_resident_bytes == again->total_resident_bytes);
  regal_text_free(&first);
  regal_text_free(&second);
  regal_graph_free(again);
}

static void check_all_trips(regal_context *context, const regal_graph *graph) {
  check_trip(context, graph, REGAL_GRAPH_JSON);
  check_trip(context, graph, REGAL_GRAPH_BINARY);
  check_trip(context, graph, REGAL_GRAPH_TEXT);
}

/* Both texts are the same graph. */
static void assert_same_graph(regal_context *context, const char *a,
                              const char *b) {
  regal_graph *one = loaded_graph(context, a, NULL);
  regal_graph *other = loaded_graph(context, b, NULL);
  assert_true(one->checksum == other->checksum);
  regal_graph_free(one);
  regal_graph_free(other);
}

/* -- Reading --------------------------------------------------------------- */

static void every_defect_has_its_message(void **state) {
  (void)state;
  assert_int_equal(defects_check(REGAL_TEST_DATA "/json_graphs", ".json", NULL,
                                 defects_try_graph),
                   DEFECTS);
}

static void reads_the_example(void **state) {
  regal_graph *g;
  if (regal_graph_load(*state, GOOD "example.json", NULL, &g) != REGAL_OK)
    fail_msg("%s", regal_error(*state));
  assert_int_equal(g->ops, 5);
  assert_int_equal(g->file_nodes, 5);
  assert_int_equal(g->tensors, 5);
  assert_int_equal(g->work_ns, 13250);
  assert_int_equal(g->tensor_bytes, 1024 + 2048 + 16 + 2048 + 40);
  assert_int_equal(g->parameters, 2);
  assert_int_equal(g->parameter_bytes[0], 4096);
  assert_int_equal(g->parameter_bytes[1], 64);
  assert_int_equal(g->total_resident_bytes, 4096 + 64 + 128);
  uint32_t conv = loaded_op(g, "conv"), logits = loaded_op(g, "logits");
  assert_int_equal(g->run_ns[conv], 10000);
  assert_int_equal(g->temporary_bytes[conv], 2000);
  assert_int_equal(g->parameter_begin[conv + 1] - g->parameter_begin[conv], 2);
  assert_int_equal(g->parameter[g->parameter_begin[logits]], 0);
  assert_int_equal(g->resident_bytes[logits], 128);
  assert_true(loaded_reads(g, "conv", "image", 0));
  assert_true(loaded_reads(g, "check", "conv", 1));
  assert_true(loaded_waits(g, "logits", "check"));
  assert_true(loaded_final(g, "logits", 0));
  assert_false(loaded_final(g, "conv", 0));
  assert_int_equal(g->reusing_tensors, 1);
  assert_true(g->may_reuse[loaded_tensor(g, "relu", 0)]);
  loaded_expect_notes(g, 0);
  check_all_trips(*state, g);
  regal_graph_free(g);
}

/* What ops ask of the machine survives all formats; numbers have one form. */
static void wishes_survive(void **state) {
  regal_graph *g;
  if (regal_graph_load(*state, GOOD "wishes.json", NULL, &g) != REGAL_OK)
    fail_msg("%s", regal_error(*state));
  regal_op_info info;
  regal_graph_op(g, loaded_op(g, "layer1"), &info);
  assert_string_equal(info.device, "gpu1");
  assert_string_equal(info.group, "middle");
  regal_graph_op(g, loaded_op(g, "logits"), &info);
  assert_null(info.device);
  assert_string_equal(info.group, "ends \"\xC3\xA4\"");
  check_all_trips(*state, g);
  regal_graph_free(g);
  assert_same_graph(*state,
                    "{\"regal_graph\": 1, \"ops\": [{\"device\": 1},"
                    " {\"device\": 0}]}",
                    "{\"regal_graph\": 1, \"ops\": [{\"device\": \"01\"},"
                    " {\"device\": -0}]}");
}

/* The document shows the file that this test reads. */
static void example_is_the_documented_one(void **state) {
  (void)state;
  char *page = files_read(DOCS "formats.md");
  char *example = files_read(GOOD "example.json");
  assert_non_null(page);
  assert_non_null(example);
  const char *part = strstr(page, "## JSON graph\n");
  assert_non_null(part);
  const char *block = strstr(part, "```json\n");
  assert_non_null(block);
  assert_memory_equal(block + 8, example, strlen(example));
  assert_memory_equal(block + 8 + strlen(example), "```", 3);
  free(page);
  free(example);
}

static void short_forms_are_the_long_ones(void **state) {
  assert_same_graph(*state,
                    "{\"regal_graph\": 1, \"parameters\": [7, \"1KiB\"],"
                    " \"ops\": [{\"name\": \"a\", \"outputs\": [8, \"1kB\"]},"
                    " {\"name\": \"b\", \"inputs\": [\"a\", [0, 1], 0],"
                    "  \"control\": [0], \"parameters\": [1]}]}",
                    " \n{\"parameters\": [{\"bytes\": 7}, {\"name\": \"w\","
                    " \"bytes\": 1024}], \"ops\": [{\"name\": \"a\","
                    " \"run_ns\": 0, \"temporary_bytes\": 0, \"inputs\": [],"
                    " \"outputs\": [{\"bytes\": 8, \"final\": false},"
                    " {\"bytes\": 1000, \"may_reuse\": false}]},"
                    " {\"name\": \"b\", \"inputs\": [[\"a\", 0], [\"a\", 1]],"
                    "  \"control\": [\"a\", \"a\"], \"outputs\": [],"
                    "  \"parameters\": [\"w\", 1]}], \"regal_graph\": 1}");
  assert_same_graph(*state, "{\"regal_graph\": 1, \"ops\": [{}, {}]}",
                    "{\"regal_graph\": 1, \"ops\": [{\"name\": \"\"}, {}]}");
}

/* Ops may stand in any order; ids are their places in the file. */
static void keeps_the_order_of_the_file(void **state) {
  regal_graph *graph = loaded_graph(
      *state,
      "{\"regal_graph\": 1, \"ops\": [\n"
      " {\"name\": \"last\", \"inputs\": [\"mid\"]},\n"
      " {\"name\": \"mid\", \"inputs\": [[\"first\", 1]], \"outputs\": [1]},\n"
      " {\"name\": \"first\", \"outputs\": [2, 3]}]}",
      NULL);
  assert_int_equal(graph->id[loaded_op(graph, "last")], 0);
  assert_int_equal(loaded_op(graph, "first"), 0);
  assert_true(loaded_reads(graph, "mid", "first", 1));
  regal_text text = saved(*state, graph, REGAL_GRAPH_JSON);
  assert_string_equal(
      text.bytes,
      "{\"regal_graph\": 1,\n \"ops\": [\n"
      "  {\"name\": \"last\", \"inputs\": [[\"mid\", 0]]},\n"
      "  {\"name\": \"mid\", \"outputs\": [{\"bytes\": 1}], \"inputs\": "
      "[[\"first\", 1]]},\n"
      "  {\"name\": \"first\", \"outputs\": [{\"bytes\": 2}, {\"bytes\": "
      "3}]}\n ]}\n");
  regal_text_free(&text);
  check_all_trips(*state, graph);
  regal_graph_free(graph);
}

/* A binary file may begin with a line feed and a brace: a node of 123 bytes. */
static void tells_binary_from_json(void **state) {
  char text[512], name[100];
  memset(name, 'n', sizeof name);
  for (int length = 60; length < 100; length++) {
    snprintf(text, sizeof text,
             "node { name: '%.*s' id: 3 output_info { size: 5 } }", length,
             name);
    regal_graph *graph = loaded_graph(*state, text, NULL);
    check_trip(*state, graph, REGAL_GRAPH_BINARY);
    regal_graph_free(graph);
  }
  regal_graph *graph = loaded_graph(
      *state, "\n{\"regal_graph\": 1, \"ops\": [{\"name\": \"a\"}]}", NULL);
  assert_string_equal(regal_graph_name(graph, 0), "a");
  regal_graph_free(graph);
}

/* -- Writing --------------------------------------------------------------- */

/* Names that do not say which op, or would be repeated at every edge, are not
 * used; all come back as they were. */
static void refers_by_position_where_it_must(void **state) {
  char text[1024], long_name[202];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[201] = 0;
  snprintf(text, sizeof text,
           "{\"regal_graph\": 1, \"ops\": [{\"name\": \"twin\", \"outputs\":"
           " [1]}, {\"name\": \"twin\", \"outputs\": [1]}, {\"outputs\": [1]},"
           " {\"name\": \"%s\", \"outputs\": [1]}, {\"name\": \"%s\","
           " \"outputs\": [1]}, {\"name\": \"\\u00e9\\n\\\"\\u0001\","
           " \"inputs\": [0, 1, 2, 3, 4], \"control\": [1]}]}",
           long_name, long_name + 1);
  regal_graph *graph = loaded_graph(*state, text, NULL);
  check_all_trips(*state, graph);
  regal_text out = saved(*state, graph, REGAL_GRAPH_JSON);
  char expected[1024];
  snprintf(expected, sizeof expected,
           "\n  {\"name\": \"\xC3\xA9\\n\\\"\\u0001\", \"inputs\": [[0, 0], "
           "[1, 0], [2, 0], [3, 0], [\"%s\", 0]], \"control\": [1]}\n ]}\n",
           long_name + 1);
  size_t size = strlen(expected);
  assert_string_equal(out.bytes + out.size - size, expected);
  regal_text_free(&out);
  regal_graph_free(graph);
}

static void refuses_names_that_are_no_text(void **state) {
  regal_builder *builder;
  regal_graph *graph;
  assert_int_equal(regal_builder_create(*state, &builder), REGAL_OK);
  regal_builder_add_op(builder, "good", 1, 0, 0, NULL);
  regal_builder_add_op(builder,
                       "b\xFF"
                       "d",
                       1, 0, 0, NULL);
  assert_int_equal(regal_builder_finish(builder, &graph), REGAL_OK);
  assert_int_equal(
      regal_graph_save(*state, graph, "/dev/null", REGAL_GRAPH_JSON),
      REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(*state),
      "/dev/null: the name of op 1 is not UTF-8, which JSON needs");
  assert_int_equal(regal_graph_save(*state, graph, "/dev/null", 3),
                   REGAL_MISUSE);
  regal_graph_free(graph);
}

/* Another reader finds in it what the graph has. */
static void check_with_jansson(const regal_graph *graph,
                               const regal_text *text) {
  json_error_t error;
  json_t *root = json_loadb(text->bytes, text->size, 0, &error);
  if (!root)
    fail_msg("line %d: %s", error.line, error.text);
  json_t *ops = json_object_get(root, "ops"), *op;
  size_t index;
  assert_int_equal(json_array_size(ops), graph->ops);
  assert_int_equal(json_array_size(json_object_get(root, "parameters")),
                   graph->parameters);
  json_int_t work = 0, inputs = 0, controls = 0, uses = 0;
  json_array_foreach(ops, index, op) {
    work += json_integer_value(json_object_get(op, "run_ns"));
    inputs += json_array_size(json_object_get(op, "inputs"));
    controls += json_array_size(json_object_get(op, "control"));
    uses += json_array_size(json_object_get(op, "parameters"));
  }
  assert_true(work == graph->work_ns);
  assert_int_equal(inputs, graph->uses);
  assert_int_equal(controls, graph->controls);
  assert_int_equal(uses, graph->parameter_begin[graph->ops]);
  json_decref(root);
}

static void random_graphs_come_back(void **state) {
  uint32_t parameters = 0, marks = 0, shuffled = 0;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    regal_graph *graph;
    regal_test_random_graph(*state, seed, seed % 100 ? 12 : 200, &graph);
    parameters += graph->parameters > 0;
    marks += graph->reusing_tensors > 0;
    shuffled += graph->id[0] != 0;
    check_all_trips(*state, graph);
    regal_text text = saved(*state, graph, REGAL_GRAPH_JSON);
    check_with_jansson(graph, &text);
    regal_text_free(&text);
    regal_graph_free(graph);
  }
  assert_true(parameters > 100 && marks > 100 && shuffled > 100);
}

/* A real file: through JSON and back it is what it would be without. */
static void cost_graphs_come_back(void **state) {
  static const char *const paths[] = {
      REGAL_TEST_DATA "/graphs/torch/tv_alexnet_infer.pb",
      REGAL_TEST_DATA "/graphs/tf/vae_train.pb"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    regal_graph *graph;
    if (regal_graph_load(*state, paths[i], NULL, &graph) != REGAL_OK)
      fail_msg("%s", regal_error(*state));
    regal_text direct = saved(*state, graph, REGAL_GRAPH_BINARY);
    regal_text json = saved(*state, graph, REGAL_GRAPH_JSON);
    regal_graph *other = loaded(*state, &json);
    regal_text back = saved(*state, other, REGAL_GRAPH_BINARY);
    assert_same_text(&direct, &back);
    regal_text_free(&direct);
    regal_text_free(&json);
    regal_text_free(&back);
    regal_graph_free(other);
    regal_graph_free(graph);
  }
}

/* -- Memory ---------------------------------------------------------------- */

static regal_status load_and_save(regal_context *context, const void *state) {
  const char *bytes = state;
  regal_graph *graph;
  regal_text text;
  REGAL_TRY(
      regal_graph_load_bytes(context, "t", bytes, strlen(bytes), NULL, &graph));
  regal_text_init(&text, context);
  regal_status status = regal_json_graph_save(context, "out", graph, &text);
  regal_text_free(&text);
  if (status == REGAL_OK)
    status = regal_cost_graph_save_binary(context, "out", graph, &text);
  regal_text_free(&text);
  regal_graph_free(graph);
  return status;
}

static void leaves_nothing_without_memory(void **state) {
  (void)state;
  char *bytes = files_read(GOOD "example.json");
  assert_non_null(bytes);
  assert_true(fail_each_allocation(load_and_save, bytes) > 50);
  free(bytes);
}

/* A chain of `ops` ops that all read one parameter. */
static regal_text long_chain(regal_context *context, uint32_t ops) {
  regal_text text;
  regal_text_init(&text, context);
  regal_text_format(&text, "{\"regal_graph\": 1, \"parameters\": [1],"
                           " \"ops\": [{\"name\": \"op0\", \"outputs\": [1]}");
  for (uint32_t i = 1; i < ops; i++)
    regal_text_format(&text,
                      ",\n{\"name\": \"op%u\", \"run_ns\": 1, \"outputs\": "
                      "[1], \"inputs\": [\"op%u\"], \"parameters\": [0]}",
                      i, i - 1);
  regal_text_format(&text, "]}");
  return text;
}

static void memory_is_linear(void **state) {
  (void)state;
  size_t peak[2];
  for (int i = 0; i < 2; i++) {
    regal_context *context;
    assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
    regal_text text = long_chain(context, 15000u << i);
    regal_graph *graph = loaded(context, &text);
    assert_int_equal(graph->work_ns, (15000 << i) - 1);
    peak[i] = regal_bytes_peak(context);
    assert_true(peak[i] < 25 * text.size);
    regal_text_free(&text);
    regal_graph_free(graph);
    regal_context_free(context);
  }
  assert_true(peak[1] < 2.2 * (double)peak[0]);
}

/* -- The schema ------------------------------------------------------------ */

/* The schema has the reader's keys, all of them and no other, and closed. */
static void check_keys(json_t *object, const char *const *keys) {
  json_t *properties = json_object_get(object, "properties");
  size_t count = 0;
  for (; keys[count]; count++)
    if (!json_object_get(properties, keys[count]))
      fail_msg("the schema has no \"%s\"", keys[count]);
  assert_int_equal(json_object_size(properties), count);
  assert_true(json_is_false(json_object_get(object, "additionalProperties")));
}

static void schema_has_the_same_keys(void **state) {
  (void)state;
  json_error_t error;
  json_t *schema =
      json_load_file(DOCS "graph.schema.json", JSON_REJECT_DUPLICATES, &error);
  if (!schema)
    fail_msg("line %d: %s", error.line, error.text);
  json_t *parts = json_object_get(schema, "$defs");
  check_keys(schema, regal_json_graph_keys);
  check_keys(json_object_get(parts, "op"), regal_json_op_keys);
  json_t *output = json_object_get(json_object_get(parts, "output"), "oneOf");
  check_keys(json_array_get(output, 0), regal_json_output_keys);
  json_t *parameter =
      json_object_get(json_object_get(parts, "parameter"), "oneOf");
  check_keys(json_array_get(parameter, 0), regal_json_parameter_keys);
  json_decref(schema);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_defect_has_its_message),
      CONTEXT_TEST(reads_the_example),
      CONTEXT_TEST(wishes_survive),
      cmocka_unit_test(example_is_the_documented_one),
      CONTEXT_TEST(short_forms_are_the_long_ones),
      CONTEXT_TEST(keeps_the_order_of_the_file),
      CONTEXT_TEST(tells_binary_from_json),
      CONTEXT_TEST(refers_by_position_where_it_must),
      CONTEXT_TEST(refuses_names_that_are_no_text),
      CONTEXT_TEST(random_graphs_come_back),
      CONTEXT_TEST(cost_graphs_come_back),
      cmocka_unit_test(leaves_nothing_without_memory),
      cmocka_unit_test(memory_is_linear),
      cmocka_unit_test(schema_has_the_same_keys),
  };
  return cmocka_run_group_tests_name("json_graph", tests, NULL, NULL);
}
