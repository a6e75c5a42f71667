/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about plans that exist. regal evaluate GRAPH PLAN verifies a plan,
 * computes its cost and explains it; regal report GRAPH PLAN... writes a page
 * about plans. The machine is that of the plan file, except where options say
 * otherwise.
 */
#include "cli/cli.h"

void regal_cli_free_subject(regal_cli_subject *subject) {
  regal_result_free(subject->result);
  regal_problem_free(subject->problem);
}

static regal_exit judge(regal_cli *cli, const char *path,
                        regal_cli_subject *subject) {
  regal_plan *plan;
  REGAL_CLI_TRY(cli,
                regal_plan_load(cli->context, subject->problem, path, &plan));
  regal_status status =
      regal_evaluate(cli->context, subject->problem, plan, &subject->result);
  regal_plan_free(plan);
  if (status == REGAL_INVALID_PLAN)
    return regal_cli_fail(cli, "%s: %s", path, regal_error(cli->context));
  return regal_cli_status(cli, status);
}

regal_exit regal_cli_load_subject(regal_cli *cli, const char *path,
                                  regal_cli_subject *subject) {
  regal_options options = cli->options;
  regal_exit code = regal_cli_take_plan_options(cli, path, &options, false);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_problem_create(cli->context, cli->graph, &options,
                                          &subject->problem));
  return regal_cli_blame_conflict(cli, judge(cli, path, subject));
}

/* -- evaluate -------------------------------------------------------------- */

static regal_status report(regal_cli *cli, const regal_result *result,
                           FILE *stream) {
  regal_context *context = cli->context;
  regal_status status;
  if (cli->options.json)
    status = regal_plan_save_times(context, result, "-");
  else {
    fprintf(stream, "VALID: the plan's %u step%s obey all rules\n\n",
            result->plan->step_count, result->plan->step_count == 1 ? "" : "s");
    status = regal_report_summary(context, result, stream);
    if (status == REGAL_OK) {
      fputc('\n', stream);
      status =
          regal_report_explain(context, result->problem, result->plan, stream);
    }
  }
  if (status == REGAL_OK)
    status = regal_cli_extras(cli, result, stream);
  return status;
}

regal_exit regal_command_evaluate(regal_cli *cli) {
  FILE *stream;
  regal_cli_subject subject = {0};
  regal_exit code = regal_cli_streams(cli, &stream);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  code = regal_cli_load_subject(cli, cli->argument[1], &subject);
  if (code == REGAL_EXIT_OK)
    code = regal_cli_status(cli, report(cli, subject.result, stream));
  if (code == REGAL_EXIT_OK && !subject.result->fits) {
    regal_cli_say("regal", "the plan needs more than the memory limit");
    code = REGAL_EXIT_NO_FIT;
  }
  regal_cli_free_subject(&subject);
  return code;
}

/* -- report ---------------------------------------------------------------- */

regal_exit regal_command_report(regal_cli *cli) {
  regal_cli_subject subjects[REGAL_CLI_PLANS] = {{0}};
  const regal_result *results[REGAL_CLI_PLANS];
  int plans = cli->arguments - 1;
  regal_exit code = REGAL_EXIT_OK;
  if (!cli->options.output[0])
    return regal_cli_fail(cli, "where to? give the page to write with -o");
  REGAL_CLI_TRY(cli, regal_cli_load_with_notes(cli));
  for (int i = 0; i < plans && code == REGAL_EXIT_OK; i++) {
    code = regal_cli_load_subject(cli, cli->argument[i + 1], &subjects[i]);
    results[i] = subjects[i].result;
  }
  if (code == REGAL_EXIT_OK)
    code = regal_cli_status(
        cli, regal_report_html(cli->context, cli->argument[0], results,
                               &cli->argument[1], (size_t)plans,
                               cli->options.output));
  for (int i = 0; i < plans; i++)
    regal_cli_free_subject(&subjects[i]);
  return code;
}
