/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, and how values are set, refused and printed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/options/options.h"

static regal_context *context;

static int set_up(void **state) {
  (void)state;
  return regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  (void)state;
  regal_context_free(context);
  return 0;
}

static void set(regal_options *options, const char *name, const char *value) {
  if (regal_options_set(context, options, name, value) != REGAL_OK)
    fail_msg("%s", regal_error(context));
}

/* -- The table ------------------------------------------------------------- */

static bool is_number(const regal_option_info *info) {
  return info->type == REGAL_OPTION_INTEGER || info->type == REGAL_OPTION_REAL;
}

static void rows_are_sound(void **state) {
  (void)state;
  static const char *const groups =
      " reading limits machine objective search brkga "
      "anneal generate pipeline dataset "
      "train tune bench output config ";
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *info = regal_option_at(i);
    char group[32];
    snprintf(group, sizeof group, " %s ", info->group);
    assert_non_null(strstr(groups, group));
    assert_true(strlen(info->help) > 5);
    assert_true(strlen(info->name) > 1 && strlen(info->name) <= 31);
    assert_int_equal(regal_option_find(info->name), i); /* so it is unique */
    if (is_number(info))
      assert_true(info->low < info->high);
    /* what happens without a value is said */
    if (!regal_option_has_default(info) && info->type != REGAL_OPTION_TEXT &&
        info->type != REGAL_OPTION_LIST)
      assert_non_null(strstr(info->help, "if not given"));
    if (info->type != REGAL_OPTION_FLAG)
      assert_true(info->unit && *info->unit);
  }
  assert_null(regal_option_at(regal_option_count()));
  assert_int_equal(regal_option_find("none"), regal_option_count());
}

/* Each default goes through the parser when options are initialised. */
static void defaults_are_set(void **state) {
  (void)state;
  regal_options options;
  memset(&options, 0xAA, sizeof options);
  regal_options_init(&options);
  assert_int_equal(options.devices, 2);
  assert_int_equal(options.memory_limit, 0);
  assert_int_equal(options.seed, 1);
  assert_int_equal(options.population, 100);
  assert_true(options.elites == 0.2);
  assert_true(options.elite_bias == 0.7);
  assert_int_equal(options.objective, 0);
  assert_string_equal(options.method, "auto");
  assert_string_equal(options.decoder, "");
  assert_false(options.json);
  assert_int_equal(options.given[0], 0);
  assert_int_equal(options.given[1], 0);
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *info = regal_option_at(i);
    char text[1024];
    bool is_set = regal_option_text(&options, i, text, sizeof text);
    assert_int_equal(is_set, info->fallback != NULL);
    if (is_number(info))
      assert_true(strtod(text, NULL) == strtod(info->fallback, NULL));
    else if (info->fallback)
      assert_string_equal(text, info->fallback);
  }
}

/* -- Setting --------------------------------------------------------------- */

static void values_are_set(void **state) {
  (void)state;
  regal_options options;
  regal_options_init(&options);
  set(&options, "devices", "64");
  set(&options, "memory-limit", "16GiB");
  set(&options, "bandwidth", "25GB");
  set(&options, "latency", "10us");
  set(&options, "objective", "memory");
  set(&options, "transfers", "overlapped");
  set(&options, "method", "brkga");
  set(&options, "time", "1.5e1");
  set(&options, "cold", "1e-9"); /* in peaks of memory: schedules go to 1e-6 */
  set(&options, "seed", "9000000000000000000");
  set(&options, "json", NULL);
  set(&options, "quiet", "true");
  set(&options, "verbose", "false");
  assert_int_equal(options.devices, 64);
  assert_int_equal(options.memory_limit, 17179869184);
  assert_int_equal(options.bandwidth, 25000000000);
  assert_int_equal(options.latency, 10000);
  assert_int_equal(options.objective, 1);
  assert_int_equal(options.transfers, 1);
  assert_string_equal(options.method, "brkga");
  assert_true(options.time == 15);
  assert_true(options.cold == 1e-9);
  assert_int_equal(options.seed, 9000000000000000000);
  assert_true(options.json && options.quiet && !options.verbose);
}

