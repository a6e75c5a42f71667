/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options: one row each, for the command line, the library and
 * the documentation alike.
 *
 * To add an option, add a row; nothing else. The row makes the field of
 * regal_options (with '_' for '-'), the command-line flag, its --help line, its
 * range check and its line in docs/options.md.
 *
 *  INTEGER (field, "name", default, low, high, "UNIT", "group", EFFECT, "help")
 *  REAL    (field, "name", default, low, high, "UNIT", "group", EFFECT, "help")
 *  QUANTITY(field, "name", default, KIND,      "UNIT", "group", EFFECT, "help")
 *  CHOICE  (field, "name", "default", "a|b|c",         "group", EFFECT, "help")
 *  FLAG    (field, "name",                             "group", EFFECT, "help")
 *  TEXT    (field, "name", default or NULL,    "UNIT", "group", EFFECT, "help")
 *  LIST    (field, "name",                     "UNIT", "group", EFFECT, "help")
 *
 * An INTEGER is read as 1000000, 1e6 or 2.5e5, the way ranges are printed.
 * KIND is what a QUANTITY measures: its units, and the type of its field.
 *
 *  BYTES     int64_t  1000, 16G, 16GB, 16GiB
 *  RATE      int64_t  25GB/s, 25G, 200Gbit/s; bytes per second
 *  TIME      int64_t  250ns, 10us, 1.5ms; nanoseconds
 *  SECONDS   double   5, 5s, 500ms, 2min; a bare number is in seconds
 *  COST      double   a TIME or BYTES, as the objective is; what it was given
 *                     as is in a field of its own, NAME_unit
 *
 * Bytes and seconds may be bare numbers; 0 needs no unit, all others do.
 *
 * A LIST is a text of entries with commas between them; an option that is given
 * several times has all entries.
 *
 * A default outside of the range, or of the choices, is no value: it stands for
 * "not given", and help says what then happens. The same word or number is
 * accepted as a value, and is as if the option were not there.
 *
 * Groups: reading, limits, machine, objective, search, brkga, anneal, generate,
 * pipeline, dataset, train, tune, bench, output, config.
 *
 * EFFECT is RESULT when the option can change what comes out, so that files
 * which say what they were made with name it, and HOW when it only says where
 * that is written, what is shown, or how long and on how many threads it is
 * worked on.
 */
#ifndef REGAL_OPTIONS_H
#define REGAL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "regal_limits.h"

/* Bytes of a TEXT and of a LIST, with the zero at the end; no option's value is
 * longer than a list. */
#define REGAL_MOST_TEXT 1024
#define REGAL_MOST_LIST 4096

