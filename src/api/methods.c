/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods: to add one, write its function and add a row. */
#include "api/methods.h"
#include "anneal/local/local.h"
#include "anneal/methods.h"
#include "auto/auto.h"
#include "evolve/evolve.h"
#include "heuristic/heuristics.h"

#include <string.h>

#include "evolve/settings_file.h"
#include "exact/exact.h"

static const char by_budget[] = "stops at --evaluations or --time";
static const char by_time[] = "stops at --time, by default 60 s";
static const char no_budget[] = "none: one pass";

/* clang-format off */
static const regal_method methods[] = {
    {"auto", "list schedulers, then BRKGA where it helps, then annealing", by_budget, regal_method_auto},
    {"brkga", "biased random-key genetic algorithm on --decoder", by_budget, regal_method_brkga},
    {"tuned", "BRKGA with --settings from 'regal tune'", by_budget, regal_method_tuned},
    {"regal", "BRKGA guided by --policy, which reads the graph", by_budget, regal_method_regal},
    {"gas", "the same with a policy of kind gas (an LSTM instead of a GNN)", by_budget, regal_method_gas},
    {"idrs", "the best of independent draws from --policy", by_budget, regal_method_idrs},
    {"direct", "the means of --policy's distributions, without search", "none: one evaluation, and those of the policy", regal_method_direct},
    {"anneal", "simulated annealing of order and placement", by_budget, regal_method_anneal},
    {"multilevel", "annealing of coarsened graphs, coarse to fine", by_budget, regal_method_multilevel},
    {"local", "local search from random placements", by_budget, regal_method_local},
    {"random", "the best of random chromosomes on --decoder", by_budget, regal_method_random},
    {"cp-sat", "OR-tools' constraint solver; may prove optimality", by_time, regal_method_cp_sat},
    {"single", "everything on one device, in the file's order", no_budget, regal_method_single},
    {"heft", "critical-path list scheduling, earliest finish", no_budget, regal_method_heft},
    {"cut", "one stage for each device, along the file or a list order", no_budget, regal_method_cut},
    {"split", "the file's order cut into one stage for each device", no_budget, regal_method_split},
    {"gp-dfs", "graph partitioning by --partitioner, depth-first order", no_budget, regal_method_gp_dfs},
    {"dfs", "one device, depth-first order (PyTorch Inductor)", no_budget, regal_method_dfs},
    {"bfs", "one device, breadth-first order (PyTorch Inductor)", no_budget, regal_method_bfs},
    {"lpmf", "one device, least peak memory first (PyTorch Inductor)", no_budget, regal_method_lpmf},
    {"xla-list", "one device, XLA's list scheduler for memory", no_budget, regal_method_xla_list},
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
