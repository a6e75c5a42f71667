/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a report: an entry against the reference, over graphs.
 *
 * A graph counts once: its cost is the mean over seeds. Confidence intervals
 * are of the mean over graphs, by Student's t (its quantiles from a series in
 * 1 / degrees of freedom, good to 1% from 3 graphs on). The deviation over
 * seeds is another thing: how much the mean moves when all is run again.
 */
#include "bench/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const regal_bench_cell *cell_at(const regal_bench_group *group,
                                       size_t entry, size_t graph) {
  return &group->cells[entry * group->graph_count + graph];
}

/* A plan beyond the memory limit is twice as bad as one within. */
double regal_bench_improvement(const regal_bench_group *group, size_t entry,
                               size_t graph) {
  const regal_bench_cell *a = cell_at(group, entry, graph);
  const regal_bench_cell *b = cell_at(group, group->reference, graph);
  if (!a->runs || !b->runs)
    return NAN;
  if (!a->misfits != !b->misfits)
    return a->misfits ? -100 : 100;
  return b->cost > 0 ? 100 * (1 - a->cost / b->cost) : 0;
}

/* 97.5% of Student's t (Abramowitz and Stegun, 26.7.5). */
static double student(size_t freedom) {
  double x = 1.959964, n = (double)freedom, x3 = x * x * x, x5 = x3 * x * x;
  double x7 = x5 * x * x;
  if (freedom == 1)
    return 12.706205;
  if (freedom == 2)
    return 4.302653;
  return x + (x3 + x) / (4 * n) + (5 * x5 + 16 * x3 + 3 * x) / (96 * n * n) +
         (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * n * n * n);
}

typedef struct moments {
  size_t count;
  double mean, squares; /* of deviations from the mean */
} moments;

static void add(moments *m, double value) {
  double before = value - m->mean;
  m->mean += before / (double)++m->count;
  m->squares += before * (value - m->mean);
}

static double interval_of(const moments *m) {
  double n = (double)m->count;
  return m->count < 2 ? NAN
                      : student(m->count - 1) * sqrt(m->squares / (n - 1) / n);
}

/* Of the seeds that were run on all `graphs`. */
static double deviation_of(const regal_bench_group *group, size_t entry,
                           size_t graphs) {
  moments m = {.count = 0};
  for (size_t s = 0; s < group->seed_count; s++) {
    const regal_bench_cell *mean =
        &group->by_seed[entry * group->seed_count + s];
    if (mean->runs && mean->runs == graphs)
      add(&m, mean->cost);
  }
  return m.count < 2 ? NAN : sqrt(m.squares / (double)(m.count - 1));
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void take_quartiles(double *values, size_t count,
                           double quartile[static 5]) {
  qsort(values, count, sizeof *values, ascending);
  for (size_t q = 0; q < 5; q++) {
    double place = (double)((count - 1) * q) / 4;
    size_t below = (size_t)place, above = below + (below + 1 < count);
    quartile[q] = values[below] +
                  (place - (double)below) * (values[above] - values[below]);
  }
}

static void count_outcome(regal_bench_score *score, double improvement) {
  const double tie = 1e-9; /* rounding of means */
  score->wins += improvement > tie;
  score->losses += improvement < -tie;
  score->ties += fabs(improvement) <= tie;
}

typedef struct sums {
  moments improvement, gap, bound, seconds;
  moments reference_gap; /* on the graphs of `gap` */
} sums;

static void take_graph(const regal_bench_group *group, size_t entry,
                       size_t graph, double improvement, sums *s,
                       regal_bench_score *score) {
  const regal_bench_cell *cell = cell_at(group, entry, graph);
  count_outcome(score, improvement);
  score->misfits += cell->misfits > 0;
  add(&s->improvement, improvement);
  add(&s->seconds, cell->seconds);
  if (group->best[graph] > 0 && isfinite(group->best[graph]) &&
      !cell->misfits) {
    const regal_bench_cell *other = cell_at(group, group->reference, graph);
    add(&s->gap, 100 * (cell->cost / group->best[graph] - 1));
    add(&s->reference_gap, 100 * (other->cost / group->best[graph] - 1));
  }
  if (group->bound[graph] > 0 && !cell->misfits)
    add(&s->bound, 100 * (cell->cost / group->bound[graph] - 1));
}

regal_status regal_bench_score_of(regal_context *context,
                                  const regal_bench_group *group, size_t entry,
                                  regal_bench_score *score) {
  sums s = {.improvement = {.count = 0}};
  double *values = regal_alloc(context, group->graph_count, sizeof *values);
  size_t count = 0;
  if (!values)
    return regal_fail_memory(context);
  *score = (regal_bench_score){.graphs = 0};
  for (size_t g = 0; g < group->graph_count; g++) {
    double improvement = regal_bench_improvement(group, entry, g);
    if (isnan(improvement))
      continue;
    values[count++] = improvement;
    take_graph(group, entry, g, improvement, &s, score);
  }
  if (count)
    take_quartiles(values, count, score->quartile);
  score->graphs = count;
  score->improvement = s.improvement.mean;
  score->interval = interval_of(&s.improvement);
  score->deviation = deviation_of(group, entry, count);
  score->gap = s.gap.count ? s.gap.mean : NAN;
  score->gap_interval = interval_of(&s.gap);
  score->closed = s.reference_gap.mean > 0
                      ? 100 * (1 - s.gap.mean / s.reference_gap.mean)
                      : NAN;
  score->bound_gap = s.bound.count ? s.bound.mean : NAN;
  score->seconds = s.seconds.mean;
  regal_release(context, values);
  return REGAL_OK;
}

/* Whether the method's own options say what its budget is. */
static bool names_budget(const char *method) {
  return strstr(method, " time=") || strstr(method, " evaluations=");
}

void regal_bench_label(const regal_bench_summary *summary,
                       const regal_bench_entry *entry, char *label,
                       size_t capacity) {
  int used = snprintf(label, capacity, "%s", entry->method);
  if (strcmp(entry->budget, "none") && !names_budget(entry->method) &&
      (size_t)used < capacity)
    used +=
        snprintf(label + used, capacity - (size_t)used, " @ %s", entry->budget);
  if (summary->mixed && (size_t)used < capacity)
    snprintf(label + used, capacity - (size_t)used, " [%.4s]", entry->settings);
}
