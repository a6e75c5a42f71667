/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats: that its rows agree with the public names, and that
 * files are detected by content and written by ending. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "base/options/options.h"
#include "format/formats.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/loaded_graph.h"

static regal_context *context;

static int set_up(void **state) {
  return files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

/* --format has `auto`, then the first rows, by the value of their format. */
static void choices_are_the_first_rows(void **state) {
  (void)state;
  char expected[128] = "auto";
  for (int format = 0;; format++) {
    const regal_format *row = regal_format_written((regal_graph_format)format);
    if (!row)
      break;
    strcat(strcat(expected, "|"), row->name);
  }
  assert_string_equal(regal_option_at(regal_option_find("format"))->choices,
                      expected);
}

static void rows_are_whole_and_distinct(void **state) {
  (void)state;
  const regal_format *row, *other;
  for (size_t i = 0; (row = regal_format_at(i)); i++) {
    assert_non_null(row->detect);
    assert_non_null(row->load);
    for (size_t k = 0; k < REGAL_MOST_ENDINGS && row->endings[k]; k++) {
      assert_int_equal(row->endings[k][0], '.');
      char path[32];
      snprintf(path, sizeof path, "x%s", row->endings[k]);
      regal_graph_format format;
      assert_int_equal(regal_format_by_ending(path, &format),
                       row->save != NULL);
      if (row->save)
        assert_ptr_equal(regal_format_at(format), row);
    }
    for (size_t k = 0; k < i && (other = regal_format_at(k)); k++) {
      assert_string_not_equal(row->name, other->name);
      assert_string_not_equal(row->endings[0], other->endings[0]);
    }
  }
}

static void endings_choose_the_format(void **state) {
  (void)state;
  static const struct {
    const char *path;
    regal_graph_format format;
  } cases[] = {{"x.pb", REGAL_GRAPH_BINARY},
               {"a/b.pbtxt", REGAL_GRAPH_TEXT},
               {"x.json.txt", REGAL_GRAPH_TEXT},
               {"x.json", REGAL_GRAPH_JSON}};
  regal_graph_format format;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(regal_graph_format_of(context, cases[i].path, &format),
                     REGAL_OK);
    assert_int_equal(format, cases[i].format);
  }
  static const char *const others[] = {"x.onnx", "x.PB", "pb", "x.pb.gz", ""};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_int_equal(regal_graph_format_of(context, others[i], &format),
                     REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "'' does not end in .pb, .pbtxt, .txt or .json");
  assert_int_equal(regal_graph_format_of(context, NULL, &format), REGAL_MISUSE);
  assert_int_equal(regal_graph_format_of(NULL, "x.pb", &format), REGAL_MISUSE);
}

/* The row that takes the bytes, asked as the reader asks. */
static const char *detected(const char *bytes, size_t size) {
  size_t row = 0;
  while (regal_format_at(row + 1))
    row++;
  while (row && !regal_format_at(row)->detect(bytes, size))
    row--;
  return regal_format_at(row)->name;
}

