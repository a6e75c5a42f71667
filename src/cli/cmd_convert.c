/* SPDX-License-Identifier: Apache-2.0 */
/* regal convert GRAPH -o OUT: writes a graph in another format. The format
 * comes from --format or from the ending of OUT. */
#include "cli/cli.h"

regal_exit regal_command_convert(regal_cli *cli) {
  regal_graph_format format;
  regal_exit code = regal_cli_output_format(cli, &format);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  return regal_cli_status(cli, regal_graph_save(cli->context, cli->graph,
                                                cli->options.output, format));
}
