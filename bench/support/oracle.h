/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy could say at most: a proposal centred on an excellent plan of
 * the very graph. Not a method: it has seen the answer.
 *
 *   oracle           32 levels of the mean, and Betas whose alpha + beta is 32:
 *                    the words that policies have
 *   oracle:K         K levels, and alpha + beta = K
 *   oracle:K:HEADS   only genes that `regal train --heads HEADS` chooses for
 *                    (placement, scheduling, both, all); others are uniform
 *   oracle:K:HEADS:FROM  centred on a plan that is quick to find instead: of a
 *                    method that every search begins with (heft, cut, ...), or
 *                    of 400 evaluations of BRKGA on decoder FROM (clock, ...),
 *                    which are not taken off the budget
 */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H

#include "auto/auto.h"
#include "base/parallel/workers.h"
#include "evolve/proposal.h"

typedef struct bench_oracle {
  uint32_t levels;
  char heads[16], from[16]; /* from: empty for `auto` */
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
