/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of training. Each has a context and a pool of one thread, so that
 * whole searches run side by side; of several failures the one of the first
 * item is reported, whatever the number of threads. */
#include "learn/workers.h"

#include <string.h>

static regal_status make_runners(regal_workers *workers) {
  regal_context *context = workers->context;
  workers->runners =
      regal_alloc(context, (size_t)workers->threads, sizeof *workers->runners);
  if (!workers->runners)
    return regal_fail_memory(context);
  for (int i = 0; i < workers->threads; i++) {
    regal_runner *runner = &workers->runners[i];
    runner->context = regal_children_at(workers->contexts, i);
    runner->settings = &workers->settings;
    REGAL_TRY(regal_pool_create(context, 1, &runner->single));
  }
  return REGAL_OK;
}

static regal_status fill(regal_workers *workers, const regal_options *options) {
  workers->settings = regal_auto_settings_of(options);
  workers->settings.brkga.restart = 0;
  REGAL_TRY(regal_pool_create(workers->context, (int)options->threads,
                              &workers->pool));
  workers->threads = regal_pool_threads(workers->pool);
  REGAL_TRY(regal_children_create(workers->context, workers->threads,
                                  &workers->contexts));
  return make_runners(workers);
}

regal_status regal_workers_create(regal_context *context,
                                  const regal_options *options,
                                  regal_workers **workers) {
  regal_workers *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  regal_status status = fill(made, options);
  if (status == REGAL_OK)
    *workers = made;
  else
    regal_workers_free(made);
  return status;
}

void regal_workers_free(regal_workers *workers) {
  if (!workers)
    return;
  for (int i = 0; workers->runners && i < workers->threads; i++)
    regal_pool_free(workers->runners[i].single);
  regal_release(workers->context, workers->runners);
  regal_children_free(workers->contexts);
  regal_pool_free(workers->pool);
  regal_release(workers->context, workers);
}

/* -- Jobs ------------------------------------------------------------------ */

typedef struct failure {
  size_t item;
  regal_status status;
  char message[REGAL_MESSAGE_CAPACITY];
} failure;

typedef struct job {
  regal_workers *workers;
  regal_workers_fn function;
  void *state;
  failure *failures; /* [threads] the first of each */
} job;

static void run_item(void *state, size_t item, int thread) {
  job *j = state;
  const regal_runner *runner = &j->workers->runners[thread];
  failure *f = &j->failures[thread];
  regal_status status = j->function(j->state, item, runner);
  if (status == REGAL_OK || (f->status != REGAL_OK && f->item < item))
    return;
  f->item = item;
  f->status = status;
  memcpy(f->message, runner->context->message, sizeof f->message);
}

regal_status regal_workers_run(regal_workers *workers, size_t items,
                               regal_workers_fn function, void *state) {
  failure *failures =
      regal_alloc(workers->context, (size_t)workers->threads, sizeof *failures);
  const failure *first = NULL;
  if (!failures)
    return regal_fail_memory(workers->context);
  job j = {workers, function, state, failures};
  regal_pool_run(workers->pool, items, run_item, &j);
  for (int i = 0; i < workers->threads; i++)
    if (failures[i].status != REGAL_OK &&
        (!first || failures[i].item < first->item))
      first = &failures[i];
  regal_status status =
      first ? regal_fail(workers->context, first->status, "%s", first->message)
            : REGAL_OK;
  regal_release(workers->context, failures);
  return status;
}
