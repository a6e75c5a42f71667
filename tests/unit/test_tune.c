/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning: the grid, the rounds, the table of runs, and whole tunings, which
 * neither threads nor interruptions change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evolve/settings.h"
#include "regal_data.h"
#include "regal_tune.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/search_bench.h"
#include "tune/tune.h"

/* -- The grid -------------------------------------------------------------- */

static void test_grid(void **state) {
  (void)state;
  assert_int_equal(regal_grid_count(&regal_decoder_paper), 648);
  for (size_t d = 0; d < regal_decoder_count(); d++) {
    const regal_decoder *decoder = regal_decoder_find(regal_decoder_at(d).name);
    size_t count = regal_grid_count(decoder);
    size_t standard = regal_grid_standard(decoder);
    assert_true(standard < count);
    regal_settings found = regal_grid_at(decoder, .7, standard);
    regal_settings expected = regal_settings_standard(decoder);
    assert_memory_equal(&found, &expected, sizeof found);
    for (size_t i = 0; i < count && d == 0; i++)
      for (size_t k = 0; k < i; k++) {
        regal_settings a = regal_grid_at(decoder, .7, i);
        regal_settings b = regal_grid_at(decoder, .7, k);
        assert_memory_not_equal(&a, &b, sizeof a);
      }
  }
}

/* -- Rounds ---------------------------------------------------------------- */

static void test_rounds(void **state) {
  (void)state;
  regal_tune_round rounds[REGAL_MOST_ROUNDS];
  assert_int_equal(regal_tune_rounds(648, 16, false, rounds), 1);
  assert_int_equal(regal_tune_runs(rounds, 1), 648 * 16);
  assert_int_equal(regal_tune_rounds(648, 16, true, rounds), 4);
  assert_int_equal(regal_tune_runs(rounds, 4),
                   648 * 2 + 324 * 2 + 162 * 4 + 81 * 8);
  assert_int_equal(rounds[3].graphs, 16);
  assert_int_equal(regal_tune_rounds(648, 3, true, rounds), 1);
  assert_int_equal(regal_tune_rounds(648, 10000, true, rounds), 5);
  assert_int_equal(rounds[0].graphs, 625);
  assert_int_equal(rounds[4].graphs, 10000);
  assert_int_equal(rounds[4].settings, 40);
}

/* Costs of 12 settings on 8 graphs: setting 7 is the best on all of them, 0 is
 * the standard and the worst. */
static void fill(regal_tune_table *table) {
  for (size_t s = 0; s < table->settings; s++)
    for (size_t g = 0; g < table->graphs; g++) {
      int64_t cost = 1000 + (int64_t)((s * 31 + g * 17) % 100);
      if (s == table->standard)
        cost = 2000;
      if (s == 7)
        cost = 900 + (int64_t)g;
      *regal_tune_at(table, s, g) = (regal_tried){0, cost};
    }
}

static void test_halving_keeps_best(void **state) {
  search_bench *b = *state;
  regal_tune_table table;
  regal_tune_round rounds[REGAL_MOST_ROUNDS];
  size_t alive[12], count = 12;
  assert_int_equal(regal_tune_table_create(b->context, 12, 8, 0, 1, &table),
                   REGAL_OK);
  fill(&table);
  for (size_t i = 0; i < 12; i++)
    alive[i] = i;
  assert_int_equal(regal_tune_best(&table, 8, alive, 12), 7);
  size_t all = regal_tune_rounds(12, 8, true, rounds);
  assert_int_equal(all, 3);
  for (size_t r = 1; r < all; r++) {
    assert_int_equal(regal_tune_keep(&table, rounds[r - 1].graphs,
                                     rounds[r].settings, alive, &count),
                     REGAL_OK);
    assert_int_equal(count, rounds[r].settings);
    assert_int_equal(alive[0], 0); /* all are measured against it */
    for (size_t i = 1; i < count; i++)
      assert_true(alive[i] > alive[i - 1]);
    assert_int_equal(regal_tune_best(&table, rounds[r].graphs, alive, count),
                     7);
  }
  regal_tune_table_free(&table);
}

