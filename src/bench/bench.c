/* SPDX-License-Identifier: Apache-2.0 */
/* regal_bench: the runs that the table lacks, on all threads and processes.
 *
 * Runs are done in chunks, graph by graph, so that an unfinished table means
 * something too. Each process does its share of a chunk; then all know all
 * results. The first process appends a row to the table as soon as a run of its
 * own ends, so that a process that is killed loses the runs under way and
 * nothing else; rows of the other processes follow at the end of the chunk. At
 * the end the table is written once more in the order of the runs: what an
 * interrupted benchmark makes is what an unbroken one makes, apart from times.
 *
 * Each run has one thread: times then mean the same on any number of cores, as
 * far as memory allows.
 */
#include "regal_bench.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/limit.h"
#include "base/parallel/team.h"
#include "bench/bench.h"
#include "regal_data.h"

enum { RUNS_PER_THREAD = 16 };

typedef struct benchmark {
  regal_context *context;
  const regal_options *options;
  regal_team team;
  regal_bench_design design;
  regal_bench_table table;

  size_t *numbers;             /* of the runs of this chunk */
  regal_bench_result *results; /* [most_runs] */
  size_t most_runs;

  FILE *file;     /* the first process appends to it, under the lock */
  uint64_t ended; /* runs of this process in this chunk, under the lock */
  pthread_mutex_t lock;

  regal_benching report; /* at the end of the last chunk */
  double began;
  regal_benching_fn progress;
  void *progress_state;
} benchmark;

/* -- One run --------------------------------------------------------------- */

/* Says which run it was. */
static regal_status fail_run(regal_context *context, regal_status status,
                             const regal_bench_graph *graph,
                             const regal_bench_variant *variant) {
  char message[REGAL_MESSAGE_CAPACITY];
  snprintf(message, sizeof message, "%s", regal_error(context));
  return regal_fail(context, status, "%s of %s, method \"%s\": %s", graph->name,
                    graph->dataset, variant->method, message);
}

static regal_status solve(regal_context *context, const regal_graph *graph,
                          const regal_options *options, bool memory,
                          regal_bench_result *made) {
  regal_result *result;
  REGAL_TRY(regal_solve(context, graph, options, &result));
  if (result->stop != REGAL_STOP_INTERRUPT)
    *made = (regal_bench_result){
        .done = true,
        .cost = memory ? result->cost.max_peak_bytes : result->cost.runtime_ns,
        .excess_bytes = result->cost.excess_bytes,
        .runtime_ns = result->cost.runtime_ns,
        .peak_bytes = result->cost.max_peak_bytes,
        .bound = memory ? result->bound.peak_bytes : result->bound.runtime_ns,
        .evaluations = result->evaluations,
        .seconds = result->seconds};
  regal_result_free(result);
  return REGAL_OK;
}

static regal_status run_one(const benchmark *b, const regal_bench_run *run,
                            regal_context *context, regal_bench_result *made) {
  const regal_bench_graph *graph = &b->design.graphs[run->graph];
  const regal_bench_variant *variant = &b->design.variants[run->variant];
  regal_options options = variant->options;
  regal_graph *copy = NULL;
  options.seed = (int64_t)b->design.seeds[run->seed];
  if (run->copy)
    REGAL_TRY(regal_graph_augment(context, graph->graph, graph->seed, run->copy,
                                  &copy));
  regal_status status = solve(context, copy ? copy : graph->graph, &options,
                              b->design.memory, made);
  regal_graph_free(copy);
  return status == REGAL_OK ? status
                            : fail_run(context, status, graph, variant);
}

/* -- Rows ------------------------------------------------------------------ */

/* Puts a result into the table and appends its row to the file. */
static regal_status append(benchmark *b, regal_context *context, size_t item) {
  size_t number = b->numbers[item];
  regal_text line;
  regal_text_init(&line, context);
  b->table.results[number] = b->results[item];
  regal_bench_put_run(&b->table, number, &line);
  bool written = !line.failed &&
                 fwrite(line.bytes, 1, line.size, b->file) == line.size &&
                 !fflush(b->file);
  bool failed = line.failed;
  regal_text_free(&line);
  if (failed)
    return regal_fail_memory(context);
  return written ? REGAL_OK : regal_fail_system(context, b->options->output);
}

/* With the runs of this chunk that have ended here. */
static void report(const benchmark *b) {
  regal_benching now = b->report;
  now.runs += b->ended;
  now.seconds = regal_seconds() - b->began;
  if (b->progress && now.rank == 0)
    b->progress(b->progress_state, &now);
}

static regal_status end_run(benchmark *b, regal_context *context, size_t item) {
  pthread_mutex_lock(&b->lock);
  regal_status status = b->file ? append(b, context, item) : REGAL_OK;
  b->ended++;
  report(b);
  pthread_mutex_unlock(&b->lock);
  return status;
}

static regal_status run_item(void *state, size_t item,
                             const regal_worker *worker) {
  benchmark *b = state;
  regal_bench_run run = regal_bench_run_at(&b->design, b->numbers[item]);
  b->results[item] = (regal_bench_result){.done = false};
  if (regal_stop_requested(worker->context))
    return REGAL_OK;
  REGAL_TRY(run_one(b, &run, worker->context, &b->results[item]));
  return b->results[item].done ? end_run(b, worker->context, item) : REGAL_OK;
}

/* -- Chunks ---------------------------------------------------------------- */

