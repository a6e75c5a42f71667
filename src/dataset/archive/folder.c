/* SPDX-License-Identifier: Apache-2.0 */
/* Folders as archives: listing them, and reading files as they are. */
#include "dataset/archive/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 16 /* folders in folders; more is a mistake */

/* The folder's own path, and below it the part that names members. */
typedef struct place {
  regal_text path;
  size_t root; /* bytes before the members' part */
} place;

static regal_status list(regal_archive *archive, place *place, int depth);

/* Adds a file, or what is in a folder; `place` is at it. */
static regal_status add_entry(regal_archive *archive, place *place, int depth) {
  struct stat info;
  regal_member *member;
  if (place->path.failed)
    return regal_fail_memory(archive->context);
  /* A link to a file is followed, one to a folder is not: it may be a loop. */
  if (lstat(place->path.bytes, &info))
    return regal_fail_system(archive->context, place->path.bytes);
  bool link = S_ISLNK(info.st_mode);
  if (link && stat(place->path.bytes, &info))
    return REGAL_OK; /* it leads nowhere */
  if (S_ISDIR(info.st_mode) && !link)
    return list(archive, place, depth + 1);
  if (!S_ISREG(info.st_mode))
    return REGAL_OK;
  return regal_archive_add(archive, place->path.bytes + place->root, &member);
}

static regal_status list_entries(regal_archive *archive, place *place,
                                 DIR *folder, int depth) {
  size_t length = place->path.size;
  struct dirent *entry;
  while ((entry = readdir(folder))) {
    if (entry->d_name[0] == '.')
      continue;
    regal_text_format(&place->path, "/%s", entry->d_name);
    REGAL_TRY(add_entry(archive, place, depth));
    place->path.size = length;
    place->path.bytes[length] = 0;
  }
  return REGAL_OK;
}

static regal_status list(regal_archive *archive, place *place, int depth) {
  if (depth > DEEPEST)
    return regal_fail(archive->context, REGAL_BAD_INPUT,
                      "%s: more than %d folders inside each other",
                      archive->path, DEEPEST);
  DIR *folder = opendir(place->path.bytes);
  if (!folder)
    return regal_fail_system(archive->context, place->path.bytes);
  regal_status status = list_entries(archive, place, folder, depth);
  closedir(folder);
  return status;
}

static int by_name(const void *left, const void *right) {
  const regal_member *a = left, *b = right;
  return strcmp(a->name, b->name);
}

regal_status regal_archive_list_folder(regal_archive *archive) {
  place place;
  regal_text_init(&place.path, archive->context);
  regal_text_append(&place.path, archive->path, strlen(archive->path));
  place.root = place.path.size + 1;
  regal_status status = place.path.failed ? regal_fail_memory(archive->context)
                                          : list(archive, &place, 0);
  regal_text_free(&place.path);
  /* The order of readdir depends on the file system. */
  if (archive->count)
    qsort(archive->members, archive->count, sizeof *archive->members, by_name);
  return status;
}

/* -- Reading --------------------------------------------------------------- */

/* Not to block on what may have become a pipe since it was listed. */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

static regal_status read_regular(regal_context *context, const char *name,
                                 int file, regal_text *text) {
  struct stat info;
  if (fstat(file, &info))
    return regal_fail_system(context, name);
  if (!S_ISREG(info.st_mode))
    return regal_fail(context, REGAL_BAD_INPUT, "%s: is no regular file", name);
  return regal_read_open_file(context, name, file, text);
}

static regal_status fail_open(regal_context *context, const char *name) {
  if (errno != ELOOP)
    return regal_fail_system(context, name);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s: is a symbolic link, which an index must not name",
                    name);
}

regal_status regal_archive_read_folder(const regal_archive *archive,
                                       regal_context *context, size_t member,
                                       const char *name, bool plain,
                                       regal_text *text) {
  regal_text path;
  regal_text_init(&path, context);
  regal_text_format(&path, "%s/%s", archive->path,
                    regal_archive_name(archive, member));
  regal_status status;
  int file = -1;
  if (path.failed)
    status = regal_fail_memory(context);
  else if ((file = open(path.bytes, READ_FLAGS | (plain ? O_NOFOLLOW : 0))) < 0)
    status = fail_open(context, name);
  else
    status = read_regular(context, name, file, text);
  if (file >= 0)
    close(file);
  regal_text_free(&path);
  return status;
}
