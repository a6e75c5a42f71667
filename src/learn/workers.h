/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a training run, each with what it needs to run episodes. */
#ifndef REGAL_LEARN_WORKERS_H
#define REGAL_LEARN_WORKERS_H

#include "base/parallel/children.h"
#include "learn/episode.h"

typedef struct regal_workers {
  regal_context *context;
  regal_pool *pool;
  int threads;
  regal_children *contexts;
  regal_auto_settings settings;
  regal_runner *runners; /* [threads] */
} regal_workers;

/* BRKGA and the teacher run with the options of their groups, which must stay:
 * the settings refer to them. */
regal_status regal_workers_create(regal_context *context,
                                  const regal_options *options,
                                  regal_workers **workers);
void regal_workers_free(regal_workers *workers);

/* Calls job(state, item, runner) for each item, spread over the threads. The
 * first item that fails, in order of items, gives status and message. */
typedef regal_status (*regal_workers_fn)(void *state, size_t item,
                                         const regal_runner *runner);
regal_status regal_workers_run(regal_workers *workers, size_t items,
                               regal_workers_fn job, void *state);

#endif