/* As ranges are printed, and as Python prints whole floats. */
static void integers_may_have_exponents(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
  } cases[] = {{"1e6", 1000000},   {"2.5e5", 250000},
               {"2.5E+5", 250000}, {"1e15", 1000000000000000},
               {"100.0", 100},     {"3000e-3", 3},
               {"0e99", 0},        {"0007", 7}};
  regal_options options;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_options_init(&options);
    set(&options, "evaluations", cases[i].text);
    assert_int_equal(options.evaluations, cases[i].value);
  }
  set(&options, "seed", "9e18"); /* more than a double counts exactly */
  assert_int_equal(options.seed, 9000000000000000000);
  set(&options, "seed", "8.999999999999999999e18");
  assert_int_equal(options.seed, 8999999999999999999);
}

static void given_is_remembered(void **state) {
  (void)state;
  regal_options options;
  regal_options_init(&options);
  set(&options, "devices", "2"); /* the default, but said */
  set(&options, "verbose", NULL);
  for (size_t i = 0; i < regal_option_count(); i++) {
    const char *name = regal_option_at(i)->name;
    bool said = !strcmp(name, "devices") || !strcmp(name, "verbose");
    assert_int_equal(regal_option_given(&options, name), said);
  }
  assert_false(regal_option_given(&options, "none"));
}

/* A default that is no value stands for "not given", also where it is set. */
static void not_given_is_one_thing(void **state) {
  (void)state;
  static const char *const unset[][2] = {
      {"steps", "0"},     {"entropy", "-1"},    {"reward", "preset"},
      {"hot", "0"},       {"evaluations", "0"}, {"coarse-share", "-1"},
      {"heads", "preset"}};
  regal_options options, before;
  regal_options_init(&options);
  before = options;
  for (size_t i = 0; i < sizeof unset / sizeof *unset; i++) {
    size_t index = regal_option_find(unset[i][0]);
    char text[64];
    assert_false(regal_option_has_default(regal_option_at(index)));
    assert_true(regal_option_text(&options, index, text, sizeof text));
    assert_string_equal(text, unset[i][1]);
    set(&options, unset[i][0], unset[i][1]);
    assert_false(regal_option_given(&options, unset[i][0]));
  }
  assert_memory_equal(&options, &before, sizeof options);
  set(&options, "steps", "5");
  assert_true(regal_option_given(&options, "steps"));
  set(&options, "steps", "0");
  assert_false(regal_option_given(&options, "steps"));
  assert_memory_equal(&options, &before, sizeof options);
}

static void fields_that_differ_are_given(void **state) {
  (void)state;
  regal_options options;
  regal_options_init(&options);
  options.devices = 4;
  options.entropy = 0;
  options.heads = 0;
  options.json = true;
  strcpy(options.method, "brkga");
  strcpy(options.decoder, "eft");
  for (size_t i = 0; i < regal_option_count(); i++) {
    const char *name = regal_option_at(i)->name;
    bool written = strstr(" devices entropy heads json method decoder ", name);
    assert_int_equal(regal_option_given(&options, name), written);
  }
}

static void presets_fill_what_is_not_given(void **state) {
  (void)state;
  static const regal_option_value preset[] = {
      {"devices", "8"}, {"steps", "100"},     {"entropy", "0.5"},
      {"heads", "all"}, {"decoder", "clock"}, {NULL, NULL}};
  static const regal_option_value later[] = {
      {"steps", "7"}, {"clip", "3"}, {NULL, NULL}};
  static const regal_option_value wrong[][2] = {{{"stesp", "7"}, {NULL, NULL}},
                                                {{"clip", "x"}, {NULL, NULL}}};
  regal_options options;
  regal_options_init(&options);
  set(&options, "devices", "2"); /* the default, but said */
  options.entropy = 0;
  assert_true(regal_options_fill(&options, preset));
  assert_true(regal_options_fill(&options, later));
  assert_int_equal(options.devices, 2);
  assert_true(options.entropy == 0);
  assert_int_equal(options.steps, 100); /* the first preset wins */
  assert_true(options.clip == 3);
  assert_int_equal(options.heads, 3);
  assert_string_equal(options.decoder, "clock");
  regal_options_init(&options);
  assert_false(regal_options_fill(&options, wrong[0]));
  assert_false(regal_options_fill(&options, wrong[1]));
}

