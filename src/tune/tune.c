/* SPDX-License-Identifier: Apache-2.0 */
/* regal_tune: runs of BRKGA over (setting, graph) pairs, on all threads and
 * processes, a round at a time.
 *
 * The pairs of a round that the table lacks are done in chunks. Each process
 * does its share of a chunk, then all know all results: so every process holds
 * the same table and takes the same decisions, and the first one writes files.
 */
#include "regal_tune.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory/limit.h"
#include "base/options/options.h"
#include "base/parallel/team.h"
#include "base/plain.h"
#include "evolve/settings.h"
#include "tune/tune.h"

enum { RUNS_PER_THREAD = 8, SECONDS_PER_SAVE = 2 };

typedef struct pair {
  uint32_t setting, graph;
} pair;

typedef struct tuner {
  regal_context *context;
  regal_options options; /* with those of the preset */
  const char *command;
  regal_team team;
  const regal_decoder *decoder;
  uint64_t evaluations;

  regal_tune_set set;

  regal_tune_table table;
  char csv[1100]; /* "" when there is none */
  double last_save, save_seconds;
  pair *pairs;          /* of this chunk */
  regal_tried *results; /* [most_pairs] */
  size_t most_pairs;

  regal_tuning report;
  double began;
  regal_tuning_fn progress;
  void *progress_state;
} tuner;

/* -- Setting up ------------------------------------------------------------ */

static const regal_option_value preset[] = {
    {"evaluations", "5000"}, {"decoder", "paper"}, {NULL, NULL}};

/* Of all that a run depends on, and of which runs there are. Options of tuning
 * itself say which of the runs are made. */
static uint64_t fingerprint_of(const tuner *t) {
  uint64_t hash = t->set.checksum;
  for (size_t i = 0; i < regal_option_count(); i++) {
    char value[REGAL_MOST_LIST] = "";
    const regal_option_info *option = regal_option_at(i);
    if (!option->changes_result || !strcmp(option->group, "tune"))
      continue;
    regal_option_text(&t->options, i, value, sizeof value);
    hash = regal_hash_text(hash, option->name);
    hash = regal_hash_text(hash, value);
  }
  for (size_t i = 0; i < regal_grid_count(t->decoder); i++) {
    regal_settings s = regal_grid_at(t->decoder, .7, i);
    char text[128];
    regal_print(text, sizeof text, "%u %u %g %g", s.brkga.population,
                s.brkga.islands, s.brkga.elites, s.brkga.mutants);
    hash = regal_hash_text(hash, text);
    for (size_t c = 0; c < REGAL_MOST_CLASSES; c++) {
      regal_print(text, sizeof text, "%g %g", s.beta[c].a, s.beta[c].b);
      hash = regal_hash_text(hash, text);
    }
  }
  return hash;
}

/* A chunk keeps the threads of all processes busy. */
static regal_status create_chunk(tuner *t) {
  size_t threads;
  REGAL_TRY(regal_team_threads(&t->team, &threads));
  t->most_pairs = threads * RUNS_PER_THREAD;
  t->pairs = regal_alloc(t->context, t->most_pairs, sizeof *t->pairs);
  t->results = regal_alloc(t->context, t->most_pairs, sizeof *t->results);
  return t->pairs && t->results ? REGAL_OK : regal_fail_memory(t->context);
}

static regal_status open_table(tuner *t) {
  REGAL_TRY(regal_tune_table_create(
      t->context, regal_grid_count(t->decoder), t->set.count,
      regal_grid_standard(t->decoder), fingerprint_of(t), &t->table));
  if (t->table.standard == t->table.settings)
    return regal_fail(t->context, REGAL_INTERNAL,
                      "standard BRKGA is not in the grid");
  if (strcmp(t->options.output, "-"))
    snprintf(t->csv, sizeof t->csv, "%s.csv", t->options.output);
  if (t->csv[0] && t->report.rank == 0)
    REGAL_TRY(regal_tune_table_load(&t->table, t->csv));
  return regal_ranks_spread(&t->team.ranks, t->context, t->table.tried,
                            t->table.settings * t->table.graphs *
                                sizeof *t->table.tried);
}

