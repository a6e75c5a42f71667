/* SPDX-License-Identifier: Apache-2.0 */
/* What devices hold for the whole plan, while ops are placed one after the
 * other: resident bytes, and each parameter once on every device that reads it.
 * A group is placed as one, by its first op.
 */
#ifndef REGAL_HEURISTIC_LIST_HOLDING_H
#define REGAL_HEURISTIC_LIST_HOLDING_H

#include "base/carve.h"
#include "cost/model/problem.h"

typedef struct regal_holding {
  const regal_problem *problem;
  uint32_t *shared_begin, *shared; /* [ops+1], parameters of several readers */
  uint64_t *holders;               /* [shared] a bit for each device */
  int64_t *bytes;                  /* [ops] of the group, at its first op */
  int64_t held[REGAL_MAX_DEVICES];
} regal_holding;

void regal_holding_layout(regal_holding *holding, regal_carver *carver,
                          const regal_problem *problem);
/* Nothing is placed. */
void regal_holding_begin(regal_holding *holding);
/* Bytes that the group of this first op adds to a device. */
int64_t regal_holding_added(const regal_holding *holding, uint32_t leader,
                            uint32_t device);
void regal_holding_put(regal_holding *holding, uint32_t leader,
                       uint32_t device);

#endif