static void former_names_are_accepted(void **state) {
  (void)state;
  static const char *const names[][3] = {{"fall", "level-cooling", "0.25"},
                                         {"fresh", "single-start-share", "0.5"},
                                         {"neutral", "uniform-logit", "2"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    regal_options former, present;
    regal_options_init(&former);
    regal_options_init(&present);
    set(&former, names[i][0], names[i][2]);
    set(&present, names[i][1], names[i][2]);
    assert_memory_equal(&former, &present, sizeof former);
    assert_true(regal_option_given(&former, names[i][0]));
    assert_true(regal_option_given(&former, names[i][1]));
    for (size_t k = 0; k < regal_option_count(); k++)
      assert_string_not_equal(regal_option_at(k)->name, names[i][0]);
  }
}

/* What says how a result is made, and not which. */
static void effects_are_told_apart(void **state) {
  (void)state;
  static const char *const how =
      " max-input time threads max-memory ortools figures checkpoint "
      "checkpoint-every "
      "resume "
      "overwrite log plot mix report reference best output times trace html "
      "plan format json timeline "
      "quiet "
      "verbose config dump-config ";
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *info = regal_option_at(i);
    char name[40];
    snprintf(name, sizeof name, " %s ", info->name);
    assert_int_equal(info->changes_result, !strstr(how, name));
  }
}

typedef struct refusal {
  const char *name, *value, *message;
} refusal;

static const refusal refusals[] = {
    {"devices", "0",
     "--devices: \"0\" is out of range, expected a whole number from 1 to 64"},
    {"devices", "65",
     "--devices: \"65\" is out of range, expected a whole number from 1 to 64"},
    {"devices", "-1",
     "--devices: \"-1\" is out of range, expected a whole number from 1 to 64"},
    {"devices", "99999999999999999999",
     "--devices: \"99999999999999999999\" is out of range, expected a whole "
     "number from 1 to 64"},
    {"devices", "two",
     "--devices: \"two\" is not a number, expected a whole number from 1 to "
     "64"},
    {"devices", "2.5",
     "--devices: \"2.5\" is not whole, expected a whole number from 1 to 64"},
    {"devices", "1e-3",
     "--devices: \"1e-3\" is not whole, expected a whole number from 1 to "
     "64"},
    {"devices", "6.4e0",
     "--devices: \"6.4e0\" is not whole, expected a whole number from 1 to "
     "64"},
    {"devices", "1e2",
     "--devices: \"1e2\" is out of range, expected a whole number from 1 to "
     "64"},
    {"devices", "1e300",
     "--devices: \"1e300\" is out of range, expected a whole number from 1 to "
     "64"},
    {"devices", "1e",
     "--devices: \"1e\" is not a number, expected a whole number from 1 to "
     "64"},
    {"devices", "0x10",
     "--devices: \"0x10\" is not a number, expected a whole number from 1 to "
     "64"},
    {"devices", " 2",
     "--devices: \" 2\" is not a number, expected a whole number from 1 to 64"},
    {"devices", "+2",
     "--devices: \"+2\" is not a number, expected a whole number from 1 to 64"},
    {"seed", "9000000000000000001",
     "--seed: \"9000000000000000001\" is out of range, expected a whole number "
     "from 0 to 9000000000000000000"},
    {"schedule-levels", "256",
     "--schedule-levels: \"256\" is out of range, expected a whole number from "
     "2 to 255"},
    {"placement-levels", "1",
     "--placement-levels: \"1\" is out of range, expected a whole number from "
     "2 to 255"},
    {"bias-levels", "256",
     "--bias-levels: \"256\" is out of range, expected a whole number from 0 "
     "to 255"},
    {"experts", "32",
     "--experts: \"32\" is out of range, expected a whole number from 1 to "
     "16"},
    {"steps", "-1",
     "--steps: \"-1\" is out of range, expected a whole number from 1 to "
     "1000000000"},
    {"reward", "worst", "--reward: \"worst\" is not one of best, top20"},
    {"neutral", "101",
     "--neutral: \"101\" is out of range, expected a number from 0 to 100"},
    {"elites", "1.5",
     "--elites: \"1.5\" is out of range, expected a number from 0 to 1"},
    {"elites", "nan",
     "--elites: \"nan\" is not a number, expected a number from 0 to 1"},
    {"elites", "inf",
     "--elites: \"inf\" is not a number, expected a number from 0 to 1"},
    {"elites", "0x1p-2",
     "--elites: \"0x1p-2\" is not a number, expected a number from 0 to 1"},
    {"elites", "1e",
     "--elites: \"1e\" is not a number, expected a number from 0 to 1"},
    {"elite-bias", "0.4",
     "--elite-bias: \"0.4\" is out of range, expected a number from 0.5 to 1"},
    {"memory-limit", "16Q",
     "--memory-limit: \"16Q\" is not a number of bytes, expected one such as "
     "1000, 16GiB or 25GB"},
    {"memory-limit", "16Gb",
     "--memory-limit: \"16Gb\" may be bits or bytes, expected one such as "
     "1000, 16GiB or 25GB"},
    {"latency", "10",
     "--latency: \"10\" has no unit, expected one such as 250ns, 10us or "
     "1.5ms"},
    {"bandwidth", "25",
     "--bandwidth: \"25\" has no unit, expected one such as 25GB/s or "
     "200Gbit/s"},
    {"bandwidth", "100Gb/s",
     "--bandwidth: \"100Gb/s\" may be bits or bytes, expected one such as "
     "25GB/s or 200Gbit/s"},
    {"time", "soon",
     "--time: \"soon\" is not a duration, expected one such as 5 (seconds), "
     "500ms or 2min"},
    {"time", "-1",
     "--time: \"-1\" is not a duration, expected one such as 5 (seconds), "
     "500ms or 2min"},
    {"time", "1e-12", "--time: \"1e-12\" is less than a nanosecond"},
    {"target", "2 apples",
     "--target: \"2 apples\" is not a cost, expected one such as 2ms, or 300MB "
     "for memory"},
    {"memory-limit", "-1",
     "--memory-limit: \"-1\" is not a number of bytes, expected one such as "
     "1000, 16GiB or 25GB"},
    {"latency", "10m",
     "--latency: \"10m\" is not a duration, expected one such as 250ns, 10us "
     "or 1.5ms"},
    {"objective", "speed",
     "--objective: \"speed\" is not one of runtime, memory"},
    {"objective", "run", "--objective: \"run\" is not one of runtime, memory"},
    {"objective", "runtime|memory",
     "--objective: \"runtime|memory\" is not one of runtime, memory"},
    {"json", "maybe", "--json: \"maybe\" is not one of true, false"},
    {"method", "", "--method: needs a value"},
    {"devices", NULL, "--devices: needs a value"},
    {"devcies", "2", "unknown option --devcies, did you mean --devices?"},
    {"memory", "2", "unknown option --memory"},
    {"bandwith", "2", "unknown option --bandwith, did you mean --bandwidth?"},
    {"xyzzy", "2", "unknown option --xyzzy"},
    {"", "2", "unknown option --"},
};

