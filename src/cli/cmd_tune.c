/* SPDX-License-Identifier: Apache-2.0 */
/* regal tune DATASET -o FILE: tunes the settings of BRKGA on a training set
 * (regal_tune) and prints the best. */
#include "cli/cli.h"
#include "regal_tune.h"

#include <string.h>

static double seconds_left(const regal_tuning *now) {
  double made = (double)(now->runs - now->resumed);
  return now->seconds / made * (double)(now->total - now->runs);
}

static void show(void *state, const regal_tuning *now) {
  char left[32], best[64] = "", text[200];
  if (!regal_job_line_is_due(state, now->seconds))
    return;
  regal_cli_format_time(seconds_left(now), left);
  if (now->round > 1)
    snprintf(best, sizeof best, "  best %+.2f%%", now->improvement);
  snprintf(text, sizeof text,
           "round %zu of %zu  %llu of %llu runs (%.0f%%)%s  %s to go",
           now->round, now->rounds, (unsigned long long)now->runs,
           (unsigned long long)now->total,
           100 * (double)now->runs / (double)now->total, best, left);
  regal_job_line_print(state, now->seconds, text);
}

static void print_json(const regal_tuning *made, FILE *stream) {
  fprintf(stream,
          "{\"settings\": %zu, \"graphs\": %zu, \"runs\": %llu, \"resumed\": "
          "%llu, \"improvement_percent\": %.4f, \"standard_error\": %.4f, "
          "\"seconds\": %.3f}\n",
          made->settings, made->graphs, (unsigned long long)made->runs,
          (unsigned long long)made->resumed, made->improvement,
          made->standard_error, made->seconds);
}

static void print_summary(const regal_cli *cli, const regal_tuning *made,
                          FILE *stream) {
  fprintf(stream, "settings     %s, best of %zu on %zu graph%s\n",
          cli->options.output, made->settings, made->graphs,
          made->graphs == 1 ? "" : "s");
  fprintf(stream,
          "improvement  %.2f%% over standard BRKGA (standard error %.2f)\n",
          made->improvement, made->standard_error);
  fprintf(stream, "runs         %llu", (unsigned long long)made->runs);
  if (made->resumed)
    fprintf(stream, ", %llu of them of an earlier call",
            (unsigned long long)made->resumed);
  fprintf(stream, "\ntime         %.1f s\n", made->seconds);
}

static regal_status tune(regal_cli *cli, regal_tuning *made) {
  regal_job_line line = regal_job_line_begin();
  char command[1024];
  regal_cli_join_command(cli, command, sizeof command);
  regal_interrupt_begin(cli->context);
  regal_status status =
      regal_tune(cli->context, cli->argument[0], &cli->options, command,
                 cli->options.quiet ? NULL : show, &line, made);
  regal_interrupt_end();
  regal_job_line_clear(&line);
  return status;
}

regal_exit regal_command_tune(regal_cli *cli) {
  regal_tuning made;
  if (!cli->options.output[0])
    return regal_cli_fail(cli, "'tune' needs -o FILE");
  REGAL_CLI_TRY(cli, tune(cli, &made));
  if (made.rank > 0)
    return REGAL_EXIT_OK;
  if (made.runs < made.total)
    return regal_cli_stopped(cli, made.runs, made.total, "runs", "");
  FILE *report = strcmp(cli->options.output, "-") ? stdout : stderr;
  if (cli->options.json)
    print_json(&made, report);
  else
    print_summary(cli, &made, report);
  return REGAL_EXIT_OK;
}
