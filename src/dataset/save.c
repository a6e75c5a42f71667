/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a dataset: index.csv, the graphs' files as they are, and what else
 * was beside them. */
#include "dataset/dataset.h"

#include <string.h>

typedef struct output {
  const char *name;
  size_t catalog, member;
  const char *path; /* of a file of the user's; NULL: a member */
} output;

typedef struct saving {
  regal_dataset *dataset;
  regal_arena arena; /* names that were changed */
  output *outputs;   /* the first is the index, which has no member */
  size_t count, capacity;
} saving;

static regal_status add_output(saving *s, const char *name, size_t catalog,
                               size_t member) {
  if (!name ||
      !REGAL_RESERVE(s->dataset->context, s->outputs, s->count, s->capacity))
    return regal_fail_memory(s->dataset->context);
  s->outputs[s->count++] = (output){name, catalog, member, NULL};
  return REGAL_OK;
}

/* -- What goes along ------------------------------------------------------- */

static size_t stem_of(const char *file) {
  size_t stem;
  if (regal_is_graph_name(file, &stem))
    return stem;
  const char *dot = strrchr(file, '.');
  return dot && dot != file ? (size_t)(dot - file) : strlen(file);
}

/* Stems of graphs that stay (1) or went (2), so that "model.order" follows. */
static regal_status list_stems(saving *s, size_t c, regal_names *stems,
                               uint8_t **fate) {
  regal_dataset *dataset = s->dataset;
  const regal_catalog *catalog = dataset->catalogs[c];
  *fate = regal_arena_alloc(&s->arena, catalog->index.count, 1);
  if (!*fate)
    return regal_fail_memory(dataset->context);
  for (size_t i = 0; i < catalog->index.count; i++) {
    const regal_entry *entry = &catalog->index.rows[i].entry;
    size_t length = stem_of(entry->file), number;
    char *stem = regal_arena_alloc(&s->arena, length + 1, 1);
    if (!stem)
      return regal_fail_memory(dataset->context);
    memcpy(stem, entry->file, length);
    if (!regal_names_add(stems, stem, &number))
      return regal_fail_memory(dataset->context);
    size_t at = regal_dataset_find(dataset, entry->name);
    bool stays = at < dataset->count && dataset->items[at].catalog == c;
    if (stays || !(*fate)[number])
      (*fate)[number] = stays ? 1 : 2;
  }
  return REGAL_OK;
}

/* With several inputs, what belongs to no graph goes to a folder of its own:
 * "torch/README.md". */
static char *prefixed(saving *s, size_t c, const char *name) {
  const char *path = regal_archive_path(s->dataset->catalogs[c]->archive);
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  size_t length = strlen(base), size = length + strlen(name) + 2;
  if (regal_archive_is_zip_name(base))
    length -= 4;
  char *made = regal_arena_alloc(&s->arena, size, 1);
  if (made)
    snprintf(made, size, "%.*s/%s", (int)length, base, name);
  return made;
}

/* Whether `reading` has a setting with that value: "costs=times.csv". */
static bool has_value(const char *reading, const char *value) {
  size_t length = strlen(value);
  for (const char *at = reading; (at = strchr(at, '=')); at++)
    if (!strncmp(at + 1, value, length) &&
        (!at[length + 1] || at[length + 1] == ' '))
      return true;
  return false;
}

/* Whether the index names the file, so that it must keep its name. */
static bool is_named(const regal_dataset *dataset, size_t c, const char *file) {
  for (size_t i = 0; i < dataset->count; i++)
    if (dataset->items[i].catalog == c &&
        has_value(dataset->items[i].entry.reading, file))
      return true;
  return false;
}

static regal_status add_attachment(saving *s, size_t c, size_t member,
                                   const regal_names *stems,
                                   const uint8_t *fate) {
  const regal_catalog *catalog = s->dataset->catalogs[c];
  const char *file = regal_archive_name(catalog->archive, member);
  char stem[1100];
  snprintf(stem, sizeof stem, "%.*s", (int)stem_of(file), file);
  size_t number = regal_names_find(stems, stem);
  if (number != REGAL_NO_NAME)
    return fate[number] == 1 ? add_output(s, file, c, member) : REGAL_OK;
  if (!strcmp(file, REGAL_INDEX_FILE)) {
    if (catalog->index.text)
      return REGAL_OK; /* ours, written again */
    file = "index.original.csv";
  }
  if (s->dataset->catalog_count > 1 && !is_named(s->dataset, c, file))
    file = prefixed(s, c, file);
  return add_output(s, file, c, member);
}

