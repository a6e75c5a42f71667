/* SPDX-License-Identifier: Apache-2.0 */
/* regal evaluate GRAPH PLAN: verifies a plan, computes its cost and explains
 * it. The machine is that of the plan file, except where options say otherwise.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A plan is read twice: for its machine, then for its steps. So stdin, unless
 * it is a file already, is replaced by a temporary one that can be rewound.
 * Nothing is copied beyond the limit on inputs, which the reader will report.
 */
static bool make_stdin_seekable(const regal_cli *cli) {
  char block[65536];
  size_t size;
  int64_t left = cli->options.max_input ? cli->options.max_input : INT64_MAX;
  if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
    return true;
  FILE *copy = tmpfile();
  if (!copy)
    return false;
  while (left >= 0 && (size = fread(block, 1, sizeof block, stdin)) > 0) {
    if (fwrite(block, 1, size, copy) != size)
      break;
    left -= (int64_t)size;
  }
  bool good = !ferror(stdin) && !ferror(copy) && fflush(copy) == 0 &&
              dup2(fileno(copy), STDIN_FILENO) >= 0 &&
              lseek(STDIN_FILENO, 0, SEEK_SET) == 0;
  fclose(copy);
  return good;
}

/* Sets the options that the plan's file has values for. */
static regal_exit take_options(regal_cli *cli, const char *path) {
  bool standard = !strcmp(path, "-");
  if (standard && !make_stdin_seekable(cli))
    return regal_cli_fail(cli, "stdin: %s", strerror(errno));
  off_t start = standard ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
  regal_status status = regal_plan_options(cli->context, path, &cli->options);
  if (standard && lseek(STDIN_FILENO, start, SEEK_SET) < 0)
    return regal_cli_fail(cli, "stdin: %s", strerror(errno));
  return regal_cli_status(cli, status);
}

static regal_status report(regal_cli *cli, const regal_result *result,
                           FILE *stream) {
  regal_context *context = cli->context;
  regal_status status;
  if (cli->options.json)
    status = regal_result_save_json(context, result, "-");
  else {
    fprintf(stream, "VALID: the plan's %u steps obey all rules\n\n",
            result->plan->step_count);
    status = regal_report_summary(context, result, stream);
    if (status == REGAL_OK) {
      fputc('\n', stream);
      status =
          regal_report_explain(context, result->problem, result->plan, stream);
    }
  }
  if (status == REGAL_OK)
    status = regal_cli_extras(cli, result->problem, result->plan, stream);
  return status;
}

static regal_exit judge(regal_cli *cli, const regal_problem *problem,
                        FILE *stream) {
  const char *path = cli->argument[1];
  regal_plan *plan;
  regal_result *result;
  REGAL_CLI_TRY(cli, regal_plan_load(cli->context, problem, path, &plan));
  regal_status status = regal_evaluate(cli->context, problem, plan, &result);
  regal_plan_free(plan);
  if (status == REGAL_INVALID_PLAN)
    return regal_cli_fail(cli, "%s: %s", path, regal_error(cli->context));
  REGAL_CLI_TRY(cli, status);
  bool fits = result->fits;
  status = report(cli, result, stream);
  regal_result_free(result);
  if (status != REGAL_OK || fits)
    return regal_cli_status(cli, status);
  regal_cli_say("regal", "the plan needs more than the memory limit");
  return REGAL_EXIT_NO_FIT;
}

regal_exit regal_command_evaluate(regal_cli *cli) {
  FILE *stream;
  regal_problem *problem;
  regal_exit code = regal_cli_streams(cli, &stream);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  code = take_options(cli, cli->argument[1]);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_problem_create(cli->context, cli->graph,
                                          &cli->options, &problem));
  code = judge(cli, problem, stream);
  regal_problem_free(problem);
  return code;
}
