/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a table of runs: for each dataset and objective (a group), and
 * each method with a budget (an entry), means over graphs.
 */
#ifndef REGAL_BENCH_SUMMARY_H
#define REGAL_BENCH_SUMMARY_H

#include "bench/bench.h"

/* The runs of one entry on one graph, all seeds together. */
typedef struct regal_bench_cell {
  size_t runs, misfits; /* misfits: beyond the memory limit */
  double cost, seconds; /* means */
} regal_bench_cell;

typedef struct regal_bench_entry {
  const char *method, *budget, *settings;
} regal_bench_entry;

typedef struct regal_bench_group {
  const char *dataset, *objective;
  regal_bench_entry *entries;
  size_t entry_count, entry_capacity;
  const char **graphs;                  /* "NAME" or "NAME~3" */
  regal_names entry_names, graph_names; /* numbered like the arrays */
  size_t graph_count, graph_capacity;
  regal_bench_cell *cells; /* [entries][graphs] */
  double *best, *bound;    /* [graphs]; bound 0: there is none */
  size_t reference;        /* the entry that others are compared with */
  uint64_t *seeds;
  size_t seed_count, seed_capacity;
  regal_bench_cell *by_seed; /* [entries][seeds]: `cost` is the improvement */
} regal_bench_group;

/* Where a row belongs. */
typedef struct regal_bench_place {
  size_t group;
  size_t entry, graph, seed; /* in the group */
  bool replaced;             /* a later row is of the same run */
} regal_bench_place;

typedef struct regal_bench_summary {
  regal_context *context;
  regal_arena arena; /* all texts */
  regal_bench_row *rows;
  size_t row_count, row_capacity;
  regal_bench_place *places; /* [row_count] */
  regal_bench_group *groups;
  size_t group_count, group_capacity;
  regal_names builds; /* of the rows */
  size_t replaced;    /* rows that do not count */
  bool mixed;         /* rows have several settings */
} regal_bench_summary;

/* Percentages, over the graphs that the entry and the reference have. */
typedef struct regal_bench_score {
  size_t graphs, misfits;
  double improvement; /* over the reference: mean */
  double interval;    /* 95% confidence, +- ; NaN with one graph */
  double deviation;   /* of the mean improvement, over seeds; NaN with one */
  double gap, gap_interval; /* to the best known cost: mean */
  double closed;    /* share of the reference's mean gap that is closed; NaN if
                       it has none */
  double bound_gap; /* to the lower bound: mean; NaN without */
  double seconds;
  size_t wins, ties, losses;
  double quartile[5]; /* of the improvement: smallest, 25, 50, 75, largest */
} regal_bench_score;

regal_status regal_bench_summarise(regal_context *context,
                                   const char *const *tables, size_t count,
                                   const regal_options *options,
                                   regal_bench_summary *summary);
/* A summary that failed to be made is freed, too. */
void regal_bench_summary_free(regal_bench_summary *summary);

/* Improvement of an entry on a graph, or NaN if one of the two has no run. */
double regal_bench_improvement(const regal_bench_group *group, size_t entry,
                               size_t graph);
regal_status regal_bench_score_of(regal_context *context,
                                  const regal_bench_group *group, size_t entry,
                                  regal_bench_score *score);
/* "METHOD @ BUDGET", with the settings if the table has several. */
void regal_bench_label(const regal_bench_summary *summary,
                       const regal_bench_entry *entry, char *label,
                       size_t capacity);

/* -- Figures (bench/figures.c) --------------------------------------------- */

/* A name for files: letters, digits, '-' and '_' only. */
void regal_bench_file_name(const regal_bench_group *group, char *name,
                           size_t capacity);
/* Writes the data of the group's figures, and appends its part of the script.
 */
regal_status regal_bench_draw(const regal_bench_summary *summary,
                              const regal_bench_group *group,
                              const char *folder, regal_text *script);

#endif
