/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands. To add one, add a row and its cmd_NAME.c; --help, the
 * check of arguments and the choice of options follow from the row. */
#include "cli/cli.h"

#include <string.h>

static const regal_command commands[] = {
    {"optimize", "find a plan for a graph: where and when each op runs",
     "Reads a graph, searches for the plan with the smallest run time (or "
     "peak\n"
     "memory), verifies it and prints a summary. Ctrl-C stops the search and\n"
     "keeps the best plan so far. Exit code 3: no plan fits the memory limit\n"
     "(the plan with the smallest excess that was found is written).",
     "GRAPH", 1, 1, "reading limits machine objective search brkga anneal",
     "output times trace html json timeline quiet verbose",
     "regal optimize model.pb --devices 2 -o model.plan\n"
     "regal optimize model.pb --devices 2 --html plan.html\n"
     "regal optimize model.pb --objective memory --time 10 --timeline\n"
     "regal optimize model.pb --devices 4 --bandwidth 25GB/s --latency 10us "
     "--json\n"
     "zcat model.pb.gz | regal optimize - -o - > model.plan",
     regal_command_optimize},
    {"evaluate", "verify a plan, and explain where its time and memory go",
     "Checks every rule of the model and reports the first one that the plan\n"
     "breaks (exit code 1). The machine is the one recorded in the plan file,\n"
     "unless options specify another. A list of ops, one id or name per\n"
     "line, each optionally with a device, is also accepted as a plan. Exit\n"
     "code 3: the plan is valid but exceeds the memory limit.",
     "GRAPH PLAN", 2, 2, "reading limits machine objective",
     "trace html json timeline quiet verbose",
     "regal evaluate model.pb model.plan\n"
     "regal evaluate model.pb model.order --devices 1 --objective memory\n"
     "regal evaluate model.pb model.plan --trace model.trace.json",
     regal_command_evaluate},
    {"report", "write a page about plans, for a browser",
     "Verifies the plans and writes one HTML file that shows them side by "
     "side:\n"
     "timelines, memory, a table, the graph, and the text reports. It needs "
     "no\n"
     "network and no server. The plan that runs everything on one device in "
     "the\n"
     "file's order is added. Machines are those recorded in the plan files,\n"
     "unless options specify another.",
     "GRAPH PLAN... -o FILE", 2, 1 + REGAL_CLI_PLANS,
     "reading limits machine objective", "output quiet verbose",
     "regal report model.pb model.plan -o plan.html\n"
     "regal report model.pb ours.plan theirs.order -o compare.html",
     regal_command_report},
    {"convert", "write a graph as CostGraphDef (binary, text) or JSON",
     "The written graph includes what the reader assumed or merged. --format\n"
     "or the file's ending selects the format: .pb is binary, .pbtxt and .txt\n"
     "are text, .json is JSON. With --plan, .onnx is the ONNX model GRAPH with "
     "its\n"
     "nodes in the order of the plan, and device and step of each op as "
     "metadata;\n"
     ".dot and .svg are pictures of a graph of up to 2000 ops. The machine is "
     "the\n"
     "one recorded in the plan file.",
     "GRAPH -o FILE", 1, 1, "reading limits",
     "plan devices output format quiet verbose",
     "regal convert model.pb -o model.pbtxt\n"
     "regal convert model.pb -o model.json\n"
     "regal convert model.onnx --plan model.plan -o planned.onnx\n"
     "regal convert model.pb --plan model.plan -o plan.svg\n"
     "regal convert model.pbtxt.gz --format binary -o - > model.pb",
     regal_command_convert},
    {"inspect", "describe a graph, and what its reader assumed",
     "Prints statistics of the graph, its largest ops and tensors, the time "
     "by\n"
     "kind of op, and what the reader assumed, dropped or merged.",
     "GRAPH", 1, 1, "reading limits", "json verbose",
     "regal inspect model.pb\n"
     "regal inspect model.pb --loops cut --json",
     regal_command_inspect},
    {"actions", "what a policy chooses for a graph",
     "Reads the graph as --method regal does and prints, for each class of "
     "genes,\n"
     "how many different actions the policy takes and their entropy: of the\n"
     "actions that are chosen, over ops or tensors, and of the policy's own\n"
     "distribution. -o writes every choice as CSV: levels, Beta distribution,\n"
     "probability, entropy and relative memory of the op.",
     "GRAPH", 1, 1, "reading limits machine objective brkga",
     "policy actions decoder evaluations seed threads max-memory "
     "output json quiet verbose",
     "regal actions model.pb --devices 2 --policy my.policy -o actions.csv\n"
     "regal actions model.pb --devices 2 --objective memory --json",
     regal_command_actions},
    {"pipeline", "turn a microbatch's training step into that of several",
     "Copies the ops of a microbatch: weights become parameters that all\n"
     "microbatches share, gradients are added up, and the optimizer and ops\n"
     "that depend on no data run once. Gradients are what the optimizer "
     "reads\n"
     "or, if there is none, the final outputs that no op reads. Copies are\n"
     "named NAME#0, NAME#1, ... By default the gradients of a layer's "
     "weights\n"
     "run before the layers in front of it, as in most frameworks;\n"
     "--split-backward lets them run later. Patterns: * is any text.",
     "GRAPH -o FILE", 1, 1, "reading limits pipeline",
     "output format quiet verbose",
     "regal pipeline step.json --microbatches 16 -o pipe.json\n"
     "regal pipeline step.pb --microbatches 8 --optimizer 'Adam/*' -o "
     "pipe.json\n"
     "regal optimize pipe.json --devices 4 --memory-limit 16GiB",
     regal_command_pipeline},
    {"generate", "fill a folder with random graphs, by the paper's recipe",
     "Generates graphs of the paper's four random models, or layered graphs "
     "of\n"
     "any size, as graph_CHECKSUM.pbtxt with an index.csv. The graphs depend "
     "on\n"
     "the seed, not on the number of threads. An interrupted run continues "
     "when\n"
     "it is started again with the same options; a larger --count extends a\n"
     "smaller one. --pipeline makes the training step of a chain of layers on\n"
     "several microbatches instead, one graph, written to -o. Its keys: "
     "layers,\n"
     "microbatches; forward, backward, weight, optimizer (run times of the "
     "ops\n"
     "of a layer); activation, weight-activation (bytes that the backward and\n"
     "the weight op free), wire (bytes between layers), parameter (bytes of a\n"
     "layer); fused (one op for both gradients).",
     "DIR", 0, 1, "generate",
     "seed threads max-memory output format json quiet verbose",
     "regal generate graphs --count 100 --filter\n"
     "regal generate synthetic --paper --seed 1\n"
     "regal generate large --count 1 --model layered --nodes 1000000\n"
     "regal generate --pipeline layers=32,microbatches=16,parameter=2GB -o "
     "pipe.json",
     regal_command_generate},
    {"dataset", "pack, split, filter, augment and describe sets of graphs",
     "A dataset is a folder or a zip archive of graph files. index.csv\n"
     "describes them; if it is missing, it is derived from the file names.\n"
     "A graph of a dataset can be used wherever a graph is expected:\n"
     "data/torch.zip:hf_gpt2_train, or data/torch.zip:hf_gpt2_train~7 for its\n"
     "seventh augmented copy.",
     "COMMAND INPUT...", 0, 0, "", "",
     "regal dataset describe data/torch.zip\n"
     "regal inspect data/torch.zip:hf_gpt2_train",
     NULL},
    {"dataset pack", "collect graphs and their index in one archive or folder",
     "Inputs are datasets and graph files. Every graph is read to compute the\n"
     "statistics in the index; existing ones are checked. Files are stored\n"
     "unchanged, together with all other files of the inputs. An output that\n"
     "ends in .zip is an archive, any other a new folder.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading limits",
     "split threads output quiet verbose",
     "regal dataset pack graphs -o graphs.zip\n"
     "regal dataset pack a.pb b.pbtxt.gz --loops cut -o two.zip\n"
     "regal dataset pack data/torch.zip --split test -o test",
     regal_command_dataset_pack},
    {"dataset split", "split graphs 3-1-1 into train, valid and test",
     "Splits as the paper does: sorted by size, five at a time. Families\n"
     "(column family of index.csv) and graphs with equal in-degree sequences\n"
     "stay on one side. The split is a column of the output's index.csv.\n"
     "With --like, families that other sets have too go to the split where\n"
     "they are there, so that one policy can be trained on all of them.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading limits",
     "like seed threads output quiet verbose",
     "regal dataset split graphs -o graphs.zip --seed 1\n"
     "regal dataset split graphs --like data/torch.zip -o graphs.zip",
     regal_command_dataset_split},
    {"dataset deduplicate", "keep one graph of each in-degree sequence",
     "Keeps the first graph of each.", "INPUT... -o OUT", 1,
     REGAL_CLI_ARGUMENTS, "reading limits",
     "split threads output quiet verbose",
     "regal dataset deduplicate data/tf.zip -o unique.zip",
     regal_command_dataset_deduplicate},
    {"dataset filter", "remove graphs that no plan can improve",
     "Removes graphs without any cost, graphs with a single op that has a "
     "cost\n"
     "and, for run time, chains: graphs whose work is all on one path.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading limits",
     "objective split threads output quiet verbose",
     "regal dataset filter data/torch.zip -o runtime.zip\n"
     "regal dataset filter graphs --objective memory -o memory.zip",
     regal_command_dataset_filter},
    {"dataset augment", "add copies with random sizes and times",
     "Multiplies every tensor size and every op's time by its own random\n"
     "number, uniform in (0.5, 1.5). Copies are computed from the graph and "
     "the\n"
     "seed when they are loaded; only their number is stored.",
     "INPUT... -o OUT", 1, REGAL_CLI_ARGUMENTS, "reading limits",
     "copies seed split threads output quiet verbose",
     "regal dataset augment data/torch.zip -o torch-100.zip\n"
     "regal dataset augment graphs --copies 9 --seed 2 -o graphs-10.zip\n"
     "regal optimize graphs-10.zip:model~3",
     regal_command_dataset_augment},
    {"dataset describe", "tables and histograms of ops, edges and shape",
     "Prints the number of ops and edges, the diameter, the width, and work\n"
     "over critical path. --figures writes histograms of all inputs (SVG, if\n"
     "gnuplot is installed) and their data (CSV).",
     "INPUT...", 1, REGAL_CLI_ARGUMENTS, "reading limits",
     "split figures threads json quiet verbose",
     "regal dataset describe data/torch.zip\n"
     "regal dataset describe data/torch.zip data/tf.zip --figures figures",
     regal_command_dataset_describe},
    {"dataset list", "list the graphs with their statistics",
     "Prints one line per graph: name, split, family, ops, edges, diameter,\n"
     "width and work over critical path.",
     "INPUT...", 1, REGAL_CLI_ARGUMENTS, "reading limits",
     "split threads json quiet verbose",
     "regal dataset list data/torch.zip --split test",
     regal_command_dataset_list},
    {"train", "train a policy on a dataset, for --method regal",
     "Trains on the graphs of split train by REINFORCE and keeps the policy\n"
     "that is best on the graphs of split valid. Ctrl-C writes a checkpoint,\n"
     "from which --resume continues. Files of an earlier run are replaced "
     "only\n"
     "with --overwrite. With mpirun several processes share the work. The\n"
     "result depends neither on threads nor on processes.",
     "DATASET -o FILE", 1, 1, "train reading limits machine objective brkga",
     "actions decoder seed threads max-memory time output json quiet verbose",
     "regal train synthetic -o my.policy\n"
     "regal train graphs.zip --objective memory -o memory.policy\n"
     "regal train synthetic --preset paper --steps 1000 -o paper.policy\n"
     "mpirun -np 4 regal train synthetic -o my.policy --threads 1",
     regal_command_train},
    {"tune", "tune the settings of BRKGA on a dataset, for --method tuned",
     "Tries a grid of settings (population, elites, mutants, islands, a Beta\n"
     "for each class of genes: 648 for decoder paper, as many as the paper's)\n"
     "on the graphs of split train, or on all if there are no splits, and\n"
     "writes the one with the best mean improvement over standard BRKGA.\n"
     "FILE.csv records every run; an interrupted tuning continues from it.\n"
     "With mpirun several processes share the work. The result depends "
     "neither\n"
     "on threads nor on processes.",
     "DATASET -o FILE", 1, 1, "reading limits machine objective tune",
     "decoder evaluations seed threads max-memory elite-bias exchange restart "
     "output json "
     "quiet verbose",
     "regal tune synthetic -o my.json\n"
     "regal tune graphs.zip --halving --graphs 64 --objective memory -o "
     "memory.json\n"
     "regal optimize model.pb --method tuned --settings my.json",
     regal_command_tune},
    {"bench", "run methods on datasets, and report on the runs",
     "Runs each of --methods with each of --budgets and --seeds on the graphs\n"
     "of the datasets and writes a row for each run to -o FILE (CSV), with\n"
     "commit, settings, verified cost, bound and seconds. A run has one "
     "thread;\n"
     "--threads of them run in parallel, and with mpirun on several "
     "machines.\n"
     "A benchmark that was stopped continues when it is started again. Rows "
     "of\n"
     "another commit or other settings are refused, unless --mix. With "
     "--report,\n"
     "the inputs are such tables, of which tables (Markdown) and figures "
     "(SVG\n"
     "and PNG, by gnuplot) are made.",
     "INPUT...", 1, REGAL_CLI_ARGUMENTS,
     "bench reading limits machine objective brkga anneal",
     "split graphs augment decoder policy actions settings partitioner "
     "climb-restart send target ortools overwrite threads max-memory output "
     "json "
     "quiet verbose",
     "regal bench data/torch.zip --split test --methods 'brkga,auto time=1s' "
     "--seeds 1,2,3 -o runs.csv\n"
     "regal bench graphs --methods 'brkga,regal policy=rule' --budgets "
     "1000,5000 -o runs.csv\n"
     "regal bench runs.csv --report figures\n"
     "mpirun -np 4 regal bench data/torch.zip -o runs.csv --threads 1",
     regal_command_bench},
    {"machines", "list the machines that --machine knows by name",
     "Prints their devices, memory, links and the sources of the numbers. "
     "With\n"
     "a NAME, prints that one as a machine file, to be edited.",
     "[NAME]", 0, 1, "", "output json quiet verbose",
     "regal machines\n"
     "regal machines a100x4-pcie -o mine.json\n"
     "regal optimize model.pb --machine h100x8-nvlink",
     regal_command_machines},
    {"methods", "list the methods and decoders",
     "Prints each method with the meaning of its budget (--evaluations,\n"
     "--time), and each decoder with its gene classes.",
     "", 0, 0, "", "json", "regal methods", regal_command_methods},
    {"options", "list all options as a Markdown page (docs/options.md)",
     "Prints the table that the command line, the library and --help use.", "",
     0, 0, "", "", "regal options > options.md", regal_command_options},
    {"completion", "print the completion script of a shell",
     "Prints a script that completes commands, options and their values, for\n"
     "bash, zsh or fish. 'make install' installs all three.",
     "bash|zsh|fish", 1, 1, "", "",
     "source <(regal completion bash)\n"
     "regal completion fish > ~/.config/fish/completions/regal.fish",
     regal_command_completion},
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

/* A configuration is for every command that has options. */
bool regal_command_takes(const regal_command *command,
                         const regal_option_info *option) {
  bool configurable = *command->groups || *command->singles;
  if (configurable && !strcmp(option->group, "config"))
    return true;
  return has_word(command->groups, option->group) ||
         has_word(command->singles, option->name);
}
