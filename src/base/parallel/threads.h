/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads that share out the items of one job at a time. */
#ifndef REGAL_BASE_PARALLEL_THREADS_H
#define REGAL_BASE_PARALLEL_THREADS_H

#include "base/context.h"

typedef struct regal_pool regal_pool;

/* `threads` workers, the calling thread among them; 0 = one per core. Fewer, if
 * the system does not let us start as many: see regal_refused_threads. */
regal_status regal_pool_create(regal_context *context, int threads,
                               regal_pool **pool);
void regal_pool_free(regal_pool *pool);
int regal_pool_threads(const regal_pool *pool);

/* Calls job(state, item, thread) for item = 0 .. items-1, each once, spread
 * over the threads, and returns when all are done. `thread` is 0 .. threads-1
 * and is busy with one item at a time, so it selects scratch memory. */
typedef void (*regal_job_fn)(void *state, size_t item, int thread);
void regal_pool_run(regal_pool *pool, size_t items, regal_job_fn job,
                    void *state);

/* Seconds of a monotonic clock. */
double regal_seconds(void);

#endif
