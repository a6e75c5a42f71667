/* SPDX-License-Identifier: Apache-2.0 */
/* The column `reading` of an index: options with which a graph is read.
 *
 * Some of these options name files ("costs=times.csv"). An index is untrusted,
 * and must not make the program open a file of its choice: contents would show
 * up in messages, a device would fill the memory, a pipe would block. So the
 * value of such an option can only be
 *
 *   a member of the same archive or folder, a plain file in it, or
 *   a file that the user has given for it (regal_archive_attach), or
 *   a built-in name ("roofline=a100"), which is never opened.
 *
 * Readers know nothing of this: they call regal_read_file with the option's
 * value. While a graph is read, the context has the side files of its archive.
 * regal_read_file asks them first. They claim each path that comes from the
 * index, and read the member or refuse it; other paths are the user's own.
 */
#include <string.h>
#include <sys/stat.h>

#include "dataset/archive/catalog.h"
#include "dataset/archive/parts.h"
#include "format/formats.h"
#include "graph/builder.h"

#define MOST_FILES 8 /* options for reading that name files */

/* The values that came from the index, as the reader sees them. */
typedef struct indexed_files {
  regal_side_files base;
  regal_archive *archive;
  const char *where; /* the graph, for messages */
  size_t count;
  struct {
    char path[REGAL_MOST_TEXT]; /* "set.zip:times.csv", or what was refused */
    const char *option;
    size_t member; /* REGAL_NO_MEMBER: only a built-in name will do */
  } files[MOST_FILES];
} indexed_files;

/* -- What the index may name ----------------------------------------------- */

static bool names_file(const regal_option_info *option) {
  return option->type == REGAL_OPTION_TEXT && strstr(option->unit, "FILE");
}

static regal_status fail_file(const indexed_files *files,
                              regal_context *context, const char *option,
                              const char *value, const char *why) {
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%.400s: the index says %s=%s: %s", files->where, option,
                    regal_quote(value).text, why);
}

/* The user's own file for the name, or NULL. */
static const char *find_attached(const regal_archive *archive,
                                 const char *name) {
  for (size_t i = 0; i < archive->attached_count; i++)
    if (!strcmp(archive->attached[i].name, name))
      return archive->attached[i].path;
  return NULL;
}

/* Replaces the value by where the file is, which no user's path equals by
 * accident. */
static regal_status claim(indexed_files *files, regal_context *context,
                          const regal_option_info *option, const char *value,
                          char path[REGAL_MOST_TEXT]) {
  const char *fault = regal_member_name_fault(value);
  const char *own = find_attached(files->archive, value);
  size_t member = regal_archive_find(files->archive, value);
  char where[REGAL_MESSAGE_CAPACITY + REGAL_MOST_TEXT];
  if (fault)
    return fail_file(files, context, option->name, value,
                     "a path must be that of a file inside");
  snprintf(where, sizeof where, "%s", own ? own : value);
  if (!own && member != REGAL_NO_MEMBER)
    regal_archive_locate(files->archive, member, where, sizeof where);
  if (strlen(where) >= REGAL_MOST_TEXT || files->count == MOST_FILES)
    return fail_file(files, context, option->name, value, "too long");
  strcpy(path, where);
  if (own)
    return REGAL_OK;
  strcpy(files->files[files->count].path, where);
  files->files[files->count].option = option->name;
  files->files[files->count++].member = member;
  return REGAL_OK;
}

/* -- For regal_read_file --------------------------------------------------- */

static bool claims(const regal_side_files *side, const char *path,
                   size_t *number) {
  const indexed_files *files = (const indexed_files *)side;
  for (size_t i = 0; i < files->count; i++)
    if (!strcmp(files->files[i].path, path)) {
      *number = i;
      return true;
    }
  return false;
}

