/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of comma-separated values: every rule, every message, and that what is
 * written reads back. */
#include "base/csv.h"
#include "support/files.h"
#include "support/graph_sketch.h"

typedef struct example {
  const char *text;
  const char *rows; /* "LINE:field|field|;LINE:..." */
} example;

static const example examples[] = {
    {"", ""},
    {"\n\r\n\n", ""},
    {"a", "1:a|;"},
    {"a,b\nc,d\n", "1:a|b|;2:c|d|;"},
    {"a,b\r\nc,d\r\n", "1:a|b|;2:c|d|;"},
    {"a,b\r", "1:a|b|;"},
    {"a\rb,c\n", "1:a\rb|c|;"},
    {"\n\r\na\n\n\nb\n\n", "3:a|;6:b|;"},
    {",\n", "1:||;"},
    {"a,", "1:a||;"},
    {"\"\"\n", "1:|;"},
    {"\" a \", b \n", "1: a | b |;"},
    {"\"a, b\",\"say \"\"no\"\"\"\n", "1:a, b|say \"no\"|;"},
    {"\"a\r\nb\",c\nd", "1:a\r\nb|c|;3:d|;"},
    {"\"a\"\r\n\"b\"", "1:a|;2:b|;"},
};

static void rows_are_read(void **state) {
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    char bytes[128], rows[256] = "";
    regal_csv csv;
    strcpy(bytes, examples[i].text);
    regal_csv_open(&csv, *state, "x.csv", 1, bytes, strlen(bytes));
    for (;;) {
      assert_int_equal(regal_csv_next(&csv), REGAL_OK);
      if (!csv.count)
        break;
      sprintf(rows + strlen(rows), "%u:", csv.row);
      for (size_t k = 0; k < csv.count; k++)
        sprintf(rows + strlen(rows), "%s|", csv.fields[k]);
      strcat(rows, ";");
    }
    assert_string_equal(rows, examples[i].rows);
    assert_int_equal(regal_csv_next(&csv), REGAL_OK); /* it stays at the end */
    assert_int_equal(csv.count, 0);
  }
}

static void wrong_rows_are_refused(void **state) {
  static const struct {
    const char *text;
    size_t size;
    const char *message;
  } cases[] = {
      {"a\n\"b\nc\n", 7,
       "x.csv:2: found a field that begins with a quote, expected one at its "
       "end, too"},
      {"\"", 1,
       "x.csv:1: found a field that begins with a quote, expected one at its "
       "end, too"},
      {"\"\"\"", 3,
       "x.csv:1: found a field that begins with a quote, expected one at its "
       "end, too"},
      {"\"a\"b,c\n", 7,
       "x.csv:1: found text behind a closing quote, expected a comma or the "
       "end of the line"},
      {"\"a\"\rb\n", 6,
       "x.csv:1: found text behind a closing quote, expected a comma or the "
       "end of the line"},
      {"a\"b\",c\n", 7,
       "x.csv:1: found a quote inside of a field, expected the field in quotes "
       "and it doubled"},
      {"a\nb\0c\n", 6, "x.csv:2: found a zero byte, expected text"},
      {"\"a\0\"\n", 5, "x.csv:1: found a zero byte, expected text"},
      {"a\0", 2, "x.csv:1: found a zero byte, expected text"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char bytes[128];
    regal_csv csv;
    regal_status status;
    memcpy(bytes, cases[i].text, cases[i].size);
    bytes[cases[i].size] = 0;
    regal_csv_open(&csv, *state, "x.csv", 1, bytes, cases[i].size);
    do
      status = regal_csv_next(&csv);
    while (status == REGAL_OK && csv.count);
    assert_int_equal(status, REGAL_BAD_INPUT);
    assert_string_equal(regal_error(*state), cases[i].message);
  }
}

static void rows_have_a_limit(void **state) {
  char bytes[REGAL_MOST_CSV_FIELDS + 1];
  regal_csv csv;
  for (int more = 0; more < 2; more++) {
    size_t size = REGAL_MOST_CSV_FIELDS - 1 + (size_t)more;
    memset(bytes, ',', size);
    bytes[size] = 0;
    regal_csv_open(&csv, *state, "x.csv", 7, bytes, size);
    assert_int_equal(regal_csv_next(&csv), more ? REGAL_BAD_INPUT : REGAL_OK);
    assert_int_equal(csv.count, REGAL_MOST_CSV_FIELDS);
  }
  assert_string_equal(regal_error(*state),
                      "x.csv:7: found more than 256 fields");
}

static void a_head_is_the_first_line(void **state) {
  static const struct {
    const char *text;
    bool head;
  } cases[] = {{"graph,cost\r\n", true},  {"\"graph\",\"cost\"", true},
               {"\ngraph,cost\n", false}, {"graph,cost,more\n", false},
               {"cost,graph\n", false},   {"graph\n", false},
               {"graph, cost\n", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char bytes[32];
    regal_csv csv;
    strcpy(bytes, cases[i].text);
    regal_csv_open(&csv, *state, "x.csv", 1, bytes, strlen(bytes));
    assert_int_equal(regal_csv_next(&csv), REGAL_OK);
    assert_int_equal(regal_csv_is_head(&csv, "graph", "cost"), cases[i].head);
  }
}

static void fields_read_back(void **state) {
  static const char *const fields[] = {
      "plain", "", "with, comma", "with \"quotes\"", "\"", "two\r\nlines", "\r",
  };
  enum { COUNT = sizeof fields / sizeof *fields };
  regal_text text;
  regal_csv csv;
  regal_text_init(&text, *state);
  for (size_t i = 0; i < COUNT; i++) {
    regal_text_append(&text, ",", i > 0);
    regal_text_csv(&text, fields[i]);
  }
  regal_csv_open(&csv, *state, "x.csv", 1, text.bytes, text.size);
  assert_int_equal(regal_csv_next(&csv), REGAL_OK);
  assert_int_equal(csv.count, COUNT);
  for (size_t i = 0; i < COUNT; i++)
    assert_string_equal(csv.fields[i], fields[i]);
  regal_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(rows_are_read),     CONTEXT_TEST(wrong_rows_are_refused),
      CONTEXT_TEST(rows_have_a_limit), CONTEXT_TEST(a_head_is_the_first_line),
      CONTEXT_TEST(fields_read_back),
  };
  return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