/* The files that the index does not call graphs, kept or not. */
static regal_status add_attachments(saving *s, size_t c) {
  const regal_catalog *catalog = s->dataset->catalogs[c];
  size_t members = regal_archive_count(catalog->archive);
  regal_names stems;
  uint8_t *fate;
  if (catalog->single)
    return REGAL_OK;
  bool *is_graph = regal_arena_alloc(&s->arena, members, sizeof *is_graph);
  if (!is_graph)
    return regal_fail_memory(s->dataset->context);
  for (size_t i = 0; i < catalog->index.count; i++)
    is_graph[catalog->index.rows[i].member] = true;
  regal_names_init(&stems, s->dataset->context);
  regal_status status = list_stems(s, c, &stems, &fate);
  for (size_t i = 0; i < members && status == REGAL_OK; i++)
    if (!is_graph[i])
      status = add_attachment(s, c, i, &stems, fate);
  regal_names_free(&stems);
  return status;
}

/* Files that came with options for reading, once for all inputs. */
static regal_status add_attached(saving *s) {
  const regal_dataset *dataset = s->dataset;
  regal_names names;
  regal_status status = REGAL_OK;
  regal_names_init(&names, dataset->context);
  for (size_t c = 0; c < dataset->catalog_count; c++) {
    const regal_archive *archive = dataset->catalogs[c]->archive;
    for (size_t i = 0; i < regal_archive_attached_count(archive); i++) {
      size_t known = names.count, number;
      const char *path = regal_archive_attached_path(archive, i);
      if (!regal_names_add(&names, path, &number))
        status = regal_fail_memory(dataset->context);
      if (status != REGAL_OK || number < known)
        continue;
      status = add_output(s, regal_archive_attached_name(archive, i), c, 0);
      if (status == REGAL_OK)
        s->outputs[s->count - 1].path = path;
    }
  }
  regal_names_free(&names);
  return status;
}

static regal_status list_outputs(saving *s) {
  regal_dataset *dataset = s->dataset;
  REGAL_TRY(add_output(s, REGAL_INDEX_FILE, 0, 0));
  for (size_t i = 0; i < dataset->count; i++) {
    const regal_dataset_item *item = &dataset->items[i];
    REGAL_TRY(add_output(s, item->entry.file, item->catalog, item->member));
  }
  for (size_t c = 0; c < dataset->catalog_count; c++)
    REGAL_TRY(add_attachments(s, c));
  return add_attached(s);
}

/* -- Writing --------------------------------------------------------------- */

static regal_status write_index(const regal_dataset *dataset,
                                regal_text *text) {
  regal_text_init(text, dataset->context);
  regal_index_write_header(text);
  for (size_t i = 0; i < dataset->count; i++)
    regal_index_write_row(text, &dataset->items[i].entry);
  if (!text->failed)
    return REGAL_OK;
  regal_text_free(text);
  return regal_fail_memory(dataset->context);
}

static const char *name_of(void *state, size_t file) {
  saving *s = state;
  return s->outputs[file].name;
}

static regal_status read_file(void *state, size_t file, regal_text *text) {
  saving *s = state;
  const output *output = &s->outputs[file];
  regal_dataset *dataset = s->dataset;
  if (!file)
    return write_index(dataset, text);
  if (output->path)
    return regal_read_raw_file(dataset->context, output->path, text);
  return regal_archive_read(dataset->catalogs[output->catalog]->archive,
                            dataset->context, output->member, text);
}

regal_status regal_dataset_save(regal_dataset *dataset, const char *path) {
  if (!dataset)
    return REGAL_MISUSE;
  regal_context *context = dataset->context;
  if (!path)
    return regal_fail(context, REGAL_MISUSE, "saving needs a path");
  REGAL_TRY(regal_dataset_need_figures(dataset));
  saving s = {.dataset = dataset};
  regal_arena_init(&s.arena, context);
  regal_status status = list_outputs(&s);
  if (status == REGAL_OK) {
    regal_archive_files files = {s.count, name_of, read_file, &s};
    status = regal_archive_write(context, path, &files);
  }
  regal_release(context, s.outputs);
  regal_arena_free(&s.arena);
  return status;
}
