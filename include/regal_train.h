/* SPDX-License-Identifier: Apache-2.0 */
/* Training: a policy from a dataset.
 *
 *   regal_options_set(context, &options, "output", "my.policy");
 *   regal_train(context, "graphs.zip", &options, NULL, NULL, NULL, &training);
 *
 * The policy learns on the graphs of split `train` by REINFORCE: it chooses
 * how genes are drawn, BRKGA runs on that, and what it finds is the reward.
 * The policy that does best on graphs of split `valid`, at the real budget, is
 * what options->output gets. docs/training.md says more.
 *
 * Conventions are those of regal.h. The result depends on the dataset, the
 * options and the seed, not on the number of threads or of MPI's ranks.
 */
#ifndef REGAL_TRAIN_H
#define REGAL_TRAIN_H

#include "regal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far training has come. Figures of the last step, unless they say more. */
typedef struct regal_training {
  uint64_t step, steps;
  bool imitating;         /* it copied a teacher: the next two are NaN */
  double reward;          /* mean of the episodes: - cost / standard BRKGA's */
  double improvement;     /* over standard BRKGA, in percent: mean of them */
  double entropy;         /* of the choices for an op, in nats: mean */
  double gradient_norm;   /* before clipping */
  double learning_rate;   /* of the last update */
  uint64_t evaluations;   /* of all episodes so far */
  double step_seconds;    /* of this call, in steps alone: without ... */
  double prepare_seconds; /* ... features and standard costs of graphs */
  double rate;            /* evaluations per second of this call */
  double seconds;         /* of this call */
  double seconds_left;    /* or NaN: not known yet */
  bool validated;         /* after this step */
  double valid;           /* improvement over standard BRKGA in percent, on the
                             validation graphs, at the real budget; NaN: none */
  double best_valid;      /* the best of them, which was kept; NaN: none */
  uint64_t best_step;
  int rank, ranks; /* of this process among those of mpirun */
  bool finished;   /* all steps were taken */
} regal_training;

typedef void (*regal_training_fn)(void *state, const regal_training *training);

/* Options of groups train, reading, machine, objective and brkga; decoder,
 * seed, threads and time of group search; and output, the policy's file.
 * `command` (or NULL) is kept in the policy's file. `progress` (or NULL) is
 * called after each step, on rank 0 only; `training` (or NULL) gets the final
 * figures.
 *
 * After regal_stop_request or options->time it returns REGAL_OK with `finished`
 * false and a checkpoint in place; a call with options->resume then goes on,
 * and ends with the same policy, bit for bit, as if it had not been stopped. */
REGAL_API regal_status regal_train(regal_context *context, const char *dataset,
                                   const regal_options *options,
                                   const char *command,
                                   regal_training_fn progress, void *state,
                                   regal_training *training);

#ifdef __cplusplus
}
#endif

#endif
