/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files. They are read in one go, and written to a temporary file beside
 * the target that is renamed at the end: a reader sees the old file or the
 * new one, never a part. A symbolic link stays one: the file that it leads to
 * is replaced, or made.
 */
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BASE                                                              \
  200                 /* bytes of a name that its temporary name begins with   \
                       */
#define MOST_LINKS 40 /* as many as Linux follows */

regal_status regal_fail_system(regal_context *context, const char *name) {
  return regal_fail(context, REGAL_IO, "%s: %s", name, strerror(errno));
}

static regal_status fail_directory(regal_context *context, const char *name) {
  return regal_fail(context, REGAL_IO, "%s: is a directory, expected a file",
                    name);
}

/* -- Reading --------------------------------------------------------------- */

regal_status regal_fail_max_input(regal_context *context, const char *name,
                                  const char *what) {
  size_t limit = regal_max_input(context);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s: %s %s, the limit on inputs (--max-input)", name, what,
                    regal_show_bytes((int64_t)limit).text);
}

/* A first block that takes a regular file whole; its size is only a hint. */
static size_t first_block(const struct stat *info) {
  if (!S_ISREG(info->st_mode) || info->st_size <= 0)
    return 65536;
  return (size_t)info->st_size + 2;
}

/* Makes room for at least one byte more and a zero, up to one byte beyond the
 * limit, so that what fills it is known to be too much. */
static bool grow(regal_text *text, size_t first, size_t limit) {
  size_t capacity = text->capacity ? text->capacity * 2 : first;
  if (capacity > limit + 2)
    capacity = limit + 2;
  char *grown = regal_grow(text->context, text->bytes, capacity, 1);
  if (!grown)
    return false;
  text->bytes = grown;
  text->capacity = capacity;
  return true;
}

/* REGAL_OK: all was read, or what came is more than the limit. */
static regal_status read_up_to(regal_context *context, const char *name,
                               int file, size_t first, size_t limit,
                               regal_text *text) {
  while (text->size <= limit) {
    if (text->size + 1 >= text->capacity && !grow(text, first, limit))
      return regal_fail_memory(context);
    ssize_t got =
        read(file, text->bytes + text->size, text->capacity - text->size - 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return regal_fail_system(context, name);
    if (got == 0)
      break;
    text->size += (size_t)got;
  }
  text->bytes[text->size] = 0;
  return REGAL_OK;
}

/* Around calls that may block. */
static void set_waiting(regal_context *context, int waiting) {
  __atomic_store_n(&context->waits_for_input, waiting, __ATOMIC_RELAXED);
}

/* Before an input that may never come. A stop that was requested a moment
 * earlier counts: nothing would end the wait. */
static regal_status begin_waiting(regal_context *context, const char *name) {
  set_waiting(context, 1);
  if (!regal_stop_requested(context))
    return REGAL_OK;
  set_waiting(context, 0);
  return regal_fail(context, REGAL_IO, "%s: interrupted before it was read",
                    name);
}

bool regal_may_block(const char *path) {
  struct stat info;
  return !stat(path, &info) && !S_ISREG(info.st_mode);
}

regal_status regal_read_open_file(regal_context *context, const char *name,
                                  int file, regal_text *text) {
  struct stat info;
  size_t limit = regal_max_input(context);
  if (fstat(file, &info))
    return regal_fail_system(context, name);
  if (S_ISDIR(info.st_mode))
    return fail_directory(context, name);
  bool large = S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit;
  if (!large) {
    if (!S_ISREG(info.st_mode))
      REGAL_TRY(begin_waiting(context, name));
    regal_status status =
        read_up_to(context, name, file, first_block(&info), limit, text);
    set_waiting(context, 0);
    REGAL_TRY(status);
  }
  if (large || text->size > limit)
    return regal_fail_max_input(context, name, "is larger than");
  return REGAL_OK;
}

/* Replaces compressed bytes by what they inflate to. */
static regal_status inflate_in_place(regal_context *context, const char *name,
                                     regal_text *text) {
  regal_text plain;
  if (!regal_is_compressed(text->bytes, text->size)) {
    regal_text_drop_mark(text);
    return REGAL_OK;
  }
  REGAL_TRY(regal_inflate(context, name, text->bytes, text->size, &plain));
  regal_text_free(text);
  *text = plain;
  return REGAL_OK;
}

static regal_status read_path(regal_context *context, const char *path,
                              regal_text *text) {
  if (regal_may_block(path)) /* a pipe that nobody writes to */
    REGAL_TRY(begin_waiting(context, path));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  set_waiting(context, 0);
  if (file < 0)
    return regal_fail_system(context, path);
  regal_status status = regal_read_open_file(context, path, file, text);
  close(file);
  return status;
}

regal_status regal_read_file(regal_context *context, const char *path,
                             regal_text *text) {
  bool standard = !strcmp(path, "-");
  const char *name = standard ? "stdin" : path;
  size_t number;
  regal_text_init(text, context);
  if (context->side_files &&
      context->side_files->claims(context->side_files, path, &number))
    return context->side_files->read(context->side_files, context, number,
                                     text);
  regal_status status =
      standard ? regal_read_open_file(context, name, STDIN_FILENO, text)
               : read_path(context, path, text);
  if (status == REGAL_OK)
    status = inflate_in_place(context, name, text);
  if (status != REGAL_OK)
    regal_text_free(text);
  return status;
}

regal_status regal_read_raw_file(regal_context *context, const char *path,
                                 regal_text *text) {
  regal_text_init(text, context);
  regal_status status = read_path(context, path, text);
  if (status != REGAL_OK)
    regal_text_free(text);
  return status;
}

/* -- Writing --------------------------------------------------------------- */

/* Through stdio, so that it keeps its place among what the program prints. */
static regal_status save_stdout(regal_context *context,
                                const regal_text *text) {
  if (fwrite(text->bytes, 1, text->size, stdout) != text->size ||
      fflush(stdout))
    return regal_fail_system(context, "stdout");
  return REGAL_OK;
}

/* Writes and closes; false, with errno, on failure. */
static bool write_all(int file, const regal_text *text) {
  size_t done = 0;
  while (done < text->size) {
    ssize_t put = write(file, text->bytes + done, text->size - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0) {
      int reason = errno;
      close(file);
      errno = reason;
      return false;
    }
    done += (size_t)put;
  }
  return close(file) == 0;
}

static regal_status save_direct(regal_context *context, const regal_text *text,
                                const char *path) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || !write_all(file, text))
    return regal_fail_system(context, path);
  return REGAL_OK;
}

