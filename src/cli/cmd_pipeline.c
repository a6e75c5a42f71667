/* SPDX-License-Identifier: Apache-2.0 */
/* regal pipeline GRAPH --microbatches M -o OUT: from the training step of one
 * microbatch to that of M. Says on stderr what it found in the step. */
#include "cli/cli.h"

static void print_notes(const regal_graph *graph) {
  for (size_t i = 0; i < regal_graph_note_count(graph); i++)
    regal_cli_say("assumed", regal_graph_note(graph, i).text);
}

regal_exit regal_command_pipeline(regal_cli *cli) {
  regal_graph_format format;
  regal_graph *pipeline;
  regal_exit code = regal_cli_output_format(cli, &format);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  REGAL_CLI_TRY(cli, regal_graph_pipeline(cli->context, cli->graph,
                                          &cli->options, &pipeline));
  if (!cli->options.quiet)
    print_notes(pipeline);
  regal_status status =
      regal_graph_save(cli->context, pipeline, cli->options.output, format);
  regal_graph_free(pipeline);
  return regal_cli_status(cli, status);
}
