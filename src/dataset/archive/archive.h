/* SPDX-License-Identifier: Apache-2.0 */
/* A folder or a zip archive of files, behind one interface.
 *
 * Members are files, by their path inside ("train/graph.pb"), in the order of
 * the zip archive's directory, or sorted for a folder (hidden files and what is
 * no file are left out). A name that could lead out of the archive ("../x",
 * "/x", backslashes, control characters) is an error, and so is one that occurs
 * twice.
 */
#ifndef REGAL_DATASET_ARCHIVE_ARCHIVE_H
#define REGAL_DATASET_ARCHIVE_ARCHIVE_H

#include "base/text.h"

#define REGAL_NO_MEMBER SIZE_MAX

typedef struct regal_archive regal_archive;

/* Whether the path is a folder, or a file that begins as a zip archive does. */
bool regal_archive_is(const char *path);

/* Reads the directory only. O(members). */
regal_status regal_archive_open(regal_context *context, const char *path,
                                regal_archive **archive);
/* A file as the only member of its folder. */
regal_status regal_archive_open_file(regal_context *context, const char *path,
                                     regal_archive **archive);
void regal_archive_free(regal_archive *archive);

const char *regal_archive_path(const regal_archive *archive);
size_t regal_archive_count(const regal_archive *archive);
const char *regal_archive_name(const regal_archive *archive, size_t member);
/* The member of that name, or REGAL_NO_MEMBER. */
size_t regal_archive_find(const regal_archive *archive, const char *name);
/* Writes "PATH:NAME", as messages name a member, and as one may be opened. */
void regal_archive_locate(const regal_archive *archive, size_t member,
                          char *text, size_t capacity);

/* Reads a member's bytes as they were put in (a .gz stays one) into `text`,
 * which needs no init. Several threads may read at once, each with a context of
 * its own. The checksum of a zip archive's member is checked; what would
 * inflate to more than 1000 times its size + 64 MiB, or to more than the limit
 * on inputs, is refused. In a folder only regular files are opened. */
regal_status regal_archive_read(regal_archive *archive, regal_context *context,
                                size_t member, regal_text *text);
/* The same for a file that an index names, which in a folder must not be a
 * symbolic link. */
regal_status regal_archive_read_plain(regal_archive *archive,
                                      regal_context *context, size_t member,
                                      regal_text *text);

/* Lets the index name a file that the user has given, by a name without
 * folders. A file that is a member of that name already is not attached. */
regal_status regal_archive_attach(regal_archive *archive, const char *name,
                                  const char *path);
size_t regal_archive_attached_count(const regal_archive *archive);
const char *regal_archive_attached_name(const regal_archive *archive,
                                        size_t number);
const char *regal_archive_attached_path(const regal_archive *archive,
                                        size_t number);

/* -- Writing --------------------------------------------------------------- */

/* What is to be written: `read` is called once for each file, in order, and
 * fills `text`, which it initialises and the caller frees. */
typedef struct regal_archive_files {
  size_t count;
  const char *(*name)(void *state, size_t file);
  regal_status (*read)(void *state, size_t file, regal_text *text);
  void *state;
} regal_archive_files;

/* Writes a zip archive if the path ends in .zip (an existing one is replaced),
 * else a folder, which must not exist or be empty. Whole or not at all. The
 * same files always give the same bytes: no times are recorded. */
regal_status regal_archive_write(regal_context *context, const char *path,
                                 const regal_archive_files *files);
/* Whether the path would be written as a zip archive. */
bool regal_archive_is_zip_name(const char *path);

#endif
