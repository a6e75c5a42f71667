/* SPDX-License-Identifier: Apache-2.0 */
/* The command that made a file, as the file remembers it. */
#include <string.h>

#include "cli/cli.h"

void regal_join_command(const regal_cli *cli, const char *name, char *text,
                        size_t capacity) {
  char value[1100], standard[1100];
  regal_options defaults;
  size_t used =
      (size_t)snprintf(text, capacity, "regal %s %s", name, cli->argument[0]);
  regal_options_init(&defaults);
  for (size_t i = 0; i < regal_option_count() && used < capacity; i++) {
    const regal_option_info *option = regal_option_at(i);
    bool set = regal_option_text(&defaults, i, standard, sizeof standard);
    if (!regal_option_text(&cli->options, i, value, sizeof value) ||
        (set && !strcmp(value, standard)) || !option->changes_result)
      continue;
    bool flag = option->type == REGAL_OPTION_FLAG;
    used += (size_t)snprintf(text + used, capacity - used, " --%s%s%s",
                             option->name, flag ? "" : " ", flag ? "" : value);
  }
}
