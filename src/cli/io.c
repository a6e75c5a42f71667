/* SPDX-License-Identifier: Apache-2.0 */
/* What commands share: error messages and exit codes, the notes of a reader on
 * stderr, and where output goes when a file is stdout. */
#define _DEFAULT_SOURCE

#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

void regal_cli_say(const char *who, const char *message) {
  char line[4 * sizeof((regal_cli *)0)->message];
  regal_escape(message, line, sizeof line);
  fprintf(stderr, "%s: %s\n", who, line);
}

void regal_cli_print_json(const char *text, FILE *stream) {
  char shown[4 * REGAL_MOST_LIST];
  regal_escape(text, shown, sizeof shown);
  fputc('"', stream);
  for (const char *at = shown; *at; at++) {
    if (*at == '"' || *at == '\\')
      fputc('\\', stream);
    fputc(*at, stream);
  }
  fputc('"', stream);
}

regal_exit regal_cli_fail(regal_cli *cli, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cli->message, sizeof cli->message, format, arguments);
  va_end(arguments);
  return REGAL_EXIT_INPUT;
}

regal_exit regal_cli_status(regal_cli *cli, regal_status status) {
  if (status == REGAL_OK)
    return REGAL_EXIT_OK;
  const char *message = regal_error(cli->context);
  regal_cli_fail(cli, "%s", *message ? message : regal_status_name(status));
  return status == REGAL_NO_MEMORY || status == REGAL_INTERNAL
             ? REGAL_EXIT_INTERNAL
             : REGAL_EXIT_INPUT;
}

/* --format has the formats in the order of regal_graph_format, after `auto`. */
regal_exit regal_cli_output_format(regal_cli *cli, regal_graph_format *format) {
  int64_t choice = cli->options.format;
  if (!cli->options.output[0])
    return regal_cli_fail(cli, "where to? give the file to write with -o");
  if (choice) {
    *format = (regal_graph_format)(choice - 1);
    return REGAL_EXIT_OK;
  }
  regal_status status =
      regal_graph_format_of(cli->context, cli->options.output, format);
  if (status == REGAL_BAD_INPUT)
    return regal_cli_fail(cli, "%s: give --format", regal_error(cli->context));
  return regal_cli_status(cli, status);
}

regal_exit regal_cli_stopped(regal_cli *cli, uint64_t done, uint64_t total,
                             const char *what, const char *how) {
  return regal_cli_fail(cli,
                        "stopped after %llu of %llu %s; the same command%s "
                        "goes on from here",
                        (unsigned long long)done, (unsigned long long)total,
                        what, how);
}

regal_status regal_cli_load(regal_cli *cli) {
  return regal_graph_load(cli->context, cli->argument[0], &cli->options,
                          &cli->graph);
}

regal_status regal_cli_load_with_notes(regal_cli *cli) {
  static const char *const names[] = {[REGAL_NOTE_ASSUMED] = "assumed",
                                      [REGAL_NOTE_DROPPED] = "dropped",
                                      [REGAL_NOTE_JOINED] = "joined",
                                      [REGAL_NOTE_WARNING] = "warning"};
  regal_status status = regal_cli_load(cli);
  if (status != REGAL_OK || cli->options.quiet)
    return status;
  for (size_t i = 0; i < regal_graph_note_count(cli->graph); i++) {
    regal_note note = regal_graph_note(cli->graph, i);
    regal_cli_say(names[note.kind], note.text);
  }
  return REGAL_OK;
}

regal_exit regal_cli_streams(regal_cli *cli, FILE **report) {
  const regal_options *options = &cli->options;
  const struct {
    bool taken;
    const char *option;
  } users[] = {{!strcmp(options->output, "-"), "-o -"},
               {!strcmp(options->trace, "-"), "--trace -"},
               {!strcmp(options->html, "-"), "--html -"},
               {options->json, "--json"}};
  const char *user = NULL;
  for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
    if (!users[i].taken)
      continue;
    if (user)
      return regal_cli_fail(cli, "'%s' and '%s' both write to stdout", user,
                            users[i].option);
    user = users[i].option;
  }
  *report = user ? stderr : stdout;
  return REGAL_EXIT_OK;
}

bool regal_cli_is_pipe(const char *path) {
  struct stat info;
  return !stat(path, &info) && S_ISFIFO(info.st_mode);
}

int regal_cli_columns(FILE *stream) {
  struct winsize size;
  if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 &&
      size.ws_col >= 40)
    return size.ws_col;
  return 80;
}

regal_status regal_cli_extras(regal_cli *cli, const regal_result *result,
                              FILE *report) {
  const regal_options *options = &cli->options;
  regal_context *context = cli->context;
  regal_status status = REGAL_OK;
  if (options->trace[0])
    status = regal_trace_save(context, result->problem, result->plan,
                              options->trace);
  if (status == REGAL_OK && options->html[0])
    status = regal_report_html(context, cli->argument[0], &result, NULL, 1,
                               options->html);
  if (status != REGAL_OK || !options->timeline)
    return status;
  fputc('\n', report);
  return regal_report_timeline(context, result->problem, result->plan,
                               regal_cli_columns(report), report);
}
