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

static const char *const split_names[REGAL_SPLITS] = {"train", "valid", "test"};

static bool find_split(const char *name, regal_split *split) {
  for (int s = 0; s < REGAL_SPLITS; s++)
    if (!strcmp(name, split_names[s])) {
      *split = (regal_split)s;
      return true;
    }
  return false;
}

/* The graphs of all sets that a split depends on: the first set is the one to
 * be split, those after it have been split before. */
typedef struct splitting {
  regal_context *context;
  regal_names families;
  uint32_t alone; /* the number of the next graph without a family */
  regal_split_item *items;
  const regal_entry **entries; /* [count] of the items */
  size_t count;
} splitting;

/* Families as numbers; a graph without one is its own. */
static regal_status add_item(splitting *s, const regal_entry *entry, bool given,
                             regal_split split) {
  size_t number;
  if (!*entry->family)
    number = s->alone--;
  else if (!regal_names_add(&s->families, entry->family, &number))
    return regal_fail_memory(s->context);
  s->entries[s->count] = entry;
  s->items[s->count++] = (regal_split_item){.family = (uint32_t)number,
                                            .ops = entry->figures.ops,
                                            .degrees = entry->figures.degrees,
                                            .given = given,
                                            .split = split};
  return REGAL_OK;
}

/* Graphs of `like` that are in no split say nothing. */
static regal_status add_items(splitting *s, const regal_dataset *dataset,
                              bool given) {
  for (size_t i = 0; i < dataset->count; i++) {
    const regal_entry *entry = &dataset->items[i].entry;
    regal_split split = REGAL_SPLIT_TRAIN;
    if (!given || find_split(entry->split, &split))
      REGAL_TRY(add_item(s, entry, given, split));
  }
  return REGAL_OK;
}

/* A family that is on two sides already cannot be kept on one. */
static regal_status check_given(const splitting *s) {
  for (size_t i = 0; i < s->count; i++)
    if (s->items[i].given &&
        strcmp(split_names[s->items[i].split], s->entries[i]->split) != 0)
      return regal_fail(
          s->context, REGAL_BAD_INPUT,
          "graph %s: found split %s, expected %s, where its family or a graph "
          "with its in-degree sequence is",
          regal_quote(s->entries[i]->name).text, s->entries[i]->split,
          split_names[s->items[i].split]);
  return REGAL_OK;
}

static regal_status fill_splitting(splitting *s, regal_dataset *dataset,
                                   const regal_dataset *const *like,
                                   size_t like_count) {
  size_t count = dataset->count;
  for (size_t i = 0; i < like_count; i++)
    count += like[i]->count;
  s->items = regal_alloc(s->context, count, sizeof *s->items);
  s->entries = regal_alloc(s->context, count, sizeof *s->entries);
  if (!s->items || !s->entries)
    return regal_fail_memory(s->context);
  REGAL_TRY(add_items(s, dataset, false));
  for (size_t i = 0; i < like_count; i++)
    REGAL_TRY(add_items(s, like[i], true));
  return REGAL_OK;
}

regal_status regal_dataset_split_like(regal_dataset *dataset,
                                      const regal_dataset *const *like,
                                      size_t like_count, uint64_t seed) {
  if (!dataset)
    return REGAL_MISUSE;
  splitting s = {.context = dataset->context, .alone = UINT32_MAX};
  REGAL_TRY(regal_need(s.context, like || !like_count,
                       "splitting like other datasets needs them"));
  REGAL_TRY(regal_dataset_need_figures(dataset));
  for (size_t i = 0; i < like_count; i++) {
    REGAL_TRY(regal_need(s.context, like[i],
                         "splitting like other datasets needs them"));
    REGAL_TRY(regal_dataset_need_figures(like[i]));
  }
  regal_names_init(&s.families, s.context);
  regal_status status = fill_splitting(&s, dataset, like, like_count);
  if (status == REGAL_OK)
    status = regal_split_items(s.context, s.items, s.count, seed);
  if (status == REGAL_OK)
    status = check_given(&s);
  for (size_t i = 0; i < dataset->count && status == REGAL_OK; i++)
    dataset->items[i].entry.split = split_names[s.items[i].split];
  regal_names_free(&s.families);
  regal_release(s.context, s.entries);
  regal_release(s.context, s.items);
  return status;
}

regal_status regal_dataset_split(regal_dataset *dataset, uint64_t seed) {
  return regal_dataset_split_like(dataset, NULL, 0, seed);
}

void regal_dataset_augment(regal_dataset *dataset, uint32_t copies,
                           uint64_t seed) {
  for (size_t i = 0; i < dataset->count; i++) {
    dataset->items[i].entry.copies = copies;
    dataset->items[i].entry.seed = seed;
  }
}
