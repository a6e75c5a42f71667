/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets: opening archives, one list of graphs over all of them, and loading
 * a graph or one of its augmented copies.
 */
#include "dataset/dataset.h"

#include <string.h>

#include "graph/builder.h"

/* -- Opening --------------------------------------------------------------- */

static regal_status add_item(regal_dataset *dataset, size_t number,
                             const regal_catalog *catalog,
                             const regal_index_row *row) {
  regal_context *context = dataset->context;
  const regal_entry *entry = &row->entry;
  size_t position;
  if (!REGAL_RESERVE(context, dataset->items, dataset->count,
                     dataset->capacity) ||
      !regal_names_add(&dataset->names, entry->name, &position))
    return regal_fail_memory(context);
  if (position != dataset->count)
    return regal_fail(
        context, REGAL_BAD_INPUT, "graph %s is both in %s and in %s",
        regal_quote(entry->name).text,
        regal_archive_path(
            dataset->catalogs[dataset->items[position].catalog]->archive),
        regal_archive_path(catalog->archive));
  dataset->items[dataset->count++] =
      (regal_dataset_item){*entry, number, row->member, row->stale, false};
  return REGAL_OK;
}

/* Numbers the names again after items were removed. */
static regal_status number_names(regal_dataset *dataset) {
  regal_names_free(&dataset->names);
  for (size_t i = 0; i < dataset->count; i++) {
    size_t position;
    if (!regal_names_add(&dataset->names, dataset->items[i].entry.name,
                         &position))
      return regal_fail_memory(dataset->context);
  }
  return REGAL_OK;
}

regal_status regal_dataset_add(regal_dataset *dataset, const char *path) {
  if (!dataset)
    return REGAL_MISUSE;
  regal_context *context = dataset->context;
  if (!path)
    return regal_fail(context, REGAL_MISUSE, "a dataset needs a path");
  if (!REGAL_RESERVE(context, dataset->catalogs, dataset->catalog_count,
                     dataset->catalog_capacity))
    return regal_fail_memory(context);
  regal_catalog *catalog;
  size_t before = dataset->count;
  REGAL_TRY(regal_catalog_open(context, path, &catalog));
  regal_status status = REGAL_OK;
  for (size_t i = 0; i < catalog->index.count && status == REGAL_OK; i++)
    status = add_item(dataset, dataset->catalog_count, catalog,
                      &catalog->index.rows[i]);
  if (status == REGAL_OK) {
    dataset->catalogs[dataset->catalog_count++] = catalog;
    return REGAL_OK;
  }
  dataset->count = before;
  if (number_names(dataset) != REGAL_OK)
    dataset->count = 0, regal_names_free(&dataset->names);
  regal_catalog_free(catalog);
  return status;
}

regal_status regal_dataset_open(regal_context *context, const char *path,
                                regal_dataset **dataset) {
  if (!context)
    return REGAL_MISUSE;
  if (!dataset)
    return regal_fail(context, REGAL_MISUSE, "a dataset needs a place");
  regal_dataset *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  regal_names_init(&made->names, context);
  regal_status status = path ? regal_dataset_add(made, path) : REGAL_OK;
  if (status == REGAL_OK)
    *dataset = made;
  else
    regal_dataset_free(made);
  return status;
}

void regal_dataset_free(regal_dataset *dataset) {
  if (!dataset)
    return;
  regal_context *context = dataset->context;
  for (size_t i = 0; i < dataset->catalog_count; i++)
    regal_catalog_free(dataset->catalogs[i]);
  regal_names_free(&dataset->names);
  regal_release(context, dataset->catalogs);
  regal_release(context, dataset->items);
  regal_release(context, dataset);
}

/* -- Entries --------------------------------------------------------------- */

size_t regal_dataset_count(const regal_dataset *dataset) {
  return dataset->count;
}

const regal_entry *regal_dataset_entry(const regal_dataset *dataset,
                                       size_t index) {
  return index < dataset->count ? &dataset->items[index].entry : NULL;
}

size_t regal_dataset_find(const regal_dataset *dataset, const char *name) {
  size_t found = regal_names_find(&dataset->names, name);
  return found == REGAL_NO_NAME ? dataset->count : found;
}

regal_status regal_dataset_remove_dropped(regal_dataset *dataset) {
  size_t kept = 0;
  for (size_t i = 0; i < dataset->count; i++)
    if (!dataset->items[i].dropped)
      dataset->items[kept++] = dataset->items[i];
  dataset->count = kept;
  return number_names(dataset);
}

regal_status regal_dataset_need_figures(const regal_dataset *dataset) {
  for (size_t i = 0; i < dataset->count; i++)
    if (!dataset->items[i].entry.known)
      return regal_fail(dataset->context, REGAL_MISUSE,
                        "the figures of graph %s are not known: "
                        "regal_dataset_measure comes first",
                        regal_quote(dataset->items[i].entry.name).text);
  return REGAL_OK;
}

/* -- Graphs ---------------------------------------------------------------- */

regal_status regal_dataset_load(regal_dataset *dataset, size_t index,
                                uint32_t copy, const regal_options *options,
                                regal_graph **graph) {
  if (!dataset)
    return REGAL_MISUSE;
  regal_context *context = dataset->context;
  if (!graph || index >= dataset->count)
    return regal_fail(context, REGAL_MISUSE,
                      "graph %zu of %zu cannot be loaded", index,
                      dataset->count);
  const regal_dataset_item *item = &dataset->items[index];
  return regal_member_load(dataset->catalogs[item->catalog]->archive, context,
                           item->member, &item->entry, copy, options, NULL,
                           graph);
}
