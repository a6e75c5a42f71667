/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of an order of ops with a device for each: for decoders that choose
 * order and placement, and leave the transfers to follow from them. Either
 * these are batched, by the rule of decode/pending.h, which suits blocking
 * transfers; or each one is late, just before its first reader, which suits
 * links and memory. O(ops + edges), allocates nothing.
 */
#ifndef REGAL_DECODE_WALK_H
#define REGAL_DECODE_WALK_H

#include "cost/model/fitness.h"
#include "decode/pending.h"

typedef struct regal_walk {
  uint32_t *position; /* [ops] from 1; batched */
  uint64_t *sent;     /* [tensors] bit per device that has it; late */
  uint32_t *batch;    /* [tensors] what travels with an exchange; timely */
  regal_pending pending;
  regal_running_cost running;
} regal_walk;

void regal_walk_layout(regal_walk *walk, regal_carver *carver,
                       const regal_problem *problem);

/* `order` is a topological order of all ops. `plan` is NULL, or gets the
 * steps. */
regal_fitness regal_walk_batched(const regal_problem *problem, regal_walk *walk,
                                 const uint32_t *order,
                                 const uint8_t *placement, regal_plan *plan);
regal_fitness regal_walk_late(const regal_problem *problem, regal_walk *walk,
                              const uint32_t *order, const uint8_t *placement,
                              regal_plan *plan);

/* Two devices, blocking transfers: the exchanges are those of the batched walk,
 * and so is the run time, for at an exchange both devices wait for all of it.
 * But a tensor travels with the last exchange before its first reader; or, if
 * `early` has its bit set, once it has no more readers at home, with the next
 * exchange: as long as nobody needs it, it can wait on either device. `early`
 * is NULL for none. Memory is always accounted for. */
regal_fitness regal_walk_timely(const regal_problem *problem, regal_walk *walk,
                                const uint32_t *order, const uint8_t *placement,
                                const uint8_t *early, regal_plan *plan);

static inline bool regal_walk_suits_timely(const regal_problem *problem) {
  return problem->devices == 2 && !problem->machine->overlapped;
}

/* What one exchange does to memory: bytes that arrive on a device, and bytes
 * that leave one for good. */
typedef struct regal_walk_traffic {
  int64_t arriving[2], leaving[2];
} regal_walk_traffic;

/* The device that sends first is the one whose room grows more by it before the
 * other one sends. This does not depend on what is held, so that more of it
 * means as much more at every moment. */
static inline uint32_t
regal_walk_first_sender(const regal_walk_traffic *traffic) {
  return traffic->leaving[1] > traffic->leaving[0];
}

/* Batched; where that goes beyond a memory limit, late or timely if that is
 * better. */
regal_fitness regal_walk_within_limit(const regal_problem *problem,
                                      regal_walk *walk, const uint32_t *order,
                                      const uint8_t *placement,
                                      regal_plan *plan);

#endif
