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

static regal_context *context;

static int set_up(void **state) {
  (void)state;
  return regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  (void)state;
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return 0;
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
                      "'' does not end in .pb, .pbtxt, .txt or .json: give "
                      "--format");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choices_are_the_first_rows),
      cmocka_unit_test(rows_are_whole_and_distinct),
      cmocka_unit_test(endings_choose_the_format),
      cmocka_unit_test(content_tells_the_format),
  };
  return cmocka_run_group_tests_name("formats", tests, set_up, tear_down);
}
