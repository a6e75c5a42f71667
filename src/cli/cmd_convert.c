/* SPDX-License-Identifier: Apache-2.0 */
/* regal convert GRAPH -o OUT: writes a graph in another format. The format
 * comes from --format or from the ending of OUT. */
#include "cli/cli.h"

/* --format has the formats in the order of regal_graph_format, after `auto`. */
static regal_status choose_format(const regal_cli *cli,
                                  regal_graph_format *format) {
  int64_t choice = cli->options.format;
  if (!choice)
    return regal_graph_format_of(cli->context, cli->options.output, format);
  *format = (regal_graph_format)(choice - 1);
  return REGAL_OK;
}

regal_exit regal_command_convert(regal_cli *cli) {
  const char *output = cli->options.output;
  regal_graph_format format;
  if (!output[0])
    return regal_cli_fail(cli, "where to? give the file to write with -o");
  REGAL_CLI_TRY(cli, choose_format(cli, &format));
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  return regal_cli_status(
      cli, regal_graph_save(cli->context, cli->graph, output, format));
}
