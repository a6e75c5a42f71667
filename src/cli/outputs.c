/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that knows every file that a command reads or writes. main.c
 * asks it before the command runs, so no command checks for itself.
 *
 * Files that are read are the arguments and every option whose unit in the
 * table of options is a FILE, a PLAN or a DIR. Of these, the options in
 * `written` are written instead. A new option for an input needs nothing here;
 * a new option for an output needs a row in `written`. An output without a row
 * counts as an input, so that even then no other output overwrites it.
 *
 * An output must be neither an input nor another output. Names do not say so:
 * "a", "./a", "b/../a", a symbolic link and a hard link are one file. A file
 * that exists is compared by device and inode. Of two outputs, one that does
 * not exist yet is compared by the device and inode of its folder, and its name
 * there; a symbolic link that leads nowhere stands for the file that it would
 * create. Terminals, pipes and devices cannot be overwritten: /dev/null may be
 * given twice.
 *
 * Inputs inside of an archive (a.zip:graph) are the archive. Of a folder, the
 * files of its graphs and its index.csv are inputs; of a graph in it (graphs:a)
 * its file and the index.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"
#include "regal_data.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS = 40, PATH_BYTES = 4096 };

/* -- Which files ----------------------------------------------------------- */

/* An option that names an output. With an ending, the command writes -o and
 * that ending when the option is not given; a row without an option is always
 * written. */
typedef struct output_row {
  const char *option, *command, *ending;
} output_row;

/* clang-format off */
static const output_row written[] = {
    {"output", NULL, NULL},
    {"trace", NULL, NULL},
    {"html", NULL, NULL},
    {"figures", NULL, NULL},
    {"plot", NULL, NULL},
    {"report", NULL, NULL},
    {"log", "train", ".csv"},
    {"checkpoint", "train", ".checkpoint"},
    {NULL, "tune", ".csv"},
};
/* clang-format on */
#define ROWS (sizeof written / sizeof *written)
_Static_assert(ROWS <= REGAL_CLI_OUTPUTS, "room for every output");

static bool is_written(const char *option) {
  for (size_t i = 0; i < ROWS; i++)
    if (written[i].option && !strcmp(written[i].option, option))
      return true;
  return false;
}

static void set_label(regal_cli_file *file, const char *option) {
  if (option && !strcmp(option, "output"))
    snprintf(file->label, sizeof file->label, "-o");
  else if (option)
    snprintf(file->label, sizeof file->label, "--%s", option);
  else
    snprintf(file->label, sizeof file->label, "the table of runs");
}

static bool find_output(const regal_cli *cli, const output_row *row,
                        regal_cli_file *file) {
  const regal_options *options = &cli->options;
  if (row->command && strcmp(row->command, cli->command->name))
    return false;
  set_label(file, row->option);
  if (row->option && regal_option_given(options, row->option))
    return regal_option_text(options, regal_option_find(row->option),
                             file->path, sizeof file->path);
  if (!row->ending || !options->output[0])
    return false;
  snprintf(file->path, sizeof file->path, "%s%s", options->output, row->ending);
  return true;
}

size_t regal_cli_outputs(const regal_cli *cli,
                         regal_cli_file files[REGAL_CLI_OUTPUTS]) {
  size_t count = 0;
  for (size_t i = 0; i < ROWS; i++)
    count += find_output(cli, &written[i], &files[count]);
  return count;
}

static bool names_file(const regal_option_info *option) {
  return option->type == REGAL_OPTION_TEXT &&
         (strstr(option->unit, "FILE") || strstr(option->unit, "PLAN") ||
          strstr(option->unit, "DIR"));
}

/* Whether a word of the usage stands for all arguments that follow. */
static bool is_repeated(const char *word) {
  size_t length = strcspn(word, " ");
  return length > 3 && !memcmp(word + length - 3, "...", 3);
}

