/* SPDX-License-Identifier: Apache-2.0 */
/* regal convert GRAPH -o OUT: the same graph in another format. */
#include "cli/cli.h"

#include <string.h>

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && !strcmp(text + length - tail, ending);
}

static bool choose_format(const regal_options *options,
                          regal_graph_format *format) {
  enum { AUTO, BINARY, TEXT, JSON }; /* the choices, in the table's order */
  const char *path = options->output;
  int64_t choice = options->format;
  if (choice == AUTO)
    choice = ends_with(path, ".pb")      ? BINARY
             : ends_with(path, ".pbtxt") ? TEXT
             : ends_with(path, ".txt")   ? TEXT
             : ends_with(path, ".json")  ? JSON
                                         : AUTO;
  *format = choice == TEXT   ? REGAL_GRAPH_TEXT
            : choice == JSON ? REGAL_GRAPH_JSON
                             : REGAL_GRAPH_BINARY;
  return choice != AUTO;
}

regal_exit regal_command_convert(regal_cli *cli) {
  const char *output = cli->options.output;
  regal_graph_format format;
  regal_graph *graph;
  if (!output[0])
    return regal_cli_fail(cli, "where to? give the file to write with -o");
  if (!choose_format(&cli->options, &format))
    return regal_cli_fail(
        cli,
        "'%.200s' does not end in .pb, .pbtxt, .txt or .json: give --format",
        output);
  regal_status status =
      regal_graph_load(cli->context, cli->argument[0], &cli->options, &graph);
  if (status != REGAL_OK)
    return regal_cli_status(cli, status);
  regal_cli_notes(cli, graph);
  status = regal_graph_save(cli->context, graph, output, format);
  regal_graph_free(graph);
  return regal_cli_status(cli, status);
}
