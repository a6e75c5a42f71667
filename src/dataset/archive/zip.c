/* SPDX-License-Identifier: Apache-2.0 */
/* Reading zip archives. libzip reads the directory and hands out packed bytes,
 * one thread at a time; they are inflated here, outside of the lock, into a
 * block of exactly the right size. Sizes in the directory are not
 * trusted: a member cannot be larger than the archive, nor inflate without
 * limit, and must end where the directory says, with the right checksum.
 *
 * libzip's own memory is not the context's.
 */
#include "dataset/archive/parts.h"

#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "graph/builder.h"

/* Before libzip 1.11 the other code served for both. */
#ifndef ZIP_ER_TRUNCATED_ZIP
#define ZIP_ER_TRUNCATED_ZIP ZIP_ER_NOZIP
#endif

#define BOMB_FACTOR 1000
#define BOMB_FLOOR ((uint64_t)64 << 20)

/* -- The directory --------------------------------------------------------- */

static regal_status status_of(int code) {
  switch (code) {
  case ZIP_ER_MEMORY:
    return REGAL_NO_MEMORY;
  case ZIP_ER_OPEN:
  case ZIP_ER_NOENT:
    return REGAL_IO;
  default: /* reading and seeking where a damaged directory leads, too */
    return REGAL_BAD_INPUT;
  }
}

static regal_status open_zip(regal_archive *archive) {
  int code;
  struct stat info;
  archive->zip = zip_open(archive->path, ZIP_RDONLY, &code);
  if (archive->zip)
    return REGAL_OK;
  /* libzip says so too of files that are there but too short. */
  if (code == ZIP_ER_NOENT && !stat(archive->path, &info))
    code = ZIP_ER_NOZIP;
  if (code == ZIP_ER_NOZIP || code == ZIP_ER_TRUNCATED_ZIP)
    return regal_fail(archive->context, REGAL_BAD_INPUT,
                      "%s: cannot be read as a zip archive: it is none, or it "
                      "is cut off",
                      archive->path);
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  regal_status status = regal_fail(archive->context, status_of(code),
                                   "%s: cannot be read as a zip archive: %s",
                                   archive->path, zip_error_strerror(&error));
  zip_error_fini(&error);
  return status;
}

static regal_status fail_member(const regal_archive *archive, const char *name,
                                const char *why) {
  return regal_fail(archive->context, REGAL_BAD_INPUT, "%s: member %s %s",
                    archive->path, regal_quote(name).text, why);
}

static regal_status check_sizes(const regal_archive *archive,
                                const zip_stat_t *stat, uint64_t file_bytes) {
  if (stat->encryption_method != ZIP_EM_NONE)
    return fail_member(archive, stat->name, "is encrypted");
  if (stat->comp_method != ZIP_CM_STORE && stat->comp_method != ZIP_CM_DEFLATE)
    return fail_member(archive, stat->name,
                       "is packed by another method than deflate");
  if (stat->comp_size > file_bytes ||
      (stat->comp_method == ZIP_CM_STORE && stat->size != stat->comp_size))
    return fail_member(archive, stat->name,
                       "has a size in the directory that cannot be");
  if (stat->size / BOMB_FACTOR > stat->comp_size + BOMB_FLOOR / BOMB_FACTOR)
    return fail_member(archive, stat->name,
                       "would inflate to more than 1000 times its size plus "
                       "64 MiB");
  return REGAL_OK;
}

static regal_status add_member(regal_archive *archive, uint64_t number,
                               uint64_t file_bytes) {
  const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE |
                              ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC |
                              ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  zip_stat_t stat;
  regal_member *member;
  if (zip_stat_index(archive->zip, number, 0, &stat) ||
      (stat.valid & needed) != needed)
    return regal_fail(archive->context, REGAL_BAD_INPUT,
                      "%s: member %llu has no proper entry", archive->path,
                      (unsigned long long)number);
  size_t length = strlen(stat.name);
  if (length && stat.name[length - 1] == '/')
    return REGAL_OK; /* a folder */
  REGAL_TRY(check_sizes(archive, &stat, file_bytes));
  REGAL_TRY(regal_archive_add(archive, stat.name, &member));
  member->number = number;
  member->bytes = stat.size;
  member->packed_bytes = stat.comp_size;
  member->crc = stat.crc;
  member->deflated = stat.comp_method == ZIP_CM_DEFLATE;
  return REGAL_OK;
}