/* The word of the usage that stands for an argument: "GRAPH". */
static void label_argument(const regal_cli *cli, int number, char label[32]) {
  const char *word = cli->command->usage;
  for (; number && strchr(word, ' ') && !is_repeated(word); number--)
    word = strchr(word, ' ') + 1;
  size_t length = strcspn(word, " .");
  snprintf(label, 32, "%.*s", (int)(length < 31 ? length : 31), word);
}

/* The next input from `*number` on; false when there are no more. Arguments
 * come first, then options. */
static bool next_input(const regal_cli *cli, size_t *number,
                       regal_cli_file *file) {
  size_t arguments = (size_t)cli->arguments;
  if (*number < arguments) {
    label_argument(cli, (int)*number, file->label);
    snprintf(file->path, sizeof file->path, "%s", cli->argument[*number]);
    return (*number)++, true;
  }
  for (size_t i = *number - arguments; i < regal_option_count(); i++) {
    const regal_option_info *option = regal_option_at(i);
    *number = arguments + i + 1;
    if (!names_file(option) || is_written(option->name) ||
        !regal_option_given(&cli->options, option->name))
      continue;
    set_label(file, option->name);
    return regal_option_text(&cli->options, i, file->path, sizeof file->path);
  }
  return false;
}

/* -- Which file is it? ----------------------------------------------------- */

/* A file, or a name in a folder. */
typedef struct place {
  bool known; /* otherwise it is equal to none */
  dev_t device;
  ino_t node;
  const char *name; /* in that folder; NULL when it is the file itself */
} place;

static bool is_same(const place *a, const place *b) {
  return a->known && b->known && a->device == b->device && a->node == b->node &&
         !a->name == !b->name && (!a->name || !strcmp(a->name, b->name));
}

/* The name in its folder; the place points into `path`. */
static place locate_name(char *path) {
  struct stat info;
  char *slash = strrchr(path, '/');
  const char *folder = !slash ? "." : slash == path ? "/" : path;
  if (slash)
    *slash = 0;
  if (stat(folder, &info))
    return (place){.known = false};
  return (place){true, info.st_dev, info.st_ino, slash ? slash + 1 : path};
}

/* Replaces the path of a symbolic link by what the link says. */
static bool follow(char path[PATH_BYTES]) {
  char target[PATH_BYTES];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0)
    return false;
  target[length] = 0;
  char *slash = strrchr(path, '/');
  size_t kept = target[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
  if (kept + (size_t)length >= PATH_BYTES)
    return false;
  memcpy(path + kept, target, (size_t)length + 1);
  return true;
}

/* `path` has room for it, and must outlive the place. */
static place locate(const regal_cli_file *file, char path[PATH_BYTES]) {
  struct stat info;
  snprintf(path, PATH_BYTES, "%s", file->path);
  if (!stat(path, &info))
    return (place){S_ISREG(info.st_mode) || S_ISDIR(info.st_mode), info.st_dev,
                   info.st_ino, NULL};
  for (int i = 0; i < LINKS && follow(path); i++)
    ;
  return locate_name(path);
}

/* -- Inputs ---------------------------------------------------------------- */

static bool is_file(const char *path, const struct stat *file) {
  struct stat info;
  return !stat(path, &info) && info.st_dev == file->st_dev &&
         info.st_ino == file->st_ino;
}

/* Where ":NAME" begins in the path of a member; NULL when it is none. */
static char *find_member(char *path) {
  struct stat info;
  if (!stat(path, &info))
    return NULL;
  for (char *at = path; (at = strchr(at, ':')); at++) {
    *at = 0;
    bool found = at > path && at[1] && !stat(path, &info);
    *at = ':';
    if (found)
      return at;
  }
  return NULL;
}

/* Whether a member is meant by its name, its file or as a copy, "a~3". */
static bool is_meant(const regal_entry *entry, const char *member) {
  size_t length = strlen(entry->name);
  return !strcmp(entry->file, member) ||
         (!strncmp(entry->name, member, length) &&
          (!member[length] || member[length] == '~'));
}