void regal_name_beside(const char *path, int attempt, char *name,
                       size_t capacity) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  size_t kept = strlen(base);
  if (kept > MOST_BASE)
    kept = MOST_BASE;
  snprintf(name, capacity, "%.*s.tmp-%ld-%d", (int)(base - path + (long)kept),
           path, (long)getpid(), attempt);
}

/* Makes a new file beside `path`; `name` has room for its name. */
static int make_temporary(const char *path, char *name, size_t capacity) {
  for (int attempt = 0; attempt < 1000; attempt++) {
    regal_name_beside(path, attempt, name, capacity);
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

/* `mode` is that of the file to replace, or 0 when there is none. */
static regal_status save_renamed(regal_context *context, const regal_text *text,
                                 const char *path, mode_t mode) {
  size_t capacity = strlen(path) + REGAL_BESIDE;
  char *name = regal_alloc(context, capacity, 1);
  if (!name)
    return regal_fail_memory(context);
  regal_status status = REGAL_OK;
  int file = make_temporary(path, name, capacity);
  if (file < 0) {
    status = regal_fail_system(context, path);
  } else {
    bool kept = !mode || !fchmod(file, mode & 07777) || errno == EPERM;
    if (!write_all(file, text) || !kept || rename(name, path)) {
      status = regal_fail_system(context, path);
      unlink(name);
    }
  }
  regal_release(context, name);
  return status;
}

/* Replaces the path of a link by what the link says; false when it is none. */
static bool follow_one(char path[PATH_MAX]) {
  char target[PATH_MAX];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0)
    return false;
  target[length] = 0;
  char *slash = strrchr(path, '/');
  size_t kept = target[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
  if (kept + (size_t)length >= PATH_MAX)
    return false;
  memcpy(path + kept, target, (size_t)length + 1);
  return true;
}

const char *regal_follow_links(const char *path, char target[PATH_MAX]) {
  if (strlen(path) >= PATH_MAX)
    return path;
  strcpy(target, path);
  for (int i = 0; i < MOST_LINKS; i++)
    if (!follow_one(target))
      return target;
  return path; /* a loop */
}

regal_status regal_file_save(regal_context *context, const char *path,
                             const void *bytes, size_t size) {
  if (!context)
    return REGAL_MISUSE;
  if (!path || (!bytes && size))
    return regal_fail(context, REGAL_MISUSE,
                      "saving a file needs a path and its bytes");
  regal_text text = {.context = context,
                     .bytes = (char *)(uintptr_t)bytes,
                     .size = size,
                     .capacity = size};
  return regal_text_save(context, &text, path);
}

regal_status regal_text_save(regal_context *context, const regal_text *text,
                             const char *path) {
  struct stat info;
  char target[PATH_MAX];
  if (text->failed)
    return regal_fail_memory(context);
  if (!strcmp(path, "-"))
    return save_stdout(context, text);
  if (stat(path, &info))
    return errno == ELOOP ? regal_fail_system(context, path)
                          : save_renamed(context, text,
                                         regal_follow_links(path, target), 0);
  if (S_ISDIR(info.st_mode))
    return fail_directory(context, path);
  if (!S_ISREG(info.st_mode))
    return save_direct(context, text, path);
  return save_renamed(context, text, regal_follow_links(path, target),
                      info.st_mode);
}
