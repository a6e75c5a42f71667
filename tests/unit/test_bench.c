/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks: the design of runs, tables that are continued or refused, and
 * the numbers of a report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "bench/summary.h"
#include "regal_data.h"
#include "support/failing_allocator.h"
#include "support/files.h"
#include "support/search_bench.h"

/* -- The design ------------------------------------------------------------ */

static void make_set(search_bench *b) {
  regal_options options;
  regal_options_init(&options);
  options.count = 3;
  options.nodes = 20;
  options.threads = 1;
  if (regal_generate(b->context, "set", &options, NULL, NULL, NULL))
    fail_msg("%s", regal_error(b->context));
}

static void test_numbers(void **state) {
  search_bench *b = *state;
  regal_bench_design design;
  make_set(b);
  set_option(b, "methods", "brkga,regal policy=rule,gp-dfs,auto time=1s");
  set_option(b, "budgets", "100, 200");
  set_option(b, "seeds", "4,7");
  set_option(b, "augment", "2");
  assert_int_equal(regal_bench_design_create(b->context, &b->options, &design),
                   REGAL_OK);
  assert_int_equal(regal_bench_add_dataset(&design, "set", &b->options),
                   REGAL_OK);
  static const char *const budgets[] = {"100", "200",  "100",
                                        "200", "none", "1s"};
  assert_int_equal(design.variant_count, 6);
  for (size_t i = 0; i < 6; i++)
    assert_string_equal(design.variants[i].budget, budgets[i]);
  assert_int_equal(regal_bench_runs(&design), 3 * 3 * 6 * 2);
  for (size_t i = 0; i < regal_bench_runs(&design); i++) {
    regal_bench_run run = regal_bench_run_at(&design, i);
    regal_bench_row row = {.dataset = "set",
                           .graph = design.graphs[run.graph].name,
                           .copy = run.copy,
                           .objective = "runtime",
                           .method = design.variants[run.variant].method,
                           .budget = design.variants[run.variant].budget,
                           .seed = design.seeds[run.seed]};
    assert_int_equal(regal_bench_number(&design, &row), i);
    row.objective = "memory";
    assert_int_equal(regal_bench_number(&design, &row), SIZE_MAX);
  }
  regal_bench_design_free(&design);
}

static regal_status run_bench(search_bench *b, regal_benching *made) {
  const char *sets[] = {"set"};
  return regal_bench(b->context, sets, 1, &b->options, NULL, NULL, made);
}

static void expect_failure(search_bench *b, const char *message) {
  assert_int_equal(run_bench(b, NULL), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(b->context), message);
}

#define BLANK                                                                  \
  "--methods, --budgets, --seeds: found a blank list, expected an entry"

static void test_bad_lists(void **state) {
  static const char *const cases[][3] = {
      {"methods", "nothing",
       "--methods: there is no method 'nothing'; 'regal methods' lists them"},
      {"methods", "seed=3",
       "--methods: found \"seed=3\", expected NAME OPTION=VALUE..."},
      {"methods", "brkga 5",
       "--methods: found \"brkga 5\", expected NAME OPTION=VALUE..."},
      {"methods", "heft,heft", "found method \"heft\" with budget none twice"},
      {"budgets", "1.5",
       "--budgets: found \"1.5\", expected evaluations (5000) or a time with "
       "its unit (0.1s)"},
      {"budgets", "5,,7",
       "--budgets: found \"\", expected evaluations (5000) or a time with its "
       "unit (0.1s)"},
      {"methods", "heft,,brkga", "--methods: found nothing between two commas"},
      {"seeds", "1,1", "--seeds: found seed 1 twice"},
      {"seeds", "1,000000000000000000000000000000000002",
       "--seeds: found 36 characters, \"00000000000000000000...\", expected "
       "fewer than 32"},
      {"budgets",
       "5,000000000000000000000000000000000000000000000000000000000000000005",
       "--budgets: found 66 characters, \"00000000000000000000...\", expected "
       "fewer than 64"},
      {"seeds", " ", BLANK},
      {"methods", " ", BLANK},
      {"budgets", " ", BLANK},
  };
  search_bench *b = *state;
  make_set(b);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    regal_options_init(&b->options);
    set_option(b, "output", "none.csv");
    set_option(b, cases[i][0], cases[i][1]);
    expect_failure(b, cases[i][2]);
    assert_int_equal(access("none.csv", F_OK), -1);
  }
}

