/* SPDX-License-Identifier: Apache-2.0 */
/* Names found again: by number, absent or ambiguous. */
#include "support/graph_sketch.h"

#include "graph/name_index.h"
#include "support/failing_allocator.h"

static void finds_each_name(void **state) {
  static const char *const names[] = {"b", "", "a", "twin", NULL, "twin", "bb"};
  regal_name_index index;
  assert_int_equal(regal_name_index_create(*state, names, 7, &index), REGAL_OK);
  assert_int_equal(regal_name_index_find(&index, "b"), 0);
  assert_int_equal(regal_name_index_find(&index, "a"), 2);
  assert_int_equal(regal_name_index_find(&index, "bb"), 6);
  assert_true(regal_name_index_find(&index, "twin") == REGAL_NAME_AMBIGUOUS);
  assert_true(regal_name_index_find(&index, "c") == REGAL_NAME_ABSENT);
  assert_true(regal_name_index_find(&index, "") == REGAL_NAME_ABSENT);
  regal_name_index_free(&index);
  assert_true(regal_name_index_find(&index, "b") == REGAL_NAME_ABSENT);
  regal_name_index_free(&index);
}

static void may_be_empty(void **state) {
  regal_name_index index;
  assert_int_equal(regal_name_index_create(*state, NULL, 0, &index), REGAL_OK);
  assert_true(regal_name_index_find(&index, "a") == REGAL_NAME_ABSENT);
  regal_name_index_free(&index);
}

/* Sizes around powers of two, where the table's width changes. */
static void finds_all_of_many(void **state) {
  enum { MOST = 1030 };
  static char text[MOST][16];
  static const char *names[MOST];
  static const uint32_t sizes[] = {1, 2, 3, 4, 5, 1023, 1024, 1025, MOST};
  for (uint32_t i = 0; i < MOST; i++) {
    snprintf(text[i], sizeof text[i], "op%u", i * 7919);
    names[i] = text[i];
  }
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    regal_name_index index;
    assert_int_equal(regal_name_index_create(*state, names, sizes[s], &index),
                     REGAL_OK);
    for (uint32_t i = 0; i < MOST; i++)
      assert_int_equal(regal_name_index_find(&index, names[i]),
                       i < sizes[s] ? i : REGAL_NAME_ABSENT);
    regal_name_index_free(&index);
  }
}

static void leaves_nothing_without_memory(void **state) {
  static const char *const names[] = {"a", "b"};
  (void)state;
  for (size_t n = 2;; n++) { /* 1 is the context itself */
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_name_index index;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status = regal_name_index_create(context, names, 2, &index);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    regal_name_index_free(&index);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(finds_each_name),
      CONTEXT_TEST(may_be_empty),
      CONTEXT_TEST(finds_all_of_many),
      cmocka_unit_test(leaves_nothing_without_memory),
  };
  return cmocka_run_group_tests_name("name_index", tests, NULL, NULL);
}
