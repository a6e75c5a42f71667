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
static const char by_time[] = "stops at --time, after 60 s without it";
static const char no_budget[] = "none: one pass";

/* clang-format off */
static const regal_method methods[] = {
    {"auto", "list schedulers, then BRKGA, then annealing, each from the best", by_budget, regal_method_auto},
    {"brkga", "biased random-key genetic algorithm on --decoder", by_budget, regal_method_brkga},
    {"tuned", "BRKGA with --settings, as 'regal tune' found them", by_budget, regal_method_tuned},
    {"regal", "BRKGA guided by --policy, which reads the graph first", by_budget, regal_method_regal},
    {"gas", "the same with a policy of kind gas (an LSTM instead of a GNN)", by_budget, regal_method_gas},
    {"idrs", "the best of what --policy draws, without BRKGA", by_budget, regal_method_idrs},
    {"direct", "what --policy thinks best, without search", "none: one evaluation, and the policy's own", regal_method_direct},
    {"anneal", "simulated annealing of order and placement", by_budget, regal_method_anneal},
    {"multilevel", "annealing of coarser and then finer graphs", by_budget, regal_method_multilevel},
    {"local", "random moves that are not worse, from random placements", by_budget, regal_method_local},
    {"random", "the best of random chromosomes on --decoder", by_budget, regal_method_random},
    {"cp-sat", "OR-tools' constraint solver, which may prove the best plan", by_time, regal_method_cp_sat},
    {"single", "everything on one device, in the file's order", no_budget, regal_method_single},
    {"heft", "critical-path list scheduling, earliest finish", no_budget, regal_method_heft},
    {"cut", "stages along the file, folded, or along a list order", no_budget, regal_method_cut},
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
