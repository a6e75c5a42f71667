/* SPDX-License-Identifier: Apache-2.0 */
/* The 3-1-1 split, and finding equal graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "dataset/split.h"
#include "support/failing_allocator.h"

static int set_up(void **state) {
  return regal_context_create((regal_context **)state, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  bool leaked = regal_bytes_in_use(*state) != 0;
  regal_context_free(*state);
  return leaked;
}

static void count(const regal_split_item *items, size_t size,
                  size_t counts[3]) {
  memset(counts, 0, 3 * sizeof *counts);
  for (size_t i = 0; i < size; i++)
    counts[items[i].split]++;
}

/* Each graph a family: of every five in order of size 3, 1 and 1. */
static void by_size(void **state) {
  regal_split_item items[23];
  size_t counts[3];
  for (uint32_t i = 0; i < 23; i++) /* 7 and 23 are coprime: a permutation */
    items[i] = (regal_split_item){
        .family = i, .ops = 100 + i * 7 % 23, .degrees = 1000 + i};
  assert_int_equal(regal_split_items(*state, items, 23, 1), REGAL_OK);
  for (uint32_t group = 0; group < 4; group++) {
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < 23; i++)
      if ((items[i].ops - 100) / 5 == group)
        counts[items[i].split]++;
    assert_int_equal(counts[REGAL_SPLIT_TRAIN], 3);
    assert_int_equal(counts[REGAL_SPLIT_VALID], 1);
    assert_int_equal(counts[REGAL_SPLIT_TEST], 1);
  }
  count(items, 23, counts); /* three are left over */
  assert_true(counts[0] >= 13 && counts[0] <= 15);
  assert_true(counts[1] >= 4 && counts[1] <= 5);
  assert_true(counts[2] >= 4 && counts[2] <= 5);
}

static void by_seed(void **state) {
  regal_split_item one[50], two[50];
  size_t same = 0;
  for (uint32_t i = 0; i < 50; i++)
    one[i] = two[i] =
        (regal_split_item){.family = i, .ops = i, .degrees = 77 + i};
  assert_int_equal(regal_split_items(*state, one, 50, 1), REGAL_OK);
  assert_int_equal(regal_split_items(*state, two, 50, 1), REGAL_OK);
  assert_memory_equal(one, two, sizeof one);
  assert_int_equal(regal_split_items(*state, two, 50, 2), REGAL_OK);
  for (size_t i = 0; i < 50; i++)
    same += one[i].split == two[i].split;
  assert_true(same < 45);
}

/* Families and topologies, in random sets: never on two sides, and as even as
 * their sizes allow. */
static void never_on_two_sides(void **state) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    regal_random random = {regal_random_key(seed, REGAL_PURPOSE_TEST, 1, 0), 0};
    regal_split_item items[120];
    size_t size = 1 + regal_random_below(&random, 120), counts[3];
    for (size_t i = 0; i < size; i++)
      items[i] = (regal_split_item){
          .family = (uint32_t)regal_random_below(&random, 60),
          .ops = (uint32_t)regal_random_below(&random, 1000),
          .degrees = regal_random_below(&random, 500)};
    assert_int_equal(regal_split_items(*state, items, size, seed), REGAL_OK);
    for (size_t i = 0; i < size; i++)
      for (size_t k = 0; k < i; k++)
        if (items[i].family == items[k].family ||
            items[i].degrees == items[k].degrees)
          assert_int_equal(items[i].split, items[k].split);
    count(items, size, counts);
    if (size >= 60) {
      assert_in_range(counts[0] * 100 / size, 50, 70);
      assert_in_range(counts[1] * 100 / size, 12, 28);
      assert_in_range(counts[2] * 100 / size, 12, 28);
    }
  }
}

static void one_large_family(void **state) {
  regal_split_item items[30];
  size_t counts[3];
  for (uint32_t i = 0; i < 30; i++) /* 26 graphs are one family */
    items[i] = (regal_split_item){
        .family = i < 26 ? 0 : i, .ops = 10 * i, .degrees = 5 + i};
  assert_int_equal(regal_split_items(*state, items, 30, 1), REGAL_OK);
  count(items, 30, counts);
  assert_int_equal(counts[REGAL_SPLIT_TRAIN], 28);
  assert_int_equal(counts[REGAL_SPLIT_VALID], 1);
  assert_int_equal(counts[REGAL_SPLIT_TEST], 1);
}

/* Items of a set that was split before keep their split and take their families
 * and topologies along; the others make up for it. */
static void like_another(void **state) {
  regal_split_item items[64];
  size_t counts[3];
  for (uint32_t i = 0; i < 60; i++)
    items[i] =
        (regal_split_item){.family = i, .ops = 100 + i, .degrees = 1000 + i};
  /* 20 families are in its split test, one topology is in valid */
  for (uint32_t i = 0; i < 20; i++)
    items[i].family = 0;
  items[60] = (regal_split_item){
      .family = 0, .degrees = 1, .given = true, .split = REGAL_SPLIT_TEST};
  items[61] = (regal_split_item){.family = 200,
                                 .degrees = 1030,
                                 .given = true,
                                 .split = REGAL_SPLIT_VALID};
  items[62] = (regal_split_item){
      .family = 201, .degrees = 2, .given = true, .split = REGAL_SPLIT_VALID};
  /* contradicts item 60: the first counts */
  items[63] = (regal_split_item){
      .family = 0, .degrees = 3, .given = true, .split = REGAL_SPLIT_TRAIN};
  assert_int_equal(regal_split_items(*state, items, 64, 1), REGAL_OK);
  for (size_t i = 0; i < 20; i++)
    assert_int_equal(items[i].split, REGAL_SPLIT_TEST);
  assert_int_equal(items[30].split, REGAL_SPLIT_VALID);
  assert_int_equal(items[60].split, REGAL_SPLIT_TEST);
  assert_int_equal(items[62].split, REGAL_SPLIT_VALID);
  assert_int_equal(items[63].split, REGAL_SPLIT_TEST);
  count(items, 60, counts); /* 39 are dealt, five at a time */
  assert_in_range(counts[REGAL_SPLIT_TRAIN], 23, 25);
  assert_in_range(counts[REGAL_SPLIT_VALID], 8, 9);
  assert_in_range(counts[REGAL_SPLIT_TEST], 27, 28);
}

static void equals(void **state) {
  static const uint64_t keys[] = {7, 3, 7, UINT64_MAX, 3, 0, 7};
  static const size_t expected[] = {0, 1, 0, 3, 1, 5, 0};
  size_t is[7];
  assert_int_equal(regal_first_equals(*state, keys, 7, is), REGAL_OK);
  assert_memory_equal(is, expected, sizeof is);
  assert_int_equal(regal_first_equals(*state, keys, 0, is), REGAL_OK);
  assert_int_equal(regal_split_items(*state, NULL, 0, 1), REGAL_OK);
}

static void failing_memory(void **state) {
  (void)state;
  for (size_t n = 2;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_split_item items[6] = {{.family = 1}, {.family = 2}, {.family = 3}};
    regal_context *context;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status = regal_split_items(context, items, 6, 1);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(by_size),          TEST(by_seed),      TEST(never_on_two_sides),
      TEST(one_large_family), TEST(like_another), TEST(equals),
      TEST(failing_memory),
  };
  return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
