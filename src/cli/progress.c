/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on stderr. Of a search: one line that is rewritten on a terminal,
 * with -v elsewhere a line at each improvement. Of training, tuning and
 * generating: the line of a job. */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <time.h>
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
  return seconds - line->last >= (line->on_terminal ? .2 : SECONDS_PER_LINE);
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

/* -- A search --------------------------------------------------------------
 * The search reports when it can; between two reports it may bound, contract or
 * solve for seconds. So a thread of the line's own draws it, ten times a
 * second, with the time that went by and what was reported last. It takes no
 * signals: Ctrl-C is the search's.
 */

#define DRAWS_PER_SECOND 10
#define BAR_CELLS 20

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

/* "[=====>    ]" */
static void format_bar(double share, char text[BAR_CELLS + 3]) {
  int full = (int)(share * BAR_CELLS);
  text[0] = '[';
  for (int i = 0; i < BAR_CELLS; i++)
    text[i + 1] = i < full ? '=' : i == full ? '>' : ' ';
  memcpy(text + BAR_CELLS + 1, "]", 2);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The whole line, for a terminal; what does not fit is cut off. */
static void draw(regal_progress_line *line) {
  const regal_progress *at = &line->last;
  char text[512], bar[BAR_CELLS + 3], best[48], gap[48], coarse[48];
  double elapsed = seconds_now() - line->began;
  double share = line->limit > 0 ? elapsed / line->limit : at->share;
  format_bar(share < 1 ? share : 1, bar);
  int used = snprintf(text, sizeof text, "%s %.1f s  ", bar, elapsed);
  if (!line->reported) {
    used += snprintf(text + used, sizeof text - (size_t)used, "starting");
  } else {
    format_cost(at->best, line->in_bytes, best);
    format_gap(at, gap);
    used += snprintf(text + used, sizeof text - (size_t)used, "best %s  %s  %s",
                     best, gap, at->stage);
    if (at->coarse_ops) {
      format_cost(at->coarse_best, line->in_bytes, coarse);
      used += snprintf(text + used, sizeof text - (size_t)used,
                       ", %u coarse ops: %s", at->coarse_ops, coarse);
    }
  }
  int columns = regal_cli_columns(stderr) - 1;
  fprintf(stderr, "\r%.*s\033[K", used < columns ? used : columns, text);
  fflush(stderr);
}

static void *keep_drawing(void *state) {
  regal_progress_line *line = state;
  pthread_mutex_lock(&line->lock);
  while (!line->ended) {
    struct timespec until;
    draw(line);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000000 / DRAWS_PER_SECOND;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&line->end, &line->lock, &until);
  }
  pthread_mutex_unlock(&line->lock);
  return NULL;
}

/* On a terminal the thread draws; elsewhere (-v) a line for each improvement.
 */
static void show(void *state, const regal_progress *progress) {
  regal_progress_line *line = state;
  pthread_mutex_lock(&line->lock);
  bool improved = !line->reported || progress->best != line->last.best;
  line->last = *progress;
  line->reported = true;
  pthread_mutex_unlock(&line->lock);
  if (line->on_terminal || !improved)
    return;
  char best[48], gap[48];
  format_cost(progress->best, line->in_bytes, best);
  format_gap(progress, gap);
  fprintf(stderr, "%10llu evaluations  best %s  %s  %.1f s\n",
          (unsigned long long)progress->evaluations, best, gap,
          progress->seconds);
}

static bool start_drawing(regal_progress_line *line) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  bool started = !pthread_create(&line->thread, NULL, keep_drawing, line);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

void regal_progress_begin(regal_progress_line *line, regal_cli *cli) {
  *line = (regal_progress_line){.on_terminal = isatty(STDERR_FILENO),
                                .in_bytes = cli->options.objective != 0,
                                .limit = cli->options.time,
                                .began = seconds_now()};
  pthread_mutex_init(&line->lock, NULL);
  pthread_cond_init(&line->end, NULL);
  if (cli->options.quiet || (!line->on_terminal && !cli->options.verbose))
    return;
  regal_set_progress(cli->context, show, line);
  line->drawing = line->on_terminal && start_drawing(line);
}

void regal_progress_end(regal_progress_line *line, regal_cli *cli) {
  regal_set_progress(cli->context, NULL, NULL);
  if (line->drawing) {
    pthread_mutex_lock(&line->lock);
    line->ended = true;
    pthread_cond_signal(&line->end);
    pthread_mutex_unlock(&line->lock);
    pthread_join(line->thread, NULL);
    fputs("\r\033[K", stderr);
  }
  pthread_cond_destroy(&line->end);
  pthread_mutex_destroy(&line->lock);
}
