/* SPDX-License-Identifier: Apache-2.0 */
/* Settings files, and the method that uses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evolve/settings.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/search_bench.h"

/* -- Files ----------------------------------------------------------------- */

static regal_settings unusual(const char *decoder) {
  regal_settings settings =
      regal_settings_standard(regal_decoder_find(decoder));
  settings.brkga.population = 37;
  settings.brkga.islands = 3;
  settings.brkga.elites = 1.0 / 7;
  settings.brkga.mutants = .1;
  settings.brkga.elite_bias = .65;
  for (size_t c = 0; c < regal_decoder_class_count(settings.brkga.decoder); c++)
    settings.beta[c] = (regal_beta_shape){.5 + (double)c / 3, 7};
  return settings;
}

static void assert_same_settings(const regal_settings *a,
                                 const regal_settings *b) {
  assert_ptr_equal(a->brkga.decoder, b->brkga.decoder);
  assert_int_equal(a->brkga.population, b->brkga.population);
  assert_int_equal(a->brkga.islands, b->brkga.islands);
  assert_true(a->brkga.elites == b->brkga.elites);
  assert_true(a->brkga.mutants == b->brkga.mutants);
  assert_true(a->brkga.elite_bias == b->brkga.elite_bias);
  for (size_t c = 0; c < REGAL_MOST_CLASSES; c++) {
    assert_true(a->beta[c].a == b->beta[c].a);
    assert_true(a->beta[c].b == b->beta[c].b);
  }
}

static void test_round_trip(void **state) {
  search_bench *b = *state;
  for (size_t d = 0; d < regal_decoder_count(); d++) {
    regal_settings wrote = unusual(regal_decoder_at(d).name), read;
    assert_int_equal(
        regal_settings_save(b->context, "round.json", &wrote, NULL), REGAL_OK);
    if (regal_settings_load(b->context, "round.json", &read))
      fail_msg("%s", regal_error(b->context));
    assert_same_settings(&wrote, &read);
  }
}

static const char whole_file[] =
    "{\"regal_settings\": 1,\n"
    " \"decoder\": \"paper\",\n"
    " \"population\": 100, \"elites\": 0.2, \"mutants\": 0.15, "
    "\"elite_bias\": 0.7, \"islands\": 1,\n"
    " \"betas\": {\"affinity\": [1, 1], \"priority\": [1, 1], \"transfer\": "
    "[6, 1]},\n"
    " \"provenance\": {\n"
    "  \"command\": \"regal tune \\\"set\\\"\",\n"
    "  \"graphs\": 3, \"checksum\": \"00000000000000ff\",\n"
    "  \"objective\": \"memory\", \"devices\": 4, \"evaluations\": 500, "
    "\"seed\": 9,\n"
    "  \"settings_tried\": 648, \"halving\": true,\n"
    "  \"improvement_percent\": 1.2500, \"standard_error\": 0.5000}}\n";

static void test_bytes(void **state) {
  search_bench *b = *state;
  regal_settings settings = regal_settings_standard(&regal_decoder_paper);
  settings.beta[2] = (regal_beta_shape){6, 1};
  regal_settings_origin origin = {.command = "regal tune \"set\"",
                                  .objective = "memory",
                                  .graphs = 3,
                                  .checksum = 255,
                                  .devices = 4,
                                  .evaluations = 500,
                                  .seed = 9,
                                  .tried = 648,
                                  .halving = true,
                                  .improvement = 1.25,
                                  .error = .5};
  assert_int_equal(
      regal_settings_save(b->context, "whole.json", &settings, &origin),
      REGAL_OK);
  char *text = files_read("whole.json");
  assert_string_equal(text, whole_file);
  free(text);
}

