/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of all graphs of a dataset, on all cores: each thread has a context
 * of its own, whose memory comes from the caller's allocator, one at a time. */
#include "dataset/dataset.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/parallel/children.h"
#include "base/parallel/threads.h"
#include "dataset/figures.h"
#include "graph/builder.h"

typedef struct measuring {
  regal_dataset *dataset;
  const regal_options *options;
  regal_children *children; /* a context for each thread */
  size_t *todo;             /* [jobs] items to measure */
  regal_figures *figures;   /* [jobs] */
  size_t jobs;
  bool check; /* compare instead of fill in */

  pthread_mutex_t lock; /* of what follows */
  size_t failed;        /* the first job that failed, or jobs */
  regal_status status;
  char message[REGAL_MESSAGE_CAPACITY];
} measuring;

/* -- One graph ------------------------------------------------------------- */

static regal_status measure(const measuring *m, regal_context *context,
                            const regal_dataset_item *item,
                            regal_figures *figures) {
  regal_graph *graph;
  uint64_t bytes;
  uint32_t crc;
  REGAL_TRY(regal_member_load(m->dataset->catalogs[item->catalog]->archive,
                              context, item->member, item->entry.reading,
                              m->options, &bytes, &crc, &graph));
  regal_status status = regal_figures_of(context, graph, figures);
  figures->file_bytes = bytes;
  figures->file_crc = crc;
  regal_graph_free(graph);
  return status;
}

static bool same(const regal_figures *a, const regal_figures *b) {
  return a->ops == b->ops && a->tensors == b->tensors && a->edges == b->edges &&
         a->controls == b->controls && a->diameter == b->diameter &&
         a->width == b->width && a->work_ns == b->work_ns &&
         a->critical_ns == b->critical_ns &&
         a->tensor_bytes == b->tensor_bytes &&
         a->runtime_room == b->runtime_room &&
         a->memory_room == b->memory_room && a->degrees == b->degrees &&
         a->checksum == b->checksum && a->file_bytes == b->file_bytes &&
         a->file_crc == b->file_crc;
}

static regal_status compare(regal_context *context,
                            const regal_dataset_item *item,
                            const regal_figures *figures) {
  const regal_figures *said = &item->entry.figures;
  if (same(said, figures))
    return REGAL_OK;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "graph %s is not what the index says: checksum %016" PRIx64
                    " and file CRC %08" PRIx32 ", expected %016" PRIx64
                    " and %08" PRIx32,
                    regal_quote(item->entry.name).text, figures->checksum,
                    figures->file_crc, said->checksum, said->file_crc);
}

/* The first in order counts, so that the message does not depend on threads. */
static void note_failure(measuring *m, size_t job, regal_status status,
                         const char *message) {
  pthread_mutex_lock(&m->lock);
  if (job < m->failed) {
    m->failed = job;
    m->status = status;
    snprintf(m->message, sizeof m->message, "%s", message);
  }
  pthread_mutex_unlock(&m->lock);
}

static bool should_skip(measuring *m, size_t job) {
  pthread_mutex_lock(&m->lock);
  bool skip = m->failed < job;
  pthread_mutex_unlock(&m->lock);
  return skip || regal_stop_requested(m->dataset->context);
}

static void measure_job(void *state, size_t job, int thread) {
  measuring *m = state;
  regal_context *context = regal_children_at(m->children, thread);
  const regal_dataset_item *item = &m->dataset->items[m->todo[job]];
  if (should_skip(m, job))
    return;
  regal_status status = measure(m, context, item, &m->figures[job]);
  if (status == REGAL_OK && m->check)
    status = compare(context, item, &m->figures[job]);
  if (status != REGAL_OK)
    note_failure(m, job, status, regal_error(context));
}

/* -- All of them ----------------------------------------------------------- */

static regal_status list_jobs(measuring *m) {
  regal_dataset *dataset = m->dataset;
  m->todo = regal_alloc(dataset->context, dataset->count, sizeof *m->todo);
  m->figures =
      regal_alloc(dataset->context, dataset->count, sizeof *m->figures);
  if (!m->todo || !m->figures)
    return regal_fail_memory(dataset->context);
  for (size_t i = 0; i < dataset->count; i++) {
    const regal_dataset_item *item = &dataset->items[i];
    if (m->check ? item->entry.known || item->stale : !item->entry.known)
      m->todo[m->jobs++] = i;
  }
  m->failed = m->jobs;
  return REGAL_OK;
}

static regal_status settle(measuring *m) {
  regal_dataset *dataset = m->dataset;
  if (m->failed < m->jobs)
    return regal_fail(dataset->context, m->status, "%s", m->message);
  if (regal_stop_requested(dataset->context))
    return regal_fail(dataset->context, REGAL_IO, "interrupted");
  for (size_t job = 0; job < m->jobs; job++) {
    regal_dataset_item *item = &dataset->items[m->todo[job]];
    item->entry.figures = m->figures[job];
    item->entry.known = true;
    item->stale = false;
  }
  return REGAL_OK;
}

static regal_status work_through(measuring *m) {
  regal_context *context = m->dataset->context;
  int threads = m->options ? (int)m->options->threads : 0;
  regal_pool *pool = NULL;
  REGAL_TRY(list_jobs(m));
  if (!m->jobs)
    return REGAL_OK;
  REGAL_TRY(regal_pool_create(context, m->jobs > 1 ? threads : 1, &pool));
  pthread_mutex_init(&m->lock, NULL);
  regal_status status =
      regal_children_create(context, regal_pool_threads(pool), &m->children);
  if (status == REGAL_OK) {
    regal_pool_run(pool, m->jobs, measure_job, m);
    regal_children_free(m->children);
    status = settle(m);
  }
  pthread_mutex_destroy(&m->lock);
  regal_pool_free(pool);
  return status;
}

static regal_status measure_all(regal_dataset *dataset,
                                const regal_options *options, bool check) {
  if (!dataset)
    return REGAL_MISUSE;
  measuring m = {.dataset = dataset, .options = options, .check = check};
  regal_status status = work_through(&m);
  regal_release(dataset->context, m.todo);
  regal_release(dataset->context, m.figures);
  return status;
}

regal_status regal_dataset_measure(regal_dataset *dataset,
                                   const regal_options *options) {
  return measure_all(dataset, options, false);
}

regal_status regal_dataset_check(regal_dataset *dataset,
                                 const regal_options *options) {
  return measure_all(dataset, options, true);
}