/* clang-format off */
#define REGAL_OPTION_TABLE(INTEGER, REAL, QUANTITY, CHOICE, FLAG, TEXT, LIST) \
  CHOICE(loops, "loops", "reject", "reject|cut", "reading", RESULT, \
    "cut: drop the edges that leave NextIteration nodes (while loops)") \
  CHOICE(variables, "variables", "tensors", "tensors|resident", \
    "reading", RESULT, \
    "resident: results of ReadVariableOp are resident, once per handle") \
  CHOICE(aliases, "aliases", "ignore", "ignore|share|reuse|xla", \
    "reading", RESULT, \
    "outputs marked as alias share their input, or may reuse it; xla: by name") \
  TEXT(dim, "dim", 0, "NAME=SIZE,...", "reading", RESULT, \
    "ONNX: values of symbolic dimensions, such as batch=8,seq=128") \
  LIST(shape, "shape", "INPUT=SIZE,...", "reading", RESULT, \
    "ONNX: the shape of an input, such as x=1,3,48,192; may be repeated") \
  QUANTITY(assume_unknown_bytes, "assume-unknown-bytes", 0, BYTES, "BYTES", \
    "reading", RESULT, \
    "ONNX: accept tensors of unknown size, and count each as this many bytes") \
  TEXT(roofline, "roofline", "h200", "NAME|FILE", "reading", RESULT, \
    "ONNX, XLA, StableHLO: device for run times: h100, h200, b200, a100, t4, cpu-core, or a file") \
  TEXT(costs, "costs", 0, "FILE", "reading", RESULT, \
    "measured run times of ops: a CSV of name,microseconds, or a trace of " \
    "torch.profiler") \
  QUANTITY(max_input, "max-input", 1GiB, BYTES, "BYTES", "limits", HOW, \
    "largest input file, decompressed; 0 = no limit") \
  INTEGER(devices, "devices", 2, 1, REGAL_MAX_DEVICES, "N", "machine", RESULT, \
    "number of devices") \
  QUANTITY(memory_limit, "memory-limit", 0, BYTES, "BYTES", \
    "machine", RESULT, \
    "memory limit of each device, such as 16GiB or 80GB; 0 = no limit") \
  QUANTITY(bandwidth, "bandwidth", 0, RATE, "RATE", "machine", RESULT, \
    "bandwidth of each link, such as 25GB/s; 0 = infinite") \
  QUANTITY(latency, "latency", 0, TIME, "DURATION", "machine", RESULT, \
    "latency of each transfer, such as 10us") \
  CHOICE(transfers, "transfers", "blocking", "blocking|overlapped", \
    "machine", RESULT, \
    "whether transfers block both devices or overlap with ops") \
  CHOICE(control, "control", "wait", "wait|transfer", "machine", RESULT, \
    "control edges: the consumer waits, or a zero-byte transfer") \
  TEXT(machine, "machine", 0, "NAME|FILE", "machine", RESULT, \
    "a machine of 'regal machines', or a machine file (JSON); ./NAME is a file") \
  LIST(pin, "pin", "PATTERN=DEVICE,...", "machine", RESULT, \
    "ops that must run on a device (number or name): 'embed*=0'; glob patterns: " \
    "* ? [a-z], a dot is a dot; may be repeated") \
  LIST(together, "together", "PATTERN,...", "machine", RESULT, \
    "ops that must share a device, a group for each pattern: 'layer3.*'; may be " \
    "repeated") \
  CHOICE(objective, "objective", "runtime", "runtime|memory", \
    "objective", RESULT, \
    "what to minimise; runtime respects the memory limit") \
  TEXT(method, "method", "auto", "NAME", "search", RESULT, \
    "search method; 'regal methods' lists them") \
  TEXT(decoder, "decoder", 0, "NAME", "search", RESULT, \
    "decoder of chromosomes; 'regal methods' lists them") \
  CHOICE(partitioner, "partitioner", "fm", "fm|metis", "search", RESULT, \
    "for partition: our Fiduccia-Mattheyses, or METIS if built in") \
  CHOICE(send, "send", "late", "late|eager", "search", RESULT, \
    "local, gp-dfs: a transfer goes before its first reader, or behind its " \
    "producer") \
  TEXT(policy, "policy", 0, "FILE|NAME", "search", RESULT, \
    "policy that guides the search: a file, a name, rule or rule-depth") \
  CHOICE(actions, "actions", "greedy", "greedy|sample", "search", RESULT, \
    "actions of a policy: the most likely, or sampled; train: in validation") \
  TEXT(settings, "settings", 0, "FILE|NAME", "search", RESULT, \
    "for tuned: from 'regal tune'; default: the included synthetic_OBJECTIVE") \
  INTEGER(evaluations, "evaluations", 0, 1, 1e15, "N", "search", RESULT, \
    "budget; if not given 5000 (auto: about a second), or none with --time") \
  QUANTITY(time, "time", 0, SECONDS, "SECONDS", "search", HOW, \
    "time limit, such as 5, 500ms or 2min; 0 = none") \
  QUANTITY(target, "target", 0, COST, "COST", "search", RESULT, \
    "stop at this cost, such as 2ms, or 300MB for memory; 0 = none") \
  INTEGER(seed, "seed", 1, 0, 9e18, "N", "search", RESULT, \
    "random seed; the plan does not depend on the number of threads") \
  INTEGER(threads, "threads", 0, 0, REGAL_MOST_THREADS, "N", "search", HOW, \
    "number of threads; 0 = all cores") \
  QUANTITY(max_memory, "max-memory", 0, BYTES, "BYTES", "search", HOW, \
    "most memory to use, such as 8GiB; 0 = three quarters of the machine's") \
  TEXT(start, "start", 0, "PLAN", "search", RESULT, \
    "start from this plan or order, on its machine where no options give one, " \
    "or from XLA's: schedule; the result is never worse") \
  TEXT(ortools, "ortools", 0, "PATH", "search", HOW, \
    "cp-sat: OR-tools' library, or a folder that contains it") \
  INTEGER(climb_restart, "climb-restart", -1, 0, 1000000, "MOVES", \
    "search", RESULT, \
    "climb: restart after this many moves per op without gain, 0 = never; " \
    "tuned if not given") \
  INTEGER(pipeline_chunks, "pipeline-chunks", 2, 1, 64, "N", \
    "search", RESULT, \
    "interleaved: stages of each device") \
  INTEGER(population, "population", 100, 4, 1000000, "N", "brkga", RESULT, \
    "chromosomes in each island") \
  REAL(elites, "elites", 0.20, 0, 1, "SHARE", "brkga", RESULT, \
    "share of the population that survives") \
  REAL(mutants, "mutants", 0.15, 0, 1, "SHARE", "brkga", RESULT, \
    "share of the population redrawn in each generation") \
  REAL(elite_bias, "elite-bias", 0.7, 0.5, 1, "P", "brkga", RESULT, \
    "probability that a child takes the elite parent's gene") \
  INTEGER(islands, "islands", 1, 1, 1024, "N", "brkga", RESULT, \
    "independent populations") \
  INTEGER(exchange, "exchange", 20, 1, 1000000, "GENERATIONS", \
    "brkga", RESULT, \
    "generations between exchanges of the islands' best") \
  INTEGER(restart, "restart", 0, 0, 1000000, "GENERATIONS", "brkga", RESULT, \
    "redraw the population after this many without gain; 0 = never") \
  TEXT(annealer, "annealer", 0, "NAME", "anneal", RESULT, \
    "annealer: order, phase, memory or steps; tuned if not given") \
  REAL(hot, "hot", 0, 1e-12, 1e9, "T", "anneal", RESULT, \
    "initial temperature, in mean op times or peaks; tuned if not given") \
  REAL(cold, "cold", 0, 1e-12, 1e9, "T", "anneal", RESULT, \
    "final temperature; tuned if not given") \
  REAL(level_cooling, "level-cooling", 0, 1e-12, 1, "FACTOR", "anneal", RESULT, \
    "factor on temperatures from a level to the next finer one; tuned if not given") \
  REAL(coarse_share, "coarse-share", -1, 0, 0.99, "SHARE", "anneal", RESULT, \
    "share of the budget for coarse graphs, 0 = no levels; tuned if not given") \
  INTEGER(coarsest, "coarsest", 0, 1, 1000000, "N", "anneal", RESULT, \
    "ops of the coarsest graph; tuned if not given") \
  REAL(single_start_share, "single-start-share", -1, 0, 1, "SHARE", \
    "anneal", RESULT, \
    "share of the budget that starts from one device; tuned if not given") \
  INTEGER(count, "count", 0, 1, 1000000000, "N", "generate", RESULT, \
    "number of graphs; with --paper 12000 if not given") \
  CHOICE(model, "model", "paper", "paper|erdos-renyi|barabasi-albert|" \
    "watts-strogatz|stochastic-block|layered", "generate", RESULT, \
    "random graphs; paper: one of the next four for each graph") \
  INTEGER(nodes, "nodes", 0, 1, 100000000, "N", "generate", RESULT, \
    "ops of each graph; if not given random, 50 to 200, or 1000 if layered") \
  INTEGER(width, "width", 32, 1, 100000000, "N", "generate", RESULT, \
    "ops in each layer of layered graphs") \
  FLAG(filter, "filter", "generate", RESULT, \
    "keep graphs that BRKGA 10K improves by 18% over BRKGA 1K") \
  FLAG(paper, "paper", "generate", RESULT, \
    "the paper's set: filtered, 10000 train, 1000 valid, 1000 test") \
  TEXT(pipeline, "pipeline", 0, "SHAPE", "generate", RESULT, \
    "one graph: layers=32,microbatches=16,forward=2ms,...; written to -o") \
  INTEGER(microbatches, "microbatches", 0, 1, 1000000, "M", \
    "pipeline", RESULT, \
    "number of microbatches; an error if not given") \
  FLAG(split_backward, "split-backward", "pipeline", RESULT, \
    "gradients of weights may run later than those of inputs") \
  TEXT(inputs, "inputs", 0, "PATTERN,...", "pipeline", RESULT, \
    "ops that make the data of a microbatch; placeholders if not given") \
  TEXT(gradients, "gradients", 0, "PATTERN,...", "pipeline", RESULT, \
    "ops whose final outputs are gradients; if not given all that no op reads") \
  TEXT(optimizer, "optimizer", 0, "PATTERN,...", "pipeline", RESULT, \
    "ops that run once, after all microbatches; TensorFlow's names if not given") \
  QUANTITY(accumulate_bandwidth, "accumulate-bandwidth", 4800GB/s, RATE, \
    "RATE", "pipeline", RESULT, \
    "memory bandwidth, for the time of adding up gradients; 0 = infinite") \
  INTEGER(copies, "copies", 99, 0, 1000000, "N", "dataset", RESULT, \
    "augmented copies of each graph") \
  TEXT(split, "split", 0, "NAME", "dataset", RESULT, \
    "only the graphs of this split: train, valid or test") \
  LIST(like, "like", "DATASET,...", "dataset", RESULT, \
    "families of these sets go where they are there; may be repeated") \
  TEXT(figures, "figures", 0, "DIR", "dataset", HOW, \
    "write histograms (SVG, by gnuplot) and their data (CSV) here") \
  CHOICE(preset, "preset", "default", "default|paper|paper-tf", \
    "train", RESULT, \
    "how to train: our recipe for the objective, the paper's, or that of its " \
    "TensorFlow agents") \
  INTEGER(steps, "steps", 0, 1, 1000000000, "N", "train", RESULT, \
    "updates of the policy; from the preset if not given") \
  INTEGER(graphs_per_step, "graphs-per-step", 0, 1, REGAL_MOST_STEP_GRAPHS, \
    "N", "train", RESULT, \
    "graphs in each update; from the preset if not given") \
  INTEGER(samples, "samples", 0, 1, REGAL_MOST_STEP_SAMPLES, "N", \
    "train", RESULT, \
    "episodes of each graph in an update; from the preset if not given") \
  INTEGER(episode_evaluations, "episode-evaluations", 0, 1, 1e9, "N", \
    "train", RESULT, \
    "evaluations of BRKGA in an episode; from the preset if not given") \
  CHOICE(reward, "reward", "preset", "best|top20", "train", RESULT, \
    "reward of an episode: its best cost, or the mean of its best 20; from the " \
    "preset if not given") \
  CHOICE(advantage, "advantage", "preset", "batch|graph|raw|learned", \
    "train", RESULT, \
    "rewards minus the graph's mean, scaled, or minus a learned baseline; from " \
    "the preset if not given") \
  CHOICE(estimator, "estimator", "reinforce", "reinforce|perturb", \
    "train", RESULT, \
    "gradient from rewards of sampled actions, or of moved parameters") \
  REAL(perturbation, "perturbation", 0.1, 1e-9, 1e3, "SIGMA", "train", RESULT, \
    "how far --estimator perturb moves parameters") \
  REAL(baseline_weight, "baseline-weight", -1, 0, 1000, "WEIGHT", \
    "train", RESULT, \
    "weight of the learned baseline's squared error; from the preset if not " \
    "given") \
  REAL(learning_rate, "learning-rate", 0, 1e-12, 1, "RATE", "train", RESULT, \
    "learning rate of Adam; from the preset if not given") \
  CHOICE(decay, "decay", "preset", "linear|none", "train", RESULT, \
    "decay of the learning rate; from the preset if not given") \
  REAL(entropy, "entropy", -1, 0, 1000, "WEIGHT", "train", RESULT, \
    "weight of the entropy bonus per op; from the preset if not given") \
  REAL(entropy_floor, "entropy-floor", 0, 0, 1000, "NATS", "train", RESULT, \
    "the bonus only where the entropy per op is below this; 0 = everywhere") \
  REAL(clip, "clip", -1, 0, 1e9, "NORM", "train", RESULT, \
    "largest norm of a gradient, 0 = no clipping; from the preset if not given") \
  REAL(clip_graph, "clip-graph", 0, 0, 1e9, "NORM", "train", RESULT, \
    "largest norm of one graph's gradient before the mean over graphs, so that " \
    "none of them decides its direction; 0 = no clipping") \
  CHOICE(policy_kind, "policy-kind", "gnn", \
    "gnn|gas|autoregressive|experts|blind", "train", RESULT, \
    "network of the policy") \
  CHOICE(features, "features", "paper", "paper|graph|draft|all", \
    "train", RESULT, \
    "what the policy reads; graph: nothing of a run of BRKGA; draft: instead " \
    "of a population, a plan of a short search on a stronger decoder") \
  INTEGER(rounds, "rounds", 2, 0, REGAL_MOST_MESSAGE_ROUNDS, "T", \
    "train", RESULT, \
    "rounds of messages in the graph network") \
  CHOICE(update, "update", "gru", "residual|mlp|gru", "train", RESULT, \
    "update of a node's state by its messages") \
  CHOICE(aggregation, "aggregation", "mean", "mean|sum", "train", RESULT, \
    "aggregation of a node's messages") \
  INTEGER(state_width, "state-width", 32, 1, REGAL_MOST_STATE_WIDTH, "N", \
    "train", RESULT, \
    "width of the state of a node") \
  INTEGER(experts, "experts", 4, 1, REGAL_MOST_EXPERTS, "N", "train", RESULT, \
    "number of networks in a mixture of experts") \
  CHOICE(heads, "heads", "preset", "placement|scheduling|both|all", \
    "train", RESULT, \
    "genes that the policy chooses for; all: transfers and global ones too; " \
    "from the preset if not given") \
  INTEGER(placement_levels, "placement-levels", 2, REGAL_FEWEST_LEVELS, \
    REGAL_MOST_LEVELS, "K", "train", RESULT, \
    "levels of mean and variance for placement genes") \
  INTEGER(schedule_levels, "schedule-levels", 16, REGAL_FEWEST_LEVELS, \
    REGAL_MOST_LEVELS, "K", "train", RESULT, \
    "levels of mean and variance for all other genes") \
  INTEGER(variance_levels, "variance-levels", 0, REGAL_FEWEST_LEVELS, \
    REGAL_MOST_LEVELS, "K", "train", RESULT, \
    "levels of their variance; as many as of their mean if not given") \
  CHOICE(means, "means", "absolute", "absolute|draft", "train", RESULT, \
    "levels of a mean: of the mean itself, or of its shift from the draft") \
  INTEGER(bias_levels, "bias-levels", 0, 0, REGAL_MOST_LEVELS, "K", \
    "train", RESULT, \
    "levels of crossover bias; 0 = the policy does not choose it") \
  REAL(uniform_logit, "uniform-logit", -1, 0, 100, "LOGIT", "train", RESULT, \
    "initial logit of uniform genes; from the preset if not given") \
  INTEGER(imitate, "imitate", 0, 0, 1000000000, "STEPS", "train", RESULT, \
    "imitate the plans of auto for this many steps first") \
  INTEGER(augment, "augment", 0, 1, 1000000, "N", "train", RESULT, \
    "augmented copies of each graph; if not given the dataset's, bench: none") \
  INTEGER(valid_every, "valid-every", 0, 1, 1000000000, "STEPS", \
    "train", RESULT, \
    "steps between validations; a tenth of the steps if not given") \
  INTEGER(valid_graphs, "valid-graphs", 64, 0, 1000000000, "N", \
    "train", RESULT, \
    "held-out graphs to validate on; 0 = none, keep the last policy") \
  INTEGER(valid_evaluations, "valid-evaluations", 5000, 2, 1e9, "N", \
    "train", RESULT, \
    "evaluations in validation, including those for the features") \
  TEXT(checkpoint, "checkpoint", 0, "FILE", "train", HOW, \
    "checkpoint file; OUTPUT.checkpoint if not given") \
  QUANTITY(checkpoint_every, "checkpoint-every", 120s, SECONDS, "SECONDS", \
    "train", HOW, \
    "interval between checkpoints") \
  FLAG(resume, "resume", "train", HOW, "continue from the checkpoint") \
  FLAG(overwrite, "overwrite", "train", HOW, \
    "replace policy, checkpoint, log or table of an earlier run") \
  TEXT(log, "log", 0, "FILE", "train", HOW, \
    "log file, one line per step (CSV); OUTPUT.csv if not given") \
  TEXT(plot, "plot", 0, "FILE", "train", HOW, \
    "draw the curves of the log (SVG, by gnuplot) when training ends") \
  FLAG(halving, "halving", "tune", RESULT, \
    "successive halving: twice the graphs for the better half of settings") \
  INTEGER(graphs, "graphs", 0, 1, 1000000000, "N", "tune", RESULT, \
    "number of graphs, spread over the set; all if not given") \
  LIST(methods, "methods", "METHOD,...", "bench", RESULT, \
    "methods, each with options of its own: 'regal policy=real_runtime'; " \
    "brkga,auto if not given") \
  LIST(budgets, "budgets", "BUDGET,...", "bench", RESULT, \
    "evaluations (5000) or times (0.1s); 5000 if not given") \
  LIST(seeds, "seeds", "N,...", "bench", RESULT, \
    "random seeds; 1 if not given") \
  FLAG(mix, "mix", "bench", HOW, \
    "keep rows of other builds and settings in the table; in a report, the " \
    "later row of a run counts") \
  TEXT(report, "report", 0, "DIR", "bench", HOW, \
    "write tables and figures of the runs here") \
  TEXT(reference, "reference", "brkga@5000", "METHOD@BUDGET", "bench", HOW, \
    "what improvements are over, in the report") \
  TEXT(best, "best", 0, "FILE", "bench", HOW, \
    "best known costs for the report, a CSV of graph,cost") \
  TEXT(output, "output", 0, "FILE", "output", HOW, \
    "write the plan (or graph, or dataset) here; '-' is stdout") \
  FLAG(times, "times", "output", HOW, \
    "write start and end of each step into the plan") \
  TEXT(trace, "trace", 0, "FILE", "output", HOW, \
    "write a Chrome / Perfetto trace") \
  TEXT(html, "html", 0, "FILE", "output", HOW, \
    "write a page for a browser: timeline, memory, comparison") \
  TEXT(plan, "plan", 0, "PLAN", "output", HOW, \
    "convert: write the graph with this plan: .onnx, .dot or .svg") \
  CHOICE(format, "format", "auto", "auto|binary|text|json", "output", HOW, \
    "format of a graph that is written; auto: by the file's ending") \
  FLAG(json, "json", "output", HOW, \
    "print the result as JSON instead of text") \
  FLAG(timeline, "timeline", "output", HOW, \
    "draw what each device does over time") \
  FLAG(quiet, "quiet", "output", HOW, "no progress, no notes") \
  FLAG(verbose, "verbose", "output", HOW, "more about the run") \
  TEXT(config, "config", 0, "FILE", "config", HOW, \
    "read options from this file, lines of NAME = VALUE; those of the command " \
    "line win") \
  FLAG(dump_config, "dump-config", "config", HOW, \
    "print the options that are not the default, as such a file, and do no more")
