/* SPDX-License-Identifier: Apache-2.0 */
/* regal optimize GRAPH: loads the graph, searches for a plan, and writes what
 * the options ask for: the plan, a trace, a summary or JSON, a timeline. */
#include "cli/cli.h"

#include <string.h>

static regal_status search(regal_cli *cli, const regal_graph *graph,
                           regal_result **result) {
  regal_progress_line line;
  regal_progress_begin(&line, cli);
  regal_interrupt_begin(cli->context);
  regal_status status = regal_solve(cli->context, graph, &cli->options, result);
  regal_interrupt_end();
  regal_progress_end(&line, cli);
  return status;
}

static regal_status report(regal_cli *cli, const regal_result *result,
                           FILE *stream) {
  regal_context *context = cli->context;
  const regal_options *options = &cli->options;
  regal_status status = REGAL_OK;
  if (options->output[0])
    status = regal_plan_save(context, result, options->output);
  if (status == REGAL_OK)
    status = options->json ? regal_result_save_json(context, result, "-")
                           : regal_report_summary(context, result, stream);
  if (status == REGAL_OK)
    status = regal_cli_extras(cli, result->problem, result->plan, stream);
  return status;
}

static regal_exit optimize(regal_cli *cli, const regal_graph *graph,
                           FILE *stream) {
  regal_result *result;
  regal_status status = search(cli, graph, &result);
  if (status != REGAL_OK)
    return regal_cli_status(cli, status);
  bool fits = result->fits;
  status = report(cli, result, stream);
  regal_result_free(result);
  if (status != REGAL_OK)
    return regal_cli_status(cli, status);
  if (fits)
    return REGAL_EXIT_OK;
  regal_cli_say("regal", "no plan was found that fits the memory limit");
  return REGAL_EXIT_NO_FIT;
}

regal_exit regal_command_optimize(regal_cli *cli) {
  const char *path = cli->argument[0];
  FILE *stream;
  regal_graph *graph;
  if (!strcmp(path, "-") && !strcmp(cli->options.start, "-"))
    return regal_cli_fail(cli, "GRAPH and --start cannot both be stdin");
  regal_exit code = regal_cli_streams(cli, &stream);
  if (code != REGAL_EXIT_OK)
    return code;
  regal_status status =
      regal_graph_load(cli->context, path, &cli->options, &graph);
  if (status != REGAL_OK)
    return regal_cli_status(cli, status);
  regal_cli_notes(cli, graph);
  code = optimize(cli, graph, stream);
  regal_graph_free(graph);
  return code;
}
