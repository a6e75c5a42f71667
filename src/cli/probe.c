/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing that took long is lost for a bad path. Before a command runs, every
 * output is probed: its folder exists and can be written to, and the name is no
 * folder's. Nothing is created by that. A disk may still be full, or a folder
 * gone, when a search ends; then the plan goes to a file in the current folder,
 * or else in the one for temporary files.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- Before ---------------------------------------------------------------- */

static bool is_folder_wanted(const regal_cli *cli, const regal_cli_file *file) {
  return !strcmp(file->label, "--figures") ||
         !strcmp(file->label, "--report") ||
         !strncmp(cli->command->name, "dataset", 7);
}

/* Files are written beside their final name, and then renamed. */
static regal_exit probe_folder(regal_cli *cli, const regal_cli_file *file,
                               char path[PATH_MAX]) {
  char *slash = strrchr(path, '/');
  const char *folder = !slash ? "." : slash == path ? "/" : path;
  struct stat info;
  if (slash)
    *slash = 0;
  if (stat(folder, &info))
    return regal_cli_fail(cli, "%s (%.200s): folder '%.200s': %s", file->label,
                          file->path, folder, strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return regal_cli_fail(cli, "%s (%.200s): '%.200s' is not a folder",
                          file->label, file->path, folder);
  if (access(folder, W_OK | X_OK))
    return regal_cli_fail(cli, "%s (%.200s): folder '%.200s': %s", file->label,
                          file->path, folder, strerror(errno));
  return REGAL_EXIT_OK;
}

/* What exists: a file is replaced in its folder, which a link may lead to; all
 * else, such as /dev/null or a FIFO, is written to as it is. */
static regal_exit probe_existing(regal_cli *cli, const regal_cli_file *file,
                                 const struct stat *info) {
  char path[PATH_MAX];
  if (S_ISDIR(info->st_mode)) {
    if (is_folder_wanted(cli, file))
      return REGAL_EXIT_OK;
    return regal_cli_fail(cli, "%s (%.200s) is a folder, expected a file",
                          file->label, file->path);
  }
  if (S_ISREG(info->st_mode))
    return realpath(file->path, path) ? probe_folder(cli, file, path)
                                      : REGAL_EXIT_OK;
  if (access(file->path, W_OK))
    return regal_cli_fail(cli, "%s (%.200s): %s", file->label, file->path,
                          strerror(errno));
  return REGAL_EXIT_OK;
}

static regal_exit probe(regal_cli *cli, const regal_cli_file *file) {
  struct stat info;
  char path[PATH_MAX];
  size_t length = strlen(file->path);
  if (!strcmp(file->path, "-"))
    return REGAL_EXIT_OK;
  if (!stat(file->path, &info))
    return probe_existing(cli, file, &info);
  int why = errno;
  if (!lstat(file->path, &info))
    return REGAL_EXIT_OK; /* a link to what does not exist yet */
  if (why == ENAMETOOLONG || length >= sizeof path)
    return regal_cli_fail(cli, "%s (%.200s...): %s", file->label, file->path,
                          strerror(ENAMETOOLONG));
  memcpy(path, file->path, length + 1);
  if (path[length - 1] == '/' && !is_folder_wanted(cli, file))
    return regal_cli_fail(cli, "%s (%.200s) is a folder, expected a file",
                          file->label, file->path);
  while (length > 1 && path[length - 1] == '/')
    path[--length] = 0;
  return probe_folder(cli, file, path);
}

regal_exit regal_cli_probe_outputs(regal_cli *cli) {
  regal_cli_file outputs[REGAL_CLI_OUTPUTS];
  size_t count = regal_cli_outputs(cli, outputs);
  regal_exit code = REGAL_EXIT_OK;
  for (size_t i = 0; i < count && code == REGAL_EXIT_OK; i++)
    code = probe(cli, &outputs[i]);
  return code;
}

/* -- After ----------------------------------------------------------------- */

static regal_status save(regal_cli *cli, const regal_result *result,
                         const char *path) {
  return cli->options.times ? regal_plan_save_times(cli->context, result, path)
                            : regal_plan_save(cli->context, result, path);
}

/* Saves to a name in the folder that does not exist yet. */
static bool save_in(regal_cli *cli, const regal_result *result,
                    const char *folder, char path[PATH_MAX]) {
  enum { NAMES = 100 };
  struct stat info;
  for (int i = 1; i <= NAMES; i++) {
    int length = snprintf(path, PATH_MAX, "%s/regal-rescue-%d.plan", folder, i);
    if (length >= PATH_MAX)
      return false;
    if (lstat(path, &info))
      return save(cli, result, path) == REGAL_OK;
  }
  return false;
}

regal_exit regal_cli_save_plan(regal_cli *cli, const regal_result *result) {
  char path[PATH_MAX];
  const char *temporary = getenv("TMPDIR");
  regal_status status = save(cli, result, cli->options.output);
  regal_exit code = regal_cli_status(cli, status);
  if (status != REGAL_IO || !strcmp(cli->options.output, "-"))
    return code;
  size_t used = strlen(cli->message);
  bool saved = save_in(cli, result, ".", path) ||
               save_in(cli, result, temporary ? temporary : "/tmp", path);
  snprintf(cli->message + used, sizeof cli->message - used,
           saved ? "; the plan is in %.600s" : "; the plan is lost", path);
  return code;
}
