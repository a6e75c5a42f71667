/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf text format: everything that protoc and people write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "cost_graph.pb-c.h"
#include "format/proto/text_format.h"

typedef struct parsed {
  regal_context *context;
  regal_arena arena;
  regal_text_reader reader;
  Regal__CostGraphDef *def;
} parsed;

static regal_status parse(parsed *parsed, const char *text) {
  ProtobufCMessage *message = NULL;
  assert_int_equal(regal_context_create(&parsed->context, NULL), REGAL_OK);
  regal_arena_init(&parsed->arena, parsed->context);
  parsed->reader =
      (regal_text_reader){.arena = &parsed->arena, .line_field = 1};
  regal_status status = regal_lexer_start(
      &parsed->reader.lexer, parsed->context, "t", text, strlen(text));
  if (status == REGAL_OK)
    status = regal_text_format_read(
        &parsed->reader, &regal__cost_graph_def__descriptor, &message);
  parsed->def = (Regal__CostGraphDef *)message;
  return status;
}

static void release(parsed *parsed) {
  regal_arena_free(&parsed->arena);
  assert_int_equal(regal_bytes_in_use(parsed->context), 0);
  regal_context_free(parsed->context);
}

static void parse_valid(parsed *parsed, const char *text) {
  if (parse(parsed, text) != REGAL_OK)
    fail_msg("%s\n%s", text, regal_error(parsed->context));
}

static void expect_error(const char *text, const char *message) {
  parsed parsed;
  assert_int_equal(parse(&parsed, text), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(parsed.context), message);
  release(&parsed);
}

/* The message that a text stands for, printed as protoc would. */
static void expect_same(const char *text, const char *printed) {
  parsed parsed;
  regal_text out;
  parse_valid(&parsed, text);
  regal_text_init(&out, parsed.context);
  regal_text_format_write(&parsed.def->base, 0, &out);
  assert_string_equal(out.bytes ? out.bytes : "", printed);
  regal_text_free(&out);
  release(&parsed);
}

static void test_forms_of_messages(void **state) {
  (void)state;
  static const char same[] = "node {\n"
                             "  name: \"a\"\n"
                             "  id: 1\n"
                             "}\n"
                             "node {\n"
                             "  name: \"b\"\n"
                             "}\n";
  expect_same(same, same);
  expect_same("node{name:\"a\"id:1}node{name:\"b\"}", same);
  expect_same("node: <name: 'a'; id: 1,>; node < name: \"b\" >,", same);
  expect_same("# head\nnode { # of a\n name: \"a\" id: 1 #}\n}\n"
              "node { name: \"b\" } # end",
              same);
  expect_same("node: [{ name: \"a\" id: 1 }, < name: \"b\" >]", same);
  expect_same("node [{ name: \"a\" id: 1 }, { name: \"b\" }]", same);
  expect_same("node { name: \"a\" id: 1 }\r\n"
              "\tnode { name: \"b\" }\f\v",
              same);
  expect_same("1 { 1: \"a\" 3: 1 } 1 { 1: \"b\" }", same);
  expect_same("node: []", "");
  expect_same("", "");
  expect_same("node {}", "node {\n}\n");
}

static void test_lists(void **state) {
  (void)state;
  static const char same[] = "node {\n"
                             "  control_input: 3\n"
                             "  control_input: -1\n"
                             "  control_input: 16\n"
                             "}\n";
  expect_same(same, same);
  expect_same("node { control_input: [3, -1, 0x10] }", same);
  expect_same("node { control_input: 3 control_input: [] "
              "control_input: [-1,020], }",
              same);
}

static int64_t integer(const char *value) {
  char text[128];
  parsed parsed;
  snprintf(text, sizeof text, "node { compute_cost: %s }", value);
  parse_valid(&parsed, text);
  int64_t number = parsed.def->node[0]->compute_cost;
  release(&parsed);
  return number;
}

static void test_integers(void **state) {
  (void)state;
  assert_int_equal(integer("0"), 0);
  assert_int_equal(integer("42"), 42);
  assert_int_equal(integer("-42"), -42);
  assert_int_equal(integer("- 42"), -42);
  assert_int_equal(integer("0x2A"), 42);
  assert_int_equal(integer("-0X2a"), -42);
  assert_int_equal(integer("052"), 42);
  assert_int_equal(integer("00"), 0);
  assert_true(integer("9223372036854775807") == INT64_MAX);
  assert_true(integer("-9223372036854775808") == INT64_MIN);
  assert_true(integer("0x7fffffffffffffff") == INT64_MAX);
  expect_error("node { compute_cost: 18446744073709551615 }",
               "t:1:22: found '18446744073709551615', expected an integer from "
               "-9223372036854775808 to 9223372036854775807");
  expect_error("node { id: -2147483649 }",
               "t:1:13: found '2147483649', expected an integer from "
               "-2147483648 to 2147483647");
}

