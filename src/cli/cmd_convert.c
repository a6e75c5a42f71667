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
  regal_graph *graph;
  if (!output[0])
    return regal_cli_fail(cli, "where to? give the file to write with -o");
  regal_status status = choose_format(cli, &format);
  if (status == REGAL_OK)
    status =
        regal_graph_load(cli->context, cli->argument[0], &cli->options, &graph);
  if (status != REGAL_OK)
    return regal_cli_status(cli, status);
  regal_cli_notes(cli, graph);
  status = regal_graph_save(cli->context, graph, output, format);
  regal_graph_free(graph);
  return regal_cli_status(cli, status);
}
