/* SPDX-License-Identifier: Apache-2.0 */
/* Training of a policy on a dataset.
 *
 *   regal_options_set(context, &options, "output", "my.policy");
 *   regal_train(context, "graphs.zip", &options, NULL, NULL, NULL, &training);
 *
 * The policy is trained on the graphs of split `train` by REINFORCE: it chooses
 * the distributions of the genes, BRKGA runs with them, and the cost it finds
 * is the reward. The policy that is best on the graphs of split `valid`, at the
 * full budget, is written to options->output. See docs/training.md.
 *
 * The conventions are those of regal.h. The result depends on the dataset, the
 * options and the seed, not on the number of threads or MPI ranks.
 */
#ifndef REGAL_TRAIN_H
#define REGAL_TRAIN_H

#include "regal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Progress of training. Values are those of the last step unless stated. */
typedef struct regal_training {
  uint64_t step, steps;
  bool imitating;         /* imitation step: the next three are NaN */
  double reward;          /* mean over episodes: - cost / standard BRKGA's */
  double improvement;     /* over standard BRKGA, percent: mean over episodes */
  double spread;          /* deviation of the rewards of a graph's samples,
                             percent: root mean square over the graphs */
  double entropy;         /* of the actions of an op, in nats: mean */
  double gradient_norm;   /* before clipping */
  double learning_rate;   /* of the last update */
  uint64_t evaluations;   /* of all episodes so far */
  double step_seconds;    /* of this call, in steps, excluding ... */
  double prepare_seconds; /* ... features and standard costs of graphs, here */
  double rate;            /* evaluations per second of this call */
  double seconds;         /* of this call */
  double seconds_left;    /* NaN if not known yet */
  bool validated;         /* whether this step was followed by a validation */
  double valid;           /* improvement over standard BRKGA in percent, on the
                             validation graphs, at the full budget; NaN: none */
  double best_valid;      /* the best so far, which is kept; NaN: none */
  uint64_t best_step;
  int rank, ranks; /* of this process under mpirun */
  bool finished;   /* all steps are done */
} regal_training;

typedef void (*regal_training_fn)(void *state, const regal_training *training);

/* Uses the options of groups train, reading, machine, objective and brkga;
 * decoder, seed, threads and time of group search; and output, the policy file.
 * `command` (or NULL) is recorded in the policy file. `progress` (or NULL) is
 * called after each step, on rank 0 only; `training` (or NULL) receives the
 * final state.
 *
 * After regal_stop_request or options->time the call returns REGAL_OK with
 * `finished` false, and a checkpoint is written. A call with options->resume
 * continues from it; the final policy is bitwise the same as without the
 * interruption. Without resume the call fails if the policy, the checkpoint or
 * the log exists already, unless options->overwrite is set. */
REGAL_API regal_status regal_train(regal_context *context, const char *dataset,
                                   const regal_options *options,
                                   const char *command,
                                   regal_training_fn progress, void *state,
                                   regal_training *training);

/* -- Actions of a policy (experimental) ------------------------------------ */

/* What a policy chooses for one problem: a distribution for each gene. */
typedef struct regal_actions regal_actions;

/* The genes of one class, such as affinity or priority. The action of an item
 * (an op, a tensor, or the graph) is the levels of all its genes. */
typedef struct regal_action_class {
  const char *name;
  size_t items;
  uint32_t genes; /* of an item: one for each device, or 1 */
  uint32_t mean_levels, variance_levels, bias_levels; /* 0: no bias */
  size_t different;                                   /* actions that occur */
  double chosen_entropy; /* of their frequencies over the items, in nats */
  double policy_entropy; /* of the policy's choice for an item, in nats: mean */
} regal_action_class;

/* Chooses as the method regal would with these options: policy, actions
 * (greedy or sampled), decoder, evaluations, seed, threads and those of group
 * brkga. The policy's own evaluations are spent. The problem must outlive the
 * result. */
REGAL_API regal_status regal_actions_create(regal_context *context,
                                            const regal_problem *problem,
                                            const regal_options *options,
                                            regal_actions **actions);
REGAL_API void regal_actions_free(regal_actions *actions);

/* The policy's name, its kind, and the evaluations that its features took. */
REGAL_API const char *regal_actions_policy(const regal_actions *actions);
REGAL_API const char *regal_actions_kind(const regal_actions *actions);
REGAL_API uint64_t regal_actions_evaluations(const regal_actions *actions);
REGAL_API size_t regal_actions_class_count(const regal_actions *actions);
REGAL_API regal_action_class regal_actions_class(const regal_actions *actions,
                                                 size_t index);
/* One line of CSV for each gene (docs/policy.md); "-" is stdout. */
REGAL_API regal_status regal_actions_save(regal_context *context,
                                          const regal_actions *actions,
                                          const char *path);

#ifdef __cplusplus
}
#endif

#endif