static float real(const char *value) {
  char text[128];
  parsed parsed;
  snprintf(text, sizeof text, "cost { cost: %s }", value);
  parse_valid(&parsed, text);
  float number = parsed.def->cost[0]->cost;
  release(&parsed);
  return number;
}

static void test_floats(void **state) {
  (void)state;
  assert_true(real("1.5") == 1.5f);
  assert_true(real("-.5") == -0.5f);
  assert_true(real("2.") == 2.0f);
  assert_true(real("3") == 3.0f);
  assert_true(real("1e3") == 1000.0f);
  assert_true(real("1E-2f") == 0.01f);
  assert_true(real("2.5e+1F") == 25.0f);
  assert_true(real("0x10") == 16.0f);
  assert_true(real("inf") == INFINITY);
  assert_true(real("-Infinity") == -INFINITY);
  assert_true(isnan(real("nan")));
  assert_true(real("1e400") == INFINITY);
  static const char *const bad[] = {"1e",  "e1",   ".",   "1..2",
                                    "1f2", "infi", "0xg", "\"1\""};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[64];
    parsed parsed;
    snprintf(text, sizeof text, "cost { cost: %s }", bad[i]);
    assert_int_equal(parse(&parsed, text), REGAL_BAD_INPUT);
    assert_non_null(strstr(regal_error(parsed.context), "expected a number"));
    release(&parsed);
  }
}

static void test_booleans(void **state) {
  (void)state;
  static const char *const yes[] = {"true", "True", "t", "1", "01", "0x1"};
  static const char *const no[] = {"false", "False", "f", "0", "00", "0x0"};
  for (size_t i = 0; i < 12; i++) {
    char text[64];
    parsed parsed;
    snprintf(text, sizeof text, "node { is_final: %s }",
             i < 6 ? yes[i] : no[i - 6]);
    parse_valid(&parsed, text);
    assert_int_equal(parsed.def->node[0]->is_final, i < 6);
    release(&parsed);
  }
  expect_error("node { is_final: 2 }",
               "t:1:18: found '2', expected true or false");
}

static int type_of(const char *value) {
  char text[128];
  parsed parsed;
  snprintf(text, sizeof text, "node { output_info { dtype: %s } }", value);
  parse_valid(&parsed, text);
  int type = parsed.def->node[0]->output_info[0]->dtype;
  release(&parsed);
  return type;
}

static void test_enums(void **state) {
  (void)state;
  assert_int_equal(type_of("DT_FLOAT"), 1);
  assert_int_equal(type_of("DT_UINT2_REF"), 132);
  assert_int_equal(type_of("9"), 9);
  assert_int_equal(type_of("-3"), -3);
  assert_int_equal(type_of("999"), 999);
  assert_int_equal(type_of("DT_OF_THE_FUTURE"), 0);
}

static void expect_name(const char *quoted, const char *name) {
  char text[256];
  parsed parsed;
  snprintf(text, sizeof text, "node { name: %s }", quoted);
  parse_valid(&parsed, text);
  assert_string_equal(parsed.def->node[0]->name, name);
  release(&parsed);
}

static void test_strings(void **state) {
  (void)state;
  expect_name("\"\"", "");
  expect_name("'it\"s'", "it\"s");
  expect_name("\"it's # no comment\"", "it's # no comment");
  expect_name("\"a\" 'b'\n# between\n\"c\"", "abc");
  expect_name("\"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\"",
              "\a\b\f\n\r\t\v\\'\"?");
  expect_name("\"\\1012\\7x\\101\"", "A2\ax"
                                     "A");
  expect_name("\"\\x41\\X4a\\x9\"", "AJ\t");
  expect_name("\"\\303\\251 \xC3\xA9\"", "\xC3\xA9 \xC3\xA9");
  expect_name("\"\\u00e9\\u20AC\"", "\xC3\xA9\xE2\x82\xAC");
  expect_name("\"\\ud83d\\ude00 \\U0001F600\"",
              "\xF0\x9F\x98\x80 \xF0\x9F\x98\x80");
}

static void test_unknown_fields_are_skipped(void **state) {
  (void)state;
  static const char same[] = "node {\n"
                             "  name: \"a\"\n"
                             "}\n";
  static const char *const unknown[] = {
      "novel: 5",
      "novel: -0x1F",
      "novel: -inf",
      "novel: 1.5e3f",
      "novel: WORD",
      "novel: \"text\" 'more'",
      "novel: [1, -2, \"three\"]",
      "novel: []",
      "novel { a: 1 b { c < d: [1] > } }",
      "novel: { a: 1; b: 2, }",
      "novel [ { a: 1 }, < b: 2 > ]",
      "[my.extension]: 5",
      "[my.extension] { a: [1, 2] }",
      "any { [type.googleapis.com/my-pkg.Message] { a: \"}\" } }",
      "1234: 5 77 { 1: 2 }",
      "a_name_that_is_longer_than_every_name_of_the_schema_and_more_so: 1",
  };
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s node { %s name: \"a\" %s } %s", unknown[i],
             unknown[i], unknown[i], unknown[i]);
    expect_same(text, same);
  }
}