static void content_tells_the_format(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
    const char *name;
  } cases[] = {{"\n\x02\x0a\x00", 4, "binary"},
               {"\x0a\x00", 2, "binary"},
               {"\xff", 1, "binary"}, /* none: its reader says why */
               {"node {}", 7, "text"},
               {"", 0, "text"},
               {"{", 1, "json"},
               {" \t\r\n{}", 6, "json"},
               {"\x08\x07", 2, "onnx"},
               {"\x12\x01x\x08\x07", 5, "onnx"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(detected(cases[i].bytes, cases[i].size), cases[i].name);
  /* A text that begins like JSON, and a message of 123 bytes. */
  char node[125] = "\n{";
  assert_string_equal(detected(node, sizeof node), "binary");
}

/* -- Options of readers ---------------------------------------------------- */

#define JSON_GRAPH                                                             \
  "{\"regal_graph\": 1, \"ops\": [{\"name\": \"a\", \"run_ns\": 100},\n"       \
  "{\"name\": \"b\", \"run_ns\": 200}]}"
/* compute_time is in microseconds. */
#define TEXT_GRAPH                                                             \
  "node { name: \"a\" id: 0 compute_time: 1 }\n"                               \
  "node { name: \"b\" id: 1 compute_time: 2 }\n"

static void options_are_those_of_reading(void **state) {
  (void)state;
  const regal_format *row;
  for (size_t i = 0; (row = regal_format_at(i)); i++)
    for (const char *at = row->options; *at;) {
      char name[64] = "";
      size_t length = strcspn(at, "|");
      memcpy(name, at, length);
      size_t option = regal_option_find(name);
      assert_true(option < regal_option_count());
      assert_string_equal(regal_option_at(option)->group, "reading");
      at += length + (at[length] == '|');
    }
}

static void options_in_vain_are_noted(void **state) {
  (void)state;
  regal_options options = loaded_options(context, "dim", "batch=8", "roofline",
                                         "potato", "loops", "cut", NULL);
  regal_graph *graph = loaded_graph(context, JSON_GRAPH, &options);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "--loops, --dim, --roofline: no effect on a graph in "
                     "format json");
  regal_graph_free(graph);
  graph = loaded_graph(context, TEXT_GRAPH, &options);
  loaded_expect_note(graph, REGAL_NOTE_WARNING,
                     "--dim, --roofline: no effect on a graph in format text");
  regal_graph_free(graph);
  graph = loaded_graph(context, JSON_GRAPH, NULL);
  loaded_expect_notes(graph, 0);
  regal_graph_free(graph);
}

static void costs_are_for_every_format(void **state) {
  (void)state;
  static const char *const texts[] = {JSON_GRAPH, TEXT_GRAPH};
  regal_options options = loaded_options(context, "costs", "costs.csv", NULL);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    files_write_text("costs.csv", "name,microseconds\nb,12.5\n");
    regal_graph *plain = loaded_graph(context, texts[i], NULL);
    regal_graph *graph = loaded_graph(context, texts[i], &options);
    assert_int_equal(graph->run_ns[loaded_op(graph, "b")], 12500);
    assert_int_equal(graph->run_ns[loaded_op(graph, "a")],
                     plain->run_ns[loaded_op(plain, "a")]);
    assert_int_equal(graph->work_ns, 12500 + graph->run_ns[0]);
    assert_int_not_equal(graph->checksum, plain->checksum);
    loaded_expect_note(graph, REGAL_NOTE_ASSUMED,
                       "run times of 1 op as measured in costs.csv");
    regal_graph_free(graph);
    regal_graph_free(plain);
    files_write_text("costs.csv", "c,1\n");
    graph = NULL;
    assert_int_equal(regal_graph_load_bytes(context, "t", texts[i],
                                            strlen(texts[i]), &options, &graph),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(context),
                        "costs.csv:1: the graph has no node \"c\"");
    assert_null(graph);
  }
}

static regal_status load_with_costs(regal_context *context, const void *state) {
  regal_options options = loaded_options(context, "costs", "costs.csv", NULL);
  regal_graph *graph = NULL;
  (void)state;
  regal_status status = regal_graph_load_bytes(
      context, "t", JSON_GRAPH, strlen(JSON_GRAPH), &options, &graph);
  regal_graph_free(graph);
  return status;
}

static void costs_need_memory(void **state) {
  (void)state;
  files_write_text("costs.csv", "b,12.5\n");
  fail_each_allocation(load_with_costs, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choices_are_the_first_rows),
      cmocka_unit_test(rows_are_whole_and_distinct),
      cmocka_unit_test(endings_choose_the_format),
      cmocka_unit_test(content_tells_the_format),
      cmocka_unit_test(options_are_those_of_reading),
      cmocka_unit_test(options_in_vain_are_noted),
      cmocka_unit_test(costs_are_for_every_format),
      cmocka_unit_test(costs_need_memory),
  };
  return cmocka_run_group_tests_name("formats", tests, set_up, tear_down);
}
