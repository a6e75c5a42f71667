/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options: one row each, for the command line, the library and
 * the documentation alike.
 *
 * To add an option, add a row; nothing else. The row makes the field of
 * regal_options (with '_' for '-'), the command-line flag, its --help line, its
 * range check and its line in docs/options.md.
 *
 *   INTEGER (field, "name", default, low, high, "UNIT", "group", "help")
 *   REAL    (field, "name", default, low, high, "UNIT", "group", "help")
 *   BYTES   (field, "name", default,            "UNIT", "group", "help")
 *   DURATION(field, "name", default ns,         "UNIT", "group", "help")
 *   CHOICE  (field, "name", "default", "a|b|c",         "group", "help")
 *   FLAG    (field, "name",                             "group", "help")
 *   TEXT    (field, "name", default or NULL,    "UNIT", "group", "help")
 *
 * Groups: reading, machine, objective, search, brkga, anneal, generate,
 * dataset, train, tune, output.
 */
#ifndef REGAL_OPTIONS_H
#define REGAL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define REGAL_OPTION_TABLE(INTEGER, REAL, BYTES, DURATION, CHOICE, FLAG, TEXT) \
  CHOICE(loops, "loops", "reject", "reject|cut", "reading", \
    "cut: drop the edges that leave NextIteration nodes (while loops)") \
  CHOICE(variables, "variables", "tensors", "tensors|resident", "reading", \
    "resident: what ReadVariableOp returns is a parameter, once per handle") \
  CHOICE(aliases, "aliases", "ignore", "ignore|share|reuse|xla", "reading", \
    "outputs marked as alias share their input, or may reuse it; xla: by name") \
  TEXT(dim, "dim", 0, "NAME=SIZE,...", "reading", \
    "ONNX: numbers for symbolic dimensions: batch=8,seq=128") \
  TEXT(roofline, "roofline", "h200", "NAME|FILE", "reading", \
    "ONNX: the device of the run times: h200, a100, t4, cpu-core, or a file") \
  TEXT(costs, "costs", 0, "FILE", "reading", \
    "ONNX: measured run times, a CSV of name,microseconds") \
  INTEGER(devices, "devices", 2, 1, 64, "N", "machine", \
    "number of devices") \
  BYTES(memory_limit, "memory-limit", 0, "BYTES", "machine", \
    "memory of each device; 16GiB works too; 0 = no limit") \
  BYTES(bandwidth, "bandwidth", 0, "BYTES_PER_S", "machine", \
    "of each link between two devices; 25GB works too; 0 = infinite") \
  DURATION(latency, "latency", 0, "DURATION", "machine", \
    "of each transfer: 10us, 500ns") \
  CHOICE(transfers, "transfers", "blocking", "blocking|overlapped", "machine", \
    "whether a transfer stops both devices or runs beside them") \
  CHOICE(control, "control", "wait", "wait|transfer", "machine", \
    "control edges: the consumer waits, or a zero-byte transfer") \
  TEXT(machine, "machine", 0, "FILE", "machine", \
    "machine file (JSON): speeds, links, op times, groups of ops") \
  CHOICE(objective, "objective", "runtime", "runtime|memory", "objective", \
    "what to minimise; runtime respects the memory limit") \
  TEXT(method, "method", "auto", "NAME", "search", \
    "how to search: see 'regal methods'") \
  TEXT(decoder, "decoder", 0, "NAME", "search", \
    "how a chromosome becomes a plan: see 'regal methods'") \
  CHOICE(partitioner, "partitioner", "fm", "fm|metis", "search", \
    "for gp-dfs: our Fiduccia-Mattheyses, or METIS where it is built in") \
  TEXT(policy, "policy", 0, "FILE|NAME", "search", \
    "what guides the search: a policy file, rule, or rule-depth") \
  CHOICE(actions, "actions", "greedy", "greedy|sample", "search", \
    "what a policy does: its likeliest actions, or drawn ones") \
  TEXT(settings, "settings", 0, "FILE|NAME", "search", \
    "for tuned: from 'regal tune'; default: the shipped synthetic_OBJECTIVE") \
  INTEGER(evaluations, "evaluations", 0, 0, 1e15, "N", "search", \
    "budget in evaluations; 0 = 5000 (auto: about a second), none with --time") \
  REAL(time, "time", 0, 0, 1e9, "SECONDS", "search", \
    "stop after this long; 0 = no limit") \
  REAL(target, "target", 0, 0, 9.2e18, "COST", "search", \
    "stop at this cost (nanoseconds or bytes); 0 = none") \
  INTEGER(seed, "seed", 1, 0, 9e18, "N", "search", \
    "same seed, same plan, for any number of threads") \
  INTEGER(threads, "threads", 0, 0, 1024, "N", "search", \
    "0 = all cores") \
  TEXT(start, "start", 0, "PLAN", "search", \
    "start from this plan or order; never returns anything worse") \
  TEXT(ortools, "ortools", 0, "PATH", "search", \
    "cp-sat: OR-tools' library, or a folder that has it") \
  INTEGER(local_restart, "local-restart", -1, -1, 1000000, "MOVES", "search", \
    "local: start anew after so many per op without gain; 0 never, -1 tuned") \
  INTEGER(population, "population", 100, 4, 1000000, "N", "brkga", \
    "chromosomes in each island") \
  REAL(elites, "elites", 0.20, 0, 1, "SHARE", "brkga", \
    "share of the population that survives") \
  REAL(mutants, "mutants", 0.15, 0, 1, "SHARE", "brkga", \
    "share of the population drawn anew in each generation") \
  REAL(elite_bias, "elite-bias", 0.7, 0.5, 1, "P", "brkga", \
    "probability that a child takes the elite parent's gene") \
  INTEGER(islands, "islands", 1, 1, 1024, "N", "brkga", \
    "populations that evolve apart") \
  INTEGER(exchange, "exchange", 20, 1, 1000000, "GENERATIONS", "brkga", \
    "how often islands send their best to the next one") \
  INTEGER(restart, "restart", 0, 0, 1000000, "GENERATIONS", "brkga", \
    "draw the population anew after so many without gain; 0 = never") \
  TEXT(annealer, "annealer", 0, "NAME", "anneal", \
    "what annealing works on: order, phase or memory; tuned if not given") \
  REAL(hot, "hot", 0, 0, 1e9, "T", "anneal", \
    "temperature at the start, in mean op times or in peaks; 0 = tuned") \
  REAL(cold, "cold", 0, 0, 1e9, "T", "anneal", \
    "temperature at the end; 0 = tuned") \
  REAL(fall, "fall", 0, 0, 1, "FACTOR", "anneal", \
    "of the heat, from one level to the next finer one; 0 = tuned") \
  REAL(coarse_share, "coarse-share", -1, -1, 0.99, "SHARE", "anneal", \
    "of the budget for coarser graphs; 0 = no levels, -1 = tuned") \
  INTEGER(coarsest, "coarsest", 0, 0, 1000000, "N", "anneal", \
    "ops of the coarsest graph; 0 = tuned") \
  REAL(fresh, "fresh", -1, -1, 1, "SHARE", "anneal", \
    "of the budget for a start from one device; -1 = tuned") \
  INTEGER(count, "count", 0, 0, 1000000000, "N", "generate", \
    "number of graphs; 0 with --paper = 12000") \
  CHOICE(model, "model", "paper", "paper|erdos-renyi|barabasi-albert|" \
    "watts-strogatz|stochastic-block|layered", "generate", \
    "random graphs; paper: one of the next four for each graph") \
  INTEGER(nodes, "nodes", 0, 0, 100000000, "N", "generate", \
    "ops of each graph; 0 = random, 50 to 200, or 1000 if layered") \
  INTEGER(width, "width", 32, 1, 100000000, "N", "generate", \
    "ops in each layer of layered graphs") \
  FLAG(filter, "filter", "generate", \
    "keep graphs that BRKGA 10K improves by 18% over BRKGA 1K") \
  FLAG(paper, "paper", "generate", \
    "the paper's set: filtered, 10000 train, 1000 valid, 1000 test") \
  INTEGER(copies, "copies", 99, 0, 1000000, "N", "dataset", \
    "augmented copies that go with each graph") \
  TEXT(split, "split", 0, "NAME", "dataset", \
    "only the graphs of this split: train, valid or test") \
  TEXT(figures, "figures", 0, "DIR", "dataset", \
    "write histograms (SVG, by gnuplot) and their data (CSV) here") \
  CHOICE(preset, "preset", "default", "default|paper", "train", \
    "how to train: our recipe for the objective, or the paper's") \
  INTEGER(steps, "steps", 0, 0, 1000000000, "N", "train", \
    "updates of the policy; 0 = the preset's") \
  INTEGER(graphs_per_step, "graphs-per-step", 0, 0, 4096, "N", "train", \
    "graphs in each update; 0 = 4") \
  INTEGER(samples, "samples", 0, 0, 4096, "N", "train", \
    "episodes of each graph in an update; 0 = the preset's") \
  INTEGER(episode_evaluations, "episode-evaluations", 0, 0, 1e9, "N", "train", \
    "of BRKGA in an episode; 0 = the preset's") \
  CHOICE(reward, "reward", "preset", "preset|best|top20", "train", \
    "of an episode: its best cost, or the mean of its best 20") \
  CHOICE(advantage, "advantage", "preset", \
    "preset|batch|graph|raw|learned", "train", \
    "rewards less the graph's mean, scaled; or less a learned baseline") \
  REAL(learning_rate, "learning-rate", 0, 0, 1, "RATE", "train", \
    "of Adam; 0 = the preset's") \
  CHOICE(decay, "decay", "preset", "preset|linear|none", "train", \
    "of the learning rate") \
  REAL(entropy, "entropy", -1, -1, 1000, "WEIGHT", "train", \
    "bonus for entropy per op; -1 = the preset's") \
  REAL(clip, "clip", -1, -1, 1e9, "NORM", "train", \
    "largest norm of a gradient, 0 = any; -1 = 10") \
  CHOICE(policy_kind, "policy-kind", "gnn", \
    "gnn|gas|autoregressive|experts|blind", "train", \
    "network of the policy") \
  INTEGER(rounds, "rounds", 2, 0, 64, "T", "train", \
    "of messages in the graph network") \
  CHOICE(update, "update", "gru", "residual|mlp|gru", "train", \
    "of a node's state by its messages") \
  CHOICE(aggregation, "aggregation", "mean", "mean|sum", "train", \
    "of a node's messages") \
  INTEGER(state_width, "state-width", 32, 1, 1024, "N", "train", \
    "numbers in the state of a node") \
  INTEGER(experts, "experts", 4, 1, 64, "N", "train", \
    "networks of a mixture") \
  CHOICE(heads, "heads", "preset", \
    "preset|placement|scheduling|both|all", "train", \
    "genes that the policy speaks of; all: transfers and global ones too") \
  INTEGER(placement_levels, "placement-levels", 2, 2, 256, "K", "train", \
    "of mean and variance, for genes of placement") \
  INTEGER(schedule_levels, "schedule-levels", 16, 2, 256, "K", "train", \
    "of mean and variance, for all other genes") \
  INTEGER(bias_levels, "bias-levels", 0, 0, 256, "K", "train", \
    "of crossover bias; 0 = the policy does not choose it") \
  REAL(neutral, "neutral", -1, -1, 100, "LOGIT", "train", \
    "start in favour of uniform genes; -1 = the preset's") \
  INTEGER(imitate, "imitate", 0, 0, 1000000000, "STEPS", "train", \
    "first copy the plans of the strong search for so many of the steps") \
  INTEGER(augment, "augment", 0, 0, 1000000, "N", "train", \
    "copies of each training graph, with noise; 0 = what the dataset says") \
  INTEGER(valid_every, "valid-every", 0, 0, 1000000000, "STEPS", "train", \
    "between validations; 0 = a tenth of the steps") \
  INTEGER(valid_graphs, "valid-graphs", 64, 0, 1000000000, "N", "train", \
    "held-out graphs to validate on; 0 = none, keep the last policy") \
  INTEGER(valid_evaluations, "valid-evaluations", 5000, 2, 1e9, "N", "train", \
    "budget in validation, those of the features included") \
  TEXT(checkpoint, "checkpoint", 0, "FILE", "train", \
    "state of the run; OUTPUT.checkpoint if not given") \
  REAL(checkpoint_every, "checkpoint-every", 120, 0, 1e9, "SECONDS", "train", \
    "how often it is written") \
  FLAG(resume, "resume", "train", "go on from the checkpoint") \
  TEXT(log, "log", 0, "FILE", "train", \
    "a line for each step (CSV); OUTPUT.csv if not given") \
  TEXT(plot, "plot", 0, "FILE", "train", \
    "draw the curves of the log (SVG, by gnuplot) when training ends") \
  FLAG(halving, "halving", "tune", \
    "few graphs first, then twice as many with the better half of settings") \
  INTEGER(graphs, "graphs", 0, 0, 1000000000, "N", "tune", \
    "use so many graphs, from all over the training set; 0 = all") \
  TEXT(output, "output", 0, "FILE", "output", \
    "write the plan (or graph, or dataset) here; '-' is stdout") \
  TEXT(trace, "trace", 0, "FILE", "output", \
    "write a Chrome / Perfetto trace") \
  CHOICE(format, "format", "auto", "auto|binary|text|json", "output", \
    "format of a graph that is written; auto: by the file's ending") \
  FLAG(json, "json", "output", \
    "print the result as JSON instead of text") \
  FLAG(timeline, "timeline", "output", \
    "draw what each device does over time") \
  FLAG(quiet, "quiet", "output", "no progress, no notes") \
  FLAG(verbose, "verbose", "output", "more about the run")
/* clang-format on */

#define REGAL_FIELD_INTEGER(field, ...) int64_t field;
#define REGAL_FIELD_REAL(field, ...) double field;
#define REGAL_FIELD_CHOICE(field, ...) int64_t field;
#define REGAL_FIELD_FLAG(field, ...) bool field;
#define REGAL_FIELD_TEXT(field, ...) char field[1024];

/* Field by field the options' values; a choice is its index in `choices`; a
 * text that is unset is "". Copy it freely. */
typedef struct regal_options {
  REGAL_OPTION_TABLE(REGAL_FIELD_INTEGER, REGAL_FIELD_REAL, REGAL_FIELD_INTEGER,
                     REGAL_FIELD_INTEGER, REGAL_FIELD_CHOICE, REGAL_FIELD_FLAG,
                     REGAL_FIELD_TEXT)
  uint64_t given[2]; /* bit per row: set explicitly, so it overrides files */
} regal_options;

#undef REGAL_FIELD_INTEGER
#undef REGAL_FIELD_REAL
#undef REGAL_FIELD_CHOICE
#undef REGAL_FIELD_FLAG
#undef REGAL_FIELD_TEXT

#endif
