/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a run: a CSV file with a row for each step and each validation.
 */
#ifndef REGAL_LEARN_TRAIN_LOG_H
#define REGAL_LEARN_TRAIN_LOG_H

#include <stdio.h>

#include "learn/trainer.h"

typedef struct regal_train_log {
  FILE *file; /* or NULL: no log */
  double flushed;
  long whole; /* bytes that are in the file, whole rows; -1: it is no file */
  int reason; /* errno of the first row that could not be written, or 0 */
} regal_train_log;

regal_status regal_train_log_begin(regal_context *context, const char *path,
                                   regal_train_log *log);
/* Goes on with the log of a resumed run. Rows of what comes after `state` are
 * dropped, since they will be written again. */
regal_status regal_train_log_continue(regal_context *context, const char *path,
                                      const regal_train_state *state,
                                      regal_train_log *log);
void regal_train_log_step(regal_train_log *log, const regal_training *now);
void regal_train_log_valid(regal_train_log *log, const regal_training *now);
/* All rows are on the disk afterwards; fails when one could not be written. */
regal_status regal_train_log_sync(regal_context *context, const char *path,
                                  regal_train_log *log);
/* Fails when something could not be written. */
regal_status regal_train_log_close(regal_context *context, const char *path,
                                   regal_train_log *log);

#endif
