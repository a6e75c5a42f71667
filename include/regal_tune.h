/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning of BRKGA's settings on a training set, for method `tuned`. The
 * conventions are those of regal.h. Experimental.
 */
#ifndef REGAL_TUNE_H
#define REGAL_TUNE_H

#include "regal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Progress of a call of regal_tune. */
typedef struct regal_tuning {
  uint64_t runs;         /* of BRKGA, including earlier calls */
  uint64_t total;        /* runs required */
  uint64_t resumed;      /* runs done before this call */
  size_t settings;       /* in the grid */
  size_t graphs;         /* of the training set */
  size_t round, rounds;  /* of halving, from 1; 1 of 1 without halving */
  double improvement;    /* over standard BRKGA, mean in percent, of the best
                            setting; known when a round is complete */
  double standard_error; /* of it, over graphs */
  double seconds;        /* of this call */
  int rank;              /* of this process under mpirun; otherwise 0 */
} regal_tuning;

typedef void (*regal_tuning_fn)(void *state, const regal_tuning *tuning);

/* Tries a grid of settings on the graphs of `dataset` (a folder or an archive;
 * those of split train, or all if none has a split) with options->evaluations
 * on the machine and objective of the options, and writes the best to
 * options->output, with `command` (or NULL) as its provenance.
 *
 * All runs are recorded in OUTPUT.csv. The next call with the same options
 * continues an interrupted one; the result is the same, byte for byte. After
 * regal_stop_request the call returns REGAL_OK with fewer runs than `total`.
 *
 * `progress` (or NULL) is called by the calling thread of the first process
 * after each chunk of eight runs a thread, and after each round; `tuning` (or
 * NULL) receives the final state. */
REGAL_API regal_status regal_tune(regal_context *context, const char *dataset,
                                  const regal_options *options,
                                  const char *command, regal_tuning_fn progress,
                                  void *state, regal_tuning *tuning);

#ifdef __cplusplus
}
#endif

#endif
