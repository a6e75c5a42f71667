/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts for threads, and workers. */
#include "base/parallel/workers.h"
#include "support/failing_allocator.h"
#include "support/graph_sketch.h"

static regal_children *make(regal_context *context, int count) {
  regal_children *children;
  assert_int_equal(regal_children_create(context, count, &children), REGAL_OK);
  return children;
}

static void test_memory_is_the_parents(void **state) {
  regal_context *parent = *state;
  regal_children *children = make(parent, 2);
  size_t before = regal_bytes_in_use(parent);
  regal_context *child = regal_children_at(children, 1);
  char *block = regal_alloc(child, 1000, 1);
  assert_true(regal_bytes_in_use(parent) >= before + 1000);
  block = regal_grow(child, block, 5000, 1);
  for (int i = 0; i < 5000; i++)
    assert_int_equal(block[i], 0);
  assert_true(regal_bytes_in_use(parent) >= before + 5000);
  assert_true(regal_bytes_in_use(regal_children_at(children, 0)) == 0);
  regal_release(child, block);
  assert_int_equal(regal_bytes_in_use(parent), before);
  regal_children_free(children);
  regal_children_free(NULL);
}

static void test_stop_reaches_children(void **state) {
  regal_context *parent = *state;
  regal_children *children = make(parent, 2);
  assert_false(regal_stop_requested(regal_children_at(children, 1)));
  regal_stop_request(parent);
  assert_true(regal_stop_requested(regal_children_at(children, 0)));
  assert_true(regal_stop_requested(regal_children_at(children, 1)));
  regal_stop_clear(parent);
  regal_stop_request(regal_children_at(children, 0));
  assert_false(regal_stop_requested(parent));
  assert_false(regal_stop_requested(regal_children_at(children, 1)));
  regal_children_free(children);
}

static void churn(void *state, size_t item, int thread) {
  regal_context *child = regal_children_at(state, thread);
  uint64_t *block = NULL;
  for (size_t count = 1; count < 40; count++) {
    block = regal_grow(child, block, count, sizeof *block);
    block[count - 1] = item;
  }
  for (size_t count = 1; count < 40; count++)
    if (block[count - 1] != item)
      abort();
  regal_release(child, block);
}

static void test_threads_share_an_allocator(void **state) {
  regal_pool *pool;
  assert_int_equal(regal_pool_create(*state, 4, &pool), REGAL_OK);
  regal_children *children = make(*state, 4);
  size_t before = regal_bytes_in_use(*state);
  regal_pool_run(pool, 500, churn, children);
  assert_int_equal(regal_bytes_in_use(*state), before);
  regal_children_free(children);
  regal_pool_free(pool);
}

static void test_failing_allocations(void **state) {
  (void)state;
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_children *children = NULL;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status = regal_children_create(context, 3, &children);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    regal_children_free(children);
    assert_int_equal(regal_bytes_in_use(context), 0);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      return assert_int_equal(n, 6);
  }
}

/* Items from `*state` on fail, the later ones sooner. */
static regal_status fail_from(void *state, size_t item,
                              const regal_worker *worker) {
  const size_t *first = state;
  if (item < *first)
    return REGAL_OK;
  for (volatile size_t wait = (100 - item) * 1000; wait > 0; wait--)
    ;
  return regal_fail(worker->context, REGAL_BAD_INPUT, "item %zu", item);
}

static void test_workers_report_the_first_failure(void **state) {
  regal_context *context = *state;
  for (int threads = 1; threads <= 4; threads++) {
    regal_workers *workers;
    size_t first = 17;
    assert_int_equal(regal_workers_create(context, threads, &workers),
                     REGAL_OK);
    assert_int_equal(regal_workers_threads(workers), threads);
    assert_int_equal(regal_workers_run(workers, 100, fail_from, &first),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(context), "item 17");
    first = 100; /* an earlier failure is forgotten */
    assert_int_equal(regal_workers_run(workers, 100, fail_from, &first),
                     REGAL_OK);
    regal_workers_free(workers);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_memory_is_the_parents),
      CONTEXT_TEST(test_stop_reaches_children),
      CONTEXT_TEST(test_threads_share_an_allocator),
      CONTEXT_TEST(test_failing_allocations),
      CONTEXT_TEST(test_workers_report_the_first_failure),
  };
  return cmocka_run_group_tests_name("children", tests, NULL, NULL);
}
