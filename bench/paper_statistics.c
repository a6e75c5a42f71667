/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's statistics: what BRKGA gains on the paper's synthetic graphs from
 * 1K to 10K evaluations, how many graphs pass the 18% filter, and the gap to
 * the lower bound at 5K, for several readings of the paper.
 *
 *   bench_paper_statistics [GRAPHS PER ROW]
 *
 * Beside each mean stand its standard error, what an earlier, independent
 * program found on 60 graphs of its own, and how many standard errors (of the
 * difference) lie between the two. Prints a Markdown table.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/brkga_statistics.h"

enum { EARLIER_GRAPHS = 60 };

/* What the earlier program found; 0: it had no such row. */
typedef struct earlier {
  double improvement, passing, passing_improvement, gap, passing_gap;
} earlier;

static const struct row {
  brkga_setting setting;
  earlier earlier;
} rows[] = {
    {{"wait", 100, .20, .15, "paper"}, {20.2, 51, 21.0, 27.0, 26.1}},
    {{"wait", 100, .10, .10, "paper"}, {17.0, 17, 20.6, 25.3, 20.2}},
    {{"wait", 50, .20, .15, "paper"}, {15.1, 9, 20.2, 24.5, 21.4}},
    {{"transfer", 100, .20, .15, "paper"}, {20.8, 49, 22.1, 40.2, 36.9}},
    {{"transfer", 100, .10, .10, "paper"}, {17.9, 29, 20.3, 38.3, 33.2}},
    {{"wait", 100, .20, .15, "paper-late"}, {0, 0, 0, 0, 0}},
    {{"wait", 100, .10, .10, "paper-late"}, {0, 0, 0, 0, 0}},
    {{"transfer", 100, .20, .15, "paper-late"}, {0, 0, 0, 0, 0}},
    {{"transfer", 100, .10, .10, "paper-late"}, {0, 0, 0, 0, 0}},
};

/* "20.2 ±0.2 (20.2, 0.1)"; the earlier mean is of `count` graphs, and its
 * deviation is taken to be the same. */
static void print_mean(const brkga_mean *mean, double earlier, double count) {
  double value = brkga_mean_of(mean), deviation = brkga_deviation_of(mean);
  double error = deviation / sqrt(mean->count);
  double spread = deviation * sqrt(1 / mean->count + 1 / count);
  if (earlier == 0) {
    printf(" %.1f ±%.1f |", value, error);
    return;
  }
  printf(" %.1f ±%.1f (%.1f, %+.1f) |", value, error, earlier,
         (value - earlier) / spread);
}

static void print_share(double passing, double graphs, double earlier) {
  double share = passing / graphs, other = earlier / EARLIER_GRAPHS;
  if (earlier == 0) {
    printf(" %.0f%% ±%.0f |", 100 * share,
           100 * sqrt(share * (1 - share) / graphs));
    return;
  }
  double pooled = (passing + earlier) / (graphs + EARLIER_GRAPHS);
  double variance = pooled * (1 - pooled);
  double spread = sqrt(variance * (1 / graphs + 1. / EARLIER_GRAPHS));
  printf(" %.0f%% ±%.0f (%.0f%%, %+.1f) |", 100 * share,
         100 * sqrt(share * (1 - share) / graphs), 100 * other,
         (share - other) / spread);
}

static void print_row(const struct row *row,
                      const brkga_statistics *statistics) {
  const brkga_setting *setting = &row->setting;
  const earlier *earlier = &row->earlier;
  const brkga_mean *passing = &statistics->passing_improvement;
  printf("| %s | %s | %d / %.0f%% / %.0f%% |", setting->decoder,
         setting->control, setting->population, 100 * setting->elites,
         100 * setting->mutants);
  print_mean(&statistics->improvement, earlier->improvement, EARLIER_GRAPHS);
  print_share(passing->count, statistics->improvement.count, earlier->passing);
  print_mean(passing, earlier->passing_improvement, earlier->passing);
  print_mean(&statistics->gap, earlier->gap, EARLIER_GRAPHS);
  print_mean(&statistics->passing_gap, earlier->passing_gap, earlier->passing);
  printf("\n");
  fflush(stdout);
}

int main(int argc, char **argv) {
  regal_context *context;
  size_t graphs = argc > 1 ? strtoul(argv[1], NULL, 10) : 240;
  if (graphs < 30) {
    fprintf(stderr, "usage: %s [GRAPHS PER ROW, at least 30]\n", argv[0]);
    return 1;
  }
  if (regal_context_create(&context, NULL) != REGAL_OK)
    return 2;
  printf("%zu graphs in each row; %s\n\n", graphs, regal_build_id());
  printf("| decoder | control | p / elites / mutants | 1K to 10K, %% | pass "
         "18%% | mean "
         "of those, %% | gap at 5K, %% | of those, %% |\n"
         "|---|---|---|---|---|---|---|---|\n");
  int failed = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows && !failed; i++) {
    brkga_statistics statistics;
    failed = brkga_statistics_measure(context, &rows[i].setting, graphs,
                                      &statistics) != REGAL_OK;
    if (failed)
      fprintf(stderr, "%s\n", regal_error(context));
    else
      print_row(&rows[i], &statistics);
  }
  regal_context_free(context);
  return failed;
}