/* Improvements by hand, also beyond a memory limit. */
static void test_improvement(void **state) {
  search_bench *b = *state;
  regal_tune_table table;
  double error;
  assert_int_equal(regal_tune_table_create(b->context, 2, 4, 1, 1, &table),
                   REGAL_OK);
  static const regal_tried standard[] = {{0, 100}, {0, 200}, {8, 50}, {0, 70}};
  static const regal_tried tried[] = {{0, 90}, {0, 220}, {6, 90}, {1, 10}};
  static const double percent[] = {10, -10, 25, -100};
  for (size_t g = 0; g < 4; g++) {
    *regal_tune_at(&table, 0, g) = tried[g];
    *regal_tune_at(&table, 1, g) = standard[g];
  }
  double sum = 0;
  for (size_t g = 0; g < 4; g++) {
    sum += percent[g];
    double mean = regal_tune_improvement(&table, 0, g + 1, &error);
    assert_true(fabs(mean - sum / (double)(g + 1)) < 1e-9);
    if (g == 1) /* 10 and -10: deviation 14.14 over the root of 2 */
      assert_true(fabs(error - 10) < 1e-9);
  }
  assert_true(regal_tune_improvement(&table, 1, 4, &error) == 0);
  regal_tune_table_free(&table);
}

/* -- The table's file ------------------------------------------------------ */

static void test_table(void **state) {
  search_bench *b = *state;
  regal_tune_table wrote, read;
  assert_int_equal(regal_tune_table_create(b->context, 12, 8, 0, 77, &wrote),
                   REGAL_OK);
  fill(&wrote);
  regal_tune_at(&wrote, 3, 5)->excess = -1; /* not run yet */
  *regal_tune_at(&wrote, 4, 5) = (regal_tried){INT64_MAX, INT64_MAX};
  assert_int_equal(regal_tune_table_save(&wrote, "table.csv"), REGAL_OK);
  assert_int_equal(regal_tune_table_create(b->context, 12, 8, 0, 77, &read),
                   REGAL_OK);
  assert_int_equal(regal_tune_table_load(&read, "table.csv"), REGAL_OK);
  regal_tune_at(&wrote, 3, 5)->value = 0;
  assert_memory_equal(read.tried, wrote.tried, sizeof(regal_tried) * 12 * 8);
  assert_int_equal(regal_tune_table_load(&read, "nowhere.csv"), REGAL_OK);
  regal_tune_table_free(&read);
  regal_tune_table_free(&wrote);
}

static void test_table_messages(void **state) {
  search_bench *b = *state;
#define FIRST "regal_tune,1,000000000000004d\n"
#define HEAD "setting,graph,excess_bytes,cost\n"
#define ROW                                                                    \
  "expected SETTING,GRAPH,EXCESS,COST with settings below 12 and "             \
  "graphs below 8"
  static const char *const cases[][2] = {
      {"", "t.csv: not a table of regal tune; remove it, or name another "
           "output"},
      {"regal_tune,1,000000000000004e\n" HEAD,
       "t.csv: found runs with other options or graphs; remove it, or name "
       "another output"},
      {FIRST HEAD "1,2,0,5\n12,0,0,5\n", "t.csv:4: " ROW},
      {FIRST HEAD "1,8,0,5\n", "t.csv:3: " ROW},
      {FIRST HEAD "1,2,-1,5\n", "t.csv:3: " ROW},
      {FIRST HEAD "1,2,0,5", "t.csv:3: " ROW},
      {FIRST HEAD "1,2,0,9999999999999999999\n", "t.csv:3: " ROW},
      {FIRST HEAD "1,2,0\n", "t.csv:3: " ROW},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_tune_table table;
    assert_int_equal(regal_tune_table_create(b->context, 12, 8, 0, 77, &table),
                     REGAL_OK);
    files_write_text("t.csv", cases[i][0]);
    assert_int_equal(regal_tune_table_load(&table, "t.csv"), REGAL_BAD_INPUT);
    assert_string_equal(regal_error(b->context), cases[i][1]);
    regal_tune_table_free(&table);
  }
}

/* -- Whole tunings --------------------------------------------------------- */

/* A set of tiny graphs; the decoder with the smallest grid. */
static void use_set(search_bench *b, const char *folder, const char *count) {
  set_option(b, "count", count);
  set_option(b, "nodes", "14");
  set_option(b, "decoder", "batched");
  set_option(b, "evaluations", "120");
  if (regal_generate(b->context, folder, &b->options, NULL, NULL, NULL))
    fail_msg("%s", regal_error(b->context));
}

static regal_tuning tune(search_bench *b, const char *set, const char *output) {
  regal_tuning made;
  set_option(b, "output", output);
  if (regal_tune(b->context, set, &b->options, "regal tune set", NULL, NULL,
                 &made))
    fail_msg("%s", regal_error(b->context));
  return made;
}

