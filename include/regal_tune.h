/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning: settings of BRKGA that do well on a whole training set, for method
 * `tuned`. Conventions are those of regal.h. Experimental.
 */
#ifndef REGAL_TUNE_H
#define REGAL_TUNE_H

#include "regal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a call of regal_tune has come. */
typedef struct regal_tuning {
  uint64_t runs;         /* of BRKGA, those of earlier calls included */
  uint64_t total;        /* that it takes */
  uint64_t resumed;      /* done when the call began */
  size_t settings;       /* in the grid */
  size_t graphs;         /* of the training set */
  size_t round, rounds;  /* of halving, from 1; 1 of 1 without */
  double improvement;    /* over standard BRKGA, mean in percent, of the best
                            setting; known when a round is complete */
  double standard_error; /* of it, over graphs */
  double seconds;        /* of this call */
  int rank;              /* among the processes of mpirun; 0 without */
} regal_tuning;

typedef void (*regal_tuning_fn)(void *state, const regal_tuning *tuning);

/* Tries a grid of settings on the graphs of `dataset` (a folder or an archive;
 * those of split train, or all if none has a split) with options->evaluations
 * on the machine and objective of the options, and writes the best to
 * options->output, with `command` (or NULL) as its origin.
 *
 * All runs are kept in OUTPUT.csv. A call that ended early is continued by the
 * next one with the same options; the result is the same, byte for byte. After
 * regal_stop_request it returns REGAL_OK with fewer runs than `total`.
 *
 * `progress` (or NULL) is called about once a second by the calling thread of
 * the first process; `tuning` (or NULL) gets the final figures. */
REGAL_API regal_status regal_tune(regal_context *context, const char *dataset,
                                  const regal_options *options,
                                  const char *command, regal_tuning_fn progress,
                                  void *state, regal_tuning *tuning);

#ifdef __cplusplus
}
#endif

#endif