regal_status regal_archive_list_zip(regal_archive *archive) {
  struct stat info;
  REGAL_TRY(open_zip(archive));
  uint64_t file_bytes = stat(archive->path, &info) ? 0 : (uint64_t)info.st_size;
  zip_int64_t entries = zip_get_num_entries(archive->zip, 0);
  for (zip_int64_t i = 0; i < entries; i++)
    REGAL_TRY(add_member(archive, (uint64_t)i, file_bytes));
  return REGAL_OK;
}

/* -- Reading --------------------------------------------------------------- */

static bool read_packed(regal_archive *archive, const regal_member *member,
                        char *packed) {
  uint64_t done = 0;
  pthread_mutex_lock(&archive->lock);
  zip_file_t *file =
      zip_fopen_index(archive->zip, member->number, ZIP_FL_COMPRESSED);
  while (file && done < member->packed_bytes) {
    zip_int64_t got =
        zip_fread(file, packed + done, member->packed_bytes - done);
    if (got <= 0)
      break;
    done += (uint64_t)got;
  }
  if (file)
    zip_fclose(file);
  pthread_mutex_unlock(&archive->lock);
  return file && done == member->packed_bytes;
}

static void *zlib_alloc(void *context, unsigned count, unsigned size) {
  return regal_alloc(context, count, size);
}

static void zlib_free(void *context, void *block) {
  regal_release(context, block);
}

/* zlib counts in 32 bits: what is larger goes in slices. */
static unsigned slice(uint64_t left) {
  return left > 1u << 30 ? 1u << 30 : (unsigned)left;
}

/* Z_STREAM_END when all went well, with the sizes that the directory says. */
static int inflate_all(z_stream *z, const char *packed,
                       const regal_member *member, char *bytes) {
  uint64_t in = 0, out = 0;
  z->next_in = (Bytef *)packed;
  z->next_out = (Bytef *)bytes;
  for (;;) {
    unsigned gave = z->avail_in = slice(member->packed_bytes - in);
    /* One byte more than promised, so that too much is noticed. */
    unsigned room = z->avail_out = slice(member->bytes + 1 - out);
    int code = inflate(z, Z_FINISH);
    in += gave - z->avail_in;
    out += room - z->avail_out;
    bool moved = gave != z->avail_in || room != z->avail_out;
    if ((code == Z_OK || code == Z_BUF_ERROR) && moved &&
        out <= member->bytes && in < member->packed_bytes)
      continue;
    return code == Z_STREAM_END && out != member->bytes ? Z_DATA_ERROR : code;
  }
}

/* REGAL_BAD_INPUT, here and below: the member is damaged. */
static regal_status unpack(regal_context *context, const regal_member *member,
                           const char *packed, char *bytes) {
  z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = context};
  if (inflateInit2(&z, -15) != Z_OK)
    return regal_fail_memory(context);
  int code = inflate_all(&z, packed, member, bytes);
  inflateEnd(&z);
  if (code == Z_MEM_ERROR)
    return regal_fail_memory(context);
  return code == Z_STREAM_END ? REGAL_OK : REGAL_BAD_INPUT;
}

/* Of an empty member nothing is read: libzip 1.11 does not hand out the two
 * bytes that deflate makes of it. */
static regal_status fill(regal_archive *archive, regal_context *context,
                         const regal_member *member, char *packed,
                         regal_text *text) {
  if (member->bytes && !read_packed(archive, member, packed))
    return REGAL_BAD_INPUT;
  if (member->bytes && member->deflated)
    REGAL_TRY(unpack(context, member, packed, text->bytes));
  text->size = (size_t)member->bytes;
  text->bytes[text->size] = 0;
  uLong crc = crc32_z(0, (const Bytef *)text->bytes, text->size);
  return crc == member->crc ? REGAL_OK : REGAL_BAD_INPUT;
}

regal_status regal_archive_read_zip(regal_archive *archive,
                                    regal_context *context, size_t number,
                                    const char *name, regal_text *text) {
  const regal_member *member = &archive->members[number];
  if (member->bytes > regal_max_input(context))
    return regal_fail_max_input(context, name, "is larger than");
  text->capacity = (size_t)member->bytes + 2;
  text->bytes = regal_alloc(context, text->capacity, 1);
  char *packed = member->deflated && text->bytes
                     ? regal_alloc(context, (size_t)member->packed_bytes, 1)
                     : text->bytes;
  regal_status status = packed ? fill(archive, context, member, packed, text)
                               : regal_fail_memory(context);
  if (packed != text->bytes)
    regal_release(context, packed);
  if (status == REGAL_BAD_INPUT)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: the archive is damaged here", name);
  return status;
}