/* clang-format on */

/* Former names, which are accepted and not shown. */
#define REGAL_OPTION_ALIASES(ALIAS)                                            \
  ALIAS("fall", "level-cooling")                                               \
  ALIAS("fresh", "single-start-share")                                         \
  ALIAS("local-restart", "climb-restart")                                      \
  ALIAS("neutral", "uniform-logit")

/* What the text of a COST was; a field that is set directly has no unit. */
typedef enum regal_cost_unit {
  REGAL_COST_DIRECT, /* nanoseconds or bytes, as the objective is */
  REGAL_COST_BARE,   /* a bare number, so it can only be bytes */
  REGAL_COST_TIME,
  REGAL_COST_BYTES
} regal_cost_unit;

#define REGAL_FIELD_INTEGER(field, ...) int64_t field;
#define REGAL_FIELD_REAL(field, ...) double field;
#define REGAL_FIELD_BYTES(field) int64_t field;
#define REGAL_FIELD_RATE(field) int64_t field;
#define REGAL_FIELD_TIME(field) int64_t field;
#define REGAL_FIELD_SECONDS(field) double field;
#define REGAL_FIELD_COST(field)                                                \
  double field;                                                                \
  regal_cost_unit field##_unit;
#define REGAL_FIELD_QUANTITY(field, name, value, kind, ...)                    \
  REGAL_FIELD_##kind(field)
