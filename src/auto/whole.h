/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets of evaluations for what makes whole plans: a decode, a list schedule.
 *
 * An evaluation is a single move nearly everywhere in `auto`. Where it is a
 * whole plan it takes as long as tens or hundreds of moves, so that a share of
 * the evaluations would be most of the time. */
#ifndef REGAL_AUTO_WHOLE_H
#define REGAL_AUTO_WHOLE_H

#include "search/search.h"

/* Caps a budget of evaluations: as many plans as take `seconds`, or as long as
 * the moves would if that is more, and at most so many. A plan takes so long
 * for each op. Another budget stays as it is. */
void regal_auto_cap_plans(regal_search *stage, double seconds,
                          double seconds_per_op, uint64_t most);

#endif