/* -- Runs ------------------------------------------------------------------ */

static void use_small_bench(search_bench *b, const char *output) {
  regal_options_init(&b->options);
  set_option(b, "methods", "brkga,regal policy=rule,heft");
  set_option(b, "budgets", "50,450");
  set_option(b, "seeds", "1,2,3");
  set_option(b, "threads", "1");
  set_option(b, "output", output);
}

static void stop_after(void *state, const regal_benching *now) {
  if (now->runs >= 16)
    regal_stop_request(state);
}

/* Without the last column, the time. */
static void cut_seconds(char *table) {
  char *to = table;
  for (char *from = table; from && *from;) {
    char *end = strchr(from, '\n'), *comma = end;
    assert_non_null(end);
    while (*comma != ',')
      comma--;
    memmove(to, from, (size_t)(comma - from));
    to += comma - from;
    *to++ = '\n';
    from = end + 1;
  }
  *to = 0;
}

static void expect_equal_tables(const char *a, const char *b) {
  char *x = files_read(a), *y = files_read(b);
  cut_seconds(x);
  cut_seconds(y);
  assert_string_equal(x, y);
  free(x);
  free(y);
}

/* Stopped, cut in the middle of a line as a kill would, and continued on other
 * threads: the same rows. */
static void test_continue(void **state) {
  search_bench *b = *state;
  const char *sets[] = {"set"};
  regal_benching made;
  make_set(b);
  use_small_bench(b, "whole.csv");
  assert_int_equal(run_bench(b, &made), REGAL_OK);
  assert_int_equal(made.runs, 3 * 5 * 3);
  use_small_bench(b, "parts.csv");
  assert_int_equal(regal_bench(b->context, sets, 1, &b->options, stop_after,
                               b->context, &made),
                   REGAL_OK);
  assert_int_equal(made.runs, 16);
  regal_stop_clear(b->context);
  char *part = files_read("parts.csv");
  files_write("parts.csv", part, strlen(part) - 9);
  free(part);
  b->options.threads = 3;
  assert_int_equal(run_bench(b, &made), REGAL_OK);
  assert_int_equal(made.resumed, 15);
  assert_int_equal(made.runs, 45);
  expect_equal_tables("whole.csv", "parts.csv");
}

typedef struct counting {
  uint64_t calls;
  bool wrong; /* asserted by the test's own thread */
} counting;

static void count_call(void *state, const regal_benching *now) {
  counting *c = state;
  c->wrong |= now->runs != c->calls++;
}

/* Each run is counted when it ends, whatever a chunk is. */
static void test_progress(void **state) {
  search_bench *b = *state;
  const char *sets[] = {"set"};
  counting c = {0};
  make_set(b);
  use_small_bench(b, "progress.csv");
  b->options.threads = 2;
  assert_int_equal(
      regal_bench(b->context, sets, 1, &b->options, count_call, &c, NULL),
      REGAL_OK);
  assert_false(c.wrong);
  assert_int_equal(c.calls, 1 + 45);
}

static void replace_in(const char *path, const char *from, const char *to) {
  char *text = files_read(path), *at = strstr(text, from);
  assert_non_null(at);
  assert_int_equal(strlen(from), strlen(to));
  memcpy(at, to, strlen(to));
  files_write(path, text, strlen(text));
  free(text);
}

/* Rows of another build, of other settings, of another graph. */
static void test_refuse(void **state) {
  search_bench *b = *state;
  regal_benching made;
  make_set(b);
  use_small_bench(b, "whole.csv");
  assert_int_equal(run_bench(b, &made), REGAL_OK);
  set_option(b, "population", "50");
  assert_int_equal(run_bench(b, &made), REGAL_BAD_INPUT);
  assert_non_null(
      strstr(regal_error(b->context), "found a run with other settings ("));
  set_option(b, "mix", "true");
  assert_int_equal(run_bench(b, &made), REGAL_OK);
  assert_int_equal(made.resumed, 0);
  assert_int_equal(made.runs, 45);
  use_small_bench(b, "whole.csv");
  set_option(b, "overwrite", "true");
  assert_int_equal(run_bench(b, &made), REGAL_OK);
  char input[] = "0123456789abcdef", *text = files_read("whole.csv");
  memcpy(input, strstr(text, ",set,") - 16, 16);
  free(text);
  replace_in("whole.csv", input, "0000000000000000");
  use_small_bench(b, "whole.csv");
  assert_int_equal(run_bench(b, &made), REGAL_BAD_INPUT);
  assert_non_null(strstr(regal_error(b->context), "has changed since: --mix"));
}

