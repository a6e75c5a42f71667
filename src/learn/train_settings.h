/* SPDX-License-Identifier: Apache-2.0 */
/* How to train: presets and options, resolved into numbers. */
#ifndef REGAL_LEARN_TRAIN_SETTINGS_H
#define REGAL_LEARN_TRAIN_SETTINGS_H

#include "auto/auto.h"
#include "nn/adam.h"
#include "policy/policy.h"

/* What is taken off a reward, and what the rest is divided by. */
typedef enum regal_advantage {
  REGAL_ADVANTAGE_BATCH,  /* the mean of the graph's other samples; the
                             deviation over the whole batch */
  REGAL_ADVANTAGE_GRAPH,  /* the same; the deviation within each graph */
  REGAL_ADVANTAGE_RAW,    /* the same; 1 */
  REGAL_ADVANTAGE_LEARNED /* the network's baseline; 1 */
} regal_advantage;

/* Where the gradient comes from. */
typedef enum regal_estimator {
  REGAL_ESTIMATOR_REINFORCE, /* rewards of the actions that were taken */
  REGAL_ESTIMATOR_PERTURB    /* rewards of moved parameters: learn/perturb.h */
} regal_estimator;

typedef struct regal_train_settings {
  uint64_t steps, seed;
  uint64_t imitate;         /* of the steps: copy a teacher (learn/teacher.h) */
  uint32_t graphs, samples; /* of each step */
  uint64_t episode_evaluations;
  uint32_t best_of; /* the reward is the mean of so many best costs */
  regal_estimator estimator;
  regal_advantage advantage;
  double baseline_weight; /* of the learned baseline's squared error */
  double entropy, entropy_floor;
  double perturbation; /* sigma */
  double clip_graph;   /* largest norm of a graph's gradient; 0: any */
  regal_adam_settings adam;
  uint64_t valid_every, valid_evaluations;
  uint32_t valid_graphs;
  bool sampled;                /* actions in validation; else the likeliest */
  regal_brkga_settings brkga;  /* of episodes, with the decoder */
  regal_auto_settings teacher; /* refers to the options */
  regal_policy_config config;  /* all but what the problem says */
} regal_train_settings;

/* Gives the options that are not given the values of the preset. */
regal_status regal_train_fill(regal_context *context, regal_options *options);
/* Reads options that regal_train_fill has completed, as all below. */
regal_status regal_train_settings_read(regal_context *context,
                                       const regal_options *options,
                                       regal_train_settings *settings);
/* Completes the policy's configuration for the training problems, which are
 * all on one kind of machine. */
regal_status regal_train_settings_bind(regal_context *context,
                                       const regal_options *options,
                                       const regal_problem *problem,
                                       regal_train_settings *settings);

/* What a run depends on, as text, a line "name=value" for each option: two runs
 * with the same text on the same dataset are the same run. */
void regal_train_fingerprint(const regal_options *options, char *text,
                             size_t capacity);

#endif
