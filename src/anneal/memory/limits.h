/* SPDX-License-Identifier: Apache-2.0 */
/* What an order with late transfers holds beyond the limits of its devices, and
 * what a changed one would: exactly, from what a move changes. For annealing of
 * run time under a limit, on any number of devices.
 *
 * Records and events are those of anneal/memory/memory.h; the profile is
 * another one, since here it only matters what is beyond a limit:
 *
 * - With late transfers a device gains bytes only with its own ops. Its peak is
 *   therefore reached while one of them runs, and a device is looked at only
 *   where its own ops run or its bytes change.
 * - For each device and block of positions the profile keeps what is held
 *   before the block, and the most that is held in it. Nothing is kept for
 *   single positions.
 * - A move changes few devices. On each of them the blocks from the first to
 *   the last changed event take part: those with an event are scanned, the
 *   others rise by a constant.
 * - A shift rearranges its blocks for all devices, but what is held while an op
 *   runs changes only on devices whose bytes the shifted op changes. The other
 *   devices are looked at only when the move is kept, unless they are beyond
 *   their limit, for then it counts in which block.
 *
 * A move costs O(degree of the moved ops + touched blocks * positions + blocks
 * in between), for each device that it touches; a refused one nothing else.
 *
 * The violation is one number: the excess of the peaks, and a part of what
 * single blocks have beyond the limit. Where layers repeat, many moments are
 * equally bad, and to mend one of them changes no peak.
 */
#ifndef REGAL_ANNEAL_MEMORY_LIMITS_H
#define REGAL_ANNEAL_MEMORY_LIMITS_H

#include "anneal/memory/memory.h"
#include "base/random.h"

/* Beyond the limits; whole bytes. */
typedef struct regal_limits_over {
  double bytes;  /* of the peak */
  double spread; /* of the peaks of blocks, summed */
} regal_limits_over;

typedef struct regal_limits {
  regal_memory memory;
  double limit[REGAL_MAX_DEVICES];
  double weight; /* of the spread */
  double *held; /* [devices * (blocks + 1)] before each block, and at the end */
  double *peak; /* [devices * (blocks + 1)] in each block */
  regal_limits_over over[REGAL_MAX_DEVICES];

  /* The move at hand. */
  double *trial_held, *trial_peak; /* as above */
  regal_limits_over trial_over[REGAL_MAX_DEVICES];
  uint32_t shifted;   /* an op, or REGAL_NONE */
  uint32_t low, high; /* positions that the shift rearranged */
} regal_limits;

/* Whether all sums stay whole numbers that a double can hold. */
bool regal_limits_suit(const regal_problem *problem);
/* The order and the position are the caller's, as in regal_memory. */
void regal_limits_layout(regal_limits *limits, regal_carver *carver,
                         const regal_problem *problem, const uint32_t *order,
                         const uint32_t *position);
/* What does not depend on the order; once after the layout. */
void regal_limits_create(regal_limits *limits);
/* Takes over the order and a placement. */
void regal_limits_set(regal_limits *limits, const uint8_t *placement);
/* Of what is kept. */
regal_limits_over regal_limits_excess(const regal_limits *limits);

static inline double regal_limits_violation(const regal_limits *limits,
                                            regal_limits_over over) {
  return over.bytes + limits->weight * over.spread;
}

/* -- One move -------------------------------------------------------------- */

/* After the caller's order has changed: begin, then the shift if there is one,
 * then changes of device. */
void regal_limits_begin(regal_limits *limits);
void regal_limits_shift(regal_limits *limits, uint32_t from, uint32_t to);
void regal_limits_flip(regal_limits *limits, uint32_t op, uint32_t device);
/* What is then beyond the limits: exactly, or, when its violation is more than
 * `allowed`, anything above that. False: the move has more parts than can be
 * undone, and was taken back here; the caller can only set the changed order
 * anew. */
bool regal_limits_try(regal_limits *limits, double allowed,
                      regal_limits_over *over);
void regal_limits_keep(regal_limits *limits);
void regal_limits_take_back(regal_limits *limits);

/* An op that has to do with what is beyond a limit, or any if nothing is. */
uint32_t regal_limits_draw(const regal_limits *limits, regal_random *random);

#endif
