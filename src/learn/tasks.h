/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of a run: problems with the features that a policy reads and the
 * cost that standard BRKGA reaches.
 *
 * A graph is loaded when it is first needed. Its features and its standard cost
 * are kept from then on. Graph, problem and encoding are dropped when too many
 * are in memory, and computed again when needed. A task depends on its number
 * and the seed only, not on when it was loaded.
 */
#ifndef REGAL_LEARN_TASKS_H
#define REGAL_LEARN_TASKS_H

#include "auto/auto.h"
#include "learn/episode.h"
#include "policy/policy.h"

/* Where graphs come from. */
typedef struct regal_task_source {
  void *state;
  size_t count;
  regal_status (*load)(void *state, size_t index, regal_graph **graph,
                       regal_problem **problem);
  void (*free)(regal_graph *graph, regal_problem *problem);
} regal_task_source;

/* What is computed about each of them. */
typedef struct regal_task_plan {
  const regal_brkga_settings *brkga;  /* of episodes, with a decoder */
  const regal_auto_settings *teacher; /* of the search that teaches */
  uint64_t seed;
  bool plain_seeds;             /* task i runs with --seed i + 1 */
  regal_feature_list features;  /* that the policy reads */
  uint64_t feature_evaluations; /* of each run that they need; 0: zeros */
  uint64_t standard_evaluations;
  uint32_t best_of; /* of the standard run: see regal_episode_run */
} regal_task_plan;

typedef struct regal_task {
  bool known;                  /* the next four are */
  double standard;             /* cost that standard BRKGA finds */
  double seen;                 /* best cost in the features' run */
  float *placement, *position; /* of a population; NULL without */
  float *draft;                /* genes of a draft; NULL without */
  regal_gene *taught;          /* genes of a teacher's plan; NULL before
                                  regal_tasks_teach */
  regal_graph *graph;          /* the rest is NULL while it is not in memory */
  regal_problem *problem;
  regal_encoding *encoding;
} regal_task;

typedef struct regal_tasks regal_tasks;

regal_status regal_tasks_create(regal_context *context, regal_workers *workers,
                                const regal_task_source *source,
                                const regal_task_plan *plan,
                                regal_tasks **tasks);
void regal_tasks_free(regal_tasks *tasks);
size_t regal_tasks_count(const regal_tasks *tasks);
/* Loads a task, if it is not in memory, and nothing more: nothing is computed
 * about it. The problem lives until the next call. */
regal_status regal_tasks_problem(regal_tasks *tasks, size_t index,
                                 const regal_problem **problem);
/* Has all of these in memory at once, until the next call. After a stop request
 * some may be unknown. */
regal_status regal_tasks_need(regal_tasks *tasks, const size_t *indices,
                              size_t count);
/* Has these, which are in memory, taught; the same about a stop request. */
regal_status regal_tasks_teach(regal_tasks *tasks, const size_t *indices,
                               size_t count);
const regal_task *regal_tasks_at(const regal_tasks *tasks, size_t index);
/* The seed of a task's runs, as regal_episode_run takes it. */
uint64_t regal_tasks_seed(const regal_tasks *tasks, size_t index);

#endif
