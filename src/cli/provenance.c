/* SPDX-License-Identifier: Apache-2.0 */
/* The options that are not as they are by default: for a log, and for a file
 * that remembers the command that made it. */
#include <string.h>

#include "cli/cli.h"

bool regal_cli_is_changed(const regal_cli *cli, const regal_options *defaults,
                          size_t option, char value[REGAL_MOST_LIST]) {
  char standard[REGAL_MOST_LIST] = "";
  bool set = regal_option_text(defaults, option, standard, sizeof standard);
  return regal_option_text(&cli->options, option, value, REGAL_MOST_LIST) &&
         !(set && !strcmp(value, standard));
}

void regal_cli_print_banner(const regal_cli *cli) {
  char value[REGAL_MOST_LIST];
  regal_options defaults;
  regal_options_init(&defaults);
  fprintf(stderr, "%s\noptions:", regal_build_id());
  for (size_t i = 0; i < regal_option_count(); i++)
    if (regal_cli_is_changed(cli, &defaults, i, value))
      fprintf(stderr, " %s=%s", regal_option_at(i)->name, value);
  fputc('\n', stderr);
}

void regal_cli_join_command(const regal_cli *cli, char *text, size_t capacity) {
  char value[REGAL_MOST_LIST];
  regal_options defaults;
  size_t used = (size_t)snprintf(text, capacity, "regal %s %s",
                                 cli->command->name, cli->argument[0]);
  regal_options_init(&defaults);
  for (size_t i = 0; i < regal_option_count() && used < capacity; i++) {
    const regal_option_info *option = regal_option_at(i);
    bool flag = option->type == REGAL_OPTION_FLAG;
    if (option->changes_result &&
        regal_cli_is_changed(cli, &defaults, i, value))
      used +=
          (size_t)snprintf(text + used, capacity - used, " --%s%s%s",
                           option->name, flag ? "" : " ", flag ? "" : value);
  }
}
