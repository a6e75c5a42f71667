/* SPDX-License-Identifier: Apache-2.0 */
/* Ops with a key, and sorting them: ascending keys, equal keys by op. */
#ifndef REGAL_BASE_KEYED_H
#define REGAL_BASE_KEYED_H

#include <stdint.h>
#include <stdlib.h>

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

/* O(count log count). */
static inline void regal_keyed_sort(regal_keyed *items, size_t count) {
  qsort(items, count, sizeof *items, regal_keyed_compare);
}

#endif
