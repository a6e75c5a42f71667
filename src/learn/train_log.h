/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a run: a CSV file with a row for each step and each validation.
 */
#ifndef REGAL_LEARN_TRAIN_LOG_H
#define REGAL_LEARN_TRAIN_LOG_H

#include <stdio.h>

#include "base/context.h"
#include "regal_train.h"

typedef struct regal_train_log {
  FILE *file; /* or NULL: no log */
  double flushed;
} regal_train_log;

/* Begins a log; a resumed run's goes on after the row of `step`, and what was
 * written after it is dropped, since it will be written again. */
regal_status regal_train_log_open(regal_context *context, const char *path,
                                  bool resume, uint64_t step,
                                  regal_train_log *log);
void regal_train_log_step(regal_train_log *log, const regal_training *now);
void regal_train_log_valid(regal_train_log *log, const regal_training *now);
/* Fails when something could not be written. */
regal_status regal_train_log_close(regal_context *context, const char *path,
                                   regal_train_log *log);

#endif
