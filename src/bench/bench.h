/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of regal_bench: what is to be run (the design), the table of what was,
 * and the report.
 *
 * A run is a graph (or an augmented copy), a variant (a method with its options
 * and one budget) and a seed. Runs are numbered: graph by graph, then copy by
 * copy, variant by variant, seed by seed. All processes number them alike, so
 * what they exchange is results by number, never texts.
 */
#ifndef REGAL_BENCH_BENCH_H
#define REGAL_BENCH_BENCH_H

#include "base/memory/arena.h"
#include "base/names.h"
#include "base/text.h"
#include "graph/graph.h"
#include "regal_bench.h"

/* -- Rows of the table (bench/rows.c) -------------------------------------- */

/* In the order of the columns. */
typedef struct regal_bench_row {
  const char *build;    /* the commit that the program was built from */
  const char *settings; /* fingerprint of the options that all runs share */
  const char *input;    /* fingerprint of the graph and of files */
  const char *dataset, *graph;
  uint64_t copy, ops;
  const char *objective, *method, *budget;
  uint64_t seed;
  int64_t cost; /* the objective, by the verifier: ns or bytes */
  int64_t excess_bytes, runtime_ns, peak_bytes, bound;
  uint64_t evaluations;
  double seconds;
} regal_bench_row;

/* The first line of a table. */
void regal_bench_put_head(regal_text *text);
void regal_bench_put_row(regal_text *text, const regal_bench_row *row);
/* Reads a line of `path`, without its newline; the texts of the row are in
 * `line`, which is changed. */
regal_status regal_bench_read_row(regal_context *context, const char *path,
                                  unsigned number, char *line,
                                  regal_bench_row *row);

/* The lines of a table after its head, one at a time. A last line without a
 * newline was cut when a run was killed: it counts as not there. */
typedef struct regal_bench_lines {
  regal_text text;
  char *at;
  unsigned number; /* of the line that was returned last, from 1 */
} regal_bench_lines;

/* A file that is not there has no lines, unless it is `required`. */
regal_status regal_bench_open_lines(regal_context *context, const char *path,
                                    bool required, regal_bench_lines *lines);
char *regal_bench_next_line(regal_bench_lines *lines);
void regal_bench_close_lines(regal_bench_lines *lines);

/* -- The design (bench/design.c, bench/graphs.c) --------------------------- */

typedef struct regal_bench_variant {
  const char *method; /* as given: "regal policy=real_runtime" */
  const char *budget; /* "5000", "0.1s"; "none" if the method has no budget */
  regal_options options;
  uint64_t files; /* hash of the files that its own options name */
} regal_bench_variant;

typedef struct regal_bench_graph {
  const char *dataset, *name;
  uint64_t seed; /* of its copies */
  regal_graph *graph;
} regal_bench_graph;

typedef struct regal_bench_design {
  regal_context *context;
  regal_arena arena; /* all texts */
  regal_bench_variant *variants;
  size_t variant_count, variant_capacity;
  uint64_t *seeds;
  size_t seed_count, seed_capacity;
  regal_bench_graph *graphs;
  size_t graph_count, graph_capacity;
  regal_names names; /* "DATASET\nNAME", numbered like the graphs */
  size_t copies;     /* of each graph, itself included */
  bool memory;       /* the objective */
  char build[64], settings[17];
} regal_bench_design;

/* What a number stands for. */
typedef struct regal_bench_run {
  size_t graph;
  uint32_t copy;
  size_t variant, seed;
} regal_bench_run;

regal_status regal_bench_design_create(regal_context *context,
                                       const regal_options *options,
                                       regal_bench_design *design);
/* Adds the graphs of a dataset, or one: ARCHIVE:NAME. */
regal_status regal_bench_add_dataset(regal_bench_design *design,
                                     const char *path,
                                     const regal_options *options);
/* A design that failed to be made is freed, too. */
void regal_bench_design_free(regal_bench_design *design);

size_t regal_bench_runs(const regal_bench_design *design);
regal_bench_run regal_bench_run_at(const regal_bench_design *design,
                                   size_t number);
/* The number of the run that a row is of, or SIZE_MAX: none of ours. */
size_t regal_bench_number(const regal_bench_design *design,
                          const regal_bench_row *row);
/* Fingerprint of what the run reads. */
void regal_bench_input(const regal_bench_design *design,
                       const regal_bench_run *run, char text[17]);

/* A text that the design owns; NULL when memory is out. */
const char *regal_bench_keep(regal_arena *arena, const char *text,
                             size_t length);

/* -- The table (bench/table.c) --------------------------------------------- */

typedef struct regal_bench_result {
  bool done;
  int64_t cost, excess_bytes, runtime_ns, peak_bytes, bound;
  uint64_t evaluations;
  double seconds;
} regal_bench_result;

typedef struct regal_bench_table {
  regal_context *context;
  const regal_bench_design *design;
  const char *path;
  regal_bench_result *results; /* [runs] */
  const char **kept;           /* [runs]: lines of earlier calls, or NULL */
  regal_arena lines;
  regal_text others; /* lines of runs that are none of ours */
} regal_bench_table;

regal_status regal_bench_table_create(const regal_bench_design *design,
                                      const char *path,
                                      regal_bench_table *table);
void regal_bench_table_free(regal_bench_table *table);
/* Reads what earlier calls have written, and refuses what does not belong with
 * it, unless `mix`. */
regal_status regal_bench_table_load(regal_bench_table *table, bool mix);
/* Writes all rows in the order of their numbers, behind those of others. */
regal_status regal_bench_table_save(const regal_bench_table *table);
/* Opens the file for rows to be appended, and keeps other calls from it until
 * it is closed; NULL when there is no file. */
regal_status regal_bench_lock(regal_context *context, const char *path,
                              FILE **locked);
/* The line of a run, with its newline. */
void regal_bench_put_run(const regal_bench_table *table, size_t number,
                         regal_text *text);

#endif
