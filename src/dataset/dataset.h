/* SPDX-License-Identifier: Apache-2.0 */
/* The dataset behind regal_data.h. */
#ifndef REGAL_DATASET_DATASET_H
#define REGAL_DATASET_DATASET_H

#include "base/names.h"
#include "dataset/archive/catalog.h"
#include "regal_data.h"

/* A graph of the dataset. */
typedef struct regal_dataset_item {
  regal_entry entry;
  size_t catalog, member; /* where its file is */
  bool stale;             /* the index describes another file */
  bool dropped;           /* for regal_dataset_remove_dropped */
} regal_dataset_item;

struct regal_dataset {
  regal_context *context;
  regal_catalog **catalogs; /* in order of adding; texts are theirs */
  size_t catalog_count, catalog_capacity;
  regal_dataset_item *items;
  size_t count, capacity;
  regal_names names; /* of the items; a number is a position */
};

/* Fails as REGAL_MISUSE unless all figures are there. */
regal_status regal_dataset_need_figures(const regal_dataset *dataset);

/* Keeps the items that are not marked as dropped, in order. */
regal_status regal_dataset_remove_dropped(regal_dataset *dataset);

#endif
