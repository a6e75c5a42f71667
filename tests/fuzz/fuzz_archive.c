/* SPDX-License-Identifier: Apache-2.0 */
/* Zip archives and index.csv.
 *
 * The bytes are tried as an archive: opened, its index tied to its files, every
 * member read and every graph loaded. And as an index alone: what is read must
 * be the same after it was written and read again.
 */
#include <string.h>

#include "dataset/archive/catalog.h"
#include "fuzz/fuzz.h"

#define MOST_MEMBERS 32

/* Another way to say it than the library's. */
static bool stays_inside(const char *name) {
  char path[1200];
  snprintf(path, sizeof path, "/%s/", name);
  return name[0] && !strstr(path, "/../") && !strstr(path, "//") &&
         !strstr(path, "/./");
}

static void try_members(regal_context *context, regal_archive *archive) {
  for (size_t i = 0; i < regal_archive_count(archive) && i < MOST_MEMBERS;
       i++) {
    regal_text text;
    const char *name = regal_archive_name(archive, i);
    FUZZ_CHECK(stays_inside(name));
    FUZZ_CHECK(regal_archive_find(archive, name) == i);
    regal_status status = regal_archive_read(archive, context, i, &text);
    fuzz_check_status(context, status);
    if (status == REGAL_OK)
      regal_text_free(&text);
  }
}

static void try_archive(regal_context *context, const char *path) {
  regal_archive *archive;
  regal_catalog *catalog;
  if (!regal_archive_is(path))
    return;
  regal_status status = regal_archive_open(context, path, &archive);
  fuzz_check_status(context, status);
  if (status != REGAL_OK)
    return;
  try_members(context, archive);
  regal_archive_free(archive);
  status = regal_catalog_open(context, path, &catalog);
  fuzz_check_status(context, status);
  if (status != REGAL_OK)
    return;
  for (size_t i = 0; i < catalog->index.count && i < MOST_MEMBERS; i++) {
    const regal_index_row *row = &catalog->index.rows[i];
    regal_graph *graph;
    status = regal_member_load(catalog->archive, context, row->member,
                               &row->entry, 0, NULL, NULL, &graph);
    fuzz_check_status(context, status);
    if (status == REGAL_OK)
      regal_graph_free(graph);
  }
  regal_catalog_free(catalog);
}

static void write_index(regal_context *context, const regal_index *index,
                        regal_text *text) {
  regal_text_init(text, context);
  regal_index_write_header(text);
  for (size_t i = 0; i < index->count; i++)
    regal_index_write_row(text, &index->rows[i].entry);
  FUZZ_CHECK(!text->failed);
}

static void try_index(regal_context *context, const uint8_t *bytes,
                      size_t size) {
  regal_text text, once, twice, copy;
  regal_index index, again;
  bool foreign;
  regal_text_init(&text, context);
  regal_text_append(&text, bytes, size);
  regal_status status =
      regal_index_parse(context, "index.csv", &text, &index, &foreign);
  fuzz_check_status(context, status);
  if (status != REGAL_OK)
    return;
  write_index(context, &index, &once);
  regal_text_init(&copy, context);
  regal_text_append(&copy, once.bytes, once.size);
  FUZZ_CHECK(regal_index_parse(context, "again", &copy, &again, &foreign) ==
             REGAL_OK);
  FUZZ_CHECK(!foreign && again.count == index.count);
  write_index(context, &again, &twice);
  FUZZ_CHECK(once.size == twice.size &&
             !memcmp(once.bytes, twice.bytes, once.size));
  regal_text_free(&once);
  regal_text_free(&twice);
  regal_index_free(&index);
  regal_index_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  regal_context *context;
  fuzz_file file;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  fuzz_file_open(&file, bytes, size);
  try_archive(context, file.path);
  fuzz_file_close(&file);
  try_index(context, bytes, size);
  fuzz_close(context);
  return 0;
}
