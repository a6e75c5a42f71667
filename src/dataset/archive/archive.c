/* SPDX-License-Identifier: Apache-2.0 */
/* What folders and zip archives have in common: opening, the names of members
 * (checked, so that none leads out of the archive) and how to find them.
 */
#include "dataset/archive/parts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/builder.h"

#define LONGEST_NAME 1000

bool regal_archive_is(const char *path) {
  struct stat info;
  char magic[4];
  if (stat(path, &info))
    return false;
  if (S_ISDIR(info.st_mode))
    return true;
  if (!S_ISREG(info.st_mode))
    return false;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  ssize_t got = read(file, magic, sizeof magic);
  close(file);
  /* A first member, or the end of an empty directory. */
  return got == 4 &&
         (!memcmp(magic, "PK\3\4", 4) || !memcmp(magic, "PK\5\6", 4));
}

bool regal_archive_is_zip_name(const char *path) {
  size_t length = strlen(path);
  return length > 4 && !strcmp(path + length - 4, ".zip");
}

/* -- Names ----------------------------------------------------------------- */

static bool is_dots(const char *part, size_t length) {
  return (length == 1 && part[0] == '.') ||
         (length == 2 && part[0] == '.' && part[1] == '.');
}

const char *regal_member_name_fault(const char *name) {
  if (!*name || strlen(name) > LONGEST_NAME)
    return *name ? "is too long" : "is empty";
  for (const char *at = name; *at; at++) {
    if ((unsigned char)*at < ' ' || *at == 127)
      return "has control characters";
    if (*at == '\\')
      return "has a backslash";
  }
  for (const char *part = name;;) {
    size_t length = strcspn(part, "/");
    if (!length || is_dots(part, length))
      return "is no plain path inside";
    if (!part[length])
      return NULL;
    part += length + 1;
  }
}

regal_status regal_archive_add(regal_archive *archive, const char *name,
                               regal_member **member) {
  char *copy = regal_arena_alloc(&archive->arena, strlen(name) + 1, 1);
  if (!copy || !REGAL_RESERVE(archive->context, archive->members,
                              archive->count, archive->capacity))
    return regal_fail_memory(archive->context);
  *member = &archive->members[archive->count++];
  **member = (regal_member){.name = strcpy(copy, name)};
  return REGAL_OK;
}

static regal_status check_names(regal_archive *archive) {
  for (size_t i = 0; i < archive->count; i++) {
    const char *name = regal_archive_name(archive, i);
    const char *fault = regal_member_name_fault(name);
    size_t number;
    if (fault)
      return regal_fail(archive->context, REGAL_BAD_INPUT,
                        "%s: the name of member %s %s", archive->path,
                        regal_quote(name).text, fault);
    if (!regal_names_add(&archive->names, name, &number))
      return regal_fail_memory(archive->context);
    if (number != i)
      return regal_fail(archive->context, REGAL_BAD_INPUT,
                        "%s: member %s occurs twice", archive->path,
                        regal_quote(name).text);
  }
  return REGAL_OK;
}

/* -- Opening --------------------------------------------------------------- */

static regal_status begin(regal_context *context, const char *path,
                          regal_archive **archive) {
  regal_archive *made = regal_alloc(context, 1, sizeof *made);
  char *copy = regal_copy_text(context, path);
  if (!made || !copy) {
    regal_release(context, made);
    regal_release(context, copy);
    return regal_fail_memory(context);
  }
  made->context = context;
  made->path = copy;
  pthread_mutex_init(&made->lock, NULL);
  regal_arena_init(&made->arena, context);
  regal_names_init(&made->names, context);
  *archive = made;
  return REGAL_OK;
}

static regal_status finish(regal_archive *made, regal_status status,
                           regal_archive **archive) {
  if (status == REGAL_OK)
    status = check_names(made);
  if (status == REGAL_OK)
    *archive = made;
  else
    regal_archive_free(made);
  return status;
}

regal_status regal_archive_open(regal_context *context, const char *path,
                                regal_archive **archive) {
  regal_archive *made;
  struct stat info;
  REGAL_TRY(begin(context, path, &made));
  bool folder = !stat(path, &info) && S_ISDIR(info.st_mode);
  return finish(made,
                folder ? regal_archive_list_folder(made)
                       : regal_archive_list_zip(made),
                archive);
}

regal_status regal_archive_open_file(regal_context *context, const char *path,
                                     regal_archive **archive) {
  regal_archive *made;
  regal_member *member;
  const char *slash = strrchr(path, '/');
  REGAL_TRY(begin(context, path, &made));
  if (slash)
    made->path[slash == path ? 1 : slash - path] = 0;
  else
    strcpy(made->path, *path ? "." : ""); /* no longer than the path */
  return finish(made,
                regal_archive_add(made, slash ? slash + 1 : path, &member),
                archive);
}

void regal_archive_free(regal_archive *archive) {
  if (!archive)
    return;
  regal_context *context = archive->context;
  if (archive->zip)
    zip_discard(archive->zip);
  pthread_mutex_destroy(&archive->lock);
  regal_names_free(&archive->names);
  regal_arena_free(&archive->arena);
  regal_release(context, archive->attached);
  regal_release(context, archive->members);
  regal_release(context, archive->path);
  regal_release(context, archive);
}

/* -- Members --------------------------------------------------------------- */

const char *regal_archive_path(const regal_archive *archive) {
  return archive->path;
}

size_t regal_archive_count(const regal_archive *archive) {
  return archive->count;
}

const char *regal_archive_name(const regal_archive *archive, size_t member) {
  return archive->members[member].name;
}

size_t regal_archive_find(const regal_archive *archive, const char *name) {
  size_t number = regal_names_find(&archive->names, name);
  return number == REGAL_NO_NAME ? REGAL_NO_MEMBER : number;
}

void regal_archive_locate(const regal_archive *archive, size_t member,
                          char *text, size_t capacity) {
  const char *name = regal_archive_name(archive, member);
  if (archive->zip)
    snprintf(text, capacity, "%s:%s", archive->path, name);
  else if (!strcmp(archive->path, "."))
    snprintf(text, capacity, "%s", name);
  else
    snprintf(text, capacity, "%s/%s", archive->path, name);
}

static regal_status read_member(regal_archive *archive, regal_context *context,
                                size_t member, bool plain, regal_text *text) {
  char name[REGAL_MESSAGE_CAPACITY];
  regal_archive_locate(archive, member, name, sizeof name);
  regal_text_init(text, context);
  regal_status status =
      archive->zip
          ? regal_archive_read_zip(archive, context, member, name, text)
          : regal_archive_read_folder(archive, context, member, name, plain,
                                      text);
  if (status != REGAL_OK)
    regal_text_free(text);
  return status;
}

regal_status regal_archive_read(regal_archive *archive, regal_context *context,
                                size_t member, regal_text *text) {
  return read_member(archive, context, member, false, text);
}

regal_status regal_archive_read_plain(regal_archive *archive,
                                      regal_context *context, size_t member,
                                      regal_text *text) {
  return read_member(archive, context, member, true, text);
}

regal_status regal_archive_write(regal_context *context, const char *path,
                                 const regal_archive_files *files) {
  return regal_archive_is_zip_name(path)
             ? regal_archive_write_zip(context, path, files)
             : regal_archive_write_folder(context, path, files);
}
