/* SPDX-License-Identifier: Apache-2.0 */
/* regal inspect GRAPH: prints a graph's statistics and the notes of its reader,
 * as text or JSON. */
#include "cli/cli.h"

regal_exit regal_command_inspect(regal_cli *cli) {
  REGAL_CLI_TRY(cli, regal_cli_load(cli));
  return regal_cli_status(
      cli, cli->options.json
               ? regal_graph_info_save_json(cli->context, cli->graph, "-")
               : regal_report_graph(cli->context, cli->graph, stdout));
}