static bool is_inside(const char *folder, const char *name,
                      const struct stat *file) {
  char path[PATH_BYTES];
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length < PATH_BYTES && is_file(path, file);
}

/* Whether the file is that of a member of the folder, or its index; of all
 * members if none is named. What cannot be opened here is for the command to
 * report. */
static bool folder_has(const regal_cli *cli, const char *folder,
                       const char *member, const struct stat *file) {
  regal_dataset *dataset;
  if (is_inside(folder, "index.csv", file) ||
      (member && is_inside(folder, member, file)))
    return true;
  if (regal_dataset_open(cli->context, folder, &dataset) != REGAL_OK)
    return false;
  bool found = false;
  for (size_t i = 0; i < regal_dataset_count(dataset) && !found; i++) {
    const regal_entry *entry = regal_dataset_entry(dataset, i);
    found = (!member || is_meant(entry, member)) &&
            is_inside(folder, entry->file, file);
  }
  regal_dataset_free(dataset);
  return found;
}

/* Whether the output would overwrite the input, or a part of it. Only what
 * exists can be overwritten. */
static bool overwrites(const regal_cli *cli, const regal_cli_file *output,
                       const regal_cli_file *input) {
  struct stat file, info;
  char path[PATH_BYTES];
  if (stat(output->path, &file))
    return false;
  snprintf(path, sizeof path, "%s", input->path);
  char *member = find_member(path);
  if (member)
    *member++ = 0;
  if (stat(path, &info))
    return false;
  if (S_ISDIR(info.st_mode) && S_ISREG(file.st_mode))
    return folder_has(cli, path, member, &file);
  return S_ISREG(info.st_mode) && is_file(path, &file);
}

/* -- The check ------------------------------------------------------------- */

static regal_exit check_pairs(regal_cli *cli, const regal_cli_file *outputs,
                              size_t count) {
  char first[PATH_BYTES], second[PATH_BYTES];
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++) {
      if (!strcmp(outputs[i].path, "-") && !strcmp(outputs[k].path, "-"))
        return regal_cli_fail(cli, "'%s -' and '%s -' both write to stdout",
                              outputs[k].label, outputs[i].label);
      place a = locate(&outputs[k], first);
      place b = locate(&outputs[i], second);
      if (is_same(&a, &b))
        return regal_cli_fail(cli,
                              "%s (%.200s) and %s (%.200s) are the same file",
                              outputs[k].label, outputs[k].path,
                              outputs[i].label, outputs[i].path);
    }
  return REGAL_EXIT_OK;
}

static regal_exit check_input(regal_cli *cli, const regal_cli_file *outputs,
                              size_t count, const regal_cli_file *input) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(outputs[i].path, "-") && overwrites(cli, &outputs[i], input))
      return regal_cli_fail(cli, "%s (%.200s) would overwrite %s (%.200s)",
                            outputs[i].label, outputs[i].path, input->label,
                            input->path);
  return REGAL_EXIT_OK;
}

/* `stdin_user` is the label of the input that is stdin, or "". */
static regal_exit check_stdin(regal_cli *cli, const regal_cli_file *input,
                              char stdin_user[32]) {
  if (strcmp(input->path, "-"))
    return REGAL_EXIT_OK;
  if (stdin_user[0])
    return regal_cli_fail(cli, "%s and %s cannot both be stdin", stdin_user,
                          input->label);
  snprintf(stdin_user, 32, "%s", input->label);
  return REGAL_EXIT_OK;
}

regal_exit regal_cli_check_files(regal_cli *cli) {
  regal_cli_file outputs[REGAL_CLI_OUTPUTS], input;
  char stdin_user[32] = "";
  size_t count = regal_cli_outputs(cli, outputs), number = 0;
  regal_exit code = check_pairs(cli, outputs, count);
  while (code == REGAL_EXIT_OK && next_input(cli, &number, &input)) {
    code = check_stdin(cli, &input, stdin_user);
    if (code == REGAL_EXIT_OK)
      code = check_input(cli, outputs, count, &input);
  }
  return code;
}
