/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks: datasets x methods x budgets x seeds, one row of a CSV for each
 * run, and reports of such tables. The conventions are those of regal.h.
 * Experimental.
 *
 *   regal_options_set(context, &options, "methods", "brkga,auto");
 *   regal_options_set(context, &options, "budgets", "1000,5000");
 *   regal_options_set(context, &options, "output", "runs.csv");
 *   regal_bench(context, (const char *[]){"data/torch.zip"}, 1, &options, NULL,
 *               NULL, &benching);
 *
 * docs/benchmarks.md describes the columns.
 */
#ifndef REGAL_BENCH_H
#define REGAL_BENCH_H

#include "regal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Progress of a call of regal_bench. */
typedef struct regal_benching {
  uint64_t runs;    /* done, including earlier calls */
  uint64_t total;   /* runs required */
  uint64_t resumed; /* runs done before this call */
  size_t graphs;    /* augmented copies included */
  size_t variants;  /* methods with their budgets */
  double seconds;   /* of this call */
  int rank;         /* of this process under mpirun; otherwise 0 */
} regal_benching;

typedef void (*regal_benching_fn)(void *state, const regal_benching *benching);

/* Runs every method of options->methods with every budget of options->budgets
 * and every seed of options->seeds on the graphs of the datasets (folders,
 * archives or graph files; of options->split, options->graphs of each,
 * options->augment copies), each run on one thread, and keeps a row for each in
 * options->output. Every plan has passed the verifier.
 *
 * A row is written as soon as its run ends. The next call with the same options
 * continues an interrupted one. Rows of another build, of other settings or of
 * changed files are refused, unless options->mix: then they stay, and those of
 * another build count as done. With options->overwrite the table begins anew.
 * After regal_stop_request the call returns REGAL_OK with fewer runs than
 * `total`.
 *
 * `progress` (or NULL) is called in the first process, at the beginning and
 * when one of its runs ends, by any thread but by one at a time; runs of other
 * processes are counted a chunk at a time. `benching` (or NULL) receives the
 * final state. */
REGAL_API regal_status regal_bench(regal_context *context,
                                   const char *const *datasets, size_t count,
                                   const regal_options *options,
                                   regal_benching_fn progress, void *state,
                                   regal_benching *benching);

/* Writes report.md, the data of its figures (CSV) and report.gp, the script
 * with which gnuplot draws them, to the existing folder options->report, from
 * tables that regal_bench has written. Neither the script nor a file's name has
 * text in it that a shell or gnuplot would run. */
REGAL_API regal_status regal_bench_report(regal_context *context,
                                          const char *const *tables,
                                          size_t count,
                                          const regal_options *options);

/* Commands of gnuplot with which all figures of regal begin: colours, grid, the
 * legend beside the lines. It sets no terminal. */
REGAL_API const char *regal_figure_style(void);

#ifdef __cplusplus
}
#endif

#endif
