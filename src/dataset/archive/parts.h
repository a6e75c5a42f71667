/* SPDX-License-Identifier: Apache-2.0 */
/* The archive behind archive.h, for the files that list, read and write the two
 * kinds. */
#ifndef REGAL_DATASET_ARCHIVE_PARTS_H
#define REGAL_DATASET_ARCHIVE_PARTS_H

#include <pthread.h>
#include <zip.h>

#include "base/memory/arena.h"
#include "base/names.h"
#include "dataset/archive/archive.h"

typedef struct regal_member {
  const char *name;
  uint64_t packed_bytes, bytes; /* in the zip archive, and as put in */
  uint64_t number;              /* in the zip archive */
  uint32_t crc;
  bool deflated;
} regal_member;

/* A file of the user's that the index may name. */
typedef struct regal_attached_file {
  const char *name, *path;
} regal_attached_file;

struct regal_archive {
  regal_context *context;
  char *path;
  zip_t *zip;           /* NULL: a folder */
  pthread_mutex_t lock; /* of zip, which serves one thread at a time */
  regal_member *members;
  size_t count, capacity;
  regal_arena arena; /* texts */
  regal_names names; /* a member's number is its position */
  regal_attached_file *attached;
  size_t attached_count, attached_capacity;
};

/* Adds a member's name; the rest is zero. The reason when it is not allowed is
 * the caller's to give: see regal_member_name_fault. */
regal_status regal_archive_add(regal_archive *archive, const char *name,
                               regal_member **member);
/* Why a name may not be a member's; NULL when it may. */
const char *regal_member_name_fault(const char *name);

/* Fill `members`. */
regal_status regal_archive_list_folder(regal_archive *archive);
regal_status regal_archive_list_zip(regal_archive *archive);

/* `name` is for messages. With `plain`, a symbolic link is an error. */
regal_status regal_archive_read_folder(const regal_archive *archive,
                                       regal_context *context, size_t member,
                                       const char *name, bool plain,
                                       regal_text *text);
regal_status regal_archive_read_zip(regal_archive *archive,
                                    regal_context *context, size_t member,
                                    const char *name, regal_text *text);

/* The two kinds of output. */
regal_status regal_archive_write_zip(regal_context *context, const char *path,
                                     const regal_archive_files *files);
regal_status regal_archive_write_folder(regal_context *context,
                                        const char *path,
                                        const regal_archive_files *files);

#endif