/* Takes in the results of all processes; those of this one are in the file. */
static regal_status take_results(benchmark *b, size_t count, bool *stopped) {
  regal_share mine = regal_ranks_share(&b->team.ranks, count);
  for (size_t i = 0; i < count; i++) {
    if (!b->results[i].done) {
      *stopped = true;
      continue;
    }
    b->report.runs++;
    b->table.results[b->numbers[i]] = b->results[i];
    if (b->file && (i < mine.first || i >= mine.end))
      REGAL_TRY(append(b, b->context, i));
  }
  return REGAL_OK;
}

static regal_status run_chunk(benchmark *b, size_t count, bool *stopped) {
  REGAL_TRY(regal_team_run(&b->team, count, run_item, b, b->results,
                           sizeof *b->results));
  b->ended = 0;
  return take_results(b, count, stopped);
}

static regal_status run_all(benchmark *b) {
  size_t runs = regal_bench_runs(&b->design), waiting = 0;
  bool stopped = false;
  for (size_t i = 0; i < runs && !stopped; i++) {
    if (b->table.results[i].done)
      continue;
    b->numbers[waiting++] = i;
    if (waiting < b->most_runs)
      continue;
    REGAL_TRY(run_chunk(b, waiting, &stopped));
    waiting = 0;
  }
  return waiting && !stopped ? run_chunk(b, waiting, &stopped) : REGAL_OK;
}

/* -- Setting up ------------------------------------------------------------ */

/* A chunk keeps the threads of all processes busy. */
static regal_status create_chunk(benchmark *b) {
  size_t threads;
  REGAL_TRY(regal_team_threads(&b->team, &threads));
  b->most_runs = threads * RUNS_PER_THREAD;
  b->numbers = regal_alloc(b->context, b->most_runs, sizeof *b->numbers);
  b->results = regal_alloc(b->context, b->most_runs, sizeof *b->results);
  return b->numbers && b->results ? REGAL_OK : regal_fail_memory(b->context);
}

/* Reads what there is, and writes it again in order. */
static regal_status load_table(benchmark *b) {
  FILE *before;
  REGAL_TRY(regal_bench_lock(b->context, b->table.path, &before));
  regal_status status = REGAL_OK;
  if (!b->options->overwrite)
    status = regal_bench_table_load(&b->table, b->options->mix);
  if (status == REGAL_OK)
    status = regal_bench_table_save(&b->table);
  if (status == REGAL_OK)
    status = regal_bench_lock(b->context, b->table.path, &b->file);
  if (before)
    fclose(before);
  if (status == REGAL_OK && !b->file)
    status = regal_fail(b->context, REGAL_IO, "%s: was removed meanwhile",
                        b->table.path);
  return status;
}

static regal_status open_table(benchmark *b) {
  size_t runs = regal_bench_runs(&b->design);
  REGAL_TRY(
      regal_bench_table_create(&b->design, b->options->output, &b->table));
  if (b->report.rank == 0)
    REGAL_TRY(load_table(b));
  REGAL_TRY(regal_ranks_spread(&b->team.ranks, b->context, b->table.results,
                               runs * sizeof *b->table.results));
  for (size_t i = 0; i < runs; i++)
    b->report.resumed += b->table.results[i].done;
  b->report.runs = b->report.resumed;
  return REGAL_OK;
}

static regal_status bench(benchmark *b, const char *const *datasets,
                          size_t count) {
  REGAL_TRY(regal_team_join(b->context, (int)b->options->threads, &b->team));
  b->report.rank = b->team.ranks.rank;
  REGAL_TRY(regal_bench_design_create(b->context, b->options, &b->design));
  for (size_t i = 0; i < count; i++)
    REGAL_TRY(regal_bench_add_dataset(&b->design, datasets[i], b->options));
  REGAL_TRY(create_chunk(b));
  b->report.total = regal_bench_runs(&b->design);
  b->report.graphs = b->design.graph_count * b->design.copies;
  b->report.variants = b->design.variant_count;
  REGAL_TRY(open_table(b));
  report(b);
  return run_all(b);
}

/* Rows that were made stay, whatever happened after. */
static regal_status finish(benchmark *b, regal_status status) {
  if (b->file && status == REGAL_OK)
    status = regal_bench_table_save(&b->table);
  if (b->file)
    fclose(b->file);
  regal_bench_table_free(&b->table);
  regal_release(b->context, b->results);
  regal_release(b->context, b->numbers);
  regal_bench_design_free(&b->design);
  regal_team_leave(&b->team, status == REGAL_OK);
  pthread_mutex_destroy(&b->lock);
  return status;
}

regal_status regal_bench(regal_context *context, const char *const *datasets,
                         size_t count, const regal_options *options,
                         regal_benching_fn progress, void *state,
                         regal_benching *benching) {
  if (!context)
    return REGAL_MISUSE;
  if (!datasets || !count || !options)
    return regal_fail(context, REGAL_MISUSE,
                      "a benchmark needs datasets and options");
  if (!options->output[0] || !strcmp(options->output, "-"))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "a benchmark needs a file for its table: -o FILE");
  benchmark b = {.context = context,
                 .options = options,
                 .began = regal_seconds(),
                 .progress = progress,
                 .progress_state = state};
  pthread_mutex_init(&b.lock, NULL);
  size_t before = regal_memory_limit(context, options);
  regal_status status = finish(&b, bench(&b, datasets, count));
  regal_memory_restore(context, before);
  REGAL_TRY(status);
  b.report.seconds = regal_seconds() - b.began;
  if (benching)
    *benching = b.report;
  return REGAL_OK;
}
