/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy could say at most: a proposal centred on an excellent plan of
 * the very graph, in the words that policies have (32 levels of the mean, the
 * smallest variance). Not a method: it has seen the answer.
 */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H

#include "auto/auto.h"
#include "base/parallel/workers.h"
#include "evolve/proposal.h"

regal_status bench_oracle_propose(const regal_worker *worker,
                                  const regal_auto_settings *settings,
                                  const regal_problem *problem,
                                  const regal_decoder *decoder, uint64_t seed,
                                  regal_proposal **proposal);

#endif
