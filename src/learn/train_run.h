/* SPDX-License-Identifier: Apache-2.0 */
/* A whole training run: steps, validations, checkpoints, log and policy. */
#ifndef REGAL_LEARN_TRAIN_RUN_H
#define REGAL_LEARN_TRAIN_RUN_H

#include "learn/trainer.h"

typedef struct regal_train_job {
  const char *output, *checkpoint, *log; /* files; "": no log */
  const char *command;                   /* for the policy's provenance */
  uint64_t dataset;                      /* checksum */
  regal_training_fn progress;            /* or NULL */
  void *progress_state;
} regal_train_job;

regal_status regal_train_run(regal_trainer *trainer,
                             const regal_train_job *job);

#endif
