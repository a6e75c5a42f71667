/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: what it makes of values, what it refuses, and the places
 * that its messages name. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "format/json/json.h"
#include "support/failing_allocator.h"

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

/* Parses a copy without anything behind it, so that the address sanitizer sees
 * whoever reads on; it is gone before the values are looked at. */
static regal_status parse_in(regal_context *where, const char *text,
                             size_t size, regal_json *json) {
  char *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, text, size);
  regal_status status = regal_json_parse(where, "x.json", copy, size, json);
  free(copy);
  return status;
}

static void parse(const char *text, regal_json *json) {
  if (parse_in(context, text, strlen(text), json) != REGAL_OK)
    fail_msg("%s", regal_error(context));
}

/* -- Values ---------------------------------------------------------------- */

static void check_node(const regal_json *json, uint32_t node, uint32_t line,
                       regal_json_kind kind, const char *key,
                       const char *text) {
  const regal_json_node *value = &json->nodes[node];
  assert_int_equal(value->line, line);
  assert_int_equal(value->kind, kind);
  assert_int_equal(value->key != NULL, key != NULL);
  assert_int_equal(value->text != NULL, text != NULL);
  if (key)
    assert_string_equal(value->key, key);
  if (text)
    assert_string_equal(value->text, text);
}

static void values_have_kinds_and_lines(void **state) {
  (void)state;
  regal_json json;
  parse("\n{\"a\": [true,\n  false , null\n],\r\n\"b\"\n:\n\n-1.5e+3, \"c\":"
        "{\n},\n \"d\\n\": \"e\" }\n",
        &json);
  assert_int_equal(json.count, 8);
  check_node(&json, 0, 2, REGAL_JSON_OBJECT, NULL, NULL);
  check_node(&json, 1, 2, REGAL_JSON_ARRAY, "a", NULL);
  check_node(&json, 2, 2, REGAL_JSON_TRUE, NULL, NULL);
  check_node(&json, 3, 3, REGAL_JSON_FALSE, NULL, NULL);
  check_node(&json, 4, 3, REGAL_JSON_NULL, NULL, NULL);
  check_node(&json, 5, 8, REGAL_JSON_NUMBER, "b", "-1.5e+3");
  check_node(&json, 6, 8, REGAL_JSON_OBJECT, "c", NULL);
  check_node(&json, 7, 10, REGAL_JSON_STRING, "d\n", "e");
  static const uint32_t next[] = {0, 5, 3, 4, 0, 6, 7, 0};
  static const uint32_t child[] = {1, 2, 0, 0, 0, 0, 0, 0};
  for (uint32_t i = 0; i < 8; i++) {
    assert_int_equal(json.nodes[i].next, next[i]);
    assert_int_equal(json.nodes[i].child, child[i]);
  }
  assert_int_equal(regal_json_length(&json, 1), 3);
  regal_json_free(&json);
}

static void check_single(const char *text, regal_json_kind kind,
                         const char *expected) {
  regal_json json;
  parse(text, &json);
  assert_int_equal(json.count, 1);
  check_node(&json, 0, 1, kind, NULL, expected);
  regal_json_free(&json);
}

