#include "learn/crew.h"

#include <string.h>

static regal_status make_runners(regal_crew *crew,
                                 const regal_options *options) {
  regal_context *context = crew->context;
  crew->runners =
      regal_alloc(context, (size_t)crew->threads, sizeof *crew->runners);
  if (!crew->runners)
    return regal_fail_memory(context);
  for (int i = 0; i < crew->threads; i++) {
    regal_runner *runner = &crew->runners[i];
    runner->context = regal_children_at(crew->contexts, i);
    runner->options = regal_alloc(context, 1, sizeof *runner->options);
    if (!runner->options)
      return regal_fail_memory(context);
    *runner->options = *options;
    runner->options->restart = 0;
    runner->options->target = 0;
    REGAL_TRY(regal_pool_create(context, 1, &runner->single));
  }
  return REGAL_OK;
}

static regal_status fill(regal_crew *crew, const regal_options *options) {
  REGAL_TRY(
      regal_pool_create(crew->context, (int)options->threads, &crew->pool));
  crew->threads = regal_pool_threads(crew->pool);
  REGAL_TRY(
      regal_children_create(crew->context, crew->threads, &crew->contexts));
  return make_runners(crew, options);
}

regal_status regal_crew_create(regal_context *context,
                               const regal_options *options,
                               regal_crew **crew) {
  regal_crew *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  regal_status status = fill(made, options);
  if (status == REGAL_OK)
    *crew = made;
  else
    regal_crew_free(made);
  return status;
}

void regal_crew_free(regal_crew *crew) {
  if (!crew)
    return;
  for (int i = 0; crew->runners && i < crew->threads; i++) {
    regal_pool_free(crew->runners[i].single);
    regal_release(crew->context, crew->runners[i].options);
  }
  regal_release(crew->context, crew->runners);
  regal_children_free(crew->contexts);
  regal_pool_free(crew->pool);
  regal_release(crew->context, crew);
}

/* -- Jobs ------------------------------------------------------------------ */

typedef struct failure {
  size_t item;
  regal_status status;
  char message[REGAL_MESSAGE_CAPACITY];
} failure;

typedef struct job {
  regal_crew *crew;
  regal_crew_fn function;
  void *state;
  failure *failures; /* [threads] the first of each */
} job;

static void run_item(void *state, size_t item, int thread) {
  job *j = state;
  const regal_runner *runner = &j->crew->runners[thread];
  failure *f = &j->failures[thread];
  regal_status status = j->function(j->state, item, runner);
  if (status == REGAL_OK || (f->status != REGAL_OK && f->item < item))
    return;
  f->item = item;
  f->status = status;
  memcpy(f->message, runner->context->message, sizeof f->message);
}

regal_status regal_crew_run(regal_crew *crew, size_t items,
                            regal_crew_fn function, void *state) {
  failure *failures =
      regal_alloc(crew->context, (size_t)crew->threads, sizeof *failures);
  const failure *first = NULL;
  if (!failures)
    return regal_fail_memory(crew->context);
  job j = {crew, function, state, failures};
  regal_pool_run(crew->pool, items, run_item, &j);
  for (int i = 0; i < crew->threads; i++)
    if (failures[i].status != REGAL_OK &&
        (!first || failures[i].item < first->item))
      first = &failures[i];
  regal_status status =
      first ? regal_fail(crew->context, first->status, "%s", first->message)
            : REGAL_OK;
  regal_release(crew->context, failures);
  return status;
}
