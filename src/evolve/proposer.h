/* SPDX-License-Identifier: Apache-2.0 */
/* Where a method gets its proposal from: a hook, so that search need not know
 * policies. api/optimize.c sets it up from the options.
 */
#ifndef REGAL_EVOLVE_PROPOSER_H
#define REGAL_EVOLVE_PROPOSER_H

#include "evolve/proposal.h"
#include "search/search.h"

/* What a policy has to say about one problem. */
typedef struct regal_guidance {
  regal_proposal *proposal; /* owned by the receiver; freed before the proposer,
                               whose tables it uses */
  regal_plan *seen;         /* the best plan that came up on the way, or NULL;
                               owned by the receiver */
  regal_fitness seen_fitness;
  uint64_t evaluations; /* that it took; they count in the search */
} regal_guidance;

struct regal_proposer {
  void *state;
  const char *name;  /* of the policy, as the user says it */
  const char *kind;  /* gnn, gas, rule, ... */
  char made_for[24]; /* " for 2 devices" if the problem has others, or "" */
  /* Reads the problem, with evaluations of its own where the policy needs
   * them. greedy: the likeliest actions instead of drawn ones. */
  regal_status (*propose)(void *state, regal_search *search, bool greedy,
                          regal_guidance *guidance);
};

#endif
