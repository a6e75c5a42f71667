/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that make a plan in one pass, by the names of the table of methods.
 */
#ifndef REGAL_HEURISTIC_HEURISTICS_H
#define REGAL_HEURISTIC_HEURISTICS_H

#include "search/search.h"

regal_status regal_method_single(regal_search *search);
regal_status regal_method_heft(regal_search *search);
regal_status regal_method_dfs(regal_search *search);
regal_status regal_method_bfs(regal_search *search);
regal_status regal_method_lpmf(regal_search *search);
regal_status regal_method_tree(regal_search *search);
regal_status regal_method_xla_list(regal_search *search);
regal_status regal_method_xla_dfs(regal_search *search); /* heuristic/list */
regal_status regal_method_cut(regal_search *search);
regal_status regal_method_split(regal_search *search); /* heuristic/cut */
regal_status regal_method_gpipe(regal_search *search);
regal_status regal_method_1f1b(regal_search *search);
regal_status regal_method_interleaved(regal_search *search);
regal_status regal_method_zb_h1(regal_search *search); /* heuristic/pipeline */
regal_status regal_method_gp_dfs(regal_search *search);
regal_status
regal_method_partition(regal_search *search);        /* heuristic/partition */
regal_status regal_method_fit(regal_search *search); /* heuristic/place */
/* The same, for a search that goes on with something else: ends when more
 * passes are of no use. */
regal_status regal_fit_within_limits(regal_search *search, bool until_stalled);

/* The first part of the methods of these names: their plans before the list
 * scheduler makes them fit a memory limit. */
regal_status regal_heft(regal_search *search);
regal_status regal_cut(regal_search *search);
regal_status regal_split_file(regal_search *search);

/* A row for each that takes milliseconds at most. */
typedef struct regal_quick_method {
  const char *name;
  regal_method_fn run;
} regal_quick_method;

extern const regal_quick_method
    regal_quick_methods[]; /* the last has no name */

/* Schedules of pipelines, if the graph is one. */
regal_status regal_start_pipelines(regal_search *search);

/* Stages that keep the readers of shared parameters together, for memory. */
regal_status regal_start_units(regal_search *search);

/* All of them, one after the other. */
regal_status regal_start_quickly(regal_search *search);

#endif
