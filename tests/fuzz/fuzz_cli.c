/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: each line of the input is one argument.
 *
 * Commands run in this process, in a temporary folder with a graph, an order
 * and a machine. An argument with a slash is left out, so nothing is written
 * elsewhere. Budgets are cut down after parsing.
 */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <unistd.h>

#define MOST_ARGUMENTS 24

static const struct {
  const char *name, *text;
} files[] = {
    {"graph.pbtxt", "node { name: \"a\" id: 0 compute_cost: 5\n"
                    "  output_info { size: 64 alias_input_port: -1 } }\n"
                    "node { name: \"b\" id: 1 compute_cost: 7\n"
                    "  input_info { preceding_node: 0 preceding_port: 0 }\n"
                    "  output_info { size: 32 alias_input_port: -1 } }\n"
                    "node { name: \"c\" id: 2 compute_cost: 9\n"
                    "  input_info { preceding_node: 0 preceding_port: 0 }\n"
                    "  control_input: 1 is_final: true }\n"},
    {"order", "0\n1 1\n2\n"},
    {"machine", "{\"regal_machine\": 1,\n"
                " \"devices\": [{\"speed\": 2}, {\"speed\": 1}]}\n"},
};
static char folder[] = "/tmp/regal-fuzz-XXXXXX";

static int remove_entry(const char *path, const struct stat *info, int kind,
                        struct FTW *place) {
  (void)info, (void)kind;
  if (place->level > 0)
    remove(path);
  return 0;
}

static void empty_folder(void) {
  nftw(".", remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void leave_folder(void) {
  empty_folder();
  rmdir(folder);
}

static void enter_folder(void) {
  FUZZ_CHECK(mkdtemp(folder) && chdir(folder) == 0);
  atexit(leave_folder);
  int nothing = open("/dev/null", O_RDWR);
  FUZZ_CHECK(nothing >= 0 && dup2(nothing, 0) == 0 && dup2(nothing, 1) == 1);
  close(nothing);
}

static void fill_folder(void) {
  empty_folder();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    FILE *file = fopen(files[i].name, "w");
    FUZZ_CHECK(file && fputs(files[i].text, file) >= 0 && !fclose(file));
  }
}

/* Splits the text at its newlines; it is written over. */
static int split(char *text, char **arguments) {
  int count = 0;
  arguments[count++] = "regal";
  for (char *rest = text, *word;
       count < MOST_ARGUMENTS && (word = strsep(&rest, "\n"));)
    if (*word && !strchr(word, '/'))
      arguments[count++] = word;
  arguments[count] = NULL;
  return count;
}

static int64_t at_most(int64_t value, int64_t most) {
  return value > most ? most : value;
}

static void cut_down(regal_options *options) {
  options->evaluations =
      options->evaluations ? at_most(options->evaluations, 60) : 60;
  options->population = at_most(options->population, 20);
  options->islands = at_most(options->islands, 2);
  options->threads = options->threads ? at_most(options->threads, 2) : 1;
  options->count = at_most(options->count, 2);
  options->nodes = at_most(options->nodes, 60);
  /* each graph of these costs 10000 evaluations */
  options->filter = options->paper = false;
  options->figures[0] = 0; /* gnuplot is not what is tested */
}

static void run(int count, char **arguments) {
  regal_cli cli = {0};
  FUZZ_CHECK(regal_context_create(&cli.context, NULL) == REGAL_OK);
  if (!regal_cli_parse(&cli, count, arguments)) {
    FUZZ_CHECK(cli.message[0]);
  } else if (cli.wants_help && cli.command) {
    regal_help_command(cli.command, stdout);
  } else if (!cli.wants_help && !cli.wants_version) {
    FUZZ_CHECK(cli.command);
    cut_down(&cli.options);
    regal_exit code = regal_cli_check_files(&cli);
    if (code == REGAL_EXIT_OK)
      code = cli.command->run(&cli);
    FUZZ_CHECK(code != REGAL_EXIT_INTERNAL);
    FUZZ_CHECK((code == REGAL_EXIT_INPUT) == (cli.message[0] != 0));
  }
  regal_graph_free(cli.graph);
  fuzz_close(cli.context);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static int entered;
  if (!entered++)
    enter_folder();
  char *arguments[MOST_ARGUMENTS + 1];
  char *text = malloc(size + 1);
  FUZZ_CHECK(text);
  memcpy(text, bytes, size);
  text[size] = 0;
  fill_folder();
  run(split(text, arguments), arguments);
  free(text);
  return 0;
}
