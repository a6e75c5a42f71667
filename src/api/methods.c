/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods. A row declares its function: a new method is one file
 * and one row (docs/contributing.md has an example). search/search.h explains
 * the columns. */
#include "api/methods.h"

#include "base/options/spelling.h"

#include <stdio.h>
#include <string.h>

static const char by_budget[] = "stops at --evaluations or --time";
static const char by_time[] = "stops at --time, by default 60 s";
static const char no_budget[] = "none: one pass";

/* clang-format off */
#define METHODS(ROW) \
  /*  name, function regal_method_..., what the budget means, budget by default, policy, its kind, help */ \
  ROW("auto", auto, by_budget, SECOND, NO_POLICY, NULL, "list schedulers, then BRKGA where it helps, then annealing") \
  ROW("brkga", brkga, by_budget, PAPER, NO_POLICY, NULL, "biased random-key genetic algorithm on --decoder") \
  ROW("tuned", tuned, by_budget, PAPER, NO_POLICY, NULL, "BRKGA with --settings from 'regal tune'") \
  ROW("regal", regal, by_budget, PAPER, NEEDS_POLICY, NULL, "BRKGA guided by --policy, which reads the graph") \
  ROW("gas", regal, by_budget, PAPER, NEEDS_POLICY, "gas", "the same with a policy of kind gas (an LSTM instead of a GNN)") \
  ROW("idrs", idrs, by_budget, PAPER, MAY_USE_POLICY, NULL, "the best of independent draws from --policy") \
  ROW("direct", direct, "none: one evaluation, and those of the policy", PAPER, NEEDS_POLICY, NULL, "the means of --policy's distributions, without search") \
  ROW("anneal", anneal, by_budget, PAPER, NO_POLICY, NULL, "simulated annealing of order and placement") \
  ROW("multilevel", multilevel, by_budget, PAPER, NO_POLICY, NULL, "annealing of coarsened graphs, coarse to fine") \
  ROW("local", local, by_budget, PAPER, NO_POLICY, NULL, "steepest descent on ops and transfers, from random placements") \
  ROW("climb", climb, by_budget, PAPER, NO_POLICY, NULL, "hill climbing by random moves; transfers follow from the ops") \
  ROW("random", random, by_budget, PAPER, NO_POLICY, NULL, "the best of random chromosomes on --decoder") \
  ROW("cp-sat", cp_sat, by_time, MINUTE, NO_POLICY, NULL, "OR-tools' constraint solver; may prove optimality") \
  ROW("single", single, no_budget, PAPER, NO_POLICY, NULL, "everything on one device, in the file's order") \
  ROW("heft", heft, no_budget, PAPER, NO_POLICY, NULL, "critical-path list scheduling, earliest finish") \
  ROW("fit", fit, by_budget, PAPER, NO_POLICY, NULL, "list scheduling that keeps memory limits") \
  ROW("cut", cut, no_budget, PAPER, NO_POLICY, NULL, "one stage for each device, along the file or a list order") \
  ROW("split", split, no_budget, PAPER, NO_POLICY, NULL, "the file's order cut into one stage for each device") \
  ROW("gpipe", gpipe, no_budget, PAPER, NO_POLICY, NULL, "pipelines: forward for all microbatches, then backward") \
  ROW("1f1b", 1f1b, no_budget, PAPER, NO_POLICY, NULL, "pipelines: forward and backward in turn") \
  ROW("interleaved", interleaved, no_budget, PAPER, NO_POLICY, NULL, "pipelines: 1f1b with --pipeline-chunks on each device") \
  ROW("zb-h1", zb_h1, no_budget, PAPER, NO_POLICY, NULL, "pipelines: 1f1b, gradients of weights fill idle time") \
  ROW("gp-dfs", gp_dfs, no_budget, PAPER, NO_POLICY, NULL, "graph partitioning by Kernighan and Lin, XLA's depth-first order") \
  ROW("partition", partition, no_budget, PAPER, NO_POLICY, NULL, "graph partitioning by --partitioner, depth-first order") \
  ROW("dfs", dfs, no_budget, PAPER, NO_POLICY, NULL, "one device, depth-first order (PyTorch Inductor)") \
  ROW("bfs", bfs, no_budget, PAPER, NO_POLICY, NULL, "one device, breadth-first order (PyTorch Inductor)") \
  ROW("lpmf", lpmf, no_budget, PAPER, NO_POLICY, NULL, "one device, least peak memory first (PyTorch Inductor)") \
  ROW("tree", tree, no_budget, PAPER, NO_POLICY, NULL, "one device, the least peak of a tree (Liu), in any graph") \
  ROW("xla-list", xla_list, no_budget, PAPER, NO_POLICY, NULL, "one device, XLA's list scheduler for memory") \
  ROW("xla-dfs", xla_dfs, no_budget, PAPER, NO_POLICY, NULL, "one device, XLA's depth-first scheduler for memory")
/* clang-format on */

#define DECLARE(name, run, ...) regal_status regal_method_##run(regal_search *);
#define DEFINE(name, run, budget, by_default, policy, kind, help)              \
  {name,                                                                       \
   help,                                                                       \
   budget,                                                                     \
   regal_method_##run,                                                         \
   REGAL_BUDGET_##by_default,                                                  \
   REGAL_METHOD_##policy,                                                      \
   kind},

METHODS(DECLARE)

static const regal_method methods[] = {METHODS(DEFINE)};

size_t regal_method_count(void) {
  return sizeof methods / sizeof *methods;
}

regal_method_info regal_method_at(size_t index) {
  if (index >= regal_method_count())
    return (regal_method_info){.name = NULL};
  const regal_method *method = &methods[index];
  return (regal_method_info){method->name, method->help, method->budget};
}

const regal_method *regal_method_find(const char *name) {
  for (size_t i = 0; i < regal_method_count(); i++)
    if (strcmp(methods[i].name, name) == 0)
      return &methods[i];
  return NULL;
}

regal_status regal_method_require(regal_context *context, const char *name,
                                  const regal_method **method) {
  *method = regal_method_find(name);
  if (*method)
    return REGAL_OK;
  char hint[120];
  regal_suggestion nearest = regal_suggest(name);
  for (size_t i = 0; i < regal_method_count(); i++)
    regal_suggestion_consider(&nearest, methods[i].name);
  regal_suggestion_print(&nearest, "methods", hint, sizeof hint);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "--method: there is no method \"%.100s\"; %s", name, hint);
}

void regal_methods_with_policy(char *text, size_t room) {
  size_t count = 0, listed = 0, length = 0;
  for (size_t i = 0; i < regal_method_count(); i++)
    count += methods[i].policy != REGAL_METHOD_NO_POLICY;
  for (size_t i = 0; i < regal_method_count() && length < room; i++) {
    if (methods[i].policy == REGAL_METHOD_NO_POLICY)
      continue;
    const char *before = !listed ? "" : listed + 1 < count ? ", " : " and ";
    length += (size_t)snprintf(text + length, room - length, "%s%s", before,
                               methods[i].name);
    listed++;
  }
}
