/* SPDX-License-Identifier: Apache-2.0 */
/* Which ops become one: between contract.c and match.c. */
#ifndef REGAL_ANNEAL_LEVELS_MATCH_H
#define REGAL_ANNEAL_LEVELS_MATCH_H

#include "cost/model/problem.h"

/* partner[op] is the op that it merges with, or itself. Returns the number of
 * pairs in `pairs`. */
regal_status regal_contract_match(regal_context *context,
                                  const regal_problem *problem, int64_t most_ns,
                                  uint32_t *partner, uint32_t *pairs);

#endif