#define REGAL_FIELD_CHOICE(field, ...) int64_t field;
#define REGAL_FIELD_FLAG(field, ...) bool field;
#define REGAL_FIELD_TEXT(field, ...) char field[REGAL_MOST_TEXT];
#define REGAL_FIELD_LIST(field, ...) char field[REGAL_MOST_LIST];

/* Field by field the options' values; a choice is its index in `choices`, or -1
 * if it is not given; a text that is not given is "". Copy it freely. An option
 * counts as given when regal_options_set has set it, or when its field differs
 * from the default. What is given wins over files and presets. */
typedef struct regal_options {
  REGAL_OPTION_TABLE(REGAL_FIELD_INTEGER, REGAL_FIELD_REAL,
                     REGAL_FIELD_QUANTITY, REGAL_FIELD_CHOICE, REGAL_FIELD_FLAG,
                     REGAL_FIELD_TEXT, REGAL_FIELD_LIST)
  uint64_t given[4]; /* bit per row: regal_options_set has set it */
} regal_options;

#undef REGAL_FIELD_INTEGER
#undef REGAL_FIELD_REAL
#undef REGAL_FIELD_BYTES
#undef REGAL_FIELD_RATE
#undef REGAL_FIELD_TIME
#undef REGAL_FIELD_SECONDS
#undef REGAL_FIELD_COST
#undef REGAL_FIELD_QUANTITY
#undef REGAL_FIELD_CHOICE
#undef REGAL_FIELD_FLAG
#undef REGAL_FIELD_TEXT
#undef REGAL_FIELD_LIST

#endif
