/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that regal_generate fills; see generate.h for what is in it.
 *
 * A run may be killed at any moment: the next call continues where it
 * stopped. Graphs and recipe.txt are written to a temporary name and
 * renamed (what is left of such names is removed), a graph without a row is
 * made again and is the same.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset/generate/generate.h"

static const char recipe_name[] = "recipe.txt";
static const char index_name[] = "index.csv";
static const char part_name[] = "index.csv.part";

static regal_status fail_system(const regal_folder *folder, const char *name) {
  return regal_fail(folder->context, REGAL_IO, "%s%s%s: %s", folder->path,
                    name[0] ? "/" : "", name, strerror(errno));
}

/* The path of a file in the folder; the caller releases it. */
static regal_status join(const regal_folder *folder, const char *name,
                         char **path) {
  size_t capacity = strlen(folder->path) + strlen(name) + 2;
  *path = regal_alloc(folder->context, capacity, 1);
  if (!*path)
    return regal_fail_memory(folder->context);
  snprintf(*path, capacity, "%s/%s", folder->path, name);
  return REGAL_OK;
}

static regal_status save(const regal_folder *folder, const regal_text *text,
                         const char *name) {
  char *path;
  REGAL_TRY(join(folder, name, &path));
  regal_status status = regal_text_save(folder->context, text, path);
  regal_release(folder->context, path);
  return status;
}

static bool is_there(const regal_folder *folder, const char *name) {
  return faccessat(folder->lock, name, F_OK, 0) == 0;
}

/* Reads a file of the folder; `*found` is false when there is none. */
static regal_status load(const regal_folder *folder, const char *name,
                         regal_text *text, bool *found) {
  char *path;
  regal_text_init(text, folder->context);
  *found = is_there(folder, name);
  if (!*found)
    return REGAL_OK;
  REGAL_TRY(join(folder, name, &path));
  regal_status status = regal_read_file(folder->context, path, text);
  regal_release(folder->context, path);
  return status;
}

/* -- Making and cleaning --------------------------------------------------- */

/* Two calls at once would both append to the index. */
static regal_status make_locked(regal_folder *folder) {
  folder->made = !mkdir(folder->path, 0777);
  if (!folder->made && errno != EEXIST)
    return fail_system(folder, "");
  folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder->lock < 0)
    return fail_system(folder, "");
  if (flock(folder->lock, LOCK_EX | LOCK_NB))
    return regal_fail(folder->context, REGAL_IO,
                      "%s: another call is generating graphs here",
                      folder->path);
  return REGAL_OK;
}

static regal_status make_split(const regal_folder *folder, const char *name) {
  return mkdirat(folder->lock, name, 0777) && errno != EEXIST
             ? fail_system(folder, name)
             : REGAL_OK;
}

/* Whether regal_text_save may have left a file of that name behind. */
static bool is_temporary(const char *name) {
  return strstr(name, ".tmp-") &&
         (!strncmp(name, "graph_", 6) || !strncmp(name, "recipe.", 7) ||
          !strncmp(name, "index.", 6));
}

