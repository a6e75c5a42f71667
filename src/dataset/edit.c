/* SPDX-License-Identifier: Apache-2.0 */
/* What makes one dataset of another: which graphs stay (deduplicate, filter,
 * select), how they are read, in which split they are, and how many augmented
 * copies they have.
 */
#include "dataset/dataset.h"

#include <string.h>
#include <sys/stat.h>

#include "base/options/options.h"
#include "cost/model/machine.h"
#include "dataset/split.h"
#include "graph/builder.h"

/* -- Dropping graphs ------------------------------------------------------- */

/* Marks the item as dropped unless it is kept, and tells the caller why. */
static void judge(regal_dataset_item *item, bool kept, const char *why,
                  regal_dropped_fn dropped, void *state) {
  item->dropped = !kept;
  if (!kept && dropped)
    dropped(state, &item->entry, why);
}

regal_status regal_dataset_deduplicate(regal_dataset *dataset,
                                       regal_dropped_fn dropped, void *state) {
  if (!dataset)
    return REGAL_MISUSE;
  regal_context *context = dataset->context;
  size_t count = dataset->count;
  REGAL_TRY(regal_dataset_need_figures(dataset));
  uint64_t *keys = regal_alloc(context, count, sizeof *keys);
  size_t *is = regal_alloc(context, count, sizeof *is);
  regal_status status = keys && is ? REGAL_OK : regal_fail_memory(context);
  for (size_t i = 0; i < count && status == REGAL_OK; i++)
    keys[i] = dataset->items[i].entry.figures.degrees;
  if (status == REGAL_OK)
    status = regal_first_equals(context, keys, count, is);
  for (size_t i = 0; i < count && status == REGAL_OK; i++) {
    char why[200];
    snprintf(why, sizeof why, "the same in-degrees as %s",
             regal_quote(dataset->items[is[i]].entry.name).text);
    judge(&dataset->items[i], is[i] == i, why, dropped, state);
  }
  if (status == REGAL_OK)
    status = regal_dataset_remove_dropped(dataset);
  regal_release(context, keys);
  regal_release(context, is);
  return status;
}

regal_status regal_dataset_filter(regal_dataset *dataset,
                                  const regal_options *options,
                                  regal_dropped_fn dropped, void *state) {
  if (!dataset)
    return REGAL_MISUSE;
  bool memory = options && options->objective == REGAL_MEMORY;
  REGAL_TRY(regal_dataset_need_figures(dataset));
  for (size_t i = 0; i < dataset->count; i++) {
    const regal_figures *figures = &dataset->items[i].entry.figures;
    regal_room room = memory ? figures->memory_room : figures->runtime_room;
    judge(&dataset->items[i], room == REGAL_ROOM_YES, regal_room_name(room),
          dropped, state);
  }
  return regal_dataset_remove_dropped(dataset);
}

regal_status regal_dataset_select(regal_dataset *dataset, const char *split) {
  if (!dataset)
    return REGAL_MISUSE;
  if (!split)
    return regal_fail(dataset->context, REGAL_MISUSE, "which split?");
  for (size_t i = 0; i < dataset->count; i++)
    dataset->items[i].dropped = strcmp(dataset->items[i].entry.split, split);
  return regal_dataset_remove_dropped(dataset);
}

/* -- Reading --------------------------------------------------------------- */

/* A file that an option names goes along: the index may only name files inside
 * (archive/reading.c), so it has the file's name without folders. */
static regal_status attach(regal_dataset *dataset,
                           const regal_option_info *option, const char *value,
                           const char **recorded) {
  struct stat info;
  const char *slash = strrchr(value, '/');
  if (!strstr(option->unit, "FILE") || stat(value, &info) ||
      !S_ISREG(info.st_mode))
    return REGAL_OK;
  *recorded = slash ? slash + 1 : value;
  for (size_t i = 0; i < dataset->catalog_count; i++)
    REGAL_TRY(
        regal_archive_attach(dataset->catalogs[i]->archive, *recorded, value));
  return REGAL_OK;
}

