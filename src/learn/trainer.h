/* SPDX-License-Identifier: Apache-2.0 */
/* A training run: the network, its optimiser, and the graphs that it learns on.
 *
 * A step takes `graphs` problems, draws `samples` action vectors for each,
 * runs an episode on each vector, and moves the parameters along
 * REINFORCE's gradient. Random numbers are keyed by (seed, step, graph,
 * sample), and gradients are computed for each graph apart and added in order
 * of graphs, so that neither the number of threads nor that of ranks changes a
 * bit. The state that a checkpoint keeps is parameters, optimiser, best policy
 * and the numbers in regal_train_state: nothing else carries over from step to
 * step.
 */
#ifndef REGAL_LEARN_TRAINER_H
#define REGAL_LEARN_TRAINER_H

#include "base/parallel/ranks.h"
#include "learn/guide/propose.h"
#include "learn/tasks.h"
#include "learn/train_settings.h"
#include "policy/network.h"
#include "policy/policy_file.h"
#include "regal_train.h"

/* One graph of the present step. */
typedef struct regal_batch_slot {
  const regal_task *task;
  regal_network_workspace *work;
  regal_network_sizes capacity; /* of the workspace */
  uint8_t *actions;             /* [samples * vector] */
  size_t vector, actions_capacity;
} regal_batch_slot;

/* What a graph's owner tells the other ranks. */
typedef struct regal_batch_figures {
  double entropy, baseline;
} regal_batch_figures;

/* An episode that waits for a thread. */
typedef struct regal_batch_item {
  size_t number; /* graph * samples + sample */
  uint32_t ops;
} regal_batch_item;

/* What a run has become, apart from parameters. */
typedef struct regal_train_state {
  uint64_t step, evaluations;
  uint64_t next_validation; /* before this step is taken */
  bool has_best;
  double best_valid;
  uint64_t best_step;
} regal_train_state;

typedef struct regal_trainer {
  regal_context *context;
  regal_ranks *ranks;
  regal_workers *workers;
  regal_options options; /* with those of the preset */
  regal_train_settings settings;
  regal_train_state state;
  regal_training report; /* what the caller gets to see */
  double began;

  void *arrays; /* the block of all that have a size below */
  regal_network *network;
  regal_adam adam;
  regal_beta_tables *betas;
  regal_real *best;      /* [parameters] of the best policy on validation */
  regal_real *gradients; /* [graphs][parameters] */
  regal_real *gradient;  /* [parameters] their sum */

  regal_tasks *tasks, *valid;
  size_t *order; /* [tasks] of the present epoch */
  uint64_t epoch;
  bool ordered;

  size_t *chosen; /* [graphs] tasks of the step */
  size_t *mine;   /* [graphs] slots that this rank works on */
  size_t mine_count;
  regal_batch_slot *slots;      /* [graphs] */
  regal_batch_figures *figures; /* [graphs] */
  regal_batch_item *queue;      /* [graphs * samples] those of this rank */
  double *rewards;              /* [graphs][samples] - cost / standard cost */
  regal_real *advantages;       /* [graphs][samples] */
  unsigned char *asked;         /* [ranks] to stop */
  double *gains;                /* [valid graphs] improvement in percent */
} regal_trainer;

/* The sources must outlive the trainer; `valid` may have no graphs. */
regal_status regal_trainer_create(regal_context *context, regal_ranks *ranks,
                                  const regal_options *options,
                                  const regal_task_source *train,
                                  const regal_task_source *valid,
                                  regal_trainer **trainer);
void regal_trainer_free(regal_trainer *trainer);

/* Takes a step, unless *stopped gets set: then a rank was asked to stop, and
 * nothing has changed. */
regal_status regal_trainer_step(regal_trainer *trainer, bool *stopped);
/* Measures the policy on the validation graphs and keeps it if it is the best
 * so far; the same about *stopped. */
regal_status regal_trainer_validate(regal_trainer *trainer, bool *stopped);
/* Whether any rank was asked to stop, or is out of time. */
regal_status regal_trainer_agree(const regal_trainer *trainer, bool *stopped);

#endif
