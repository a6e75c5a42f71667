/* The table of commands. To add one, add a row and its cmd_NAME.c; --help, the
 * check of arguments and the choice of options follow from the row. */
#include "cli/cli.h"

#include <string.h>

static const regal_command commands[] = {
    {"optimize", "find a plan for a graph: where and when each op runs",
     "Reads a graph, searches for the plan of least run time (or memory), has\n"
     "the verifier check it, and prints a summary. Ctrl-C ends the search and\n"
     "keeps the best plan so far. Exit code 3: no plan fits the memory limit\n"
     "(the one with the least excess is written all the same).",
     "GRAPH", 1, 1, "reading machine objective search brkga",
     "output trace json timeline quiet verbose",
     "regal optimize model.pb --devices 2 -o model.plan\n"
     "regal optimize model.pb --objective memory --time 10 --timeline\n"
     "regal optimize model.pb --devices 4 --bandwidth 25GB --latency 10us "
     "--json\n"
     "zcat model.pb.gz | regal optimize - -o - > model.plan",
     regal_command_optimize},
    {"evaluate", "verify a plan, and explain where its time and memory go",
     "Checks every rule of the model, step by step, and says which one a plan\n"
     "breaks (exit code 1). A plan is judged on the machine that its file\n"
     "names, as far as no option says otherwise. An order of ops, one id a\n"
     "line, optionally with a device, is a plan too. Exit code 3: the plan is\n"
     "valid but needs more than the memory limit.",
     "GRAPH PLAN", 2, 2, "reading machine objective",
     "trace json timeline quiet verbose",
     "regal evaluate model.pb model.plan\n"
     "regal evaluate model.pb model.order --devices 1 --objective memory\n"
     "regal evaluate model.pb model.plan --trace model.trace.json",
     regal_command_evaluate},
    {"convert", "write a graph as binary or text CostGraphDef",
     "What the reader assumed or joined is part of the graph that is written.\n"
     "The format follows from --format or the ending: .pb is binary, .pbtxt\n"
     "and .txt are text.",
     "GRAPH -o FILE", 1, 1, "reading", "output format quiet verbose",
     "regal convert model.pb -o model.pbtxt\n"
     "regal convert model.pbtxt.gz --format binary -o - > model.pb",
     regal_command_convert},
    {"inspect", "describe a graph, and what its reader had to assume",
     "Figures of the graph, its largest ops and tensors, where the time goes,\n"
     "and all that the reader assumed, dropped or joined.",
     "GRAPH", 1, 1, "reading", "json verbose",
     "regal inspect model.pb\n"
     "regal inspect model.pb --loops cut --json",
     regal_command_inspect},
    {"methods", "list the methods and decoders",
     "Each method with what its budget (--evaluations, --time) means; each\n"
     "decoder with its classes of genes.",
     "", 0, 0, "", "json", "regal methods", regal_command_methods},
    {"options", "list all options as a Markdown page (docs/options.md)",
     "The same table that the command line, the library and --help use.", "", 0,
     0, "", "", "regal options > options.md", regal_command_options},
};

size_t regal_command_count(void) {
  return sizeof commands / sizeof *commands;
}

const regal_command *regal_command_at(size_t index) {
  return &commands[index];
}

const regal_command *regal_command_find(const char *name) {
  for (size_t i = 0; i < regal_command_count(); i++)
    if (!strcmp(commands[i].name, name))
      return &commands[i];
  return NULL;
}

static bool has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  while (*words) {
    size_t next = strcspn(words, " ");
    if (next == length && !memcmp(words, word, length))
      return true;
    words += next + strspn(words + next, " ");
  }
  return false;
}

bool regal_command_takes(const regal_command *command,
                         const regal_option_info *option) {
  return has_word(command->groups, option->group) ||
         has_word(command->singles, option->name);
}
