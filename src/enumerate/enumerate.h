/* SPDX-License-Identifier: Apache-2.0 */
/* All plans of a tiny problem: the best of them, and the proof that it is. */
#ifndef REGAL_ENUMERATE_ENUMERATE_H
#define REGAL_ENUMERATE_ENUMERATE_H

#include "search/search.h"

/* Whether the problem is so small that all of its plans can be looked at. */
bool regal_can_enumerate(const regal_problem *problem);

/* Looks for plans that are better than the best one so far, which there must
 * be, by all rules of fitness, and offers them. An evaluation is as many steps
 * as the problem has ops. `complete` becomes true if none is left out before
 * the budget ends: then the best plan is optimal. */
regal_status regal_enumerate(regal_search *search, bool *complete);

#endif