/* A policy that is built in is part of what a run reads, as a file is. */
static void test_shipped(void **state) {
  search_bench *b = *state;
  regal_bench_design design;
  char input[4][17];
  make_set(b);
  set_option(b, "methods",
             "brkga,regal policy=rule,regal policy=synthetic_runtime,"
             "tuned settings=torch_runtime");
  set_option(b, "budgets", "450");
  assert_int_equal(regal_bench_design_create(b->context, &b->options, &design),
                   REGAL_OK);
  assert_int_equal(regal_bench_add_dataset(&design, "set", &b->options),
                   REGAL_OK);
  for (size_t i = 0; i < 4; i++) {
    regal_bench_run run = {.variant = i};
    regal_bench_input(&design, &run, input[i]);
  }
  assert_string_equal(input[0], input[1]);
  assert_string_not_equal(input[0], input[2]);
  assert_string_not_equal(input[0], input[3]);
  regal_bench_design_free(&design);
}

/* Two calls on one table: the second is refused, and changes nothing. */
static void test_locked(void **state) {
  search_bench *b = *state;
  regal_benching made;
  FILE *other;
  make_set(b);
  use_small_bench(b, "locked.csv");
  assert_int_equal(regal_bench_lock(b->context, "locked.csv", &other),
                   REGAL_OK);
  assert_null(other);
  assert_int_equal(run_bench(b, &made), REGAL_OK);
  char *before = files_read("locked.csv");
  assert_int_equal(regal_bench_lock(b->context, "locked.csv", &other),
                   REGAL_OK);
  assert_non_null(other);
  set_option(b, "overwrite", "true");
  assert_int_equal(run_bench(b, &made), REGAL_IO);
  assert_string_equal(regal_error(b->context),
                      "locked.csv: another call is writing to it");
  char *after = files_read("locked.csv");
  assert_string_equal(before, after);
  free(before);
  free(after);
  fclose(other);
  assert_int_equal(run_bench(b, &made), REGAL_OK);
  assert_int_equal(made.resumed, 0);
  assert_int_equal(mkfifo("pipe", 0666), 0);
  use_small_bench(b, "pipe");
  expect_failure(b, "pipe: found a pipe or a device, expected a file for the "
                    "table");
}

static void test_malformed(void **state) {
  static const char head[] =
      "build,settings,input,dataset,graph,copy,ops,objective,method,budget,"
      "seed,cost,excess_bytes,runtime_ns,peak_bytes,bound,evaluations,"
      "seconds\n";
  static const char *const cases[][2] = {
      {"graph,cost\n", "bad.csv: not a table of regal bench"},
      {"a,b,c\n", "bad.csv:2: found 3 fields, expected 18"},
      {"a,b,c,d,e,x,1,runtime,m,5,1,1,0,1,1,1,1,0.1\n",
       "bad.csv:2: found \"x\" in column copy, expected a number"},
      {"a,b,c,d,e,0,1,runtime,m,5,1,-1,0,1,1,1,1,0.1\n",
       "bad.csv:2: found \"-1\" in column cost, expected a number"},
      {"a,b,c,d,e,0,1,runtime,m,5,1,1,0,1,1,1,1,0.1,more\n",
       "bad.csv:2: found 19 fields, expected 18"},
      {"a,b,c,d,e,0,1,runtime,m,5,1,1,0,1,1,1,1,fast\n",
       "bad.csv:2: found \"fast\" in column seconds, expected a number"},
  };
  search_bench *b = *state;
  make_set(b);
  use_small_bench(b, "bad.csv");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s%s", i ? head : "", cases[i][0]);
    files_write_text("bad.csv", text);
    expect_failure(b, cases[i][1]);
  }
}

