/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting a set of graphs 3-1-1 by size order, and finding equal ones. */
#ifndef REGAL_DATASET_SPLIT_H
#define REGAL_DATASET_SPLIT_H

#include "base/context.h"

typedef enum regal_split {
  REGAL_SPLIT_TRAIN,
  REGAL_SPLIT_VALID,
  REGAL_SPLIT_TEST,
  REGAL_SPLITS
} regal_split;

/* One graph of the set. */
typedef struct regal_split_item {
  uint32_t family; /* any number; the same for all graphs of a family */
  uint32_t ops;
  uint64_t degrees;  /* hash of the in-degree sequence */
  bool given;        /* of another set: its split is known */
  regal_split split; /* result */
} regal_split_item;

/* As regal_dataset_split_like says. Where items that are given contradict each
 * other, the first counts: they get its split too. O(items log items). */
regal_status regal_split_items(regal_context *context, regal_split_item *items,
                               size_t count, uint64_t seed);

/* For each key the first position that has it; is[i] == i for the first of
 * equals. O(count). */
regal_status regal_first_equals(regal_context *context, const uint64_t *keys,
                                size_t count, size_t *is);

#endif
