/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of an archive: rows of its index.csv, each tied to a member, or
 * one row for each member whose ending is that of a graph. A row whose size or
 * CRC is not the member's is stale: its figures are of another file.
 */
#include "dataset/archive/catalog.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/names.h"
#include "dataset/archive/parts.h"
#include "format/formats.h"
#include "graph/builder.h"

/* -- Names of files -------------------------------------------------------- */

static const char *const packed_endings[] = {"", ".gz", ".zst"};
#define PACKED_ENDINGS (sizeof packed_endings / sizeof *packed_endings)

/* Takes an ending off; false when the text does not end so. */
static bool strip(const char *text, size_t *length, const char *ending) {
  size_t tail = strlen(ending);
  if (*length <= tail || memcmp(text + *length - tail, ending, tail))
    return false;
  *length -= tail;
  return true;
}

bool regal_is_graph_name(const char *file, size_t *stem) {
  size_t length = strlen(file);
  for (size_t i = 1; i < PACKED_ENDINGS; i++)
    if (strip(file, &length, packed_endings[i]))
      break;
  const regal_format *format;
  for (size_t row = 0; (format = regal_format_at(row)); row++)
    if (strip(file, &length, format->endings[0]) && file[length - 1] != '/') {
      *stem = length;
      return true;
    }
  return false;
}

/* The file of a graph that the index knows by its name only. */
static size_t find_by_stem(const regal_archive *archive, const char *name) {
  char file[1100];
  const regal_format *format;
  for (size_t row = 0; (format = regal_format_at(row)); row++)
    for (size_t k = 0; k < PACKED_ENDINGS; k++) {
      snprintf(file, sizeof file, "%.1020s%s%s", name, format->endings[0],
               packed_endings[k]);
      size_t member = regal_archive_find(archive, file);
      if (member != REGAL_NO_MEMBER)
        return member;
    }
  return REGAL_NO_MEMBER;
}

/* -- An index of our own --------------------------------------------------- */

static char *copy_part(regal_catalog *catalog, const char *text,
                       size_t length) {
  char *copy = regal_arena_alloc(&catalog->arena, length + 1, 1);
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

/* "train/x.pb" belongs to the split train. */
static const char *split_of(const char *file) {
  static const char *const splits[] = {"train", "valid", "test"};
  for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
    size_t length = strlen(splits[i]);
    for (const char *at = file; (at = strstr(at, splits[i])); at++)
      if ((at == file || at[-1] == '/') && at[length] == '/')
        return splits[i];
  }
  return "";
}

static regal_status add_row(regal_catalog *catalog, regal_names *taken,
                            const char *file, size_t stem) {
  regal_index *index = &catalog->index;
  char *name = copy_part(catalog, file, stem);
  size_t before = taken->count, number;
  if (!name ||
      !REGAL_RESERVE(catalog->context, index->rows, index->count,
                     index->capacity) ||
      !regal_names_add(taken, name, &number))
    return regal_fail_memory(catalog->context);
  regal_index_row *row = &index->rows[index->count++];
  *row = (regal_index_row){.entry = regal_blank_entry};
  row->entry.name = number < before ? file : name; /* x.pb and x.pbtxt */
  row->entry.file = file;
  row->entry.split = split_of(file);
  return REGAL_OK;
}

static regal_status make_index(regal_catalog *catalog) {
  const regal_archive *archive = catalog->archive;
  regal_names taken;
  regal_status status = REGAL_OK;
  regal_names_init(&taken, catalog->context);
  for (size_t i = 0; i < archive->count && status == REGAL_OK; i++) {
    const char *file = regal_archive_name(archive, i);
    size_t stem;
    if (regal_is_graph_name(file, &stem))
      status = add_row(catalog, &taken, file, stem);
    else if (catalog->single)
      status = add_row(catalog, &taken, file, strlen(file));
  }
  regal_names_free(&taken);
  return status;
}

/* -- Rows and files -------------------------------------------------------- */

static regal_status fail_row(const regal_catalog *catalog,
                             const regal_index_row *row, const char *what,
                             const char *name) {
  char where[REGAL_MESSAGE_CAPACITY];
  size_t member = regal_archive_find(catalog->archive, REGAL_INDEX_FILE);
  if (member == REGAL_NO_MEMBER)
    snprintf(where, sizeof where, "%s", catalog->archive->path);
  else
    regal_archive_locate(catalog->archive, member, where, sizeof where);
  if (!row->line)
    return regal_fail(catalog->context, REGAL_BAD_INPUT, "%s: %s %s", where,
                      what, regal_quote(name).text);
  return regal_fail(catalog->context, REGAL_BAD_INPUT, "%s:%" PRIu32 ": %s %s",
                    where, row->line, what, regal_quote(name).text);
}