/* A file with one part of a good one replaced, and what is said of it. */
static const struct {
  const char *part, *instead, *message;
} defects[] = {
    {"{\"regal_settings\": 1,", "[",
     "bad.json:2:11: found ':', expected ',' or ']'"},
    {"\"regal_settings\": 1,", "",
     "bad.json:1: not a settings file: it has no \"regal_settings\""},
    {"\"regal_settings\": 1", "\"regal_settings\": 2",
     "bad.json:1: regal_settings: found 2, expected 1"},
    {"\"regal_settings\": 1", "\"regal_settings\": 1, \"speed\": 2",
     "bad.json:1: speed: unknown key, expected one of regal_settings, decoder, "
     "population, elites, mutants, elite_bias, "
     "islands, betas, provenance"},
    {"\"decoder\": \"paper\",", "",
     "bad.json:1: the settings have no \"decoder\""},
    {"\"paper\"", "\"papyrus\"",
     "bad.json:2: decoder: there is no decoder \"papyrus\"; 'regal methods' "
     "lists them"},
    {"\"paper\"", "7", "bad.json:2: decoder: found 7, expected a text"},
    {"\"population\": 100", "\"population\": 3",
     "bad.json:3: population: found 3, expected a whole number from 4 to "
     "1000000"},
    {"\"elites\": 0.2", "\"elites\": 1.5",
     "bad.json:3: elites: found 1.5, expected a number from 0 to 1"},
    {"\"elites\": 0.2", "\"elites\": 0.85",
     "bad.json:1: elites 0.85 and mutants 0.15 leave no room for children"},
    {"\"mutants\": 0.15, ", "", "bad.json:1: the settings have no \"mutants\""},
    {"\"elite_bias\": 0.7", "\"elite_bias\": 0.4",
     "bad.json:3: elite_bias: found 0.4, expected a number from 0.5 to 1"},
    {"\"islands\": 1", "\"islands\": null",
     "bad.json:3: islands: found null, expected a whole number from 1 to 1024"},
    {"\"transfer\"", "\"threshold\"",
     "bad.json:4: betas: threshold: unknown key, expected one of affinity, "
     "priority, transfer"},
    {"[6, 1]", "[6]",
     "bad.json:4: betas: transfer: found a list of length 1, expected 2"},
    {"[6, 1]", "[6, 0]",
     "bad.json:4: betas: transfer[1]: found 0, expected a number from "
     "0.0001 to 1e+06"},
    {"[6, 1]", "6", "bad.json:4: betas: transfer: found 6, expected a list"},
};

static void test_messages(void **state) {
  search_bench *b = *state;
  for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
    char text[2048];
    const char *at = strstr(whole_file, defects[i].part);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole_file), whole_file,
             defects[i].instead, at + strlen(defects[i].part));
    regal_settings settings = {.brkga.population = 5};
    assert_int_equal(regal_settings_read(b->context, "bad.json", text,
                                         strlen(text), &settings),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(b->context), defects[i].message);
    assert_int_equal(settings.brkga.population, 5); /* untouched */
  }
  regal_settings settings;
  assert_int_equal(regal_settings_load(b->context, "nowhere.json", &settings),
                   REGAL_IO);
  assert_string_equal(regal_error(b->context),
                      "nowhere.json: No such file or directory");
}

static regal_status load_and_save(regal_context *context, const void *state) {
  regal_settings settings;
  (void)state;
  REGAL_TRY(regal_settings_load(context, "whole.json", &settings));
  return regal_settings_save(context, "again.json", &settings, NULL);
}

static void test_allocations(void **state) {
  (void)state;
  files_write_text("whole.json", whole_file);
  fail_each_allocation(load_and_save, NULL);
}

/* What comes with regal can be read, and there is one for each objective. */
static void test_shipped(void **state) {
  search_bench *b = *state;
  const regal_shipped_settings *shipped = regal_shipped_settings_table;
  regal_settings settings;
  const char *name;
  for (; shipped->name; shipped++)
    if (regal_settings_read(b->context, shipped->name,
                            (const char *)shipped->bytes, shipped->size,
                            &settings))
      fail_msg("%s", regal_error(b->context));
  assert_int_equal(
      regal_settings_open(b->context, &b->options, &settings, &name), REGAL_OK);
  assert_string_equal(name, "synthetic_runtime");
  set_option(b, "objective", "memory");
  assert_int_equal(
      regal_settings_open(b->context, &b->options, &settings, &name), REGAL_OK);
  assert_string_equal(name, "synthetic_memory");
}

/* -- The method ------------------------------------------------------------ */

static void use_settings(search_bench *b, const regal_settings *settings) {
  assert_int_equal(regal_settings_save(b->context, "used.json", settings, NULL),
                   REGAL_OK);
  set_option(b, "settings", "used.json");
  set_option(b, "method", "tuned");
  set_option(b, "evaluations", "600");
}

/* The same by hand: BRKGA with options and a proposal. */
static regal_result *optimize_by_hand(search_bench *b,
                                      const regal_settings *settings) {
  regal_options options = b->options;
  regal_proposal *proposal;
  regal_result *result = NULL;
  options.population = settings->brkga.population;
  options.islands = settings->brkga.islands;
  options.elites = settings->brkga.elites;
  options.mutants = settings->brkga.mutants;
  options.elite_bias = settings->brkga.elite_bias;
  assert_int_equal(regal_proposal_create(b->context, b->problem,
                                         settings->brkga.decoder->name,
                                         &proposal),
                   REGAL_OK);
  for (size_t c = 0; c < regal_decoder_class_count(settings->brkga.decoder);
       c++)
    assert_int_equal(regal_proposal_set_beta(
                         proposal, settings->brkga.decoder->classes[c].name,
                         SIZE_MAX, settings->beta[c].a, settings->beta[c].b),
                     REGAL_OK);
  if (regal_optimize_guided(b->context, b->problem, &options, proposal,
                            &result))
    fail_msg("%s", regal_error(b->context));
  regal_proposal_free(proposal);
  return result;
}

