/* SPDX-License-Identifier: Apache-2.0 */
/* regal generate DIR: fills a folder with random graphs (regal_generate) and
 * prints how many were drawn and kept. With --pipeline it writes one graph, to
 * -o. */
#include "cli/cli.h"
#include "regal_data.h"

enum { LEAST_BAR = 10, MOST_BAR = 40 };

static double share_done(const regal_generation *now) {
  return now->total ? (double)now->graphs / (double)now->total : 1;
}

static void format_state(const regal_generation *now, char text[160]) {
  char past[32], left[32];
  double made = (double)(now->graphs - now->resumed);
  regal_cli_format_time(now->seconds, past);
  regal_cli_format_time(now->seconds / made *
                            (double)(now->total - now->graphs) /* nan: none */,
                        left);
  snprintf(text, 160, "%llu of %llu graphs (%.0f%%)  %s, %s to go",
           (unsigned long long)now->graphs, (unsigned long long)now->total,
           100 * share_done(now), past, left);
}

/* In front of the text on a terminal. */
static void draw_bar(const regal_generation *now, char bar[96]) {
  static const char full[] = "########################################";
  static const char empty[] = "........................................";
  int room = regal_cli_columns(stderr) - 70;
  int length = room < LEAST_BAR ? LEAST_BAR : room > MOST_BAR ? MOST_BAR : room;
  int done = (int)(share_done(now) * length);
  snprintf(bar, 96, "[%.*s%.*s] ", done, full, length - done, empty);
}

static void show(void *state, const regal_generation *now) {
  regal_job_line *line = state;
  char bar[96] = "", text[160], both[256];
  if (!regal_job_line_is_due(line, now->seconds))
    return;
  if (line->on_terminal)
    draw_bar(now, bar);
  format_state(now, text);
  snprintf(both, sizeof both, "%s%s", bar, text);
  regal_job_line_print(line, now->seconds, both);
}

static void print_json(const regal_generation *made) {
  printf("{\"graphs\": %llu, \"total\": %llu, \"drawn\": %llu, \"resumed\": "
         "%llu, \"improvement\": %.6f, \"seconds\": %.3f}\n",
         (unsigned long long)made->graphs, (unsigned long long)made->total,
         (unsigned long long)made->drawn, (unsigned long long)made->resumed,
         made->improvement, made->seconds);
}

static void print_summary(const regal_cli *cli, const regal_generation *made) {
  const regal_options *options = &cli->options;
  printf("graphs       %llu in %s\n", (unsigned long long)made->graphs,
         cli->argument[0]);
  if (made->resumed)
    printf("resumed      after %llu\n", (unsigned long long)made->resumed);
  printf("drawn        %llu\n", (unsigned long long)made->drawn);
  if (options->filter || options->paper)
    printf(
        "kept         %.1f%%\nimprovement  %.1f%% from 1K to 10K evaluations, "
        "on average\n",
        100 * (double)made->graphs / (double)made->drawn,
        100 * made->improvement);
  printf("time         %.1f s\n", made->seconds);
}

static regal_status generate(regal_cli *cli, regal_generation *made) {
  regal_job_line line = regal_job_line_begin();
  regal_interrupt_begin(cli->context);
  regal_status status =
      regal_generate(cli->context, cli->argument[0], &cli->options,
                     cli->options.quiet ? NULL : show, &line, made);
  regal_interrupt_end();
  regal_job_line_clear(&line);
  return status;
}

static regal_exit generate_pipeline(regal_cli *cli) {
  regal_graph_format format;
  if (cli->arguments)
    return regal_cli_fail(cli, "--pipeline writes one graph: give -o FILE "
                               "instead of a folder");
  regal_exit code = regal_cli_output_format(cli, &format);
  if (code != REGAL_EXIT_OK)
    return code;
  REGAL_CLI_TRY(cli, regal_generate_pipeline(
                         cli->context, cli->options.pipeline, &cli->graph));
  return regal_cli_status(cli, regal_graph_save(cli->context, cli->graph,
                                                cli->options.output, format));
}

regal_exit regal_command_generate(regal_cli *cli) {
  regal_generation made;
  if (cli->options.pipeline[0])
    return generate_pipeline(cli);
  if (!cli->arguments)
    return regal_cli_fail(cli, "which folder? regal generate DIR");
  REGAL_CLI_TRY(cli, generate(cli, &made));
  if (made.graphs < made.total)
    return regal_cli_stopped(cli, made.graphs, made.total, "graphs", "");
  if (cli->options.json)
    print_json(&made);
  else
    print_summary(cli, &made);
  return REGAL_EXIT_OK;
}
