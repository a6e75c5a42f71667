/* SPDX-License-Identifier: Apache-2.0 */
/* Placements that need no search. */
#ifndef REGAL_HEURISTIC_LIST_PLACEMENT_H
#define REGAL_HEURISTIC_LIST_PLACEMENT_H

#include "cost/model/problem.h"

/* All ops on one device, as far as they can run there: the device that can run
 * most ops, of these the fastest for them, of these the one with most memory,
 * of these the first. Other ops go where the first op of their group runs
 * fastest. O(n d). */
void regal_place_single(const regal_problem *problem, uint8_t *placement);

#endif
