/* SPDX-License-Identifier: Apache-2.0 */
/* regal inspect GRAPH: prints a graph's statistics and the notes of its reader,
 * as text or JSON. */
#include "cli/cli.h"

regal_exit regal_command_inspect(regal_cli *cli) {
  regal_graph *graph;
  regal_status status =
      regal_graph_load(cli->context, cli->argument[0], &cli->options, &graph);
  if (status != REGAL_OK)
    return regal_cli_status(cli, status);
  status = cli->options.json
               ? regal_graph_info_save_json(cli->context, graph, "-")
               : regal_report_graph(cli->context, graph, stdout);
  regal_graph_free(graph);
  return regal_cli_status(cli, status);
}
