/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy could say at most: a proposal centred on an excellent plan of
 * the very graph. Not a method: it has seen the answer.
 *
 *   oracle           32 levels of the mean, and Betas whose alpha + beta is 32:
 *                    the words that policies have
 *   oracle:K         K levels, and alpha + beta = K
 *   oracle:K:HEADS   only genes that `regal train --heads HEADS` chooses for
 *                    (placement, scheduling, both, all); others are uniform
 */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H

#include "auto/auto.h"
#include "base/parallel/workers.h"
#include "evolve/proposal.h"

typedef struct bench_oracle {
  uint32_t levels;
  const char *heads;
} bench_oracle;

/* False: the text is not an oracle of those above. */
bool bench_oracle_read(const char *text, bench_oracle *oracle);

regal_status bench_oracle_propose(const bench_oracle *oracle,
                                  const regal_worker *worker,
                                  const regal_auto_settings *settings,
                                  const regal_problem *problem,
                                  const regal_decoder *decoder, uint64_t seed,
                                  regal_proposal **proposal);

#endif
