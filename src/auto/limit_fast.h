/* SPDX-License-Identifier: Apache-2.0 */
/* A plan within the limits from a fast plan that is beyond them. */
#ifndef REGAL_AUTO_LIMIT_FAST_H
#define REGAL_AUTO_LIMIT_FAST_H

#include "auto/limit_jobs.h"

/* By how moves are costed, and what they cost. */
const regal_shrinking *regal_shrinking_for(const regal_problem *problem);
/* Whether phases, which know about memory, approach the limit on a large graph:
 * smaller ones get better plans from orders, from nothing; some large ones,
 * too. */
bool regal_limit_wants_phases(const regal_search *search);
/* For a fast plan there may be a way into the limit, and then the best plans
 * are there; else what fits at all is a start for the rest of `auto`. */
regal_status regal_limit_fast(const regal_limit_run *run);
/* All that is left of the budget for a plan that was fast and now fits. */
regal_status regal_limit_refine(const regal_limit_run *run);

#endif