static void numbers_keep_their_digits(void **state) {
  (void)state;
  static const char *const numbers[] = {"0",
                                        "-0",
                                        "12",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "123456789012345678901234567890",
                                        "0.10",
                                        "1E400",
                                        "-2.50e-07"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    check_single(numbers[i], REGAL_JSON_NUMBER, numbers[i]);
  regal_json json;
  int64_t value;
  parse("[9223372036854775807, -9223372036854775808, 9223372036854775808]",
        &json);
  assert_int_equal(regal_json_integer(&json, 1, INT64_MIN, INT64_MAX, &value),
                   REGAL_OK);
  assert_true(value == INT64_MAX);
  assert_int_equal(regal_json_integer(&json, 2, INT64_MIN, INT64_MAX, &value),
                   REGAL_OK);
  assert_true(value == INT64_MIN);
  assert_int_equal(regal_json_integer(&json, 3, INT64_MIN, INT64_MAX, &value),
                   REGAL_BAD_INPUT);
  regal_json_free(&json);
}

static void strings_are_decoded(void **state) {
  (void)state;
  check_single("\"\"", REGAL_JSON_STRING, "");
  check_single(" \"\\\"\\\\\\/\\b\\f\\n\\r\\t\" ", REGAL_JSON_STRING,
               "\"\\/\b\f\n\r\t");
  check_single("\"a\\u0001\\u007f\\u00e9\\u20AC\\uFFFFz\"", REGAL_JSON_STRING,
               "a\x01\x7f\xc3\xa9\xe2\x82\xac\xef\xbf\xbfz");
  check_single("\"\\ud83d\\uDE00\\uD800\\udc00\\uDBFF\\uDFFF\"",
               REGAL_JSON_STRING,
               "\xf0\x9f\x98\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  check_single("\"\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
               REGAL_JSON_STRING, "\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

/* -- Refusals -------------------------------------------------------------- */

static void check_refused(const char *text, size_t size, const char *message) {
  char expected[160];
  regal_json json;
  snprintf(expected, sizeof expected, "x.json:%s", message);
  assert_int_equal(parse_in(context, text, size, &json), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), expected);
  assert_null(json.nodes);
  assert_null(json.strings);
}

static void syntax_errors_have_a_place(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", "1:1: the file ends, expected a value"},
      {" \n ", "2:2: the file ends, expected a value"},
      {"[", "1:2: the file ends, expected the end of the list that begins on "
            "line 1"},
      {"[\n{}, ", "2:5: the file ends, expected the end of the list that "
                  "begins on line 1"},
      {"[\n{\"a\": \"b", "2:9: the file ends, expected the end of a string"},
      {"[\n{\"a\":", "2:6: the file ends, expected a value"},
      {"[\n{\"a\" ", "2:6: the file ends, expected ':'"},
      {"{\"a\": 1\n", "2:1: the file ends, expected the end of the object that "
                      "begins on line 1"},
      {"\"abc", "1:5: the file ends, expected the end of a string"},
      {"\"abc\\", "1:6: the file ends, expected one of \"\\/bfnrtu after a "
                  "backslash"},
      {"-", "1:2: the file ends, expected a digit"},
      {"[1e", "1:4: the file ends, expected a digit"},
      {"[1, tru", "1:5: found 't', expected null, true or false"},
      {"[1,\n nulL]", "2:2: found 'n', expected null, true or false"},
      {"{1", "1:2: found '1', expected a key in quotes"},
      {"{} 12", "1:4: found '1', expected the end of the file"},
      {"{}}", "1:3: found '}', expected the end of the file"},
      {"{}\n,", "2:1: found ',', expected the end of the file"},
      {"[] \"abc", "1:4: found '\"', expected the end of the file"},
      {"[] -", "1:4: found '-', expected the end of the file"},
      {"[1,,2]", "1:4: found ',', expected a value"},
      {"[1 , \n]", "2:1: found ']', expected a value"},
      {"[,1]", "1:2: found ',', expected a value"},
      {"[1:2]", "1:3: found ':', expected ',' or ']'"},
      {"[1 \"a\"]", "1:4: found '\"', expected ',' or ']'"},
      {"[01]", "1:3: found '1', expected ',' or ']'"},
      {"{\"a\":1 : 2}", "1:8: found ':', expected ',' or '}'"},
      {"{\"a\":1 \"long key\": 2}", "1:8: found '\"', expected ',' or '}'"},
      {"{\"a\":1 {}}", "1:8: found '{', expected ',' or '}'"},
      {"{\"a\", 1}", "1:5: found ',', expected ':'"},
      {"{\"a\" \"b\"}", "1:6: found '\"', expected ':'"},
      {"{\"a\":,}", "1:6: found ',', expected a value"},
      {"{\"a\"::1}", "1:6: found ':', expected a value"},
      {"{\"a\":1,}", "1:8: found '}', expected a key in quotes"},
      {"{,}", "1:2: found ',', expected a key in quotes"},
      {"[+1]", "1:2: found '+', expected a value"},
      {"[1, 'a']", "1:5: found ''', expected a value"},
      {"[1 /* one */]", "1:4: found '/', expected JSON, which has no "
                        "comments"},
      {"[1, // one\n]", "1:5: found '/', expected JSON, which has no comments"},
      {"[-a]", "1:3: found 'a', expected a digit"},
      {"[1.]", "1:4: found ']', expected a digit"},
      {"[1e+]", "1:5: found ']', expected a digit"},
      {"[\"a\tb\"]", "1:4: found byte 0x09, expected the end of a string"},
      {"[\"a\\x\"]", "1:5: found 'x', expected one of \"\\/bfnrtu after a "
                     "backslash"},
      {"[\"\\u12g4\"]", "1:7: found 'g', expected four hexadecimal digits"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_refused(cases[i][0], strlen(cases[i][0]), cases[i][1]);
}

static void what_is_no_text_is_refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"[1,\v2]", "1:4: found byte 0x0b, expected a value"},
      {"[]\f", "1:3: found byte 0x0c, expected the end of the file"},
      {"\"\x01\"", "1:2: found byte 0x01, expected the end of a string"},
      {"\xef\xbb\xbf{}", "1:1: found byte 0xef, expected a value"},
      {"\"\xff\"", "1:2: found byte 0xff, expected UTF-8 text"},
      {"\"\xc1\xbf\"", "1:2: found byte 0xc1, expected UTF-8 text"},
      {"\"\xed\xa0\x80\"", "1:2: found byte 0xed, expected UTF-8 text"},
      {"\"a\xe2\x82", "1:3: found byte 0xe2, expected UTF-8 text"},
      {"\"a\\u0000\"", "1:3: a string may not contain \\u0000"},
      {"\"\\\\\\u0000\"", "1:4: a string may not contain \\u0000"},
      {"\"\\ud800\"", "1:2: half of a surrogate pair"},
      {"\"\\uDC00\"", "1:2: half of a surrogate pair"},
      {"\"\\ud800\\ud800\"", "1:2: half of a surrogate pair"},
      {"\"\\ud800\\u0041\"", "1:2: half of a surrogate pair"},
      {"\"\\ud800\\n\"", "1:2: half of a surrogate pair"},
      {"\"\\ud800", "1:2: half of a surrogate pair"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_refused(cases[i][0], strlen(cases[i][0]), cases[i][1]);
  check_refused("[0\0]", 4, "1:3: found byte 0x00, expected UTF-8 text");
  check_single("\"\\\\u0000\"", REGAL_JSON_STRING, "\\u0000");
}

static void nesting_is_limited(void **state) {
  (void)state;
  char text[131] = {0};
  regal_json json;
  memset(text, '[', 64);
  memset(text + 64, ']', 64);
  parse(text, &json);
  assert_int_equal(json.count, 64);
  regal_json_free(&json);
  memset(text, '[', 65);
  memset(text + 65, ']', 65);
  check_refused(text, 130, "1:65: nested too deeply");
}

static void messages_are_one_line(void **state) {
  (void)state;
  static const char *const keys[] = {"b", NULL};
  uint32_t found[1];
  regal_json json;
  parse("\n{\"a\\n\": \"x\\r\\u007fy\"}", &json);
  assert_int_equal(regal_json_members(&json, 0, true, keys, found),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "x.json:2: a?: unknown key, expected one of b");
  assert_int_equal(regal_json_expect(&json, 1, REGAL_JSON_ARRAY),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "x.json:2: a?: found \"x??y\", expected a list");
  regal_json_free(&json);
}

static void messages_name_the_place(void **state) {
  (void)state;
  static const struct {
    uint32_t node;
    const char *message;
  } cases[] = {
      {0, "x.json:1: wrong"},
      {1, "x.json:1: ops: wrong"},
      {2, "x.json:1: ops[0]: wrong"},
      {3, "x.json:1: ops[1] \"conv\": wrong"},
      {4, "x.json:1: ops[1] \"conv\": name: wrong"},
      {5, "x.json:1: ops[1] \"conv\": inputs: wrong"},
      {6, "x.json:1: ops[1] \"conv\": inputs[0]: wrong"},
      {9, "x.json:1: ops[1] \"conv\": inputs[1]: wrong"},
      {11, "x.json:1: ops[1] \"conv\": inputs[1][1]: wrong"},
      {13, "x.json:2: ops[2] \"c?\": op: wrong"},
      {14, "x.json:2: ops[3]: wrong"},
      {15, "x.json:2: ops[3]: name: wrong"},
      {17, "x.json:2: ops[3]: deep: er: wrong"},
      {18, "x.json:2: last: wrong"},
  };
  regal_json json;
  parse("{\"ops\": [7, {\"name\": \"conv\", \"inputs\": [[\"a\", 0], [\"b\", "
        "1]]},\n{\"op\": \"c\\n\"}, {\"name\": 8, \"deep\": {\"er\": 9}}], "
        "\"last\": {}}",
        &json);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_json_fail(&json, cases[i].node, "wrong");
    assert_string_equal(regal_error(context), cases[i].message);
  }
  regal_json_free(&json);
}

static void long_places_are_cut(void **state) {
  (void)state;
  char text[70 * 60 + 1] = {0};
  regal_json json;
  for (size_t i = 0; i < 60; i++)
    memcpy(
        text + 70 * i,
        "{\"0123456789012345678901234567890123456789012345678901234567890123\":"
        "  ",
        70);
  text[70 * 60 - 1] = '7';
  char whole[sizeof text + 60];
  snprintf(whole, sizeof whole, "%s%.*s", text, 60,
           "}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}");
  parse(whole, &json);
  regal_json_fail(&json, 60, "wrong");
  assert_non_null(strstr(regal_error(context), "x.json:1: 0123456789"));
  assert_non_null(strstr(regal_error(context), ": wrong"));
  regal_json_free(&json);
}

/* -- Memory ---------------------------------------------------------------- */

/* `count` bytes that begin with `first`, for tokens of any length. */
static void check_long_token(const char *first, size_t count) {
  size_t used = strlen(first);
  char *text = malloc(count + 2);
  assert_non_null(text);
  memset(text, '7', count);
  memcpy(text, first, used);
  text[count] = '"';
  text[count + 1] = 0;
  bool is_string = *first == '"';
  regal_json json;
  if (is_string) /* cut off by the end of the file */
    assert_int_equal(parse_in(context, text, count, &json), REGAL_BAD_INPUT);
  assert_int_equal(parse_in(context, text, count + is_string, &json), REGAL_OK);
  size_t skipped = is_string ? used : 0;
  const char *tail = strchr(json.nodes[0].text, '7');
  assert_int_equal(strlen(tail), count - skipped);
  assert_int_equal(strspn(tail, "7"), count - skipped);
  regal_json_free(&json);
  free(text);
}

static void long_tokens_fit(void **state) {
  (void)state;
  for (size_t count = 10; count <= 100000; count = 3 * count + 1) {
    check_long_token("\"", count);
    check_long_token("\"\\n", count);
    check_long_token("\"\\u20ac\\\"", count);
    check_long_token("7", count);
  }
}

static void memory_is_linear(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  char *text = malloc(8 * COUNT + 1);
  assert_non_null(text);
  for (size_t i = 0; i < COUNT; i++)
    memcpy(text + 8 * i, i ? ",\"\\nabc\"" : "[\"\\nabc\"", 8);
  text[8 * COUNT] = ']';
  regal_context *fresh;
  regal_json json;
  assert_int_equal(regal_context_create(&fresh, NULL), REGAL_OK);
  assert_int_equal(parse_in(fresh, text, 8 * COUNT + 1, &json), REGAL_OK);
  assert_int_equal(json.count, COUNT + 1);
  assert_true(regal_bytes_peak(fresh) <
              8 * COUNT + json.capacity * sizeof *json.nodes + 4096);
  regal_json_free(&json);
  assert_int_equal(regal_bytes_in_use(fresh), 0);
  regal_context_free(fresh);
  free(text);
}

static void survives_failing_allocations(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{\"a\\n\": [1, 2, {\"b\": [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}]}",
      "[1, 2,, 3]"};
  for (size_t i = 0; i < 2; i++) {
    regal_status expected = i ? REGAL_BAD_INPUT : REGAL_OK;
    for (size_t n = 2;; n++) {
      failing_allocator memory = {.fail_at = n};
      regal_allocator allocator = failing_allocator_of(&memory);
      regal_context *frail;
      regal_json json;
      assert_int_equal(regal_context_create(&frail, &allocator), REGAL_OK);
      regal_status status = parse_in(frail, texts[i], strlen(texts[i]), &json);
      if (status == REGAL_NO_MEMORY)
        assert_string_equal(regal_error(frail), "out of memory");
      regal_json_free(&json);
      regal_context_free(frail);
      assert_int_equal(memory.blocks, 0);
      assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : expected);
      if (!memory.failed)
        break;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_have_kinds_and_lines),
      cmocka_unit_test(numbers_keep_their_digits),
      cmocka_unit_test(strings_are_decoded),
      cmocka_unit_test(syntax_errors_have_a_place),
      cmocka_unit_test(what_is_no_text_is_refused),
      cmocka_unit_test(nesting_is_limited),
      cmocka_unit_test(messages_are_one_line),
      cmocka_unit_test(messages_name_the_place),
      cmocka_unit_test(long_places_are_cut),
      cmocka_unit_test(long_tokens_fit),
      cmocka_unit_test(memory_is_linear),
      cmocka_unit_test(survives_failing_allocations),
  };
  return cmocka_run_group_tests_name("json", tests, set_up, tear_down);
}
