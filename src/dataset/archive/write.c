/* SPDX-License-Identifier: Apache-2.0 */
/* Writing archives: zip files by libzip, folders by hand.
 *
 * Nothing is held but the file that is being written: libzip asks for each one
 * when it comes to it. A zip archive appears under its name when it is
 * complete, and so does a folder.
 */
#define _GNU_SOURCE
#include "dataset/archive/parts.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFLATE_LEVEL 9
#define FIRST_DOS_DATE (1 << 5 | 1) /* 1 January 1980 */

/* Names come from users' files: none may lead elsewhere. */
static regal_status check_names(regal_context *context, const char *path,
                                const regal_archive_files *files) {
  regal_names names;
  regal_status status = REGAL_OK;
  regal_names_init(&names, context);
  for (size_t i = 0; i < files->count && status == REGAL_OK; i++) {
    const char *name = files->name(files->state, i);
    const char *fault = regal_member_name_fault(name);
    size_t number;
    if (fault)
      status =
          regal_fail(context, REGAL_BAD_INPUT,
                     "%s: the name of file '%.200s' %s", path, name, fault);
    else if (!regal_names_add(&names, name, &number))
      status = regal_fail_memory(context);
    else if (number != i)
      status = regal_fail(context, REGAL_BAD_INPUT,
                          "%s: two files would be called '%.200s'", path, name);
  }
  regal_names_free(&names);
  return status;
}

/* -- Zip archives ---------------------------------------------------------- */

typedef struct zip_writer zip_writer;

/* One file, as libzip sees it. */
typedef struct zip_input {
  zip_writer *writer;
  size_t file, given; /* bytes handed out so far */
} zip_input;

struct zip_writer {
  regal_context *context;
  const regal_archive_files *files;
  zip_t *zip;
  zip_input *inputs;   /* [files] */
  regal_text text;     /* the file that is open */
  regal_status status; /* of reading the files */
  zip_error_t error;
};

static zip_int64_t open_input(zip_input *input) {
  zip_writer *writer = input->writer;
  input->given = 0;
  regal_text_free(&writer->text);
  writer->status =
      writer->files->read(writer->files->state, input->file, &writer->text);
  if (writer->status == REGAL_OK)
    return 0;
  regal_text_init(&writer->text, writer->context);
  zip_error_set(&writer->error, ZIP_ER_READ, 0);
  return -1;
}

static zip_int64_t give(zip_input *input, void *data, zip_uint64_t size) {
  const regal_text *text = &input->writer->text;
  if (size > text->size - input->given)
    size = text->size - input->given;
  if (size)
    memcpy(data, text->bytes + input->given, size);
  input->given += size;
  return (zip_int64_t)size;
}

static zip_int64_t serve(void *state, void *data, zip_uint64_t size,
                         zip_source_cmd_t command) {
  zip_input *input = state;
  switch (command) {
  case ZIP_SOURCE_OPEN:
    return open_input(input);
  case ZIP_SOURCE_READ:
    return give(input, data, size);
  case ZIP_SOURCE_STAT:
    zip_stat_init(data);
    return sizeof(zip_stat_t);
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&input->writer->error, data, size);
  case ZIP_SOURCE_CLOSE:
  case ZIP_SOURCE_FREE:
    return 0;
  case ZIP_SOURCE_SUPPORTS:
    return ZIP_SOURCE_SUPPORTS_READABLE;
  default:
    zip_error_set(&input->writer->error, ZIP_ER_OPNOTSUPP, 0);
    return -1;
  }
}

static regal_status fail_zip(zip_writer *writer, const char *path,
                             zip_error_t *error) {
  if (writer->status != REGAL_OK)
    return writer->status; /* its message is there already */
  return regal_fail(
      writer->context,
      zip_error_code_zip(error) == ZIP_ER_MEMORY ? REGAL_NO_MEMORY : REGAL_IO,
      "%s: cannot be written: %s", path, zip_error_strerror(error));
}

static bool add_file(zip_writer *writer, size_t file) {
  writer->inputs[file] = (zip_input){.writer = writer, .file = file};
  zip_source_t *source =
      zip_source_function(writer->zip, serve, &writer->inputs[file]);
  if (!source)
    return false;
  zip_int64_t index =
      zip_file_add(writer->zip, writer->files->name(writer->files->state, file),
                   source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return false;
  }
  return !zip_set_file_compression(writer->zip, (zip_uint64_t)index,
                                   ZIP_CM_DEFLATE, DEFLATE_LEVEL) &&
         !zip_file_set_dostime(writer->zip, (zip_uint64_t)index, 0,
                               FIRST_DOS_DATE, 0);
}

/* Writes a new archive at `made`; messages call it `path`. */
static regal_status write_zip(zip_writer *writer, const char *made,
                              const char *path) {
  int code;
  writer->zip = zip_open(made, ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!writer->zip) {
    zip_error_init_with_code(&writer->error, code);
    return fail_zip(writer, path, &writer->error);
  }
  for (size_t i = 0; i < writer->files->count; i++)
    if (!add_file(writer, i))
      return fail_zip(writer, path, zip_get_error(writer->zip));
  if (zip_close(writer->zip))
    return fail_zip(writer, path, zip_get_error(writer->zip));
  writer->zip = NULL;
  return REGAL_OK;
}

