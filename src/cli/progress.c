/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on stderr. Of a search: one line that is rewritten on a terminal,
 * otherwise a line at each improvement. Of training, tuning and generating: the
 * line of a job. */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"

#include <unistd.h>

void regal_cli_format_time(double seconds, char text[32]) {
  if (!(seconds >= 0 && seconds < 1e8)) {
    snprintf(text, 32, "-:--");
    return;
  }
  unsigned long whole = (unsigned long)(seconds + .5);
  if (whole >= 3600)
    snprintf(text, 32, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60,
             whole % 60);
  else
    snprintf(text, 32, "%lu:%02lu", whole / 60, whole % 60);
}

/* -- The line of a job ----------------------------------------------------- */

enum { SECONDS_PER_LINE = 10 };

regal_job_line regal_job_line_begin(void) {
  return (regal_job_line){.on_terminal = isatty(STDERR_FILENO)};
}

bool regal_job_line_is_due(const regal_job_line *line, double seconds) {
  return seconds - line->last >= (line->on_terminal ? .5 : SECONDS_PER_LINE);
}

void regal_job_line_print(regal_job_line *line, double seconds,
                          const char *text) {
  fprintf(stderr, line->on_terminal ? "\r%s\033[K" : "%s\n", text);
  line->shown = line->on_terminal;
  line->last = seconds;
}

void regal_job_line_clear(regal_job_line *line) {
  if (line->shown)
    fputs("\r\033[K", stderr);
  line->shown = false;
}

/* -- A search -------------------------------------------------------------- */

typedef struct unit {
  double size;
  const char *name;
} unit;

/* Largest first; what is below the last one is printed in it all the same. */
static const unit durations[] = {
    {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}, {0, NULL}};
static const unit byte_units[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"},
                                  {0x1p20, "MiB"}, {0x1p10, "KiB"},
                                  {1, "B"},        {0, NULL}};

static void format_cost(int64_t cost, bool in_bytes, char text[48]) {
  const unit *u = in_bytes ? byte_units : durations;
  while (u[1].name && (double)cost < u->size)
    u++;
  snprintf(text, 48, u->size > 1 ? "%.3f %s" : "%.0f %s",
           (double)cost / u->size, u->name);
}

static void format_gap(const regal_progress *progress, char text[48]) {
  if (!progress->fits)
    snprintf(text, 48, "beyond the memory limit");
  else if (progress->bound <= 0)
    snprintf(text, 48, "no bound");
  else
    snprintf(text, 48, "gap %.2f%%",
             100.0 * (double)(progress->best - progress->bound) /
                 (double)progress->bound);
}

static void show(void *state, const regal_progress *progress) {
  regal_progress_line *line = state;
  char best[48], gap[48];
  if (!line->on_terminal && line->shown && progress->best == line->last_best)
    return;
  format_cost(progress->best, line->in_bytes, best);
  format_gap(progress, gap);
  fprintf(stderr, "%s%10llu evaluations  best %s  %s  %.1f s%s",
          line->on_terminal ? "\r" : "",
          (unsigned long long)progress->evaluations, best, gap,
          progress->seconds, line->on_terminal ? "\033[K" : "\n");
  line->shown = true;
  line->last_best = progress->best;
}

void regal_progress_begin(regal_progress_line *line, regal_cli *cli) {
  bool on_terminal = isatty(STDERR_FILENO);
  *line = (regal_progress_line){.on_terminal = on_terminal,
                                .in_bytes = cli->options.objective != 0};
  if (!cli->options.quiet && (on_terminal || cli->options.verbose))
    regal_set_progress(cli->context, show, line);
}

void regal_progress_end(regal_progress_line *line, regal_cli *cli) {
  regal_set_progress(cli->context, NULL, NULL);
  if (line->on_terminal && line->shown)
    fputs("\r\033[K", stderr);
}
