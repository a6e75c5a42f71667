/* SPDX-License-Identifier: Apache-2.0 */
/* Workers sleep on a condition variable between jobs; a job's items are handed
 * out by an atomic counter. A worker that finds no job first spins for a few
 * microseconds: the generations of a small graph follow each other faster than
 * a sleeping thread wakes up.
 */
#define _GNU_SOURCE
#include "base/parallel/threads.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define SPINS 2000

typedef struct worker {
  regal_pool *pool;
  pthread_t thread;
  int number;
} worker;

struct regal_pool {
  regal_context *context;
  worker *workers; /* [threads - 1]; the caller is thread 0 */
  int threads, started;
  pthread_mutex_t mutex;
  pthread_cond_t posted, finished;
  uint64_t job_number; /* bumped for each job; atomic */
  bool closing;        /* under mutex, with a bump of job_number */
  regal_job_fn job;
  void *state;
  size_t items;
  size_t next_item; /* atomic */
  int busy;         /* workers that have not finished the job; atomic */
};

static void work(regal_pool *pool, int number) {
  for (;;) {
    size_t item = __atomic_fetch_add(&pool->next_item, 1, __ATOMIC_RELAXED);
    if (item >= pool->items)
      return;
    pool->job(pool->state, item, number);
  }
}

/* Returns once a job beyond `seen` is posted. */
static uint64_t wait_for_job(regal_pool *pool, uint64_t seen) {
  for (int spin = 0; spin < SPINS; spin++) {
    uint64_t now = __atomic_load_n(&pool->job_number, __ATOMIC_ACQUIRE);
    if (now != seen)
      return now;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  pthread_mutex_lock(&pool->mutex);
  uint64_t now;
  while ((now = __atomic_load_n(&pool->job_number, __ATOMIC_ACQUIRE)) == seen)
    pthread_cond_wait(&pool->posted, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
  return now;
}

static void *worker_main(void *argument) {
  worker *self = argument;
  regal_pool *pool = self->pool;
  uint64_t seen = 0;
  for (;;) {
    seen = wait_for_job(pool, seen);
    if (pool->closing)
      return NULL;
    work(pool, self->number);
    if (__atomic_sub_fetch(&pool->busy, 1, __ATOMIC_ACQ_REL) == 0) {
      pthread_mutex_lock(&pool->mutex);
      pthread_cond_signal(&pool->finished);
      pthread_mutex_unlock(&pool->mutex);
    }
  }
}

static void post(regal_pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  __atomic_add_fetch(&pool->job_number, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&pool->posted);
  pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_workers(regal_pool *pool) {
  for (int spin = 0; spin < SPINS; spin++) {
    if (__atomic_load_n(&pool->busy, __ATOMIC_ACQUIRE) == 0)
      return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  pthread_mutex_lock(&pool->mutex);
  while (__atomic_load_n(&pool->busy, __ATOMIC_ACQUIRE) != 0)
    pthread_cond_wait(&pool->finished, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

static int core_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? (int)cores : 1;
}

/* Limits on processes or memory are no reason to give up: results do not depend
 * on the number of threads. The caller can ask what happened. */
static void note_refused(regal_context *context, int refused) {
  if (refused > context->refused_threads)
    context->refused_threads = refused;
}

regal_status regal_pool_create(regal_context *context, int threads,
                               regal_pool **pool) {
  if (threads <= 0)
    threads = core_count();
  regal_pool *made = regal_alloc(context, 1, sizeof *made);
  worker *workers = regal_alloc(context, (size_t)threads, sizeof *workers);
  if (!made || !workers) {
    regal_release(context, made);
    regal_release(context, workers);
    return regal_fail_memory(context);
  }
  made->context = context;
  made->workers = workers;
  made->threads = threads;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->posted, NULL);
  pthread_cond_init(&made->finished, NULL);
  for (int i = 0; i + 1 < threads; i++) {
    workers[i] = (worker){.pool = made, .number = i + 1};
    if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i])) {
      note_refused(context, threads - 1 - i);
      made->threads = i + 1;
      break;
    }
    made->started++;
  }
  *pool = made;
  return REGAL_OK;
}

void regal_pool_free(regal_pool *pool) {
  if (!pool)
    return;
  pool->closing = true;
  post(pool);
  for (int i = 0; i < pool->started; i++)
    pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->finished);
  pthread_cond_destroy(&pool->posted);
  pthread_mutex_destroy(&pool->mutex);
  regal_release(pool->context, pool->workers);
  regal_release(pool->context, pool);
}

int regal_pool_threads(const regal_pool *pool) {
  return pool->threads;
}

void regal_pool_run(regal_pool *pool, size_t items, regal_job_fn job,
                    void *state) {
  pool->job = job;
  pool->state = state;
  pool->items = items;
  __atomic_store_n(&pool->next_item, 0, __ATOMIC_RELAXED);
  if (pool->threads > 1 && items > 1) {
    __atomic_store_n(&pool->busy, pool->threads - 1, __ATOMIC_RELAXED);
    post(pool);
    work(pool, 0);
    wait_for_workers(pool);
  } else {
    work(pool, 0);
  }
}

double regal_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
