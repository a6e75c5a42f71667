/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the form ARCHIVE:NAME. A file whose own name has a colon is still a
 * file: only what does not exist is looked at twice. */
#include "dataset/archive/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/builder.h"

const char *regal_find_member_part(const char *path) {
  struct stat info;
  char copy[4096]; /* the longest path that Linux takes */
  const char *found = NULL;
  if (!strchr(path, ':') || strlen(path) >= sizeof copy || !stat(path, &info))
    return NULL;
  strcpy(copy, path);
  for (char *at = copy; !found && (at = strchr(at, ':')); *at++ = ':') {
    *at = 0;
    if (at > copy && at[1] && regal_archive_is(copy))
      found = path + (at - copy);
  }
  return found;
}

static char *copy_start(regal_context *context, const char *path,
                        const char *end) {
  size_t length = (size_t)(end - path);
  char *copy = regal_alloc(context, length + 1, 1);
  if (copy)
    memcpy(copy, path, length);
  return copy;
}

static regal_status fail_missing(regal_context *context, const char *archive,
                                 const char *what, const char *name) {
  return regal_fail(context, REGAL_IO, "%s: no %s %s in it", archive, what,
                    regal_quote(name).text);
}

/* -- Graphs ---------------------------------------------------------------- */

static size_t find_row(const regal_catalog *catalog, const char *name) {
  for (size_t i = 0; i < catalog->index.count; i++)
    if (!strcmp(catalog->index.rows[i].entry.name, name))
      return i;
  for (size_t i = 0; i < catalog->index.count; i++)
    if (!strcmp(catalog->index.rows[i].entry.file, name))
      return i;
  return REGAL_NO_MEMBER;
}

/* Cuts "~3" off the name of a copy; 0 when there is none. */
static uint32_t cut_copy(char *name) {
  char *tilde = strrchr(name, '~'), *end;
  if (!tilde || tilde == name || tilde[1] < '1' || tilde[1] > '9')
    return 0;
  errno = 0;
  unsigned long copy = strtoul(tilde + 1, &end, 10);
  if (*end || errno || copy > UINT32_MAX)
    return 0;
  *tilde = 0;
  return (uint32_t)copy;
}

/* A file that the index leaves out can still be asked for by its name. */
static regal_status load_named(const regal_catalog *catalog, char *name,
                               const regal_options *options,
                               regal_graph **graph) {
  size_t number = find_row(catalog, name);
  uint32_t copy = 0;
  regal_index_row row = {.entry = regal_blank_entry, .member = REGAL_NO_MEMBER};
  if (number == REGAL_NO_MEMBER) {
    row.member = regal_archive_find(catalog->archive, name);
    if (row.member == REGAL_NO_MEMBER && (copy = cut_copy(name)))
      number = find_row(catalog, name);
  }
  if (number != REGAL_NO_MEMBER)
    row = catalog->index.rows[number];
  if (row.member == REGAL_NO_MEMBER)
    return fail_missing(catalog->context, regal_archive_path(catalog->archive),
                        "graph", name);
  return regal_member_load(catalog->archive, catalog->context, row.member,
                           &row.entry, copy, options, NULL, graph);
}

regal_status regal_member_path_load(regal_context *context, const char *path,
                                    const char *member_part,
                                    const regal_options *options,
                                    regal_graph **graph) {
  char *archive = copy_start(context, path, member_part);
  char *name = regal_copy_text(context, member_part + 1);
  regal_catalog *catalog = NULL;
  regal_status status = archive && name
                            ? regal_catalog_open(context, archive, &catalog)
                            : regal_fail_memory(context);
  if (status == REGAL_OK)
    status = load_named(catalog, name, options, graph);
  regal_catalog_free(catalog);
  regal_release(context, archive);
  regal_release(context, name);
  return status;
}

/* -- Other files ----------------------------------------------------------- */

static regal_status read_member(regal_archive *archive, regal_context *context,
                                const char *path, const char *name,
                                regal_text *text) {
  size_t member = regal_archive_find(archive, name);
  regal_text stored;
  if (member == REGAL_NO_MEMBER)
    return fail_missing(context, regal_archive_path(archive), "file", name);
  REGAL_TRY(regal_archive_read(archive, context, member, &stored));
  regal_status status =
      regal_inflate(context, path, stored.bytes, stored.size, text);
  regal_text_free(&stored);
  return status;
}

regal_status regal_read_input(regal_context *context, const char *path,
                              regal_text *text) {
  const char *part = regal_find_member_part(path);
  if (!part)
    return regal_read_file(context, path, text);
  char *name = copy_start(context, path, part);
  regal_archive *archive = NULL;
  regal_status status = name ? regal_archive_open(context, name, &archive)
                             : regal_fail_memory(context);
  if (status == REGAL_OK)
    status = read_member(archive, context, path, part + 1, text);
  regal_archive_free(archive);
  regal_release(context, name);
  return status;
}
