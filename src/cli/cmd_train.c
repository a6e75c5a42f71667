/* SPDX-License-Identifier: Apache-2.0 */
/* regal train DATASET -o FILE: trains a policy (regal_train). Prints one line
 * that is rewritten on a terminal, otherwise a line every ten seconds. */
#include "cli/cli.h"
#include "regal_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct monitor {
  regal_job_line line;
  double limit; /* --time, or 0 */
  /* means since the last line: single steps are noise */
  double reward, improvement, entropy, norm;
  uint64_t steps;
} monitor;

static void add(monitor *m, const regal_training *now) {
  m->reward += now->reward;
  m->improvement += now->improvement;
  m->entropy += now->entropy;
  m->norm += now->gradient_norm;
  m->steps++;
}

/* A mean over steps of which some copied a teacher is not a number. */
static void format_episodes(double reward, double improvement, char text[80]) {
  if (isnan(reward))
    snprintf(text, 80, "copies good plans");
  else
    snprintf(text, 80, "reward %.4f  improvement %+.2f%%", reward, improvement);
}

/* Of the steps, or of --time if that ends first. */
static double seconds_left(const monitor *m, const regal_training *now) {
  double left = m->limit - now->seconds;
  if (m->limit <= 0 || now->seconds_left < left)
    return now->seconds_left;
  return left > 0 ? left : 0;
}

static void format_state(const monitor *m, const regal_training *now,
                         char text[300]) {
  char left[32], episodes[80];
  double n = m->steps ? (double)m->steps : 1;
  regal_cli_format_time(seconds_left(m, now), left);
  format_episodes(m->reward / n, m->improvement / n, episodes);
  snprintf(text, 300,
           "step %llu of %llu  %s  entropy %.3f  gradient %.3g  %.0fk "
           "evaluations/s  %s to go",
           (unsigned long long)now->step, (unsigned long long)now->steps,
           episodes, m->entropy / n, m->norm / n, now->rate / 1000, left);
}

static void print_validation(monitor *m, const regal_training *now) {
  regal_job_line_clear(&m->line);
  fprintf(stderr,
          "step %llu: validation %+.2f%% over BRKGA%s (best %+.2f%% at step "
          "%llu)\n",
          (unsigned long long)now->step, now->valid,
          now->best_step == now->step ? ", kept" : "", now->best_valid,
          (unsigned long long)now->best_step);
}

static void show(void *state, const regal_training *now) {
  monitor *m = state;
  char text[300];
  if (now->validated) {
    print_validation(m, now);
    return;
  }
  add(m, now);
  if (!regal_job_line_is_due(&m->line, now->seconds))
    return;
  format_state(m, now, text);
  regal_job_line_print(&m->line, now->seconds, text);
  *m = (monitor){.line = m->line, .limit = m->limit};
}

static void print_json(const regal_training *made) {
  printf("{\"steps\": %llu, \"of\": %llu, \"evaluations\": %llu, \"rate\": "
         "%.0f, \"seconds\": %.3f",
         (unsigned long long)made->step, (unsigned long long)made->steps,
         (unsigned long long)made->evaluations, made->rate, made->seconds);
  if (!isnan(made->best_valid))
    printf(", \"valid\": %.4f, \"best_step\": %llu", made->best_valid,
           (unsigned long long)made->best_step);
  puts("}");
}

/* How long the paper's whole schedule would take: 100000 such steps, and 10000
 * graphs to prepare, four at a step. A sample must not visit a graph twice. */
static void print_extrapolation(const regal_training *made) {
  char text[32];
  double steps = (double)(made->step ? made->step : 1);
  regal_cli_format_time(made->step_seconds / steps * 100000 +
                            made->prepare_seconds / steps * 2500,
                        text);
  printf("extrapolated %s for 100000 steps on 10000 graphs\n", text);
}

static void print_summary(const regal_cli *cli, const regal_training *made) {
  printf("policy       %s\n", cli->options.output);
  if (isnan(made->best_valid))
    printf("kept         the last, after %llu steps\n",
           (unsigned long long)made->step);
  else
    printf("kept         step %llu of %llu: %+.2f%% over BRKGA on validation\n",
           (unsigned long long)made->best_step, (unsigned long long)made->step,
           made->best_valid);
  printf("episodes     %.3g evaluations, %.0fk a second\n",
         (double)made->evaluations, made->rate / 1000);
  printf("time         %.1f s\n", made->seconds);
  if (cli->options.preset == 1)
    print_extrapolation(made);
}

static regal_status train(regal_cli *cli, regal_training *made) {
  monitor m = {.line = regal_job_line_begin(), .limit = cli->options.time};
  char command[1024];
  regal_cli_join_command(cli, command, sizeof command);
  regal_interrupt_begin(cli->context);
  regal_status status =
      regal_train(cli->context, cli->argument[0], &cli->options, command,
                  cli->options.quiet ? NULL : show, &m, made);
  regal_interrupt_end();
  regal_job_line_clear(&m.line);
  return status;
}

/* The user's own limit is no failure. */
static bool is_out_of_time(const regal_cli *cli, const regal_training *made) {
  return cli->options.time > 0 && made->seconds >= cli->options.time;
}

regal_exit regal_command_train(regal_cli *cli) {
  regal_training made;
  if (!cli->options.output[0])
    return regal_cli_fail(cli, "'train' needs -o FILE.policy");
  REGAL_CLI_TRY(cli, train(cli, &made));
  if (made.rank > 0)
    return REGAL_EXIT_OK;
  if (!made.finished && !is_out_of_time(cli, &made))
    return regal_cli_stopped(cli, made.step, made.steps, "steps",
                             " with --resume");
  if (cli->options.json)
    print_json(&made);
  else
    print_summary(cli, &made);
  return cli->options.plot[0] ? regal_cli_plot_training(cli) : REGAL_EXIT_OK;
}
