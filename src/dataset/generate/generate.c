/* SPDX-License-Identifier: Apache-2.0 */
/* regal_generate: batches of the recipe's stream go through the pool, one graph
 * to a thread, and are taken in order of draws, so that what is written does
 * not depend on the number of threads or on where earlier calls ended.
 */
#include "dataset/generate/generate.h"

#include <inttypes.h>

#include "base/memory/limit.h"
#include "base/parallel/workers.h"

/* Graphs of a batch: enough to keep all threads busy, few enough to hold in
 * memory and to show progress. */
enum { DRAWS_PER_THREAD = 16, OPS_PER_BATCH = 2000000 };

/* The filter is there to leave out the few graphs on which longer search gains
 * little: it keeps four of five of the paper's. A recipe of which fewer than
 * one in this many is kept is not what it is for. It may never end, as of
 * graphs of ten ops hardly any passes, and of single ops hardly any differ. */
enum { MOST_DRAWS_PER_GRAPH = 1000 };

typedef struct generator {
  regal_context *context;
  regal_spec spec;
  regal_folder folder;
  regal_workers *workers;
  regal_candidate *batch; /* [capacity] */
  size_t capacity;
  regal_generation state; /* as reported to the caller */
  double began;
} generator;

static size_t batch_capacity(const generator *g) {
  size_t most = (size_t)regal_workers_threads(g->workers) * DRAWS_PER_THREAD;
  size_t fit = OPS_PER_BATCH / regal_recipe_size(&g->spec.recipe);
  return fit < 1 ? 1 : fit < most ? fit : most;
}

static regal_status set_up(generator *g, int threads) {
  REGAL_TRY(regal_workers_create(g->context, threads, &g->workers));
  g->capacity = batch_capacity(g);
  g->batch = regal_alloc(g->context, g->capacity, sizeof *g->batch);
  return g->batch ? REGAL_OK : regal_fail_memory(g->context);
}

static void tear_down(generator *g) {
  regal_release(g->context, g->batch);
  regal_workers_free(g->workers);
}

/* A failure counts only when the candidate is taken. */
static regal_status make_candidate(void *state, size_t item,
                                   const regal_worker *worker) {
  generator *g = state;
  regal_candidate_make(worker->context, worker->single, &g->spec,
                       g->folder.next + item, &g->batch[item]);
  return REGAL_OK;
}

/* Whether too few draws were kept to go on. Looked at before each candidate,
 * so that it does not depend on threads or on where earlier calls ended. */
static bool is_hopeless(const generator *g) {
  return g->folder.graphs < g->spec.total &&
         g->folder.next >= MOST_DRAWS_PER_GRAPH * (g->folder.graphs + 1);
}

/* Takes a candidate unless that is the end of the set or an earlier one was not
 * finished. */
static regal_status take(generator *g, const regal_candidate *candidate,
                         bool *open) {
  if (!*open || g->folder.graphs == g->spec.total || is_hopeless(g))
    return REGAL_OK;
  if (candidate->status != REGAL_OK)
    return regal_fail(g->context, candidate->status, "%s",
                      candidate->text.context->message);
  *open = candidate->finished;
  return *open ? regal_folder_take(&g->folder, candidate) : REGAL_OK;
}

static regal_status run_batch(generator *g) {
  uint64_t left = g->spec.total - g->folder.graphs;
  size_t items = left < g->capacity ? (size_t)left : g->capacity;
  regal_status status = regal_workers_run(g->workers, items, make_candidate, g);
  bool open = true;
  for (size_t i = 0; i < items; i++) {
    if (status == REGAL_OK)
      status = take(g, &g->batch[i], &open);
    regal_text_free(&g->batch[i].text);
  }
  regal_status flushed = regal_folder_flush(&g->folder);
  return status == REGAL_OK ? flushed : status;
}

static void describe(generator *g) {
  const regal_folder *folder = &g->folder;
  regal_generation *state = &g->state;
  state->graphs = folder->graphs;
  state->drawn = folder->next;
  state->seconds = regal_seconds() - g->began;
  state->improvement =
      folder->graphs ? folder->gains / (double)folder->graphs : 0;
}

static regal_status give_up(generator *g) {
  const regal_folder *folder = &g->folder;
  bool filter = g->spec.filter;
  bool layered = g->spec.recipe.model == REGAL_RECIPE_LAYERED;
  REGAL_TRY(regal_folder_give_up(&g->folder));
  return regal_fail(
      g->context, REGAL_BAD_INPUT,
      "%s: %" PRIu64 " of %" PRIu64
      " graphs drawn %s, expected at least one in %d; change --nodes%s%s",
      folder->path, folder->graphs, folder->next,
      filter ? "pass the filter" : "differ", MOST_DRAWS_PER_GRAPH,
      layered ? " or --width" : "",
      filter ? " (most graphs of about 100 ops pass) or leave out --filter"
             : "");
}

static regal_status fill(generator *g, regal_generation_fn progress,
                         void *progress_state) {
  g->state.resumed = g->folder.graphs;
  g->state.total = g->spec.total;
  describe(g);
  while (g->folder.graphs < g->spec.total &&
         !regal_stop_requested(g->context)) {
    if (progress)
      progress(progress_state, &g->state);
    REGAL_TRY(run_batch(g));
    describe(g);
    if (is_hopeless(g))
      return give_up(g);
  }
  if (progress)
    progress(progress_state, &g->state);
  return g->folder.graphs < g->spec.total ? REGAL_OK
                                          : regal_folder_finish(&g->folder);
}

regal_status regal_generate(regal_context *context, const char *folder,
                            const regal_options *options,
                            regal_generation_fn progress, void *state,
                            regal_generation *generation) {
  if (!context)
    return REGAL_MISUSE;
  if (!folder || !options)
    return regal_fail(context, REGAL_MISUSE,
                      "generating graphs needs a folder and options");
  generator g = {.context = context, .began = regal_seconds()};
  REGAL_TRY(regal_spec_read(context, options, &g.spec));
  size_t before = regal_memory_limit(context, options);
  regal_status status = regal_folder_open(&g.folder, context, folder, &g.spec);
  if (status == REGAL_OK)
    status = set_up(&g, (int)options->threads);
  if (status == REGAL_OK)
    status = fill(&g, progress, state);
  tear_down(&g);
  regal_folder_close(&g.folder);
  regal_memory_restore(context, before);
  if (status == REGAL_OK && generation)
    *generation = g.state;
  return status;
}