/* A disk that lost power may leave zeros behind: rows after them count. */
static void test_zeros(void **state) {
  search_bench *b = *state;
  make_set(b);
  use_small_bench(b, "zeros.csv");
  assert_int_equal(run_bench(b, NULL), REGAL_OK);
  char *text = files_read("zeros.csv");
  size_t size = strlen(text);
  char *second = strchr(strchr(text, '\n') + 1, '\n') + 1;
  *second = 0;
  files_write("zeros.csv", text, size);
  free(text);
  expect_failure(b, "zeros.csv:3: found 0 fields, expected 18");
}

/* -- The report ------------------------------------------------------------ */

/* graph a: reference 100, ours 90 and 80 (two seeds); graph b: 200 and 220,
 * 220.
 */
static const char example[] =
    "build,settings,input,dataset,graph,copy,ops,objective,method,budget,seed,"
    "cost,excess_bytes,runtime_ns,peak_bytes,bound,evaluations,seconds\n"
    "x,s,i,d,a,0,9,runtime,brkga,5000,1,100,0,100,1,75,5000,2.0\n"
    "x,s,i,d,a,0,9,runtime,brkga,5000,2,100,0,100,1,75,5000,4.0\n"
    "x,s,i,d,a,0,9,runtime,ours p=1,9,1,90,0,90,1,75,9,1.0\n"
    "x,s,i,d,a,0,9,runtime,ours p=1,9,2,80,0,80,1,75,9,1.0\n"
    "x,s,i,d,b,0,9,runtime,brkga,5000,1,200,0,200,1,160,5000,2.0\n"
    "x,s,i,d,b,0,9,runtime,brkga,5000,2,200,0,200,1,160,5000,2.0\n"
    "x,s,i,d,b,0,9,runtime,ours p=1,9,1,220,0,220,1,160,9,3.0\n"
    "x,s,i,d,b,0,9,runtime,ours p=1,9,2,220,0,220,1,160,9,3.0\n";

static bool near(double a, double b) {
  return fabs(a - b) < 1e-9;
}

static void test_scores(void **state) {
  search_bench *b = *state;
  const char *tables[] = {"example.csv"};
  regal_bench_summary summary;
  regal_bench_score score;
  files_write_text("example.csv", example);
  assert_int_equal(
      regal_bench_summarise(b->context, tables, 1, &b->options, &summary),
      REGAL_OK);
  assert_int_equal(summary.group_count, 1);
  const regal_bench_group *group = &summary.groups[0];
  assert_int_equal(group->reference, 0);
  assert_int_equal(regal_bench_score_of(b->context, group, 1, &score),
                   REGAL_OK);
  assert_int_equal(score.graphs, 2);
  assert_true(near(score.improvement, (15 - 10) / 2.));
  /* 15 and -10: deviation 12.5 * sqrt 2, over sqrt 2, times t of 1 */
  assert_true(fabs(score.interval - 12.5 * 12.706205) < 1e-6);
  assert_true(near(score.gap, (100 * 85. / 80 - 100 + 10) / 2));
  /* the reference: 25% on a, 0 on b */
  assert_true(near(score.closed, 100 * (1 - score.gap / 12.5)));
  assert_true(near(score.bound_gap, (100 * 85. / 75 - 100 + 37.5) / 2));
  assert_true(near(score.seconds, 2));
  assert_int_equal(score.wins, 1);
  assert_int_equal(score.losses, 1);
  assert_true(near(score.quartile[0], -10));
  assert_true(near(score.quartile[4], 15));
  assert_true(near(score.quartile[2], 2.5));
  /* seed 1: 10 and -10; seed 2: 20 and -10 */
  assert_true(near(score.deviation, 5 / sqrt(2)));
  regal_bench_summary_free(&summary);
}

/* The table of `example`, and of it another one with one more row. */
static regal_status summarise_with(search_bench *b, const char *row,
                                   regal_bench_summary *summary) {
  const char *tables[] = {"example.csv", "more.csv"};
  char text[1024];
  snprintf(text, sizeof text, "%.*s\n%s\n",
           (int)(strchr(example, '\n') - example), example, row);
  files_write_text("example.csv", example);
  files_write_text("more.csv", text);
  return regal_bench_summarise(b->context, tables, 2, &b->options, summary);
}

