/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text, text for people and terminals, numbers with units. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

/* -- Text ------------------------------------------------------------------ */

static void appends_and_formats(void **state) {
  (void)state;
  char *longer = malloc(1001);
  memset(longer, 'x', 1000);
  longer[1000] = 0;
  regal_text text;
  regal_text_init(&text, context);
  regal_text_append(&text, "ab\0c", 4);
  assert_int_equal(text.size, 4);
  assert_memory_equal(text.bytes, "ab\0c", 5);
  regal_text_format(&text, "%d-%s", 42, longer);
  assert_int_equal(text.size, 4 + 3 + 1000);
  assert_memory_equal(text.bytes + 4, "42-x", 4);
  assert_int_equal(text.bytes[text.size], 0);
  assert_false(text.failed);
  regal_text_free(&text);
  free(longer);
}

static void check_json(const char *value, const char *expected) {
  regal_text text;
  regal_text_init(&text, context);
  regal_text_json(&text, value);
  assert_string_equal(text.bytes, expected);
  regal_text_free(&text);
}

static void writes_json_strings(void **state) {
  (void)state;
  check_json("", "\"\"");
  check_json("conv1/a", "\"conv1/a\"");
  check_json("a\"b\\c", "\"a\\\"b\\\\c\"");
  check_json("\b\f\n\r\t\x01\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u007f\"");
  check_json("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
             "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
  /* A stray byte, a cut sequence, an overlong form, a surrogate, too large. */
  check_json("a\xFFz", "\"a\xEF\xBF\xBDz\"");
  check_json("\xC3", "\"\xEF\xBF\xBD\"");
  check_json("\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  check_json("\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  check_json("\xF4\x90\x80\x80",
             "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

static void check_people(regal_shown (*show)(int64_t), int64_t value,
                         const char *expected) {
  assert_string_equal(show(value).text, expected);
}

static void writes_for_people(void **state) {
  (void)state;
  check_people(regal_show_duration, 0, "0 ns");
  check_people(regal_show_duration, 999, "999 ns");
  check_people(regal_show_duration, 1000, "1.00 us");
  check_people(regal_show_duration, 1234567, "1.23 ms");
  check_people(regal_show_duration, 999999, "1.00 ms");
  check_people(regal_show_duration, 61000000000, "61.00 s");
  check_people(regal_show_bytes, 1023, "1023 B");
  check_people(regal_show_bytes, 1024, "1.0 KiB");
  check_people(regal_show_bytes, 512LL << 20, "512.0 MiB");
  check_people(regal_show_bytes, (1LL << 30) - 1, "1.0 GiB");
  check_people(regal_show_bytes, INT64_MAX, "8192.0 PiB");
}

static void check_escaped(const char *text, size_t capacity,
                          const char *expected) {
  char escaped[64];
  regal_escape(text, escaped, capacity);
  assert_string_equal(escaped, expected);
}

/* What could drive a terminal does not get there. */
static void escapes_for_terminals(void **state) {
  (void)state;
  check_escaped("plain \"text\" \xC3\xA9", 64, "plain \"text\" \xC3\xA9");
  check_escaped("\033[31m\a\n\t\x7f", 64, "\\x1b[31m\\x07\\x0a\\x09\\x7f");
  check_escaped("\xC2\x9B"
                "1m\xC2\xA0",
                64,
                "\\xc2\\x9b"
                "1m\xC2\xA0");
  check_escaped("\xFF\xC3", 64, "\\xff\\xc3");
  check_escaped("ab\xC3\xA9", 4, "ab");
  check_escaped("abc\n", 6, "abc");
  check_escaped("abc", 1, "");
}

/* -- Numbers --------------------------------------------------------------- */

typedef struct number_case {
  const char *text;
  int64_t value; /* -1: refused */
} number_case;

static void check_numbers(bool (*parse)(const char *, int64_t *),
                          const number_case *cases) {
  for (; cases->text; cases++) {
    int64_t value = -1;
    if (parse(cases->text, &value) != (cases->value >= 0) ||
        value != cases->value)
      fail_msg("\"%s\" gave %lld, expected %lld", cases->text, (long long)value,
               (long long)cases->value);
  }
}

static void parses_bytes(void **state) {
  (void)state;
  static const number_case cases[] = {{"0", 0},
                                      {"1000", 1000},
                                      {"007", 7},
                                      {"12B", 12},
                                      {"16GiB", 17179869184},
                                      {"16 GiB", 17179869184},
                                      {"25GB", 25000000000},
                                      {"1kB", 1000},
                                      {"1KB", 1000},
                                      {"3MB", 3000000},
                                      {"2TB", 2000000000000},
                                      {"1PB", 1000000000000000},
                                      {"1KiB", 1024},
                                      {"1MiB", 1048576},
                                      {"1TiB", 1099511627776},
                                      {"1PiB", 1125899906842624},
                                      {"1.5GiB", 1610612736},
                                      {"0.1GiB", 107374182},
                                      {".5KiB", 512},
                                      {"1.GB", 1000000000},
                                      {"25e9", 25000000000},
                                      {"2.5E+3", 2500},
                                      {"1e-1kB", 100},
                                      {"1e-99KiB", 0},
                                      {"9223372036854775807", INT64_MAX},
                                      {"8191PiB", 8191 * (1LL << 50)},
                                      {"9223372036854775808", -1},
                                      {"8192PiB", -1},
                                      {"18446744073709551616", -1},
                                      {"1e19", -1},
                                      {"1e99GiB", -1},
                                      {"1e100", -1},
                                      {"0.5", -1},
                                      {"1.5B", -1},
                                      {"", -1},
                                      {" 1", -1},
                                      {"1 ", -1},
                                      {"-1", -1},
                                      {"+1", -1},
                                      {".", -1},
                                      {"1.2.3", -1},
                                      {"GiB", -1},
                                      {"16G", 16000000000},
                                      {"16g", 16000000000},
                                      {"16gb", 16000000000},
                                      {"16Gi", 17179869184},
                                      {"16gib", 17179869184},
                                      {"1.5k", 1500},
                                      {"16Gb", -1},
                                      {"16b", -1},
                                      {"16i", -1},
                                      {"16iB", -1},
                                      {"16Gbit", -1},
                                      {"16GB/s", -1},
                                      {"16GiBx", -1},
                                      {"1e", -1},
                                      {"0x10", -1},
                                      {"1us", -1},
                                      {NULL, 0}};
  check_numbers(regal_parse_bytes, cases);
}

static void parses_durations(void **state) {
  (void)state;
  static const number_case cases[] = {{"0", 0},
                                      {"250", -1},
                                      {"250ns", 250},
                                      {"10us", 10000},
                                      {"10\xC2\xB5s", 10000},
                                      {"10\xCE\xBCs", 10000},
                                      {"0.1us", 100},
                                      {"1.5ms", 1500000},
                                      {"2s", 2000000000},
                                      {"1min", 60000000000},
                                      {"1h", 3600000000000},
                                      {"0.0004us", 0},
                                      {"0.0006us", 1},
                                      {"0.5ns", -1},
                                      {"10 us", 10000},
                                      {"10m", -1},
                                      {"-1us", -1},
                                      {"9223372037s", -1},
                                      {"soon", -1},
                                      {NULL, 0}};
  check_numbers(regal_parse_duration, cases);
}

static bool parse_rate(const char *text, int64_t *value) {
  return regal_read_quantity(REGAL_MEASURE_RATE, text, value) >=
         REGAL_UNIT_GIVEN;
}

static void parses_rates(void **state) {
  (void)state;
  static const number_case cases[] = {{"25GB/s", 25000000000},
                                      {"25 GB/s", 25000000000},
                                      {"25GBps", 25000000000},
                                      {"25G", 25000000000},
                                      {"25G/s", 25000000000},
                                      {"1GiB/s", 1073741824},
                                      {"1B/s", 1},
                                      {"200Gbit/s", 25000000000},
                                      {"200Gbit", 25000000000},
                                      {"8kbit/s", 1000},
                                      {"200Gb/s", -1},
                                      {"200gb/s", -1},
                                      {"200Gbps", -1},
                                      {"1Gibit/s", -1},
                                      {"1bit/s", -1},
                                      {"25GB/min", -1},
                                      {"1/s", -1},
                                      {NULL, 0}};
  check_numbers(parse_rate, cases);
}

static bool parse_seconds(const char *text, int64_t *value) {
  return regal_read_quantity(REGAL_MEASURE_SECONDS, text, value) >=
         REGAL_UNIT_BARE;
}

static void parses_seconds(void **state) {
  (void)state;
  static const number_case cases[] = {{"5", 5000000000},
                                      {"0.1", 100000000},
                                      {"1e9", 1000000000000000000},
                                      {"5s", 5000000000},
                                      {"2min", 120000000000},
                                      {"500ms", 500000000},
                                      {"5 s", 5000000000},
                                      {"5m", -1},
                                      {"1e10", -1},
                                      {NULL, 0}};
  check_numbers(parse_seconds, cases);
}

/* What was given is shown as it was given. */
static void shows_what_was_given(void **state) {
  (void)state;
  check_people(regal_show_given_bytes, 80000000000, "80 GB");
  check_people(regal_show_given_bytes, 16LL << 30, "16 GiB");
  check_people(regal_show_given_bytes, 1500000000, "1.5 GB");
  check_people(regal_show_given_bytes, 3LL << 29, "1.5 GiB");
  check_people(regal_show_given_bytes, 1000, "1 kB");
  check_people(regal_show_given_bytes, 1024, "1 KiB");
  check_people(regal_show_given_bytes, 20, "20 B");
  check_people(regal_show_given_bytes, 123456789, "117.7 MiB");
  check_people(regal_show_given_bytes, 4800000000000, "4.8 TB");
  check_people(regal_show_given_duration, 10000, "10 us");
  check_people(regal_show_given_duration, 1500000, "1.5 ms");
  check_people(regal_show_given_duration, 1234567, "1.23 ms");
  assert_string_equal(regal_show_bytes_like(80000000000, 512LL << 20).text,
                      "536.9 MB");
  assert_string_equal(regal_show_bytes_like(16LL << 30, 512LL << 20).text,
                      "512.0 MiB");
  assert_string_equal(regal_show_bytes_like(INT64_MAX, 512LL << 20).text,
                      "512.0 MiB");
}

static void prints_reals(void **state) {
  (void)state;
  char text[32];
  regal_print_real(text, sizeof text, 1.1);
  assert_string_equal(text, "1.1");
  regal_print_real(text, sizeof text, 1.0 / 3);
  assert_string_equal(text, "0.3333333333333333");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(appends_and_formats),
      cmocka_unit_test(writes_json_strings),
      cmocka_unit_test(writes_for_people),
      cmocka_unit_test(escapes_for_terminals),
      cmocka_unit_test(parses_bytes),
      cmocka_unit_test(parses_durations),
      cmocka_unit_test(parses_rates),
      cmocka_unit_test(parses_seconds),
      cmocka_unit_test(shows_what_was_given),
      cmocka_unit_test(prints_reals),
  };
  return cmocka_run_group_tests_name("text", tests, set_up, tear_down);
}