static void bad_values_are_refused(void **state) {
  (void)state;
  regal_options options, before;
  regal_options_init(&options);
  before = options;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const refusal *r = &refusals[i];
    assert_int_equal(regal_options_set(context, &options, r->name, r->value),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(context), r->message);
    assert_memory_equal(&options, &before, sizeof options);
  }
}

static void long_texts_are_refused(void **state) {
  (void)state;
  regal_options options;
  char value[1025];
  memset(value, 'x', 1024);
  value[1024] = 0;
  regal_options_init(&options);
  assert_int_equal(regal_options_set(context, &options, "output", value),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "--output: the value is longer than 1023 bytes");
  set(&options, "output", value + 1);
  assert_string_equal(options.output, value + 1);
  assert_int_equal(regal_options_set(context, &options, value, "1"),
                   REGAL_BAD_INPUT);
}

/* -- Printing -------------------------------------------------------------- */

static const char *const trips[][3] = {
    {"devices", "3", "3"},
    {"memory-limit", "17179869184", "16GiB"},
    {"memory-limit", "25GB", "25GB"},
    {"memory-limit", "1500kB", "1500000"},
    {"memory-limit", "1025", "1025"},
    {"memory-limit", "80G", "80GB"},
    {"bandwidth", "3MiB", "3MiB/s"},
    {"bandwidth", "300GB/s", "300GB/s"},
    {"bandwidth", "200Gbit/s", "25GB/s"},
    {"bandwidth", "7B/s", "7B/s"},
    {"bandwidth", "0", "0"},
    {"time", "5", "5s"},
    {"time", "2min", "120s"},
    {"time", "0.1", "100ms"},
    {"time", "0", "0"},
    {"latency", "0.01ms", "10us"},
    {"latency", "1001ns", "1001ns"},
    {"latency", "0", "0"},
    {"latency", "3s", "3s"},
    {"elites", "0.10", "0.1"},
    {"target", "2.5ms", "2500us"},
    {"target", "300MB", "300MB"},
    {"target", "1234567", "1234567"},
    {"objective", "memory", "memory"},
    {"loops", "cut", "cut"},
    {"json", "true", "true"},
    {"machine", "m.json", "m.json"},
    {"pin", "embed*=0,logits=1", "embed*=0,logits=1"},
};

