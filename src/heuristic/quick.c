/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods that give a plan within milliseconds. Every search
 * begins with all of them.
 */
#include "heuristic/heuristics.h"

const regal_quick_method regal_quick_methods[] = {
    {"single", regal_method_single},
    {"heft", regal_heft},
    {"cut", regal_cut},
    {"lpmf", regal_method_lpmf},
    {"dfs", regal_method_dfs},
    {"bfs", regal_method_bfs},
    {"xla-list", regal_method_xla_list},
    {"tree", regal_method_tree},
    {NULL, NULL},
};

regal_status regal_start_quickly(regal_search *search) {
  regal_search_doing(search, "list schedules");
  for (const regal_quick_method *quick = regal_quick_methods; quick->name;
       quick++)
    REGAL_TRY(quick->run(search));
  return REGAL_OK;
}