/* -- Runs ------------------------------------------------------------------ */

static regal_status run_pair(void *state, size_t item,
                             const regal_worker *worker) {
  tuner *t = state;
  pair wanted = t->pairs[item];
  regal_tried *result = &t->results[item];
  *result = (regal_tried){.excess = -1};
  if (regal_stop_requested(worker->context))
    return REGAL_OK;
  regal_settings settings =
      regal_grid_at(t->decoder, t->options.elite_bias, wanted.setting);
  regal_search search;
  regal_fitness found;
  regal_search_open(&search, worker->context, t->set.problems[wanted.graph],
                    worker->single, (uint64_t)t->options.seed, t->evaluations);
  search.options = &t->options;
  search.budget.target = t->options.target;
  regal_status status = regal_settings_try(&search, &settings, &found);
  if (status == REGAL_OK && search.stop != REGAL_STOP_INTERRUPT)
    *result = (regal_tried){found.excess, found.value};
  regal_search_close(&search);
  return status;
}

static regal_status save_table(tuner *t) {
  double now = regal_seconds();
  if (!t->csv[0] || t->report.rank)
    return REGAL_OK;
  REGAL_TRY(regal_tune_table_save(&t->table, t->csv));
  t->last_save = regal_seconds();
  t->save_seconds = t->last_save - now;
  return REGAL_OK;
}

static bool save_is_due(const tuner *t) {
  double since = regal_seconds() - t->last_save;
  return since > SECONDS_PER_SAVE && since > 20 * t->save_seconds;
}

static void report(tuner *t) {
  t->report.seconds = regal_seconds() - t->began;
  if (t->progress && t->report.rank == 0)
    t->progress(t->progress_state, &t->report);
}

/* Runs `count` pairs on all processes; *stopped if some were left out. */
static regal_status run_chunk(tuner *t, size_t count, bool *stopped) {
  REGAL_TRY(regal_team_run(&t->team, count, run_pair, t, t->results,
                           sizeof *t->results));
  for (size_t i = 0; i < count; i++) {
    pair done = t->pairs[i];
    *regal_tune_at(&t->table, done.setting, done.graph) = t->results[i];
    if (t->results[i].excess < 0)
      *stopped = true;
    else
      t->report.runs++;
  }
  report(t);
  return *stopped || save_is_due(t) ? save_table(t) : REGAL_OK;
}

/* All that the table lacks of a round, graph by graph. */
static regal_status run_round(tuner *t, const size_t *alive, size_t count,
                              size_t graphs, bool *stopped) {
  size_t pairs = 0;
  for (size_t graph = 0; graph < graphs; graph++)
    for (size_t i = 0; i < count; i++) {
      if (regal_tune_at(&t->table, alive[i], graph)->excess >= 0)
        continue;
      t->pairs[pairs++] = (pair){(uint32_t)alive[i], (uint32_t)graph};
      if (pairs < t->most_pairs)
        continue;
      REGAL_TRY(run_chunk(t, pairs, stopped));
      pairs = 0;
      if (*stopped)
        return REGAL_OK;
    }
  return pairs ? run_chunk(t, pairs, stopped) : REGAL_OK;
}

/* -- The whole ------------------------------------------------------------- */

/* Runs of this round that are there already. */
static void count_resumed(tuner *t, const size_t *alive, size_t count,
                          size_t before, size_t graphs) {
  for (size_t i = 0; i < count; i++)
    for (size_t graph = before; graph < graphs; graph++)
      if (regal_tune_at(&t->table, alive[i], graph)->excess >= 0) {
        t->report.runs++;
        t->report.resumed++;
      }
}

