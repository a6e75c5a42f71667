/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of threads: every item exactly once, whatever the number of threads,
 * items and jobs. Worth running under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/parallel/threads.h"
#include "support/failing_allocator.h"
#include "support/graph_sketch.h"

#define MOST_ITEMS 1000
#define MOST_THREADS 16

static regal_pool *make_pool(regal_context *context, int threads) {
  regal_pool *pool;
  if (regal_pool_create(context, threads, &pool))
    fail_msg("%s", regal_error(context));
  return pool;
}

/* What a job writes: who took which item, and what each thread did. None of it
 * is atomic: an item has one thread, and a thread one item at a time. */
typedef struct record {
  int taken[MOST_ITEMS];
  uint64_t sums[MOST_THREADS][8]; /* a cache line each */
  int busy[MOST_THREADS][16];
  int overlaps, threads;
  uint64_t offset; /* changes from job to job: workers must see it */
} record;

static void take(void *state, size_t item, int thread) {
  record *r = state;
  if (thread < 0 || thread >= r->threads || r->busy[thread][0]++)
    __atomic_add_fetch(&r->overlaps, 1, __ATOMIC_RELAXED);
  r->taken[item]++;
  r->sums[thread][0] += item + r->offset;
  r->busy[thread][0]--;
}

static void check_job(regal_pool *pool, size_t items, uint64_t offset) {
  static record r;
  uint64_t sum = 0;
  memset(&r, 0, sizeof r);
  r.threads = regal_pool_threads(pool);
  r.offset = offset;
  regal_pool_run(pool, items, take, &r);
  for (size_t i = 0; i < MOST_ITEMS; i++)
    assert_int_equal(r.taken[i], i < items);
  for (int t = 0; t < MOST_THREADS; t++)
    sum += r.sums[t][0];
  assert_int_equal(sum, items * offset + items * (items - 1) / 2);
  assert_int_equal(r.overlaps, 0);
}

static void test_each_item_once(void **state) {
  static const size_t items[] = {0, 1, 2, 3, 15, 16, 17, 100, MOST_ITEMS};
  for (int threads = 1; threads <= MOST_THREADS; threads++) {
    regal_pool *pool = make_pool(*state, threads);
    assert_int_equal(regal_pool_threads(pool), threads);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
      check_job(pool, items[i], (uint64_t)threads);
    regal_pool_free(pool);
  }
}

/* Jobs that follow each other faster than a thread falls asleep, and slower. */
static void test_many_small_jobs(void **state) {
  for (int threads = 1; threads <= 4; threads++) {
    regal_pool *pool = make_pool(*state, threads);
    for (uint64_t job = 0; job < 1500; job++)
      check_job(pool, 1 + job % 7, job);
    for (uint64_t job = 0; job < 3; job++) {
      struct timespec nap = {0, 2000000};
      nanosleep(&nap, NULL);
      check_job(pool, 10, job);
    }
    regal_pool_free(pool);
  }
}

/* Pools that never ran a job, and pools beside and inside each other. */
static void test_create_and_free(void **state) {
  for (int round = 0; round < 20; round++) {
    regal_pool *outer = make_pool(*state, 3);
    regal_pool *inner = make_pool(*state, 1 + round % 4);
    if (round % 2)
      check_job(inner, 20, 1);
    check_job(outer, 20, 2);
    regal_pool_free(round % 3 ? inner : outer);
    check_job(round % 3 ? outer : inner, 20, 3);
    regal_pool_free(round % 3 ? outer : inner);
  }
  regal_pool_free(NULL);
}

/* A pool that works on a pool of one thread for each item. */
typedef struct nest {
  regal_pool **inner; /* [threads] */
  int done[64];
} nest;

static void count_inner(void *state, size_t item, int thread) {
  int *count = state;
  (void)item, (void)thread;
  ++*count;
}

static void run_inner(void *state, size_t item, int thread) {
  nest *n = state;
  regal_pool_run(n->inner[thread], 10, count_inner, &n->done[item]);
}

static void test_nested_pools(void **state) {
  enum { THREADS = 4 };
  regal_pool *outer = make_pool(*state, THREADS), *inner[THREADS];
  nest n = {.inner = inner};
  for (int t = 0; t < THREADS; t++)
    inner[t] = make_pool(*state, 1);
  regal_pool_run(outer, 64, run_inner, &n);
  for (int i = 0; i < 64; i++)
    assert_int_equal(n.done[i], 10);
  for (int t = 0; t < THREADS; t++)
    regal_pool_free(inner[t]);
  regal_pool_free(outer);
}

/* 0 is one thread per core. */
static void test_as_many_as_cores(void **state) {
  regal_pool *pool = make_pool(*state, 0);
  assert_in_range(regal_pool_threads(pool), 1, 4096);
  regal_pool_free(pool);
}

static void test_no_memory(void **state) {
  (void)state;
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context = NULL;
    regal_pool *pool = NULL;
    regal_status status = regal_context_create(&context, &allocator);
    if (status == REGAL_OK)
      status = regal_pool_create(context, 3, &pool);
    if (context && status == REGAL_NO_MEMORY)
      assert_string_equal(regal_error(context), "out of memory");
    regal_pool_free(pool);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    if (!memory.failed)
      break;
  }
}

static void test_seconds(void **state) {
  (void)state;
  struct timespec nap = {0, 3000000};
  double before = regal_seconds();
  nanosleep(&nap, NULL);
  double after = regal_seconds();
  assert_true(after - before >= 0.003 && after - before < 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_each_item_once),   CONTEXT_TEST(test_many_small_jobs),
      CONTEXT_TEST(test_create_and_free),  CONTEXT_TEST(test_nested_pools),
      CONTEXT_TEST(test_as_many_as_cores), cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_seconds),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
