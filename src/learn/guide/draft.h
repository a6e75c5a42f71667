/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts: a plan that a short BRKGA on a stronger decoder finds.
 *
 * With a few hundred evaluations the paper's decoder, whose chromosome says
 * everything, knows little of a graph. Decoders that decide more by themselves
 * find better plans in that time than the paper's in thousands: `clock` for run
 * time, `closure` for memory (docs/policy-results.md has the measurement). Such
 * a plan is what a policy reads (policy/draft_features.c), and what it may
 * learn to imitate (learn/teacher.h). The plan itself is not offered to the
 * search: what is found is found by the policy's chromosome.
 */
#ifndef REGAL_LEARN_GUIDE_DRAFT_H
#define REGAL_LEARN_GUIDE_DRAFT_H

#include "evolve/settings.h"

typedef struct regal_draft {
  uint64_t evaluations; /* that it took */
  regal_plan *plan;
  float *genes; /* of the plan, for the paper's decoder, from 0 to 1 */
} regal_draft;

/* Runs up to `evaluations`, which the search's budget may cut short, in a child
 * search with random numbers of its own. The search's best plan does not
 * change. */
regal_status regal_draft_run(regal_search *search,
                             const regal_brkga_settings *settings,
                             uint64_t evaluations, regal_draft **draft);
void regal_draft_free(regal_context *context, regal_draft *draft);

#endif
