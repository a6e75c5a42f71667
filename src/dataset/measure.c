/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of all graphs of a dataset, on all cores: each thread has a context
 * of its own, whose memory comes from the caller's allocator, one at a time. */
#include "dataset/dataset.h"

#include <inttypes.h>
#include <string.h>

#include "base/parallel/workers.h"
#include "dataset/figures.h"
#include "graph/builder.h"

typedef struct measuring {
  regal_dataset *dataset;
  const regal_options *options;
  size_t *todo;           /* [jobs] items to measure */
  regal_figures *figures; /* [jobs] */
  size_t jobs;
  bool check; /* compare instead of fill in */
} measuring;

/* -- One graph ------------------------------------------------------------- */

static regal_status measure(const measuring *m, regal_context *context,
                            const regal_dataset_item *item,
                            regal_figures *figures) {
  regal_graph *graph;
  regal_figures file;
  REGAL_TRY(regal_member_load(m->dataset->catalogs[item->catalog]->archive,
                              context, item->member, &item->entry, 0,
                              m->options, &file, &graph));
  regal_status status = regal_figures_of(context, graph, figures);
  figures->file_bytes = file.file_bytes;
  figures->file_crc = file.file_crc;
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

static regal_status measure_job(void *state, size_t job,
                                const regal_worker *worker) {
  measuring *m = state;
  const regal_dataset_item *item = &m->dataset->items[m->todo[job]];
  if (regal_stop_requested(worker->context))
    return REGAL_OK;
  REGAL_TRY(measure(m, worker->context, item, &m->figures[job]));
  return m->check ? compare(worker->context, item, &m->figures[job]) : REGAL_OK;
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
  return REGAL_OK;
}

static regal_status settle(measuring *m) {
  regal_dataset *dataset = m->dataset;
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
  regal_workers *workers;
  REGAL_TRY(list_jobs(m));
  if (!m->jobs)
    return REGAL_OK;
  REGAL_TRY(regal_workers_create(context, m->jobs > 1 ? threads : 1, &workers));
  regal_status status = regal_workers_run(workers, m->jobs, measure_job, m);
  regal_workers_free(workers);
  return status == REGAL_OK ? settle(m) : status;
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
