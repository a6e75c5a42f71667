/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted array with a table in front of it. */
#include "graph/name_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "graph/rows.h"

#define MOST_BITS 31

typedef struct regal_indexed_name {
  uint64_t hash;
  const char *name;
  uint32_t number;
} indexed_name;

static uint64_t hash_of(const char *name) {
  return regal_hash_text(REGAL_HASH_BASIS, name);
}

static int compare(const void *a, const void *b) {
  const indexed_name *left = a, *right = b;
  if (left->hash != right->hash)
    return left->hash < right->hash ? -1 : 1;
  return strcmp(left->name, right->name);
}

static uint32_t row_of(const regal_name_index *index, uint64_t hash) {
  return (uint32_t)(hash >> (64 - index->bits));
}

static void fill(regal_name_index *index, const char *const *names,
                 uint32_t count) {
  indexed_name *sorted = index->sorted;
  uint32_t rows = UINT32_C(1) << index->bits;
  for (uint32_t i = 0; i < count; i++)
    if (names[i] && *names[i])
      sorted[index->count++] = (indexed_name){hash_of(names[i]), names[i], i};
  qsort(sorted, index->count, sizeof *sorted, compare);
  for (uint32_t i = 0; i < index->count; i++)
    index->begin[row_of(index, sorted[i].hash)]++;
  regal_rows_sum(index->begin, rows);
  for (uint32_t i = index->count; i-- > 0;)
    index->begin[row_of(index, sorted[i].hash)]--;
}

regal_status regal_name_index_create(regal_context *context,
                                     const char *const *names, uint32_t count,
                                     regal_name_index *index) {
  *index = (regal_name_index){.context = context, .bits = 1};
  while (index->bits < MOST_BITS && UINT32_C(1) << index->bits < count)
    index->bits++;
  size_t rows = (size_t)1 << index->bits;
  index->sorted = regal_alloc(context, count, sizeof *index->sorted);
  index->begin = regal_alloc(context, rows + 1, sizeof *index->begin);
  if (!index->sorted || !index->begin) {
    regal_name_index_free(index);
    return regal_fail_memory(context);
  }
  fill(index, names, count);
  return REGAL_OK;
}

void regal_name_index_free(regal_name_index *index) {
  if (index->context) {
    regal_release(index->context, index->sorted);
    regal_release(index->context, index->begin);
  }
  *index = (regal_name_index){0};
}

uint32_t regal_name_index_find(const regal_name_index *index,
                               const char *name) {
  if (!index->count || !*name)
    return REGAL_NAME_ABSENT;
  indexed_name wanted = {.hash = hash_of(name), .name = name};
  const uint32_t *row = &index->begin[row_of(index, wanted.hash)];
  const indexed_name *begin = index->sorted + row[0];
  const indexed_name *end = index->sorted + row[1];
  const indexed_name *hit =
      bsearch(&wanted, begin, row[1] - row[0], sizeof wanted, compare);
  if (!hit)
    return REGAL_NAME_ABSENT;
  bool before = hit > begin && !compare(hit - 1, hit);
  bool after = hit + 1 < end && !compare(hit, hit + 1);
  return before || after ? REGAL_NAME_AMBIGUOUS : hit->number;
}