/* Under a temporary name, which then becomes that of `target`. */
static regal_status write_renamed(zip_writer *writer, const char *target,
                                  const char *path) {
  regal_context *context = writer->context;
  size_t capacity = strlen(target) + REGAL_BESIDE;
  char *made = regal_alloc(context, capacity, 1);
  struct stat info;
  if (!made)
    return regal_fail_memory(context);
  regal_name_beside(target, 0, made, capacity);
  regal_status status = write_zip(writer, made, path);
  if (status == REGAL_OK && !stat(target, &info))
    chmod(made, info.st_mode & 07777);
  if (status == REGAL_OK && rename(made, target))
    status = regal_fail_system(context, path);
  if (status != REGAL_OK)
    unlink(made);
  regal_release(context, made);
  return status;
}

regal_status regal_archive_write_zip(regal_context *context, const char *path,
                                     const regal_archive_files *files) {
  char target[PATH_MAX];
  REGAL_TRY(check_names(context, path, files));
  zip_writer writer = {.context = context, .files = files};
  zip_error_init(&writer.error);
  regal_text_init(&writer.text, context);
  writer.inputs = regal_alloc(context, files->count, sizeof *writer.inputs);
  regal_status status =
      writer.inputs
          ? write_renamed(&writer, regal_follow_links(path, target), path)
          : regal_fail_memory(context);
  if (writer.zip)
    zip_discard(writer.zip);
  zip_error_fini(&writer.error);
  regal_text_free(&writer.text);
  regal_release(context, writer.inputs);
  return status;
}

/* -- Folders --------------------------------------------------------------- */

/* Makes the folders on the way to `path` below its first `root` bytes. */
static bool make_folders(char *path, size_t root) {
  for (char *slash = strchr(path + root + 1, '/'); slash;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool good = !mkdir(path, 0777) || errno == EEXIST;
    *slash = '/';
    if (!good)
      return false;
  }
  return true;
}

static regal_status write_file(regal_context *context, const char *folder,
                               const regal_archive_files *files, size_t file) {
  regal_text path, text;
  regal_text_init(&path, context);
  regal_text_format(&path, "%s/%s", folder, files->name(files->state, file));
  regal_status status = path.failed ? regal_fail_memory(context)
                        : make_folders(path.bytes, strlen(folder))
                            ? REGAL_OK
                            : regal_fail_system(context, path.bytes);
  if (status == REGAL_OK &&
      (status = files->read(files->state, file, &text)) == REGAL_OK) {
    status = regal_text_save(context, &text, path.bytes);
    regal_text_free(&text);
  }
  regal_text_free(&path);
  return status;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at) {
  (void)info, (void)kind, (void)at;
  return remove(path);
}

static bool is_empty(const char *path) {
  DIR *folder = opendir(path);
  struct dirent *entry;
  bool empty = folder != NULL;
  while (empty && (entry = readdir(folder)))
    empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
  if (folder)
    closedir(folder);
  return empty;
}

/* Messages are about the name that the folder was to get. */
static regal_status fail_beside(regal_context *context, regal_status status,
                                const char *path, const char *beside) {
  char message[REGAL_MESSAGE_CAPACITY];
  size_t length = strlen(beside);
  if (strncmp(regal_error(context), beside, length))
    return status;
  snprintf(message, sizeof message, "%s", regal_error(context) + length);
  return regal_fail(context, status, "%s%s", path, message);
}

/* Fills a new folder beside `path`, then gives it that name. */
static regal_status write_beside(regal_context *context, const char *path,
                                 const char *beside,
                                 const regal_archive_files *files) {
  if (mkdir(beside, 0777))
    return regal_fail_system(context, path);
  regal_status status = REGAL_OK;
  for (size_t i = 0; i < files->count && status == REGAL_OK; i++)
    status = write_file(context, beside, files, i);
  if (status == REGAL_OK && rename(beside, path))
    status = regal_fail_system(context, path);
  if (status == REGAL_OK)
    return REGAL_OK;
  nftw(beside, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return fail_beside(context, status, path, beside);
}

/* Without slashes at its end, which no link could be followed through. */
static regal_status write_folder(regal_context *context, char *path,
                                 const regal_archive_files *files) {
  char target[PATH_MAX];
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/')
    path[--length] = 0;
  const char *end = regal_follow_links(path, target);
  size_t capacity = strlen(end) + REGAL_BESIDE;
  char *beside = regal_alloc(context, capacity, 1);
  if (!beside)
    return regal_fail_memory(context);
  regal_name_beside(end, 0, beside, capacity);
  regal_status status = write_beside(context, end, beside, files);
  regal_release(context, beside);
  return status;
}

regal_status regal_archive_write_folder(regal_context *context,
                                        const char *path,
                                        const regal_archive_files *files) {
  struct stat info;
  if (!stat(path, &info) && !(S_ISDIR(info.st_mode) && is_empty(path)))
    return regal_fail(context, REGAL_IO,
                      "%s: exists already, and is no empty folder", path);
  REGAL_TRY(check_names(context, path, files));
  char *copy = regal_copy_text(context, path);
  regal_status status =
      copy ? write_folder(context, copy, files) : regal_fail_memory(context);
  regal_release(context, copy);
  return status;
}
