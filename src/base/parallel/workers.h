/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that each run whole searches or read whole graphs: every one has a
 * context and a pool of one thread. */
#ifndef REGAL_BASE_PARALLEL_WORKERS_H
#define REGAL_BASE_PARALLEL_WORKERS_H

#include "base/parallel/children.h"
#include "base/parallel/threads.h"

/* What one thread works with. */
typedef struct regal_worker {
  regal_context *context; /* the thread's own */
  regal_pool *single;     /* a pool of one thread */
} regal_worker;

typedef struct regal_workers regal_workers;

/* 0 threads: one per core. */
regal_status regal_workers_create(regal_context *context, int threads,
                                  regal_workers **workers);
void regal_workers_free(regal_workers *workers);
int regal_workers_threads(const regal_workers *workers);

/* Calls job(state, item, worker) for each item, spread over the threads. The
 * first item that fails, in order of items, gives status and message; some of
 * those after it may be left out. */
typedef regal_status (*regal_workers_fn)(void *state, size_t item,
                                         const regal_worker *worker);
regal_status regal_workers_run(regal_workers *workers, size_t items,
                               regal_workers_fn job, void *state);

#endif