/* A run that two tables have counts once; two versions of a run are not
 * averaged as if they were one. */
static void test_repeated_runs(void **state) {
  search_bench *b = *state;
  static const char row[] =
      "%s,s,i,d,a,0,9,runtime,ours p=1,9,2,%d,0,80,1,75,9,1.0";
  char text[128];
  regal_bench_summary summary;
  regal_bench_score score;
  snprintf(text, sizeof text, row, "x", 80);
  assert_int_equal(summarise_with(b, text, &summary), REGAL_OK);
  assert_int_equal(summary.replaced, 1);
  assert_int_equal(summary.builds.count, 1);
  assert_int_equal(
      regal_bench_score_of(b->context, &summary.groups[0], 1, &score),
      REGAL_OK);
  assert_true(near(score.improvement, (15 - 10) / 2.));
  assert_true(near(score.deviation, 5 / sqrt(2)));
  regal_bench_summary_free(&summary);

  snprintf(text, sizeof text, row, "y", 60);
  assert_int_equal(summarise_with(b, text, &summary), REGAL_BAD_INPUT);
  regal_bench_summary_free(&summary);
  assert_string_equal(regal_error(b->context),
                      "found two different runs of \"ours p=1\" on a with seed "
                      "2, of builds x and y: --mix takes the later one");
  set_option(b, "mix", "true");
  assert_int_equal(summarise_with(b, text, &summary), REGAL_OK);
  assert_int_equal(summary.builds.count, 2);
  assert_int_equal(
      regal_bench_score_of(b->context, &summary.groups[0], 1, &score),
      REGAL_OK);
  assert_true(near(score.improvement, (25 - 10) / 2.));
  regal_bench_summary_free(&summary);
}

static void test_reference(void **state) {
  search_bench *b = *state;
  const char *tables[] = {"example.csv"};
  regal_bench_summary summary;
  files_write_text("example.csv", example);
  set_option(b, "reference", "ours p=1@9");
  assert_int_equal(
      regal_bench_summarise(b->context, tables, 1, &b->options, &summary),
      REGAL_OK);
  assert_int_equal(summary.groups[0].reference, 1);
  regal_bench_summary_free(&summary);
  set_option(b, "reference", "brkga 5000");
  assert_int_equal(
      regal_bench_summarise(b->context, tables, 1, &b->options, &summary),
      REGAL_BAD_INPUT);
  regal_bench_summary_free(&summary);
  assert_string_equal(regal_error(b->context),
                      "found no runs of the reference \"brkga 5000\", expected "
                      "METHOD@BUDGET of a run, such as \"brkga@5000\"");
}

