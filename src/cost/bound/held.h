/* SPDX-License-Identifier: Apache-2.0 */
/* What devices hold for the whole plan, and at its end: resident bytes,
 * parameters, and final tensors. Sums are wide because parameters count once
 * for each device that must hold them. */
#ifndef REGAL_COST_BOUND_HELD_H
#define REGAL_COST_BOUND_HELD_H

#include "cost/bound/lags.h"
#include "cost/model/problem.h"

typedef __int128 regal_wide;

typedef struct regal_held {
  /* Of ops that can run on one device only, on that device. */
  regal_wide resident[REGAL_MAX_DEVICES], final[REGAL_MAX_DEVICES];
  uint32_t least;    /* the device with the least of `resident` */
  uint32_t roomiest; /* the device with the most room beside it */
  /* On all devices together, at least. */
  regal_wide all_resident, all_final;
} regal_held;

void regal_held_find(const regal_problem *problem, regal_held *held);

/* The devices that must hold a shared parameter. */
uint64_t regal_held_by(const regal_problem *problem, uint32_t shared);

/* What an op needs in memory while it runs, whatever is written over what. */
int64_t regal_held_working_set(const regal_problem *problem, uint32_t op);

/* group[leader]: what a group brings to its device, whichever that is: resident
 * bytes, and parameters that none of its devices must hold anyway. */
void regal_held_groups(const regal_problem *problem, regal_wide *group);

/* The least that device a, one of its devices, holds beside the working set of
 * an op that runs there. group_bytes is that of its group. */
regal_wide regal_held_beside(const regal_problem *problem,
                             const regal_held *held, uint32_t op, uint32_t a,
                             regal_wide group_bytes);

/* What cannot be split over devices and is somewhere at the end: for each group
 * its resident bytes and final tensors, and each shared parameter. Fills
 * item [ops + shared], ascending, without zeros, and returns their number. An
 * item's op is the group's leader, or ops + the number of the parameter. */
size_t regal_held_items(const regal_problem *problem, regal_keyed *item);

#endif
