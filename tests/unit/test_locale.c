/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses the library may have a decimal comma: options, machines
 * and plans are what they are without. Skipped where the system cannot make
 * such a locale (Debian's package locales). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>

#include "base/text.h"
#include "support/sample.h"

static regal_context *context;
static bool has_comma;

static int set_up(void **state) {
  if (files_enter(state) || regal_context_create(&context, NULL) ||
      setenv("LOCPATH", files_folder, 1))
    return -1;
  has_comma = !system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>&1") &&
              setlocale(LC_ALL, "de_DE.UTF-8");
  setlocale(LC_ALL, "C");
  return 0;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

static void want_comma(bool wanted) {
  assert_non_null(setlocale(LC_ALL, wanted ? "de_DE.UTF-8" : "C"));
  assert_string_equal(localeconv()->decimal_point, wanted ? "," : ".");
}

static void options_of(regal_options *options) {
  regal_options_init(options);
  assert_int_equal(regal_options_set(context, options, "elites", "0.25"),
                   REGAL_OK);
  assert_int_equal(regal_options_set(context, options, "time", "1.5s"),
                   REGAL_OK);
}

static void options_are_the_same(void **state) {
  (void)state;
  regal_options with, without;
  char text[64];
  if (!has_comma)
    skip();
  want_comma(false);
  options_of(&without);
  want_comma(true);
  options_of(&with);
  assert_memory_equal(&with, &without, sizeof with);
  assert_true(
      regal_option_text(&with, regal_option_find("elites"), text, sizeof text));
  assert_string_equal(text, "0.25");
  assert_int_equal(regal_options_set(context, &with, "elites", "1.5"),
                   REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(context),
      "--elites: \"1.5\" is out of range, expected a number from 0 to 1");
  want_comma(false);
}

/* Writes a machine and reads it again; then a plan for it, and what people
 * read about it. */
static void write_all(const regal_graph *graph, regal_text *summary) {
  regal_options options;
  regal_machine *machine;
  regal_problem *problem;
  regal_result *result;
  regal_options_init(&options);
  assert_int_equal(regal_machine_create(context, graph, &options, &machine),
                   REGAL_OK);
  assert_int_equal(regal_machine_set_speed(machine, 1, 0.5), REGAL_OK);
  assert_int_equal(regal_machine_save(context, machine, "machine.json"),
                   REGAL_OK);
  regal_machine_free(machine);
  regal_options_set(context, &options, "machine", "machine.json");
  regal_options_set(context, &options, "method", "heft");
  if (regal_problem_create(context, graph, &options, &problem))
    fail_msg("%s", regal_error(context));
  assert_int_equal(regal_optimize(context, problem, &options, &result),
                   REGAL_OK);
  result->seconds = 0.25;
  FILE *stream = open_memstream(&summary->bytes, &summary->size);
  assert_int_equal(regal_report_summary(context, result, stream), REGAL_OK);
  fclose(stream);
  assert_int_equal(regal_plan_save(context, result, "a.plan"), REGAL_OK);
  regal_result_free(result);
  regal_problem_free(problem);
}

static void files_are_the_same(void **state) {
  (void)state;
  static const char *const names[] = {"machine.json", "a.plan"};
  regal_graph *graph;
  regal_text summary[2];
  char *files[2][2];
  if (!has_comma)
    skip();
  assert_int_equal(sample_graph(context, &graph), REGAL_OK);
  for (int comma = 0; comma < 2; comma++) {
    want_comma(comma);
    write_all(graph, &summary[comma]);
    for (int i = 0; i < 2; i++)
      files[comma][i] = files_read(names[i]);
  }
  want_comma(false);
  regal_graph_free(graph);
  for (int i = 0; i < 2; i++)
    assert_string_equal(files[1][i], files[0][i]);
  assert_non_null(strstr(files[1][0], "[1, 0.5]"));
  assert_non_null(strstr(files[1][1], "\"seconds\": 0.25"));
  assert_string_equal(summary[1].bytes, summary[0].bytes);
  for (int comma = 0; comma < 2; comma++) {
    free(summary[comma].bytes);
    free(files[comma][0]);
    free(files[comma][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_are_the_same),
      cmocka_unit_test(files_are_the_same),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
