/* The cost of an order of ops with a device for each: for decoders that choose
 * order and placement, and leave the transfers to follow from them. Either
 * these are batched, by the rule of decode/pending.h, which suits blocking
 * transfers; or each one is late, just before its first reader, which suits
 * links and memory. O(ops + edges), allocates nothing.
 */
#ifndef REGAL_DECODE_WALK_H
#define REGAL_DECODE_WALK_H

#include "cost/fitness.h"
#include "decode/pending.h"

typedef struct regal_walk {
  uint32_t *position; /* [ops] from 1; batched */
  uint64_t *sent;     /* [tensors] bit per device that has it; late */
  regal_pending pending;
  regal_account account;
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

/* Batched; where that goes beyond a memory limit, late if it is better. */
regal_fitness regal_walk_within_limit(const regal_problem *problem,
                                      regal_walk *walk, const uint32_t *order,
                                      const uint8_t *placement,
                                      regal_plan *plan);

#endif
