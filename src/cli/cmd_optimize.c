/* SPDX-License-Identifier: Apache-2.0 */
/* regal optimize GRAPH: loads the graph, searches for a plan, and writes what
 * the options ask for: the plan, a trace, a page, a summary or JSON, a
 * timeline.
 */
#include "cli/cli.h"

#include <string.h>

/* Plans for free transfers are seldom what is wanted. Peaks do not depend on
 * them. */
static void note_free_transfers(const regal_cli *cli) {
  static const char *const costs[] = {"machine", "bandwidth", "latency"};
  const regal_options *options = &cli->options;
  bool runtime = options->objective == 0;
  if (options->quiet || options->devices < 2 || !runtime)
    return;
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
    if (regal_option_given(options, costs[i]))
      return;
  regal_cli_say("assumed",
                "transfers are free; --machine NAME ('regal machines' lists "
                "them), --bandwidth or --latency give them a cost");
}

/* Without other options, a search goes on where its plan was made. */
static regal_exit take_start(regal_cli *cli) {
  if (!cli->options.start[0] ||
      !strcmp(cli->options.start, REGAL_START_SCHEDULE))
    return REGAL_EXIT_OK;
  regal_options options = cli->options;
  regal_exit code =
      regal_cli_take_plan_options(cli, options.start, &options, true);
  cli->options = options;
  return code;
}

/* Who gave no budget is told if it takes long. */
static void note_duration(const regal_cli *cli) {
  double seconds = regal_default_seconds(cli->graph, &cli->options);
  char text[160];
  if (cli->options.quiet || seconds <= 1)
    return;
  snprintf(text, sizeof text,
           "takes about %.0f s for this graph; --time SECONDS sets it",
           seconds);
  regal_cli_say(cli->options.method, text);
}

static regal_status search(regal_cli *cli, regal_result **result) {
  regal_progress_line line;
  note_duration(cli);
  regal_progress_begin(&line, cli);
  regal_interrupt_begin(cli->context);
  regal_status status =
      regal_solve(cli->context, cli->graph, &cli->options, result);
  regal_interrupt_end();
  regal_progress_end(&line, cli);
  return status;
}

static regal_status save_json(regal_cli *cli, const regal_result *result) {
  return cli->options.times ? regal_plan_save_times(cli->context, result, "-")
                            : regal_result_save_json(cli->context, result, "-");
}

/* A plan that cannot be written is still reported. */
static regal_exit report(regal_cli *cli, const regal_result *result,
                         FILE *stream) {
  const regal_options *options = &cli->options;
  regal_exit code = REGAL_EXIT_OK;
  if (options->output[0])
    code = regal_cli_save_plan(cli, result);
  regal_status status =
      options->json ? save_json(cli, result)
                    : regal_report_summary(cli->context, result, stream);
  if (status == REGAL_OK)
    status = regal_cli_extras(cli, result, stream);
  return code == REGAL_EXIT_OK ? regal_cli_status(cli, status) : code;
}

static regal_exit fail_limit(const regal_result *result) {
  char message[512];
  snprintf(message, sizeof message, "%s%s",
           result->shortage ? "no plan can fit the memory limit: "
                            : "no plan was found that fits the memory limit",
           result->shortage ? result->shortage : "");
  regal_cli_say("regal", message);
  return REGAL_EXIT_NO_FIT;
}

regal_exit regal_command_optimize(regal_cli *cli) {
  FILE *stream;
  regal_result *result;
  regal_exit code = regal_cli_streams(cli, &stream);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  code = take_start(cli);
  if (code == REGAL_EXIT_OK)
    code = regal_cli_blame_conflict(
        cli, regal_cli_status(cli, search(cli, &result)));
  if (code != REGAL_EXIT_OK)
    return code;
  code = report(cli, result, stream);
  if (code == REGAL_EXIT_OK) {
    note_free_transfers(cli);
    if (!result->fits)
      code = fail_limit(result);
  }
  regal_result_free(result);
  return code;
}
