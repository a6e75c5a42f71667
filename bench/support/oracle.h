/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy could say at most: a proposal centred on an excellent plan of
 * the very graph, in the words that policies have (32 levels of the mean, the
 * smallest variance). Not a method: it has seen the answer.
 */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H

#include "evolve/proposal.h"
#include "learn/workers.h"

regal_status bench_oracle_propose(const regal_runner *runner,
                                  const regal_problem *problem,
                                  const regal_decoder *decoder, uint64_t seed,
                                  regal_proposal **proposal);

#endif
