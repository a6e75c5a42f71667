/* SPDX-License-Identifier: Apache-2.0 */
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
     "GRAPH", 1, 1, "reading machine objective search brkga anneal",
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
    {"convert", "write a graph as CostGraphDef (binary, text) or JSON",
     "What the reader assumed or joined is part of the graph that is written.\n"
     "The format follows from --format or the ending: .pb is binary, .pbtxt\n"
     "and .txt are text, .json is JSON.",
     "GRAPH -o FILE", 1, 1, "reading", "output format quiet verbose",
     "regal convert model.pb -o model.pbtxt\n"
     "regal convert model.pb -o model.json\n"
     "regal convert model.pbtxt.gz --format binary -o - > model.pb",
     regal_command_convert},
    {"inspect", "describe a graph, and what its reader had to assume",
     "Figures of the graph, its largest ops and tensors, where the time goes,\n"
     "and all that the reader assumed, dropped or joined.",
     "GRAPH", 1, 1, "reading", "json verbose",
     "regal inspect model.pb\n"
     "regal inspect model.pb --loops cut --json",
     regal_command_inspect},
    {"generate", "write a folder of random graphs, as the paper's",
     "The four models of the paper's synthetic graphs with its parameters, or\n"
     "layered graphs of any size, as graph_CHECKSUM.pbtxt with an index.csv.\n"
     "Graphs depend on the seed, not on the number of threads. A run that was\n"
     "stopped, in whatever way, goes on where it was when it is started again\n"
     "with the same options, and a larger --count adds to a smaller one.",
     "DIR", 1, 1, "generate", "seed threads format json quiet verbose",
     "regal generate graphs --count 100 --filter\n"
     "regal generate synthetic --paper --seed 1\n"
     "regal generate large --count 1 --model layered --nodes 1000000",
     regal_command_generate},
    {"dataset", "pack, split, filter, augment and describe sets of graphs",
     "A dataset is a folder or a zip archive of graph files with an "
     "index.csv;\n"
     "one without an index gets one from its files' names. Commands that take\n"
     "a graph take one of a dataset too: data/torch.zip:hf_gpt2_train, and\n"
     "data/torch.zip:hf_gpt2_train~7 for its seventh augmented copy.",
     "COMMAND INPUT...", 0, 0, "", "",
     "regal dataset describe data/torch.zip\n"
     "regal inspect data/torch.zip:hf_gpt2_train",
     NULL},
    {"dataset pack", "put graphs and their index into one archive or folder",
     "Inputs are datasets and graph files. Every graph is read: the figures "
     "in\n"
     "the index are computed, and those that are there already are checked.\n"
     "Files are stored as they are, with what else is in the inputs. An "
     "output\n"
     "that ends in .zip is an archive, any other a new folder.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading",
     "split threads output quiet verbose",
     "regal dataset pack graphs -o graphs.zip\n"
     "regal dataset pack a.pb b.pbtxt.gz --loops cut -o two.zip\n"
     "regal dataset pack data/torch.zip --split test -o test",
     regal_command_dataset_pack},
    {"dataset split", "split graphs 3-1-1 into train, valid and test",
     "As the paper splits: by size order, five at a time. Families (column\n"
     "family of index.csv) and graphs with equal in-degree sequences stay on\n"
     "one side. The split is a column of the output's index.csv.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading",
     "seed threads output quiet verbose",
     "regal dataset split graphs -o graphs.zip --seed 1",
     regal_command_dataset_split},
    {"dataset deduplicate", "keep one graph of each in-degree sequence",
     "The first of each stays.", "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS,
     "reading", "split threads output quiet verbose",
     "regal dataset deduplicate data/tf.zip -o unique.zip",
     regal_command_dataset_deduplicate},
    {"dataset filter", "drop graphs that no plan can improve",
     "Without any cost, with a single op that costs something, and for run\n"
     "time also chains: graphs whose work is all on one path.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading",
     "objective split threads output quiet verbose",
     "regal dataset filter data/torch.zip -o runtime.zip\n"
     "regal dataset filter graphs --objective memory -o memory.zip",
     regal_command_dataset_filter},
    {"dataset augment", "let each graph stand for many, with noise",
     "Every tensor size and every op's time is multiplied by a number of its\n"
     "own, uniform in (0.5, 1.5). Copies are made when they are loaded, from\n"
     "the graph and the seed; only their number is stored.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading",
     "copies seed split threads output quiet verbose",
     "regal dataset augment data/torch.zip -o torch-100.zip\n"
     "regal dataset augment graphs --copies 9 --seed 2 -o graphs-10.zip\n"
     "regal optimize graphs-10.zip:model~3",
     regal_command_dataset_augment},
    {"dataset describe", "tables and histograms of ops, edges and shape",
     "Number of ops and edges, diameter, width, and work over critical path.\n"
     "With --figures, histograms of them (SVG, where gnuplot is installed), "
     "of\n"
     "all inputs in one picture, and their data (CSV).",
     "INPUT...", 1, REGAL_CLI_ARGUMENTS, "reading",
     "split figures threads json quiet verbose",
     "regal dataset describe data/torch.zip\n"
     "regal dataset describe data/torch.zip data/tf.zip --figures figures",
     regal_command_dataset_describe},
    {"dataset list", "list the graphs with their figures",
     "One line each: name, split, family, ops, edges, diameter, width and "
     "work\n"
     "over critical path.",
     "INPUT...", 1, REGAL_CLI_ARGUMENTS, "reading",
     "split threads json quiet verbose",
     "regal dataset list data/torch.zip --split test",
     regal_command_dataset_list},
    {"train", "learn a policy from a dataset, for --method regal",
     "Learns on the graphs of split train by REINFORCE; the policy that does\n"
     "best on graphs of split valid is kept. Ctrl-C writes a checkpoint, with\n"
     "which --resume goes on as if nothing had happened. With mpirun several\n"
     "processes share the work. Neither threads nor processes change the "
     "result.",
     "DATASET -o FILE", 1, 1, "train reading machine objective brkga",
     "decoder seed threads time output json quiet verbose",
     "regal train synthetic -o my.policy\n"
     "regal train graphs.zip --objective memory -o memory.policy\n"
     "regal train synthetic --preset paper --steps 1000 -o paper.policy\n"
     "mpirun -np 4 regal train synthetic -o my.policy --threads 1",
     regal_command_train},
    {"tune", "search settings of BRKGA on a dataset, for --method tuned",
     "Tries a grid of settings (population, elites, mutants, islands, a Beta\n"
     "for each class of genes: 648 for decoder paper, as many as the paper's)\n"
     "on the graphs of split train, or on all if there are no splits, and\n"
     "writes the one with the best mean improvement over standard BRKGA.\n"
     "FILE.csv has every run; a tuning that was stopped goes on from there.\n"
     "With mpirun several processes share the work. Neither threads nor\n"
     "processes change the result.",
     "DATASET -o FILE", 1, 1, "reading machine objective tune",
     "decoder evaluations seed threads elite-bias exchange restart output json "
     "quiet verbose",
     "regal tune synthetic -o my.json\n"
     "regal tune graphs.zip --halving --graphs 64 --objective memory -o "
     "memory.json\n"
     "regal optimize model.pb --method tuned --settings my.json",
     regal_command_tune},
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

const char *regal_command_part(const regal_command *command,
                               const regal_command *part) {
  size_t length = strlen(command->name);
  if (strncmp(part->name, command->name, length) || part->name[length] != ' ')
    return NULL;
  return part->name + length + 1;
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
