/* SPDX-License-Identifier: Apache-2.0 */
/* Workers. Of several failures the one of the first item is reported, whatever
 * the number of threads: each thread keeps its first, and the first of those
 * counts. */
#include "base/parallel/workers.h"

#include <string.h>

typedef struct thread {
  regal_worker worker;
  /* Its first failure in the present run. */
  size_t failed;
  regal_status status;
  char message[REGAL_MESSAGE_CAPACITY];
} thread;

struct regal_workers {
  regal_context *context;
  regal_pool *pool;
  regal_children *contexts;
  thread *threads; /* [count] */
  int count;
  regal_workers_fn job; /* the present one */
  void *state;
};

static regal_status fill(regal_workers *workers, int threads) {
  regal_context *context = workers->context;
  REGAL_TRY(regal_pool_create(context, threads, &workers->pool));
  workers->count = regal_pool_threads(workers->pool);
  REGAL_TRY(regal_children_create(context, workers->count, &workers->contexts));
  workers->threads =
      regal_alloc(context, (size_t)workers->count, sizeof *workers->threads);
  if (!workers->threads)
    return regal_fail_memory(context);
  for (int i = 0; i < workers->count; i++) {
    regal_worker *worker = &workers->threads[i].worker;
    worker->context = regal_children_at(workers->contexts, i);
    REGAL_TRY(regal_pool_create(context, 1, &worker->single));
  }
  return REGAL_OK;
}

regal_status regal_workers_create(regal_context *context, int threads,
                                  regal_workers **workers) {
  regal_workers *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  regal_status status = fill(made, threads);
  if (status == REGAL_OK)
    *workers = made;
  else
    regal_workers_free(made);
  return status;
}

void regal_workers_free(regal_workers *workers) {
  if (!workers)
    return;
  for (int i = 0; workers->threads && i < workers->count; i++)
    regal_pool_free(workers->threads[i].worker.single);
  regal_release(workers->context, workers->threads);
  regal_children_free(workers->contexts);
  regal_pool_free(workers->pool);
  regal_release(workers->context, workers);
}

int regal_workers_threads(const regal_workers *workers) {
  return workers->count;
}

static void run_item(void *state, size_t item, int number) {
  regal_workers *workers = state;
  thread *t = &workers->threads[number];
  if (t->status != REGAL_OK && t->failed < item)
    return;
  regal_status status = workers->job(workers->state, item, &t->worker);
  if (status == REGAL_OK)
    return;
  t->failed = item;
  t->status = status;
  memcpy(t->message, t->worker.context->message, sizeof t->message);
}

regal_status regal_workers_run(regal_workers *workers, size_t items,
                               regal_workers_fn job, void *state) {
  const thread *first = NULL;
  workers->job = job;
  workers->state = state;
  for (int i = 0; i < workers->count; i++)
    workers->threads[i].status = REGAL_OK;
  regal_pool_run(workers->pool, items, run_item, workers);
  for (int i = 0; i < workers->count; i++) {
    const thread *t = &workers->threads[i];
    if (t->status != REGAL_OK && (!first || t->failed < first->failed))
      first = t;
  }
  return first
             ? regal_fail(workers->context, first->status, "%s", first->message)
             : REGAL_OK;
}
