/* SPDX-License-Identifier: Apache-2.0 */
/* The table of runs: which are done, and what does not belong together. Lines
 * of earlier calls are kept as they are. */
#include "bench/bench.h"

#include <string.h>

regal_status regal_bench_table_create(const regal_bench_design *design,
                                      const char *path,
                                      regal_bench_table *table) {
  size_t runs = regal_bench_runs(design);
  *table = (regal_bench_table){
      .context = design->context, .design = design, .path = path};
  regal_arena_init(&table->lines, design->context);
  regal_text_init(&table->others, design->context);
  table->results = regal_alloc(design->context, runs, sizeof *table->results);
  table->kept = regal_alloc(design->context, runs, sizeof *table->kept);
  return table->results && table->kept ? REGAL_OK
                                       : regal_fail_memory(design->context);
}

void regal_bench_table_free(regal_bench_table *table) {
  if (!table->context)
    return;
  regal_release(table->context, table->kept);
  regal_release(table->context, table->results);
  regal_text_free(&table->others);
  regal_arena_free(&table->lines);
}

/* -- Loading --------------------------------------------------------------- */

#define ADVICE                                                                 \
  "--mix keeps them together, --overwrite begins anew, or name another output"

/* Fails unless the row may stand beside ours. */
static regal_status check_row(const regal_bench_table *table, unsigned line,
                              const regal_bench_row *row) {
  const regal_bench_design *design = table->design;
  if (strcmp(row->build, design->build))
    return regal_fail(table->context, REGAL_BAD_INPUT,
                      "%s:%u: found a run of build %s, this is %s: " ADVICE,
                      table->path, line, row->build, design->build);
  if (strcmp(row->settings, design->settings))
    return regal_fail(table->context, REGAL_BAD_INPUT,
                      "%s:%u: found a run with other settings (%s, these are "
                      "%s): " ADVICE,
                      table->path, line, row->settings, design->settings);
  return REGAL_OK;
}

static void keep_other(regal_bench_table *table, const char *line) {
  regal_text_append(&table->others, line, strlen(line));
  regal_text_append(&table->others, "\n", 1);
}

static regal_status keep_run(regal_bench_table *table, size_t number,
                             const char *line, const regal_bench_row *row) {
  table->kept[number] = line;
  table->results[number] =
      (regal_bench_result){.done = true,
                           .cost = row->cost,
                           .excess_bytes = row->excess_bytes,
                           .runtime_ns = row->runtime_ns,
                           .peak_bytes = row->peak_bytes,
                           .bound = row->bound,
                           .evaluations = row->evaluations,
                           .seconds = row->seconds};
  return REGAL_OK;
}

/* Whether the run read what it would read now. */
static bool same_input(const regal_bench_table *table, size_t number,
                       const regal_bench_row *row) {
  char input[17];
  regal_bench_run run = regal_bench_run_at(table->design, number);
  regal_bench_input(table->design, &run, input);
  return !strcmp(input, row->input) &&
         !strcmp(row->settings, table->design->settings);
}

static regal_status load_line(regal_bench_table *table, unsigned number,
                              char *line, bool mix) {
  regal_bench_row row;
  const char *copy = regal_bench_keep(&table->lines, line, strlen(line));
  if (!copy)
    return regal_fail_memory(table->context);
  REGAL_TRY(
      regal_bench_read_row(table->context, table->path, number, line, &row));
  if (!mix)
    REGAL_TRY(check_row(table, number, &row));
  size_t run = regal_bench_number(table->design, &row);
  if (run == SIZE_MAX || table->kept[run]) {
    keep_other(table, copy);
    return REGAL_OK;
  }
  if (same_input(table, run, &row))
    return keep_run(table, run, copy, &row);
  if (!mix)
    return regal_fail(table->context, REGAL_BAD_INPUT,
                      "%s:%u: the graph %s, or a file that \"%s\" reads, has "
                      "changed since: " ADVICE,
                      table->path, number, row.graph, row.method);
  keep_other(table, copy);
  return REGAL_OK;
}

regal_status regal_bench_table_load(regal_bench_table *table, bool mix) {
  regal_bench_lines lines;
  REGAL_TRY(regal_bench_open_lines(table->context, table->path, false, &lines));
  regal_status status = REGAL_OK;
  char *line;
  while (status == REGAL_OK && (line = regal_bench_next_line(&lines)))
    status = load_line(table, lines.number, line, mix);
  regal_bench_close_lines(&lines);
  if (status == REGAL_OK && table->others.failed)
    status = regal_fail_memory(table->context);
  return status;
}

/* -- Saving ---------------------------------------------------------------- */

static void put_new(const regal_bench_table *table, size_t number,
                    regal_text *text) {
  const regal_bench_design *design = table->design;
  const regal_bench_result *result = &table->results[number];
  regal_bench_run run = regal_bench_run_at(design, number);
  const regal_bench_graph *graph = &design->graphs[run.graph];
  const regal_bench_variant *variant = &design->variants[run.variant];
  char input[17];
  regal_bench_input(design, &run, input);
  regal_bench_row row = {.build = design->build,
                         .settings = design->settings,
                         .input = input,
                         .dataset = graph->dataset,
                         .graph = graph->name,
                         .copy = run.copy,
                         .ops = graph->graph->ops,
                         .objective = design->memory ? "memory" : "runtime",
                         .method = variant->method,
                         .budget = variant->budget,
                         .seed = design->seeds[run.seed],
                         .cost = result->cost,
                         .excess_bytes = result->excess_bytes,
                         .runtime_ns = result->runtime_ns,
                         .peak_bytes = result->peak_bytes,
                         .bound = result->bound,
                         .evaluations = result->evaluations,
                         .seconds = result->seconds};
  regal_bench_put_row(text, &row);
}

void regal_bench_put_run(const regal_bench_table *table, size_t number,
                         regal_text *text) {
  const char *line = table->kept[number];
  if (line)
    regal_text_format(text, "%s\n", line);
  else
    put_new(table, number, text);
}

regal_status regal_bench_table_save(const regal_bench_table *table) {
  size_t runs = regal_bench_runs(table->design);
  regal_text text;
  regal_text_init(&text, table->context);
  regal_bench_put_head(&text);
  regal_text_append(&text, table->others.bytes ? table->others.bytes : "",
                    table->others.size);
  for (size_t i = 0; i < runs; i++)
    if (table->results[i].done)
      regal_bench_put_run(table, i, &text);
  regal_status status = regal_text_save(table->context, &text, table->path);
  regal_text_free(&text);
  return status;
}
