/* SPDX-License-Identifier: Apache-2.0 */
/* --plot: the curves of a training run, drawn by gnuplot from its log. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

/* Quotes for gnuplot: a quote inside is doubled. */
static void put_quoted(FILE *file, const char *text) {
  fputc('\'', file);
  for (; *text; text++) {
    if (*text == '\'')
      fputc('\'', file);
    fputc(*text, file);
  }
  fputc('\'', file);
}

static void put_panel(FILE *file, const char *title, int column,
                      const char *log) {
  fprintf(file, "set title '%s'\nplot ", title);
  put_quoted(file, log);
  fprintf(file, " using 1:%d every ::1 with dots lc '#a0c4e8', ", column);
  put_quoted(file, log);
  fprintf(file, " using 1:%d every ::1 smooth bezier lw 2 lc '#0060ad'\n",
          column);
}

static void put_validation(FILE *file, const char *log) {
  fputs("set title 'validation: improvement over BRKGA, %'\nplot ", file);
  put_quoted(file, log);
  fputs(" using 1:9 every ::1 with linespoints pt 7 ps .5 lw 2 lc "
        "'#d95319'\n",
        file);
}

static void put_script(FILE *file, const char *log, const char *picture,
                       bool validated) {
  fputs("set terminal svg size 960,640 dynamic font 'sans,12' background "
        "'white'\nset output ",
        file);
  put_quoted(file, picture);
  fputs("\nset datafile separator ','\nunset key\nset grid lc '#dddddd'\n"
        "set border 3\nset tics nomirror out\nset xlabel 'step'\n"
        "set multiplot layout 2,2\n",
        file);
  put_panel(file, "improvement of episodes over standard BRKGA, %", 4, log);
  if (validated)
    put_validation(file, log);
  else
    put_panel(file, "learning rate", 7, log);
  put_panel(file, "entropy of an op''s choices, nats", 5, log);
  put_panel(file, "norm of the gradient", 6, log);
  fputs("unset multiplot\n", file);
}

regal_exit regal_cli_plot_training(regal_cli *cli) {
  const regal_options *options = &cli->options;
  char log[1100], script[1100];
  snprintf(log, sizeof log, "%s%s",
           options->log[0] ? options->log : options->output,
           options->log[0] ? "" : ".csv");
  snprintf(script, sizeof script, "%s.gp", options->plot);
  FILE *file = fopen(script, "w");
  if (!file)
    return regal_cli_fail(cli, "%.200s: %s", script, strerror(errno));
  put_script(file, log, options->plot, options->valid_graphs > 0);
  bool failed = ferror(file) != 0;
  if (fclose(file) || failed)
    return regal_cli_fail(cli, "%.200s: %s", script, strerror(errno));
  int code = regal_cli_gnuplot(".", script);
  if (code == 127)
    return regal_cli_fail(cli,
                          "gnuplot was not found: %.200s has the data and "
                          "%.200s the script, no picture",
                          log, script);
  if (code)
    return regal_cli_fail(cli, "gnuplot failed on %.200s", script);
  return REGAL_EXIT_OK;
}