/* "loops=cut variables=resident": what was given, for the index. */
static regal_status write_settings(regal_dataset *dataset,
                                   const regal_options *options,
                                   regal_text *text) {
  regal_context *context = dataset->context;
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *option = regal_option_at(i);
    char value[REGAL_MOST_LIST];
    if (strcmp(option->group, "reading") ||
        !regal_option_given(options, option->name) ||
        !regal_option_text(options, i, value, sizeof value))
      continue;
    const char *recorded = value;
    REGAL_TRY(attach(dataset, option, value, &recorded));
    if (strpbrk(recorded, " \t\r\n"))
      return regal_fail(context, REGAL_BAD_INPUT,
                        "an index cannot hold --%s %s: it has spaces",
                        option->name, regal_quote(recorded).text);
    regal_text_format(text, "%s%s=%s", text->size ? " " : "", option->name,
                      recorded);
  }
  return text->failed ? regal_fail_memory(context) : REGAL_OK;
}

/* Of equal names the first counts, so the new ones come first. */
static regal_status add_settings(regal_dataset *dataset,
                                 regal_dataset_item *item, const char *text) {
  const char *old = item->entry.reading;
  size_t size = strlen(text) + strlen(old) + 2;
  char *both =
      regal_arena_alloc(&dataset->catalogs[item->catalog]->arena, size, 1);
  if (!both)
    return regal_fail_memory(dataset->context);
  snprintf(both, size, "%s%s%s", text, *old ? " " : "", old);
  item->entry.reading = both;
  item->entry.known = item->stale = false;
  return REGAL_OK;
}

regal_status regal_dataset_set_reading(regal_dataset *dataset,
                                       const regal_options *options) {
  if (!dataset)
    return REGAL_MISUSE;
  if (!options)
    return regal_fail(dataset->context, REGAL_MISUSE, "no options");
  regal_text text;
  regal_text_init(&text, dataset->context);
  regal_status status = write_settings(dataset, options, &text);
  for (size_t i = 0; i < dataset->count && status == REGAL_OK && text.size; i++)
    status = add_settings(dataset, &dataset->items[i], text.bytes);
  regal_text_free(&text);
  return status;
}

/* -- Splitting ------------------------------------------------------------- */

/* Families as numbers; a graph without one is its own. */
static regal_status number_families(const regal_dataset *dataset,
                                    regal_names *families,
                                    regal_split_item *items) {
  uint32_t alone = UINT32_MAX;
  for (size_t i = 0; i < dataset->count; i++) {
    const regal_entry *entry = &dataset->items[i].entry;
    size_t number;
    if (!*entry->family)
      number = alone--;
    else if (!regal_names_add(families, entry->family, &number))
      return regal_fail_memory(dataset->context);
    items[i] = (regal_split_item){.family = (uint32_t)number,
                                  .ops = entry->figures.ops,
                                  .degrees = entry->figures.degrees};
  }
  return REGAL_OK;
}

regal_status regal_dataset_split(regal_dataset *dataset, uint64_t seed) {
  static const char *const names[REGAL_SPLITS] = {"train", "valid", "test"};
  if (!dataset)
    return REGAL_MISUSE;
  regal_context *context = dataset->context;
  REGAL_TRY(regal_dataset_need_figures(dataset));
  regal_split_item *items = regal_alloc(context, dataset->count, sizeof *items);
  if (!items)
    return regal_fail_memory(context);
  regal_names families;
  regal_names_init(&families, context);
  regal_status status = number_families(dataset, &families, items);
  if (status == REGAL_OK)
    status = regal_split_items(context, items, dataset->count, seed);
  for (size_t i = 0; i < dataset->count && status == REGAL_OK; i++)
    dataset->items[i].entry.split = names[items[i].split];
  regal_names_free(&families);
  regal_release(context, items);
  return status;
}

void regal_dataset_augment(regal_dataset *dataset, uint32_t copies,
                           uint64_t seed) {
  for (size_t i = 0; i < dataset->count; i++) {
    dataset->items[i].entry.copies = copies;
    dataset->items[i].entry.seed = seed;
  }
}
