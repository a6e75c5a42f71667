/* SPDX-License-Identifier: Apache-2.0 */
/* regal bench INPUT... -o FILE: runs methods on datasets (regal_bench).
 * regal bench TABLE... --report DIR: tables and figures of the runs. */
#include "regal_bench.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

static double seconds_left(const regal_benching *now) {
  double made = (double)(now->runs - now->resumed);
  return now->seconds / made * (double)(now->total - now->runs);
}

static void show(void *state, const regal_benching *now) {
  char left[32], text[200];
  if (!regal_job_line_is_due(state, now->seconds))
    return;
  regal_cli_format_time(seconds_left(now), left);
  snprintf(text, sizeof text, "%llu of %llu runs (%.0f%%)  %s to go",
           (unsigned long long)now->runs, (unsigned long long)now->total,
           100 * (double)now->runs / (double)now->total, left);
  regal_job_line_print(state, now->seconds, text);
}

static void print_json(const regal_benching *made) {
  printf("{\"runs\": %llu, \"resumed\": %llu, \"graphs\": %zu, \"variants\": "
         "%zu, \"seconds\": %.3f}\n",
         (unsigned long long)made->runs, (unsigned long long)made->resumed,
         made->graphs, made->variants, made->seconds);
}

static void print_summary(const regal_cli *cli, const regal_benching *made) {
  printf("table        %s\n", cli->options.output);
  printf("graphs       %zu\n", made->graphs);
  printf("variants     %zu: a method with a budget\n", made->variants);
  printf("runs         %llu", (unsigned long long)made->runs);
  if (made->resumed)
    printf(", %llu of them of an earlier call",
           (unsigned long long)made->resumed);
  printf("\n");
}

static regal_exit run(regal_cli *cli) {
  regal_job_line line = regal_job_line_begin();
  regal_benching made;
  if (!cli->options.output[0])
    return regal_cli_fail(cli, "'bench' needs -o FILE, or --report DIR");
  regal_interrupt_begin(cli->context);
  regal_status status = regal_bench(
      cli->context, cli->argument, (size_t)cli->arguments, &cli->options,
      cli->options.quiet ? NULL : show, &line, &made);
  regal_interrupt_end();
  regal_job_line_clear(&line);
  REGAL_CLI_TRY(cli, status);
  if (made.rank > 0)
    return REGAL_EXIT_OK;
  if (made.runs < made.total)
    return regal_cli_stopped(cli, made.runs, made.total, "runs", "");
  if (cli->options.json)
    print_json(&made);
  else
    print_summary(cli, &made);
  return REGAL_EXIT_OK;
}

static regal_exit report(regal_cli *cli) {
  const char *folder = cli->options.report;
  if (cli->options.output[0])
    return regal_cli_fail(cli, "'--report' makes no runs, so it takes no -o");
  if (mkdir(folder, 0777) && errno != EEXIST)
    return regal_cli_fail(cli, "%.200s: %s", folder, strerror(errno));
  REGAL_CLI_TRY(cli, regal_bench_report(cli->context, cli->argument,
                                        (size_t)cli->arguments, &cli->options));
  int code = regal_cli_gnuplot(folder, "report.gp");
  if (code == 127)
    return regal_cli_fail(cli,
                          "gnuplot was not found: %.200s has the tables, the "
                          "data (*.csv) and the script (report.gp), no "
                          "pictures",
                          folder);
  if (code)
    return regal_cli_fail(cli, "gnuplot failed on %.200s/report.gp", folder);
  if (!cli->options.quiet)
    printf("report       %s/report.md\n", folder);
  return REGAL_EXIT_OK;
}

regal_exit regal_command_bench(regal_cli *cli) {
  return cli->options.report[0] ? report(cli) : run(cli);
}