static void test_every_field(void **state) {
  (void)state;
  static const char all[] = "node {\n"
                            "  name: \"tab\\t \\303\\251 \\\"q\\\" \\'s\\' "
                            "\\\\ \\001\"\n"
                            "  device: \"/cpu:0\"\n"
                            "  id: 7\n"
                            "  input_info {\n"
                            "    preceding_node: 1\n"
                            "    preceding_port: 2\n"
                            "  }\n"
                            "  output_info {\n"
                            "    size: -1\n"
                            "    alias_input_port: -1\n"
                            "    shape {\n"
                            "      dim {\n"
                            "        size: 3\n"
                            "        name: \"batch\"\n"
                            "      }\n"
                            "      unknown_rank: true\n"
                            "    }\n"
                            "    dtype: DT_HALF\n"
                            "    regal_final: REGAL_FINAL_NO\n"
                            "  }\n"
                            "  output_info {\n"
                            "    dtype: 999\n"
                            "  }\n"
                            "  temporary_memory_size: 1\n"
                            "  is_final: true\n"
                            "  control_input: 3\n"
                            "  compute_cost: 4\n"
                            "  host_temp_memory_size: 5\n"
                            "  device_temp_memory_size: 6\n"
                            "  persistent_memory_size: 7\n"
                            "  compute_time: 8\n"
                            "  memory_time: 9\n"
                            "  device_persistent_memory_size: 10\n"
                            "  inaccurate: true\n"
                            "  regal_run_ns: 11\n"
                            "}\n"
                            "cost {\n"
                            "  cost: 1.5\n"
                            "  dimension: \"time\"\n"
                            "}\n"
                            "regal_one_partition: true\n";
  expect_same(all, all);
}

static void test_lines_of_nodes(void **state) {
  (void)state;
  parsed parsed;
  parse_valid(&parsed, "\n# c\nnode {\n}\nnode {} node\n{}\n"
                       "node: [ {},\n {} ]\nnovel { node {} }");
  static const uint32_t lines[] = {3, 5, 5, 7, 8};
  assert_int_equal(parsed.def->n_node, 5);
  assert_int_equal(parsed.reader.line_count, 5);
  assert_memory_equal(parsed.reader.lines, lines, sizeof lines);
  release(&parsed);
}

static void test_depth(void **state) {
  (void)state;
  char text[1024] = "";
  for (int i = 0; i < REGAL_TEXT_DEPTH; i++)
    strcat(text, "a{");
  for (int i = 0; i < REGAL_TEXT_DEPTH; i++)
    strcat(text, "}");
  expect_same(text, "");
  char deeper[1100];
  snprintf(deeper, sizeof deeper, "a{%s}", text);
  expect_error(deeper, "t:1:202: found '{', expected messages that nest no "
                       "deeper than 100");
}

static void test_utf8(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size, valid;
  } cases[] = {
      {"abc", 3, 3},
      {"a\0b", 3, 1},
      {"\xC2\x80", 2, 2},
      {"\xC1\xBF", 2, 0},
      {"\xC3", 1, 0},
      {"\xE0\xA0\x80", 3, 3},
      {"\xE0\x9F\xBF", 3, 0},
      {"\xED\x9F\xBF", 3, 3},
      {"\xED\xA0\x80", 3, 0},
      {"\xF0\x90\x80\x80", 4, 4},
      {"\xF0\x8F\xBF\xBF", 4, 0},
      {"\xF4\x8F\xBF\xBF", 4, 4},
      {"\xF4\x90\x80\x80", 4, 0},
      {"ab\x80", 3, 2},
      {"\xFF", 1, 0},
      {"\xE2\x82", 2, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(regal_utf8_valid(cases[i].bytes, cases[i].size),
                     cases[i].valid);
  for (uint32_t point = 1; point < 0x110000; point += point < 0x900 ? 1 : 61) {
    char out[4];
    size_t size = regal_utf8_encode(point, out);
    bool surrogate = point >= 0xD800 && point < 0xE000;
    assert_int_equal(size, point < 0x80      ? 1
                           : point < 0x800   ? 2
                           : point < 0x10000 ? 3
                                             : 4);
    assert_int_equal(regal_utf8_valid(out, size), surrogate ? 0 : size);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms_of_messages),
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_floats),
      cmocka_unit_test(test_booleans),
      cmocka_unit_test(test_enums),
      cmocka_unit_test(test_strings),
      cmocka_unit_test(test_unknown_fields_are_skipped),
      cmocka_unit_test(test_every_field),
      cmocka_unit_test(test_lines_of_nodes),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_utf8),
  };
  return cmocka_run_group_tests_name("text format", tests, NULL, NULL);
}