static regal_status read_claimed(const regal_side_files *side,
                                 regal_context *context, size_t number,
                                 regal_text *text) {
  const indexed_files *files = (const indexed_files *)side;
  const char *path = files->files[number].path;
  size_t member = files->files[number].member;
  regal_text stored;
  if (member == REGAL_NO_MEMBER)
    return fail_file(files, context, files->files[number].option, path,
                     "there is no such file inside");
  REGAL_TRY(regal_archive_read_plain(files->archive, context, member, &stored));
  regal_status status =
      regal_inflate(context, path, stored.bytes, stored.size, text);
  regal_text_free(&stored);
  return status;
}

/* -- Settings -------------------------------------------------------------- */

/* Sets one option, "loops=cut" or "aliases", unless it was given. */
static regal_status read_setting(indexed_files *files, regal_context *context,
                                 char *setting, regal_options *options) {
  char path[REGAL_MOST_TEXT];
  char *value = strchr(setting, '=');
  if (value)
    *value++ = 0;
  size_t option = regal_option_find(setting);
  if (option >= regal_option_count() ||
      strcmp(regal_option_at(option)->group, "reading"))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%.400s: %s is no option for reading", files->where,
                      regal_quote(setting).text);
  if (regal_option_given(options, setting))
    return REGAL_OK;
  if (value && names_file(regal_option_at(option))) {
    REGAL_TRY(claim(files, context, regal_option_at(option), value, path));
    value = path;
  }
  return regal_options_set(context, options, setting, value ? value : "true");
}

static regal_status read_settings(indexed_files *files, regal_context *context,
                                  const char *reading, regal_options *options) {
  char *copy = regal_copy_text(context, reading), *rest = copy, *setting;
  if (!copy)
    return regal_fail_memory(context);
  regal_status status = REGAL_OK;
  while (status == REGAL_OK && (setting = strtok_r(rest, " ", &rest)))
    status = read_setting(files, context, setting, options);
  regal_release(context, copy);
  return status;
}

regal_status regal_load_as_indexed(regal_archive *archive,
                                   regal_context *context, const char *where,
                                   const char *reading, const regal_text *text,
                                   const regal_options *options,
                                   regal_graph **graph) {
  regal_options merged;
  indexed_files files = {
      .base = {claims, read_claimed}, .archive = archive, .where = where};
  if (options)
    merged = *options;
  else
    regal_options_init(&merged);
  REGAL_TRY(read_settings(&files, context, reading, &merged));
  const regal_side_files *before = context->side_files;
  context->side_files = &files.base;
  regal_status status = regal_format_load_packed(context, where, text->bytes,
                                                 text->size, &merged, graph);
  context->side_files = before;
  return status;
}

/* -- The user's files ------------------------------------------------------ */

/* Whether the file is the member of that name already. */
static bool is_inside(const regal_archive *archive, const char *name,
                      const char *path) {
  struct stat one, other;
  char inside[4096];
  size_t member = regal_archive_find(archive, name);
  if (archive->zip || member == REGAL_NO_MEMBER)
    return false;
  regal_archive_locate(archive, member, inside, sizeof inside);
  return !stat(path, &one) && !stat(inside, &other) &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

regal_status regal_archive_attach(regal_archive *archive, const char *name,
                                  const char *path) {
  if (is_inside(archive, name, path))
    return REGAL_OK;
  regal_arena *arena = &archive->arena;
  char *name_copy = regal_arena_alloc(arena, strlen(name) + 1, 1);
  char *path_copy = regal_arena_alloc(arena, strlen(path) + 1, 1);
  if (!name_copy || !path_copy ||
      !REGAL_RESERVE(archive->context, archive->attached,
                     archive->attached_count, archive->attached_capacity))
    return regal_fail_memory(archive->context);
  archive->attached[archive->attached_count++] =
      (regal_attached_file){strcpy(name_copy, name), strcpy(path_copy, path)};
  return REGAL_OK;
}

size_t regal_archive_attached_count(const regal_archive *archive) {
  return archive->attached_count;
}

const char *regal_archive_attached_name(const regal_archive *archive,
                                        size_t number) {
  return archive->attached[number].name;
}

const char *regal_archive_attached_path(const regal_archive *archive,
                                        size_t number) {
  return archive->attached[number].path;
}
