/* The threads of a training run, each with what it needs to run episodes. */
#ifndef REGAL_LEARN_CREW_H
#define REGAL_LEARN_CREW_H

#include "base/children.h"
#include "learn/episode.h"

typedef struct regal_crew {
  regal_context *context;
  regal_pool *pool;
  int threads;
  regal_children *contexts;
  regal_runner *runners; /* [threads] */
} regal_crew;

/* BRKGA runs with the options of its group. */
regal_status regal_crew_create(regal_context *context,
                               const regal_options *options, regal_crew **crew);
void regal_crew_free(regal_crew *crew);

/* Calls job(state, item, runner) for each item, spread over the threads. The
 * first item that fails, in order of items, gives status and message. */
typedef regal_status (*regal_crew_fn)(void *state, size_t item,
                                      const regal_runner *runner);
regal_status regal_crew_run(regal_crew *crew, size_t items, regal_crew_fn job,
                            void *state);

#endif
