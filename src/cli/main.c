/* SPDX-License-Identifier: Apache-2.0 */
/* The program: parses the arguments, runs the command, prints the error if
 * there is one, and returns the exit code. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void print_help(const regal_cli *cli) {
  if (cli->wants_version)
    puts(regal_build_id());
  else if (cli->command)
    regal_help_command(cli->command, stdout);
  else
    regal_help_overview(stdout);
}

static void note_refused_threads(const regal_cli *cli) {
  int refused = regal_refused_threads(cli->context);
  char text[128];
  snprintf(text, sizeof text,
           "the system refused to start %d thread%s; the others did the work",
           refused, refused == 1 ? "" : "s");
  if (refused && !cli->options.quiet)
    regal_cli_say("warning", text);
}

static regal_exit run_command(regal_cli *cli) {
  if (cli->options.verbose)
    regal_cli_print_banner(cli);
  regal_exit code = cli->command->run(cli);
  note_refused_threads(cli);
  if (!cli->options.verbose)
    return code;
  fprintf(stderr, "memory used: %.1f MiB at most\n",
          (double)regal_bytes_peak(cli->context) / 0x1p20);
  return code;
}

static regal_exit run(regal_cli *cli, int argc, char **argv) {
  if (!regal_cli_parse(cli, argc, argv))
    return REGAL_EXIT_INPUT;
  if (cli->wants_help || cli->wants_version) {
    print_help(cli);
    return REGAL_EXIT_OK;
  }
  if (cli->options.config[0] && !regal_cli_read_config(cli))
    return REGAL_EXIT_INPUT;
  if (cli->options.dump_config) {
    regal_cli_dump_config(cli, stdout);
    return REGAL_EXIT_OK;
  }
  regal_set_max_input(cli->context, (size_t)cli->options.max_input);
  regal_exit code = regal_cli_check_files(cli);
  if (code == REGAL_EXIT_OK)
    code = regal_cli_probe_outputs(cli);
  return code == REGAL_EXIT_OK ? run_command(cli) : code;
}

/* -- Before main ----------------------------------------------------------- */

/* C++ libraries that find no memory as they are initialised abort. That is
 * before main; only the preinit array of the program comes earlier. */
#ifdef __linux__
static void end_out_of_memory(int number) {
  static const char text[] = "regal: out of memory\n";
  (void)number;
  ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
  (void)ignored;
  _exit(REGAL_EXIT_INTERNAL);
}

static void catch_abort(void) {
  signal(SIGABRT, end_out_of_memory);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = catch_abort;
#endif

int main(int argc, char **argv) {
  signal(SIGABRT, SIG_DFL);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write */
  static regal_cli cli;
  if (regal_context_create(&cli.context, NULL) != REGAL_OK) {
    regal_cli_say("regal", "out of memory");
    return REGAL_EXIT_INTERNAL;
  }
  regal_exit code = run(&cli, argc, argv);
  bool failed = ferror(stdout) != 0;
  if ((fflush(stdout) != 0 || failed) && !cli.message[0])
    code = regal_cli_fail(&cli, "cannot write to stdout: %s", strerror(errno));
  if (cli.message[0])
    regal_cli_say("regal", cli.message);
  regal_graph_free(cli.graph);
  regal_context_free(cli.context);
  return code;
}