static void assert_same_files(const char *a, const char *b) {
  char *bytes_a = files_read(a), *bytes_b = files_read(b);
  assert_non_null(bytes_a);
  assert_non_null(bytes_b);
  assert_string_equal(bytes_a, bytes_b);
  free(bytes_a);
  free(bytes_b);
}

static void test_threads(void **state) {
  search_bench *b = *state;
  use_set(b, "threads-set", "4");
  for (int threads = 1; threads <= 3; threads++) {
    char name[32], csv[40];
    snprintf(name, sizeof name, "threads%d.json", threads);
    snprintf(csv, sizeof csv, "%s.csv", name);
    b->options.threads = threads;
    regal_tuning made = tune(b, "threads-set", name);
    assert_int_equal(made.runs, 108 * 4);
    assert_int_equal(made.total, 108 * 4);
    assert_int_equal(made.resumed, 0);
    assert_same_files(name, "threads1.json");
    assert_same_files(csv, "threads1.json.csv");
  }
}

/* The winner's improvement is what optimize finds with it, and no other
 * setting in the table does better. */
static void test_winner(void **state) {
  search_bench *b = *state;
  use_set(b, "winner-set", "3");
  regal_tuning made = tune(b, "winner-set", "winner.json");
  regal_dataset *dataset;
  double gain = 0;
  assert_int_equal(regal_dataset_open(b->context, "winner-set", &dataset),
                   REGAL_OK);
  for (size_t i = 0; i < 3; i++) {
    problem_end(b);
    assert_int_equal(regal_dataset_load(dataset, i, 0, &b->options, &b->graph),
                     REGAL_OK);
    make_problem(b);
    set_option(b, "method", "brkga");
    regal_result *standard = optimize(b);
    set_option(b, "method", "tuned");
    set_option(b, "settings", "winner.json");
    regal_result *tuned = optimize(b);
    gain += 100 - 100 * (double)tuned->cost.runtime_ns /
                      (double)standard->cost.runtime_ns;
    regal_result_free(tuned);
    regal_result_free(standard);
  }
  assert_true(made.improvement >= 0); /* the standard is one of them */
  assert_true(fabs(gain / 3 - made.improvement) < 1e-9);
  regal_dataset_free(dataset);
}

/* Asks for a stop after so many runs. */
typedef struct stopper {
  regal_context *context;
  uint64_t after;
} stopper;

static void stop_later(void *state, const regal_tuning *now) {
  stopper *s = state;
  if (now->runs >= s->after)
    regal_stop_request(s->context);
}

static void check_resume(search_bench *b, const char *halving) {
  stopper s = {b->context, 1};
  regal_tuning made = {0};
  uint64_t before = 0;
  int calls = 0;
  set_option(b, "halving", halving);
  regal_tuning whole = tune(b, "resume-set", "unbroken.json");
  set_option(b, "output", "broken.json");
  for (; !made.total || made.runs < made.total; calls++) {
    regal_stop_clear(b->context);
    assert_null(files_read("broken.json"));
    s.after = before + 100;
    if (regal_tune(b->context, "resume-set", &b->options, "regal tune set",
                   stop_later, &s, &made))
      fail_msg("%s", regal_error(b->context));
    assert_true(made.runs > before);
    before = made.runs;
  }
  regal_stop_clear(b->context);
  assert_true(calls > 2);
  assert_int_equal(made.total, whole.total);
  assert_same_files("broken.json", "unbroken.json");
  assert_same_files("broken.json.csv", "unbroken.json.csv");
  made = tune(b, "resume-set", "broken.json"); /* nothing left to do */
  assert_int_equal(made.resumed, made.total);
  assert_same_files("broken.json", "unbroken.json");
  remove("broken.json");
  remove("broken.json.csv");
  remove("unbroken.json.csv");
}

static void test_resume(void **state) {
  search_bench *b = *state;
  use_set(b, "resume-set", "4");
  check_resume(b, "false");
  check_resume(b, "true");
}

/* Halving does fewer runs, each of which is one of the whole grid's, and its
 * winner is not better than the best of all. */
