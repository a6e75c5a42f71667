/* SPDX-License-Identifier: Apache-2.0 */
/* Names found again: by number, absent or ambiguous. */
#include "support/graph_sketch.h"

#include "base/name_index.h"
#include "base/random.h"
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

/* A set of numbers is a table of scopes with the text "". */
static void holds_numbers(void **state) {
  regal_names set;
  size_t number;
  regal_names_init(&set, *state);
  assert_true(regal_names_find_in(&set, 0, "") == REGAL_NO_NAME);
  for (uint64_t i = 0; i < 5000; i++)
    for (int again = 0; again < 2; again++) {
      assert_true(
          regal_names_add_in(&set, i % 2 ? i : regal_mix(i), "", &number));
      assert_int_equal(number, i);
    }
  assert_int_equal(set.count, 5000);
  for (uint64_t i = 0; i < 10000; i++)
    assert_int_equal(regal_names_find_in(&set, i % 2 ? i : regal_mix(i), ""),
                     i < 5000 ? i : REGAL_NO_NAME);
  regal_names_clear(&set);
  assert_true(regal_names_find_in(&set, 1, "") == REGAL_NO_NAME);
  regal_names_free(&set);
  assert_true(regal_names_find_in(&set, 1, "") == REGAL_NO_NAME);
  regal_names_free(&(regal_names){0});
}

/* A key is the scope and the text: neither counts for the other. */
static void keeps_scopes_apart(void **state) {
  static const struct {
    uint64_t scope;
    const char *text;
  } keys[] = {{0, "a"},    {1, "a"}, {UINT64_C(1) << 32, "a"},
              {0, "\1a"},  {0, ""},  {'a', ""},
              {0, "\1\1a"}};
  regal_names names;
  regal_names_init(&names, *state);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    size_t number;
    assert_true(
        regal_names_add_in(&names, keys[i].scope, keys[i].text, &number));
    assert_int_equal(number, i);
  }
  regal_names_free(&names);
}

/* Names that collide here do not collide there. */
static void hashes_differ_by_context(void **state) {
  regal_context *other;
  assert_int_equal(regal_context_create(&other, NULL), REGAL_OK);
  assert_true(other->hash_point != ((regal_context *)*state)->hash_point);
  assert_true(other->hash_point < REGAL_HASH_PRIME);
  regal_context_free(other);
}

static regal_status index_two(regal_context *context, const void *state) {
  static const char *const names[] = {"a", "b"};
  regal_name_index index;
  (void)state;
  regal_status status = regal_name_index_create(context, names, 2, &index);
  regal_name_index_free(&index);
  return status;
}

static void leaves_nothing_without_memory(void **state) {
  (void)state;
  fail_each_allocation(index_two, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(finds_each_name),
      CONTEXT_TEST(may_be_empty),
      CONTEXT_TEST(finds_all_of_many),
      CONTEXT_TEST(holds_numbers),
      CONTEXT_TEST(keeps_scopes_apart),
      CONTEXT_TEST(hashes_differ_by_context),
      cmocka_unit_test(leaves_nothing_without_memory),
  };
  return cmocka_run_group_tests_name("name_index", tests, NULL, NULL);
}