/* A cost is of the objective's kind; a field that is set directly has none. */
static void costs_fit_the_objective(void **state) {
  (void)state;
  static const struct {
    const char *value;
    bool memory;
    const char *message; /* "": fits */
  } cases[] = {
      {"2ms", false, ""},
      {"300MB", true, ""},
      {"300000000", true, ""},
      {"0", false, ""},
      {"200", false,
       "--target: \"200\" has no unit, expected a time such as 2ms"},
      {"2MB", false,
       "--target: \"2MB\" are bytes, the objective is run time, expected a "
       "time such as 2ms"},
      {"2ms", true,
       "--target: \"2ms\" is a time, the objective is memory, expected bytes "
       "such as 300MB"}};
  regal_options options;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_options_init(&options);
    set(&options, "target", cases[i].value);
    regal_status status =
        regal_options_check_costs(context, &options, cases[i].memory);
    assert_int_equal(status, *cases[i].message ? REGAL_BAD_INPUT : REGAL_OK);
    if (*cases[i].message)
      assert_string_equal(regal_error(context), cases[i].message);
  }
  regal_options_init(&options);
  options.target = 1000;
  assert_int_equal(regal_options_check_costs(context, &options, false),
                   REGAL_OK);
}

/* A list grows when it is set again, and stays as it is when that is too much.
 */
static void lists_grow(void **state) {
  (void)state;
  regal_options options;
  char large[REGAL_MOST_LIST];
  regal_options_init(&options);
  assert_false(regal_option_given(&options, "together"));
  set(&options, "together", "a*");
  set(&options, "together", "b,c");
  assert_string_equal(options.together, "a*,b,c");
  assert_true(regal_option_given(&options, "together"));
  memset(large, 'x', sizeof large);
  large[REGAL_MOST_LIST - 1] = 0;
  assert_int_equal(regal_options_set(context, &options, "together", large),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "--together: all values together are longer than 4095 "
                      "bytes; a file has no limit");
  assert_string_equal(options.together, "a*,b,c");
  large[REGAL_MOST_LIST - 1 - 7] = 0;
  set(&options, "together", large); /* just fits */
  assert_int_equal(strlen(options.together), REGAL_MOST_LIST - 1);
}

static void texts_read_back(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
    regal_options options, again;
    char text[1024];
    size_t index = regal_option_find(trips[i][0]);
    regal_options_init(&options);
    set(&options, trips[i][0], trips[i][1]);
    assert_true(regal_option_text(&options, index, text, sizeof text));
    assert_string_equal(text, trips[i][2]);
    regal_options_init(&again);
    set(&again, trips[i][0], text);
    assert_memory_equal(&again, &options, sizeof options);
  }
  regal_options options;
  char text[8];
  regal_options_init(&options);
  assert_false(regal_option_text(&options, regal_option_count(), text, 8));
  assert_false(regal_option_text(&options, 0, text, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_sound),
      cmocka_unit_test(defaults_are_set),
      cmocka_unit_test(values_are_set),
      cmocka_unit_test(integers_may_have_exponents),
      cmocka_unit_test(given_is_remembered),
      cmocka_unit_test(not_given_is_one_thing),
      cmocka_unit_test(fields_that_differ_are_given),
      cmocka_unit_test(presets_fill_what_is_not_given),
      cmocka_unit_test(former_names_are_accepted),
      cmocka_unit_test(effects_are_told_apart),
      cmocka_unit_test(bad_values_are_refused),
      cmocka_unit_test(long_texts_are_refused),
      cmocka_unit_test(costs_fit_the_objective),
      cmocka_unit_test(lists_grow),
      cmocka_unit_test(texts_read_back),
  };
  return cmocka_run_group_tests_name("options", tests, set_up, tear_down);
}
