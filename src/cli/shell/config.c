/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files: --config FILE reads options, --dump-config writes those
 * that are not as they are by default, in the same form.
 *
 *   # comment
 *   devices = 4
 *   bandwidth = 300GB/s
 *   json = true
 *
 * What the command line gives wins over the file. A file may serve several
 * commands: options that this one does not take are passed over. What no
 * command takes is an error.
 */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

typedef struct config {
  regal_cli *cli;
  const char *name; /* for messages */
  FILE *file;
  unsigned long line;
  regal_options given; /* by the command line */
} config;

static bool fail(config *c, const char *what) {
  regal_cli_fail(c->cli, "%.400s:%lu: %s", c->name, c->line, what);
  return false;
}

static char *trim(char *text) {
  text += strspn(text, " \t\r");
  size_t length = strlen(text);
  while (length && strchr(" \t\r", text[length - 1]))
    length--;
  text[length] = 0;
  return text;
}

static bool is_about_configuration(const regal_option_info *option) {
  return !strcmp(option->group, "config");
}

/* The library's message begins with "--name: ". */
static bool set(config *c, const char *name, const char *value) {
  regal_cli *cli = c->cli;
  char text[640];
  size_t index = regal_option_find(name);
  const regal_option_info *option = regal_option_at(index);
  if (option && is_about_configuration(option)) {
    snprintf(text, sizeof text, "%s cannot be in a configuration file", name);
    return fail(c, text);
  }
  if (option && (!regal_command_takes(cli->command, option) ||
                 regal_option_given(&c->given, option->name)))
    return true;
  if (regal_options_set(cli->context, &cli->options, name, value) == REGAL_OK)
    return true;
  snprintf(text, sizeof text, "%s", regal_error(cli->context));
  return fail(c, text);
}

static bool read_line(config *c, char *line) {
  char *name = trim(line), *value = strchr(name, '=');
  char text[128];
  if (!*name || *name == '#')
    return true;
  if (!value) {
    snprintf(text, sizeof text, "found \"%.60s\", expected NAME = VALUE", name);
    return fail(c, text);
  }
  *value++ = 0;
  return set(c, trim(name), trim(value));
}

static bool read_lines(config *c) {
  char line[REGAL_MOST_LIST + 256];
  while (fgets(line, sizeof line, c->file)) {
    char *end = strchr(line, '\n');
    c->line++;
    if (!end && !feof(c->file))
      return fail(c, "the line is too long");
    if (end)
      *end = 0;
    if (!read_line(c, line))
      return false;
  }
  return !ferror(c->file) || fail(c, strerror(errno));
}

bool regal_cli_read_config(regal_cli *cli) {
  bool standard = !strcmp(cli->options.config, "-");
  config c = {.cli = cli,
              .name = standard ? "stdin" : cli->options.config,
              .file = standard ? stdin : fopen(cli->options.config, "r"),
              .given = cli->options};
  if (!c.file) {
    regal_cli_fail(cli, "%.400s: %s", cli->options.config, strerror(errno));
    return false;
  }
  bool good = read_lines(&c);
  fclose(c.file);
  return good;
}

void regal_cli_dump_config(const regal_cli *cli, FILE *stream) {
  char value[REGAL_MOST_LIST];
  regal_options defaults;
  regal_options_init(&defaults);
  fprintf(stream, "# regal %s: options that are not the default\n",
          cli->command->name);
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *option = regal_option_at(i);
    if (!is_about_configuration(option) &&
        regal_cli_is_changed(cli, &defaults, i, value))
      fprintf(stream, "%s = %s\n", option->name, value);
  }
}