static regal_status tie_row(regal_catalog *catalog, regal_index_row *row) {
  regal_archive *archive = catalog->archive;
  regal_entry *entry = &row->entry;
  size_t stem;
  row->member = *entry->file ? regal_archive_find(archive, entry->file)
                             : find_by_stem(archive, entry->name);
  if (row->member == REGAL_NO_MEMBER)
    return fail_row(catalog, row, "there is no file for",
                    *entry->file ? entry->file : entry->name);
  entry->file = regal_archive_name(archive, row->member);
  if (!*entry->name) {
    entry->name = regal_is_graph_name(entry->file, &stem)
                      ? copy_part(catalog, entry->file, stem)
                      : entry->file;
    if (!entry->name)
      return regal_fail_memory(catalog->context);
  }
  const regal_member *member = &archive->members[row->member];
  row->stale = archive->zip && entry->known &&
               (entry->figures.file_bytes != member->bytes ||
                entry->figures.file_crc != member->crc);
  entry->known &= !row->stale;
  return REGAL_OK;
}

static regal_status tie_rows(regal_catalog *catalog) {
  regal_names names;
  regal_status status = REGAL_OK;
  regal_names_init(&names, catalog->context);
  for (size_t i = 0; i < catalog->index.count && status == REGAL_OK; i++) {
    size_t number;
    regal_index_row *row = &catalog->index.rows[i];
    if ((status = tie_row(catalog, row)) != REGAL_OK)
      break;
    if (!regal_names_add(&names, row->entry.name, &number))
      status = regal_fail_memory(catalog->context);
    else if (number != i)
      status =
          fail_row(catalog, row, "two graphs have the name", row->entry.name);
  }
  regal_names_free(&names);
  return status;
}

/* -- Opening --------------------------------------------------------------- */

static regal_status read_index(regal_catalog *catalog) {
  regal_archive *archive = catalog->archive;
  size_t member = regal_archive_find(archive, REGAL_INDEX_FILE);
  char name[REGAL_MESSAGE_CAPACITY];
  regal_text text;
  bool foreign = true;
  if (member != REGAL_NO_MEMBER) {
    regal_archive_locate(archive, member, name, sizeof name);
    REGAL_TRY(regal_archive_read(archive, catalog->context, member, &text));
    REGAL_TRY(regal_index_parse(catalog->context, name, &text, &catalog->index,
                                &foreign));
  }
  if (foreign) {
    regal_index_free(&catalog->index);
    REGAL_TRY(make_index(catalog));
  }
  return tie_rows(catalog);
}

static regal_status open_archive(regal_catalog *catalog, const char *path) {
  struct stat info;
  if (!catalog->single)
    return regal_archive_open(catalog->context, path, &catalog->archive);
  if (stat(path, &info))
    return regal_fail(catalog->context, REGAL_IO, "%s: %s", path,
                      strerror(errno));
  return regal_archive_open_file(catalog->context, path, &catalog->archive);
}

regal_status regal_catalog_open(regal_context *context, const char *path,
                                regal_catalog **catalog) {
  regal_catalog *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = made->index.context = context;
  made->single = !regal_archive_is(path);
  regal_arena_init(&made->arena, context);
  regal_status status = open_archive(made, path);
  if (status == REGAL_OK)
    status = read_index(made);
  if (status == REGAL_OK)
    *catalog = made;
  else
    regal_catalog_free(made);
  return status;
}

void regal_catalog_free(regal_catalog *catalog) {
  if (!catalog)
    return;
  regal_context *context = catalog->context;
  regal_index_free(&catalog->index);
  regal_archive_free(catalog->archive);
  regal_arena_free(&catalog->arena);
  regal_release(context, catalog);
}

/* -- Graphs ---------------------------------------------------------------- */

regal_status regal_member_load(regal_archive *archive, regal_context *context,
                               size_t member, const regal_entry *entry,
                               uint32_t copy, const regal_options *options,
                               regal_figures *figures, regal_graph **graph) {
  char where[REGAL_MESSAGE_CAPACITY];
  regal_text text;
  regal_graph *original;
  regal_archive_locate(archive, member, where, sizeof where);
  REGAL_TRY(regal_archive_read(archive, context, member, &text));
  if (figures) {
    figures->file_bytes = text.size;
    figures->file_crc =
        (uint32_t)crc32_z(0, (const Bytef *)text.bytes, text.size);
  }
  regal_status status =
      regal_load_as_indexed(archive, context, where, entry->reading, &text,
                            options, copy ? &original : graph);
  regal_text_free(&text);
  if (status != REGAL_OK || !copy)
    return status;
  status = regal_graph_augment(context, original, entry->seed, copy, graph);
  regal_graph_free(original);
  return status;
}