static void test_halving(void **state) {
  search_bench *b = *state;
  use_set(b, "halving-set", "8");
  regal_tuning whole = tune(b, "halving-set", "whole.json");
  set_option(b, "halving", "true");
  regal_tuning halved = tune(b, "halving-set", "halved.json");
  assert_int_equal(halved.rounds, 3);
  assert_int_equal(halved.runs, 108 * 2 + 54 * 2 + 27 * 4);
  assert_true(halved.improvement <= whole.improvement);
  assert_true(halved.improvement > 0);
  char *rows = files_read("halved.json.csv"),
       *all = files_read("whole.json.csv");
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"))
    assert_non_null(strstr(all, row));
  free(rows);
  free(all);
}

static void test_other_options(void **state) {
  search_bench *b = *state;
  use_set(b, "other-set", "2");
  tune(b, "other-set", "other.json");
  static const char *const changes[][2] = {
      {"objective", "memory"}, {"devices", "3"},      {"evaluations", "121"},
      {"seed", "2"},           {"elite-bias", "0.6"}, {"graphs", "1"}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    regal_options before = b->options;
    set_option(b, changes[i][0], changes[i][1]);
    assert_int_equal(regal_tune(b->context, "other-set", &b->options, NULL,
                                NULL, NULL, NULL),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(b->context),
                        "other.json.csv: found runs with other options or "
                        "graphs; remove it, or name another output");
    b->options = before;
  }
}

/* Of a set with splits only split train counts. */
static void test_splits(void **state) {
  search_bench *b = *state;
  use_set(b, "split-set", "3");
  char index[512] = "name,file,split\n";
  regal_dataset *dataset;
  static const char *const splits[] = {"train", "test", "train"};
  assert_int_equal(regal_dataset_open(b->context, "split-set", &dataset),
                   REGAL_OK);
  for (size_t i = 0; i < 3; i++) {
    const regal_entry *entry = regal_dataset_entry(dataset, i);
    snprintf(index + strlen(index), sizeof index - strlen(index), "%s,%s,%s\n",
             entry->name, entry->file, splits[i]);
  }
  regal_dataset_free(dataset);
  files_write_text("split-set/index.csv", index);
  assert_int_equal(tune(b, "split-set", "split.json").graphs, 2);
  for (char *at = index; (at = strstr(at, "train"));)
    memcpy(at, "valid", 5);
  files_write_text("split-set/index.csv", index);
  assert_int_equal(
      regal_tune(b->context, "split-set", &b->options, NULL, NULL, NULL, NULL),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "split-set: found no graph of split train");
}

static void test_misuse(void **state) {
  search_bench *b = *state;
  assert_int_equal(regal_tune(NULL, "x", &b->options, NULL, NULL, NULL, NULL),
                   REGAL_MISUSE);
  assert_int_equal(
      regal_tune(b->context, NULL, &b->options, NULL, NULL, NULL, NULL),
      REGAL_MISUSE);
  assert_int_equal(
      regal_tune(b->context, "x", &b->options, NULL, NULL, NULL, NULL),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "tuning needs a file for the settings: -o FILE");
  set_option(b, "output", "x.json");
  set_option(b, "decoder", "none");
  assert_int_equal(
      regal_tune(b->context, "x", &b->options, NULL, NULL, NULL, NULL),
      REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context),
                      "--decoder: there is no decoder \"none\"; 'regal "
                      "methods' lists them");
}

/* Every allocation of setting up, then some of those of the runs. */
static void test_allocations(void **state) {
  search_bench *b = *state;
  use_set(b, "memory-set", "2");
  set_option(b, "evaluations", "30");
  set_option(b, "output", "memory.json");
  b->options.threads = 2;
  for (size_t n = 1;; n += n < 400 ? 1 : 499) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    remove("memory.json.csv");
    regal_status status = regal_context_create(&context, &allocator);
    if (status == REGAL_OK) {
      status = regal_tune(context, "memory-set", &b->options, NULL, NULL, NULL,
                          NULL);
      regal_context_free(context);
    }
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_rounds),
      SEARCH_TEST(test_halving_keeps_best),
      SEARCH_TEST(test_improvement),
      SEARCH_TEST(test_table),
      SEARCH_TEST(test_table_messages),
      SEARCH_TEST(test_threads),
      SEARCH_TEST(test_winner),
      SEARCH_TEST(test_resume),
      SEARCH_TEST(test_halving),
      SEARCH_TEST(test_other_options),
      SEARCH_TEST(test_splits),
      SEARCH_TEST(test_misuse),
      SEARCH_TEST(test_allocations),
  };
  return cmocka_run_group_tests_name("tune", tests, files_enter, files_leave);
}