/* Removes temporary files; counts what else there is. */
static regal_status clean(const regal_folder *folder, const char *name,
                          size_t *others) {
  const char *path = *name ? name : ".";
  int file = openat(folder->lock, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = file < 0 ? NULL : fdopendir(file);
  if (!listing) {
    regal_status status = fail_system(folder, name);
    if (file >= 0)
      close(file);
    return status;
  }
  for (struct dirent *entry; (entry = readdir(listing));) {
    if (is_temporary(entry->d_name))
      unlinkat(dirfd(listing), entry->d_name, 0);
    else if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
      (*others)++;
  }
  closedir(listing);
  return REGAL_OK;
}

/* -- The recipe ------------------------------------------------------------ */

/* Says in which line two recipes differ. */
static regal_status fail_recipe(const regal_folder *folder, const char *there,
                                const char *here) {
  size_t a, b;
  for (;;) {
    a = strcspn(there, "\n");
    b = strcspn(here, "\n");
    if (a != b || memcmp(there, here, a) || !there[a] || !here[b])
      break;
    there += a + 1;
    here += b + 1;
  }
  return regal_fail(folder->context, REGAL_BAD_INPUT,
                    "%s holds graphs of another recipe: '%.*s' there, '%.*s' "
                    "here",
                    folder->path, (int)(a < 99 ? a : 99), there, (int)b, here);
}

static regal_status write_recipe(const regal_folder *folder,
                                 const regal_text *recipe) {
  size_t others = 0;
  REGAL_TRY(clean(folder, "", &others));
  if (others)
    return regal_fail(folder->context, REGAL_BAD_INPUT,
                      "%s is not empty, and has no %s of regal generate",
                      folder->path, recipe_name);
  return save(folder, recipe, recipe_name);
}

static regal_status check_recipe(const regal_folder *folder) {
  regal_text here, there;
  bool found = false;
  regal_text_init(&here, folder->context);
  regal_text_init(&there, folder->context);
  regal_spec_write(folder->spec, &here);
  regal_status status = here.failed ? regal_fail_memory(folder->context)
                                    : load(folder, recipe_name, &there, &found);
  if (status == REGAL_OK && !found)
    status = write_recipe(folder, &here);
  else if (status == REGAL_OK && strcmp(there.bytes, here.bytes))
    status = fail_recipe(folder, there.bytes, here.bytes);
  regal_text_free(&here);
  regal_text_free(&there);
  return status;
}

/* -- Going on -------------------------------------------------------------- */

static regal_status note_row(regal_folder *folder, const regal_made_row *row) {
  size_t number;
  if (!regal_names_add_in(&folder->checksums, row->checksum, "", &number) ||
      !regal_names_add_in(&folder->degrees_seen, row->degrees, "", &number))
    return regal_fail_memory(folder->context);
  if (row->cost_1k > 0)
    folder->gains += 1 - (double)row->cost_10k / (double)row->cost_1k;
  folder->graphs++;
  folder->next = row->number + 1;
  return REGAL_OK;
}

static bool is_in_place(const regal_folder *folder, const regal_made_row *row) {
  char file[64];
  regal_made_file(folder->spec, row, folder->graphs, file, sizeof file);
  return is_there(folder, file);
}

/* Takes the rows up to the first that is not whole, or whose graph is gone;
 * `*end` is where that begins. */
static regal_status take_rows(regal_folder *folder, const char *text,
                              const char **end) {
  size_t head = strlen(regal_made_head);
  *end = text;
  if (strncmp(text, regal_made_head, head))
    return REGAL_OK;
  *end += head;
  for (;;) {
    const char *at = *end;
    regal_made_row row;
    if (!regal_made_read(folder->spec, folder->graphs, &at, &row) ||
        row.number < folder->next || !is_in_place(folder, &row))
      return REGAL_OK;
    REGAL_TRY(note_row(folder, &row));
    *end = at;
  }
}

/* Rows of an index become those of index.csv.part, which new ones follow. */
static regal_status begin_part(regal_folder *folder, const char *rows,
                               const char *end) {
  regal_text text;
  regal_text_init(&text, folder->context);
  if (end == rows)
    regal_text_append(&text, regal_made_head, strlen(regal_made_head));
  else
    regal_text_append(&text, rows, (size_t)(end - rows));
  regal_status status = save(folder, &text, part_name);
  regal_text_free(&text);
  REGAL_TRY(status);
  folder->index =
      openat(folder->lock, part_name, O_WRONLY | O_APPEND | O_CLOEXEC);
  return folder->index < 0 ? fail_system(folder, part_name) : REGAL_OK;
}

static regal_status check_size(const regal_folder *folder) {
  if (folder->graphs <= folder->spec->total)
    return REGAL_OK;
  return regal_fail(folder->context, REGAL_BAD_INPUT,
                    "%s already holds %" PRIu64
                    " graphs, more than the %" PRIu64 " asked for",
                    folder->path, folder->graphs, folder->spec->total);
}

/* An index that is complete stays as it is. */
static bool is_complete(const regal_folder *folder, const regal_text *text,
                        const char *end) {
  return folder->graphs == folder->spec->total &&
         end == text->bytes + text->size;
}

static regal_status resume(regal_folder *folder) {
  regal_text text;
  const char *rows = "", *end;
  bool found, done = false;
  regal_status status = load(folder, part_name, &text, &found);
  if (status == REGAL_OK && !found) {
    status = load(folder, index_name, &text, &found);
    done = found;
  }
  if (status == REGAL_OK && found)
    rows = text.bytes;
  if (status == REGAL_OK)
    status = take_rows(folder, rows, &end);
  if (status == REGAL_OK)
    status = check_size(folder);
  if (status == REGAL_OK && !(done && is_complete(folder, &text, end)))
    status = begin_part(folder, rows, end);
  regal_text_free(&text);
  return status;
}

static regal_status open_all(regal_folder *folder) {
  const regal_spec *spec = folder->spec;
  size_t others = 0;
  REGAL_TRY(make_locked(folder));
  REGAL_TRY(check_recipe(folder));
  REGAL_TRY(clean(folder, "", &others));
  for (uint32_t i = 0; spec->splits > 1 && i < spec->splits; i++) {
    REGAL_TRY(make_split(folder, spec->split[i].name));
    REGAL_TRY(clean(folder, spec->split[i].name, &others));
  }
  return resume(folder);
}

regal_status regal_folder_open(regal_folder *folder, regal_context *context,
                               const char *path, const regal_spec *spec) {
  *folder = (regal_folder){
      .context = context, .path = path, .spec = spec, .lock = -1, .index = -1};
  regal_names_init(&folder->checksums, context);
  regal_names_init(&folder->degrees_seen, context);
  regal_text_init(&folder->rows, context);
  return open_all(folder);
}

void regal_folder_close(regal_folder *folder) {
  if (folder->index >= 0)
    close(folder->index);
  if (folder->lock >= 0)
    close(folder->lock);
  regal_names_free(&folder->checksums);
  regal_names_free(&folder->degrees_seen);
  regal_text_free(&folder->rows);
}

/* -- Filling --------------------------------------------------------------- */

static bool has_key(const regal_names *set, uint64_t key) {
  return regal_names_find_in(set, key, "") != REGAL_NO_NAME;
}

/* Two graphs of one name would be one file. */
static bool is_dropped(const regal_folder *folder,
                       const regal_candidate *candidate) {
  const regal_made_row *row = &candidate->row;
  return !candidate->passed || has_key(&folder->checksums, row->checksum) ||
         (folder->spec->distinct &&
          has_key(&folder->degrees_seen, row->degrees));
}

regal_status regal_folder_take(regal_folder *folder,
                               const regal_candidate *candidate) {
  const regal_made_row *row = &candidate->row;
  folder->next = row->number + 1;
  if (is_dropped(folder, candidate))
    return REGAL_OK;
  char file[64];
  regal_made_file(folder->spec, row, folder->graphs, file, sizeof file);
  REGAL_TRY(save(folder, &candidate->text, file));
  regal_made_write(folder->spec, row, folder->graphs, &folder->rows);
  return note_row(folder, row);
}

regal_status regal_folder_flush(regal_folder *folder) {
  regal_text *rows = &folder->rows;
  if (rows->failed)
    return regal_fail_memory(folder->context);
  for (size_t done = 0; done < rows->size;) {
    ssize_t put = write(folder->index, rows->bytes + done, rows->size - done);
    if (put < 0 && errno != EINTR)
      return fail_system(folder, part_name);
    done += put > 0 ? (size_t)put : 0;
  }
  rows->size = 0;
  return REGAL_OK;
}

regal_status regal_folder_finish(regal_folder *folder) {
  if (folder->index < 0)
    return REGAL_OK; /* it was complete before */
  return renameat(folder->lock, part_name, folder->lock, index_name)
             ? fail_system(folder, part_name)
             : REGAL_OK;
}

/* What could not be removed is no failure: the next call finds it as it is. */
regal_status regal_folder_give_up(regal_folder *folder) {
  const regal_spec *spec = folder->spec;
  if (folder->graphs)
    return regal_folder_finish(folder);
  unlinkat(folder->lock, part_name, 0);
  unlinkat(folder->lock, recipe_name, 0);
  for (uint32_t i = 0; spec->splits > 1 && i < spec->splits; i++)
    unlinkat(folder->lock, spec->split[i].name, AT_REMOVEDIR);
  if (folder->made)
    rmdir(folder->path);
  return REGAL_OK;
}
