/* SPDX-License-Identifier: Apache-2.0 */
/* Inside a step of training: what trainer_step.c, which learns, and
 * trainer_try.c, which acts and runs the episodes, have in common. */
#ifndef REGAL_LEARN_TRAINER_PARTS_H
#define REGAL_LEARN_TRAINER_PARTS_H

#include "base/random.h"
#include "learn/trainer.h"

/* Episodes that a rank runs. */
static inline regal_share regal_trainer_episodes(const regal_trainer *t) {
  return regal_ranks_share(t->ranks,
                           (size_t)t->settings.graphs * t->settings.samples);
}

/* Whether the step copies a teacher. */
static inline bool regal_trainer_imitates(const regal_trainer *t) {
  return t->state.step < t->settings.imitate;
}

static inline bool regal_trainer_perturbs(const regal_trainer *t) {
  return t->settings.estimator == REGAL_ESTIMATOR_PERTURB &&
         !regal_trainer_imitates(t);
}

/* Whether the network predicts rewards. */
static inline bool regal_trainer_has_baseline(const regal_trainer *t) {
  return t->settings.estimator == REGAL_ESTIMATOR_REINFORCE &&
         t->settings.advantage == REGAL_ADVANTAGE_LEARNED;
}

/* Streams of random numbers of a step: of actions or perturbations, numbered by
 * graph, and of episodes. */
enum { REGAL_STREAM_ACT, REGAL_STREAM_EPISODE };

static inline uint64_t regal_trainer_key(const regal_trainer *t,
                                         uint64_t stream, size_t number) {
  uint64_t step =
      regal_random_key(t->settings.seed, REGAL_PURPOSE_TRAIN, 2, t->state.step);
  return regal_random_at(step, (stream << 32) + number);
}

/* Draws the action vectors of the graphs of the step. */
regal_status regal_trainer_act(regal_trainer *t);
/* Runs their episodes: sets the rewards of all ranks. */
regal_status regal_trainer_try(regal_trainer *t);

#endif
