/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods: to add one, write its function and add a row
 * (search/search.h explains the columns). */
#include "api/methods.h"
#include "anneal/local/local.h"
#include "anneal/methods.h"
#include "auto/auto.h"
#include "evolve/evolve.h"
#include "heuristic/heuristics.h"

#include <stdio.h>
#include <string.h>

#include "exact/exact.h"

static const char by_budget[] = "stops at --evaluations or --time";
static const char by_time[] = "stops at --time, by default 60 s";
static const char no_budget[] = "none: one pass";

/* clang-format off */
static const regal_method methods[] = {
    {"auto", "list schedulers, then BRKGA where it helps, then annealing", by_budget, regal_method_auto, REGAL_BUDGET_SECOND, REGAL_METHOD_NO_POLICY, NULL},
    {"brkga", "biased random-key genetic algorithm on --decoder", by_budget, regal_method_brkga, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"tuned", "BRKGA with --settings from 'regal tune'", by_budget, regal_method_tuned, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"regal", "BRKGA guided by --policy, which reads the graph", by_budget, regal_method_regal, REGAL_BUDGET_PAPER, REGAL_METHOD_NEEDS_POLICY, NULL},
    {"gas", "the same with a policy of kind gas (an LSTM instead of a GNN)", by_budget, regal_method_regal, REGAL_BUDGET_PAPER, REGAL_METHOD_NEEDS_POLICY, "gas"},
    {"idrs", "the best of independent draws from --policy", by_budget, regal_method_idrs, REGAL_BUDGET_PAPER, REGAL_METHOD_MAY_USE_POLICY, NULL},
    {"direct", "the means of --policy's distributions, without search", "none: one evaluation, and those of the policy", regal_method_direct, REGAL_BUDGET_PAPER, REGAL_METHOD_NEEDS_POLICY, NULL},
    {"anneal", "simulated annealing of order and placement", by_budget, regal_method_anneal, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"multilevel", "annealing of coarsened graphs, coarse to fine", by_budget, regal_method_multilevel, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"local", "local search from random placements", by_budget, regal_method_local, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"random", "the best of random chromosomes on --decoder", by_budget, regal_method_random, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"cp-sat", "OR-tools' constraint solver; may prove optimality", by_time, regal_method_cp_sat, REGAL_BUDGET_MINUTE, REGAL_METHOD_NO_POLICY, NULL},
    {"single", "everything on one device, in the file's order", no_budget, regal_method_single, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"heft", "critical-path list scheduling, earliest finish", no_budget, regal_method_heft, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"cut", "one stage for each device, along the file or a list order", no_budget, regal_method_cut, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"split", "the file's order cut into one stage for each device", no_budget, regal_method_split, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"gp-dfs", "graph partitioning by --partitioner, depth-first order", no_budget, regal_method_gp_dfs, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"dfs", "one device, depth-first order (PyTorch Inductor)", no_budget, regal_method_dfs, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"bfs", "one device, breadth-first order (PyTorch Inductor)", no_budget, regal_method_bfs, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"lpmf", "one device, least peak memory first (PyTorch Inductor)", no_budget, regal_method_lpmf, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
    {"xla-list", "one device, XLA's list scheduler for memory", no_budget, regal_method_xla_list, REGAL_BUDGET_PAPER, REGAL_METHOD_NO_POLICY, NULL},
};
/* clang-format on */

size_t regal_method_count(void) {
  return sizeof methods / sizeof *methods;
}

regal_method_info regal_method_at(size_t index) {
  const regal_method *method = &methods[index];
  return (regal_method_info){method->name, method->help, method->budget};
}

const regal_method *regal_method_find(const char *name) {
  for (size_t i = 0; i < regal_method_count(); i++)
    if (strcmp(methods[i].name, name) == 0)
      return &methods[i];
  return NULL;
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