static regal_status run_rounds(tuner *t, size_t *alive, size_t *best,
                               bool *stopped) {
  regal_tune_round rounds[REGAL_MOST_ROUNDS];
  size_t count = t->table.settings, before = 0;
  size_t all =
      regal_tune_rounds(count, t->set.count, t->options.halving, rounds);
  t->report.rounds = all;
  t->report.total = regal_tune_runs(rounds, all);
  for (size_t r = 0; r < all; r++) {
    size_t graphs = rounds[r].graphs;
    if (r > 0)
      REGAL_TRY(regal_tune_keep(&t->table, rounds[r - 1].graphs,
                                rounds[r].settings, alive, &count));
    t->report.round = r + 1;
    count_resumed(t, alive, count, before, graphs);
    REGAL_TRY(run_round(t, alive, count, graphs, stopped));
    if (*stopped)
      return REGAL_OK;
    before = graphs;
    *best = regal_tune_best(&t->table, graphs, alive, count);
    t->report.improvement = regal_tune_improvement(&t->table, *best, graphs,
                                                   &t->report.standard_error);
    report(t);
  }
  return REGAL_OK;
}

static regal_status write_best(tuner *t, size_t best) {
  const regal_options *options = &t->options;
  regal_settings settings =
      regal_grid_at(t->decoder, options->elite_bias, best);
  regal_settings_origin origin = {
      .command = t->command,
      .objective = options->objective == REGAL_MEMORY ? "memory" : "runtime",
      .graphs = t->set.count,
      .checksum = t->set.checksum,
      .devices = regal_problem_devices(t->set.problems[0]),
      .evaluations = t->evaluations,
      .seed = (uint64_t)options->seed,
      .tried = t->table.settings,
      .halving = options->halving,
      .improvement = t->report.improvement,
      .error = t->report.standard_error};
  if (t->report.rank)
    return REGAL_OK;
  REGAL_TRY(save_table(t));
  return regal_settings_save(t->context, options->output, &settings, &origin);
}

static regal_status tune(tuner *t, const char *dataset) {
  bool stopped = false;
  size_t best = 0;
  REGAL_TRY(regal_team_join(t->context, (int)t->options.threads, &t->team));
  t->report.rank = t->team.ranks.rank;
  REGAL_TRY(regal_tune_set_load(t->context, dataset, &t->options, &t->set));
  REGAL_TRY(create_chunk(t));
  REGAL_TRY(open_table(t));
  t->report.settings = t->table.settings;
  t->report.graphs = t->set.count;
  size_t *alive = regal_alloc(t->context, t->table.settings, sizeof *alive);
  if (!alive)
    return regal_fail_memory(t->context);
  for (size_t i = 0; i < t->table.settings; i++)
    alive[i] = i;
  regal_status status = run_rounds(t, alive, &best, &stopped);
  regal_release(t->context, alive);
  if (status == REGAL_OK && !stopped)
    status = write_best(t, best);
  t->report.seconds = regal_seconds() - t->began;
  return status;
}

static void finish(tuner *t, regal_status status) {
  regal_tune_set_free(&t->set);
  regal_tune_table_free(&t->table);
  regal_release(t->context, t->results);
  regal_release(t->context, t->pairs);
  regal_team_leave(&t->team, status == REGAL_OK);
}

static regal_status read_options(tuner *t) {
  if (!t->options.output[0])
    return regal_fail(t->context, REGAL_BAD_INPUT,
                      "tuning needs a file for the settings: -o FILE");
  if (!regal_options_fill(&t->options, preset))
    return regal_fail(t->context, REGAL_INTERNAL,
                      "the preset of tuning is wrong");
  t->evaluations = (uint64_t)t->options.evaluations;
  return regal_decoder_require(t->context, t->options.decoder, &t->decoder);
}

regal_status regal_tune(regal_context *context, const char *dataset,
                        const regal_options *options, const char *command,
                        regal_tuning_fn progress, void *state,
                        regal_tuning *tuning) {
  if (!context)
    return REGAL_MISUSE;
  if (!dataset || !options)
    return regal_fail(context, REGAL_MISUSE,
                      "tuning needs a dataset and options");
  tuner t = {.context = context,
             .options = *options,
             .command = command ? command : "",
             .began = regal_seconds(),
             .progress = progress,
             .progress_state = state};
  REGAL_TRY(read_options(&t));
  size_t before = regal_memory_limit(context, options);
  regal_status status = tune(&t, dataset);
  finish(&t, status);
  regal_memory_restore(context, before);
  REGAL_TRY(status);
  if (tuning)
    *tuning = t.report;
  return REGAL_OK;
}
