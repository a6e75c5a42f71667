/* SPDX-License-Identifier: Apache-2.0 */
/* The larger and the smaller of two, and sorting ops by a key. */
#ifndef REGAL_BASE_COMPARE_H
#define REGAL_BASE_COMPARE_H

#include <stdint.h>
#include <stdlib.h>

static inline int64_t regal_larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static inline int64_t regal_smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Of positions and other indices. */
static inline uint32_t regal_larger32(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

static inline uint32_t regal_smaller32(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

typedef struct regal_keyed {
  int64_t key;
  uint32_t op;
} regal_keyed;

static inline int regal_keyed_compare(const void *left, const void *right) {
  const regal_keyed *a = left, *b = right;
  if (a->key != b->key)
    return a->key < b->key ? -1 : 1;
  return (a->op > b->op) - (a->op < b->op);
}

/* Ascending keys, equal keys by op. O(count log count). */
static inline void regal_keyed_sort(regal_keyed *items, size_t count) {
  qsort(items, count, sizeof *items, regal_keyed_compare);
}

#endif
