/* SPDX-License-Identifier: Apache-2.0 */
/* The machine and the objective of a plan's file, for commands that read plans.
 * Options that are given win over the file; where the two disagree, `conflict`
 * remembers how, for a message that has to do with the plan.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A plan is read twice: for its machine, then for its steps. So stdin, unless
 * it is a file already, is replaced by a temporary one that can be rewound.
 * Nothing is copied beyond the limit on inputs, which the reader will report.
 */
static bool make_stdin_seekable(const regal_cli *cli) {
  char block[65536];
  size_t size;
  int64_t left = cli->options.max_input ? cli->options.max_input : INT64_MAX;
  if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
    return true;
  FILE *copy = tmpfile();
  if (!copy)
    return false;
  while (left >= 0 && (size = fread(block, 1, sizeof block, stdin)) > 0) {
    if (fwrite(block, 1, size, copy) != size)
      break;
    left -= (int64_t)size;
  }
  bool good = !ferror(stdin) && !ferror(copy) && fflush(copy) == 0 &&
              dup2(fileno(copy), STDIN_FILENO) >= 0 &&
              lseek(STDIN_FILENO, 0, SEEK_SET) == 0;
  fclose(copy);
  return good;
}

/* What the file says, as options; stdin is rewound. */
static regal_exit read_options(regal_cli *cli, const char *path,
                               regal_options *options) {
  bool standard = !strcmp(path, "-");
  if (standard && !make_stdin_seekable(cli))
    return regal_cli_fail(cli, "stdin: %s", strerror(errno));
  off_t start = standard ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
  regal_status status = regal_plan_options(cli->context, path, options);
  if (standard && lseek(STDIN_FILENO, start, SEEK_SET) < 0)
    return regal_cli_fail(cli, "stdin: %s", strerror(errno));
  return regal_cli_status(cli, status);
}

/* -- What they say, and where they disagree -------------------------------- */

typedef struct list {
  char text[REGAL_CLI_CONFLICT];
  size_t used;
} list;

/* A file that says more than options can is a machine file itself. */
static void add(list *list, const char *path, const char *name,
                const char *value, const char *here) {
  char said[160] = "a machine of its own";
  if (strcmp(name, "machine") || strcmp(value, path))
    snprintf(said, sizeof said, "--%s %.100s", name, value);
  int wrote =
      snprintf(list->text + list->used, sizeof list->text - list->used,
               "%s%s%s%.100s%s", list->used ? ", " : "", said,
               here ? " (here " : "", here ? here : "", here ? ")" : "");
  list->used += (size_t)wrote;
  if (list->used >= sizeof list->text)
    list->used = sizeof list->text - 1;
}

static bool is_of_a_plan(const regal_option_info *option) {
  return !strcmp(option->group, "machine") ||
         !strcmp(option->group, "objective");
}

/* Options that the file alone gives go to `taken`; those that both give, but
 * with other values, to `conflicts`. */
static void compare(const char *path, const regal_options *given,
                    const regal_options *file, list *taken, list *conflicts) {
  char here[REGAL_MOST_LIST], there[REGAL_MOST_LIST];
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *option = regal_option_at(i);
    if (!is_of_a_plan(option) || !regal_option_given(file, option->name) ||
        !regal_option_text(file, i, there, sizeof there))
      continue;
    if (!regal_option_given(given, option->name))
      add(taken, path, option->name, there, NULL);
    else if (regal_option_text(given, i, here, sizeof here) &&
             strcmp(here, there))
      add(conflicts, path, option->name, there, here);
  }
}

static void tell(const regal_cli *cli, const char *path, const list *taken,
                 const list *conflicts) {
  char text[2 * REGAL_CLI_CONFLICT];
  if (cli->options.quiet)
    return;
  if (taken->used) {
    snprintf(text, sizeof text, "%.99s was made with %s; so is this", path,
             taken->text);
    regal_cli_say("assumed", text);
  }
  if (conflicts->used) {
    snprintf(text, sizeof text, "%.99s was made with %s", path,
             conflicts->text);
    regal_cli_say("warning", text);
  }
}

regal_exit regal_cli_take_plan_options(regal_cli *cli, const char *path,
                                       regal_options *options, bool aloud) {
  regal_options file;
  list taken = {.text = ""}, conflicts = {.text = ""};
  if (regal_cli_is_pipe(path))
    return regal_cli_fail(cli,
                          "%.400s: a plan is read more than once, which a pipe "
                          "does not allow; give it as stdin (-)",
                          path);
  regal_options_init(&file);
  regal_exit code = read_options(cli, path, &file);
  if (code == REGAL_EXIT_OK)
    code = read_options(cli, path, options);
  if (code != REGAL_EXIT_OK)
    return code;
  compare(path, &cli->options, &file, &taken, &conflicts);
  memcpy(cli->conflict, conflicts.text, sizeof cli->conflict);
  if (aloud)
    tell(cli, path, &taken, &conflicts);
  return REGAL_EXIT_OK;
}

regal_exit regal_cli_blame_conflict(regal_cli *cli, regal_exit code) {
  size_t used = strlen(cli->message);
  if (code == REGAL_EXIT_INPUT && cli->conflict[0])
    snprintf(cli->message + used, sizeof cli->message - used,
             "; the plan was made with %s", cli->conflict);
  return code;
}