static void test_by_hand(void **state) {
  search_bench *b = *state;
  static const char *const decoders[] = {"paper", "batched", "clock", "eft"};
  for (int i = 0; i < 4; i++) {
    regal_settings settings = unusual(decoders[i]);
    use_synthetic(b, 40, (uint64_t)i);
    use_settings(b, &settings);
    regal_result *result = optimize(b), *hand = optimize_by_hand(b, &settings);
    assert_true(same_plan(result->plan, hand->plan));
    assert_int_equal(result->evaluations, 600);
    assert_string_equal(result->method, "tuned");
    assert_memory_equal(result->account, "settings used.json: BRKGA on decoder",
                        36);
    regal_result_free(result);
    regal_result_free(hand);
  }
}

typedef void (*change_fn)(regal_settings *settings);

static void change_population(regal_settings *s) {
  s->brkga.population = 20;
}
static void change_islands(regal_settings *s) {
  s->brkga.islands = 1;
}
static void change_elites(regal_settings *s) {
  s->brkga.elites = .4;
}
static void change_mutants(regal_settings *s) {
  s->brkga.mutants = .3;
}
static void change_bias(regal_settings *s) {
  s->brkga.elite_bias = .9;
}
static void change_beta(regal_settings *s) {
  s->beta[2] = (regal_beta_shape){6, 1};
}

/* Each setting counts. */
static void test_changes(void **state) {
  search_bench *b = *state;
  static const change_fn changes[] = {change_population, change_islands,
                                      change_elites,     change_mutants,
                                      change_bias,       change_beta};
  regal_settings settings = unusual("paper");
  use_synthetic(b, 40, 2);
  use_settings(b, &settings);
  regal_result *before = optimize(b);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    settings = unusual("paper");
    changes[i](&settings);
    use_settings(b, &settings);
    regal_result *after = optimize(b);
    assert_false(same_plan(before->plan, after->plan));
    regal_result_free(after);
  }
  /* ... unless an option says otherwise */
  settings = unusual("paper");
  change_population(&settings);
  use_settings(b, &settings);
  set_option(b, "population", "37");
  regal_result *after = optimize(b);
  assert_true(same_plan(before->plan, after->plan));
  regal_result_free(after);
  regal_result_free(before);
}

/* Transfers before ops do better, on average. */
static void test_transfers_first(void **state) {
  search_bench *b = *state;
  double gain = 0;
  for (uint64_t seed = 0; seed < 8; seed++) {
    regal_settings settings = regal_settings_standard(&regal_decoder_paper);
    use_synthetic(b, 60, seed);
    use_settings(b, &settings);
    regal_result *before = optimize(b);
    settings.beta[2] = (regal_beta_shape){6, 1};
    use_settings(b, &settings);
    regal_result *after = optimize(b);
    gain +=
        1 - (double)after->cost.runtime_ns / (double)before->cost.runtime_ns;
    regal_result_free(after);
    regal_result_free(before);
  }
  assert_true(gain / 8 > .005);
}

static void test_wrong_decoder(void **state) {
  search_bench *b = *state;
  regal_settings settings = unusual("paper");
  regal_result *result;
  use_synthetic(b, 20, 1);
  use_settings(b, &settings);
  set_option(b, "decoder", "clock");
  assert_int_equal(regal_optimize(b->context, b->problem, &b->options, &result),
                   REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(b->context),
      "used.json: found settings for decoder paper, expected clock");
  /* the default ones lend their sizes */
  regal_settings paper, clock;
  const char *name;
  b->options.settings[0] = b->options.decoder[0] = 0;
  assert_int_equal(regal_settings_open(b->context, &b->options, &paper, &name),
                   REGAL_OK);
  set_option(b, "decoder", "clock");
  assert_int_equal(regal_settings_open(b->context, &b->options, &clock, &name),
                   REGAL_OK);
  regal_settings expected = regal_settings_standard(&regal_decoder_clock);
  regal_brkga_settings sizes = paper.brkga;
  sizes.decoder = expected.brkga.decoder;
  expected.brkga = sizes;
  assert_same_settings(&clock, &expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_round_trip),    SEARCH_TEST(test_bytes),
      SEARCH_TEST(test_messages),      cmocka_unit_test(test_allocations),
      SEARCH_TEST(test_shipped),       SEARCH_TEST(test_by_hand),
      SEARCH_TEST(test_changes),       SEARCH_TEST(test_transfers_first),
      SEARCH_TEST(test_wrong_decoder),
  };
  return cmocka_run_group_tests_name("settings", tests, files_enter,
                                     files_leave);
}