static void test_best_known(void **state) {
  search_bench *b = *state;
  const char *tables[] = {"example.csv"};
  regal_bench_summary summary;
  files_write_text("example.csv", example);
  files_write_text("best.csv", "graph,cost\r\na,40\r\n\r\nb,1000\r\n");
  set_option(b, "best", "best.csv");
  assert_int_equal(
      regal_bench_summarise(b->context, tables, 1, &b->options, &summary),
      REGAL_OK);
  assert_true(near(summary.groups[0].best[0], 40));
  assert_true(near(summary.groups[0].best[1], 200));
  regal_bench_summary_free(&summary);
  static const char *const wrong[][2] = {
      {"a,40\nb,little\n",
       "best.csv:2: found \"little\" as a cost, expected GRAPH,COST"},
      {"a,40\r\n\"b, c\",1,2\r\n",
       "best.csv:2: found 3 fields, expected GRAPH,COST"},
      {"a\n", "best.csv:1: found 1 field, expected GRAPH,COST"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    files_write_text("best.csv", wrong[i][0]);
    assert_int_equal(
        regal_bench_summarise(b->context, tables, 1, &b->options, &summary),
        REGAL_BAD_INPUT);
    regal_bench_summary_free(&summary);
    assert_string_equal(regal_error(b->context), wrong[i][1]);
  }
}

/* A name that gnuplot or a shell would run does not get into the script. */
static void test_names_in_script(void **state) {
  search_bench *b = *state;
  const char *tables[] = {"evil.csv"};
  char text[1024];
  snprintf(text, sizeof text, "%.*s%s", (int)(strchr(example, '\n') - example),
           example,
           "\nx,s,i,`id`/../d,a,0,9,runtime,'; system('id') #,5,1,1,0,1,1,1,5,"
           "2.0\n");
  files_write_text("evil.csv", text);
  mkdir("figures", 0777);
  set_option(b, "report", "figures");
  if (regal_bench_report(b->context, tables, 1, &b->options))
    fail_msg("%s", regal_error(b->context));
  char *script = files_read("figures/report.gp");
  assert_non_null(strstr(script, "title '__ system__id__ _'"));
  assert_non_null(strstr(script, "'_id_____d_runtime_curve.svg'"));
  assert_null(strchr(script, '`'));
  free(script);
}

/* Rows of other settings are a line of their own, and a long name is not cut.
 */
static void test_mixed_lines(void **state) {
  search_bench *b = *state;
  const char *tables[] = {"mixed.csv"};
  char text[1024];
  snprintf(text, sizeof text, "%.*s%s", (int)(strchr(example, '\n') - example),
           example,
           "\nx,s,i,d,a,0,9,runtime,brkga,5000,1,100,0,100,1,75,5000,2.0\n"
           "x,t,i,d,a,0,9,runtime,brkga,5000,1,90,0,90,1,75,5000,2.0\n"
           "x,t,i,d,a,0,9,runtime,regal policy=synthetic_runtime_paper "
           "actions=sample decoder=paper-late,9,1,90,0,90,1,75,9,2.0\n");
  files_write_text("mixed.csv", text);
  mkdir("figures", 0777);
  set_option(b, "report", "figures");
  if (regal_bench_report(b->context, tables, 1, &b->options))
    fail_msg("%s", regal_error(b->context));
  char *script = files_read("figures/report.gp");
  assert_non_null(strstr(script, "lt 1 title 'brkga [s]'"));
  assert_non_null(strstr(script, "lt 2 title 'brkga [t]'"));
  assert_non_null(strstr(script, "title 'regal policy=synthetic_runtime_paper "
                                 "actions=sample decoder=paper-late [t]'"));
  free(script);
}

static void test_report_memory(void **state) {
  (void)state;
  files_write_text("example.csv", example);
  mkdir("figures", 0777);
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    const char *tables[] = {"example.csv"};
    regal_context *context;
    regal_options options;
    regal_status status = regal_context_create(&context, &allocator);
    if (status == REGAL_OK) {
      regal_options_init(&options);
      snprintf(options.report, sizeof options.report, "figures");
      status = regal_bench_report(context, tables, 1, &options);
      regal_context_free(context);
    }
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

static void test_bench_memory(void **state) {
  search_bench *b = *state;
  make_set(b);
  for (size_t n = 1;; n += 7) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    const char *sets[] = {"set"};
    regal_context *context;
    regal_status status = regal_context_create(&context, &allocator);
    if (status == REGAL_OK) {
      use_small_bench(b, "memory.csv");
      snprintf(b->options.methods, sizeof b->options.methods, "heft");
      status = regal_bench(context, sets, 1, &b->options, NULL, NULL, NULL);
      regal_context_free(context);
      remove("memory.csv");
    }
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SEARCH_TEST(test_numbers),       SEARCH_TEST(test_bad_lists),
      SEARCH_TEST(test_continue),      SEARCH_TEST(test_progress),
      SEARCH_TEST(test_refuse),        SEARCH_TEST(test_shipped),
      SEARCH_TEST(test_locked),        SEARCH_TEST(test_malformed),
      SEARCH_TEST(test_zeros),         SEARCH_TEST(test_scores),
      SEARCH_TEST(test_repeated_runs), SEARCH_TEST(test_reference),
      SEARCH_TEST(test_best_known),    SEARCH_TEST(test_names_in_script),
      SEARCH_TEST(test_mixed_lines),   SEARCH_TEST(test_report_memory),
      SEARCH_TEST(test_bench_memory),
  };
  return cmocka_run_group_tests_name("bench", tests, files_enter, files_leave);
}
