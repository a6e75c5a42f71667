/* SPDX-License-Identifier: Apache-2.0 */
/* What an order (anneal/order/order.h) holds in memory on two devices with
 * blocking transfers, and what a move on it would: the peaks of decode/walk.h's
 * timely walk, exactly, without walking over all of the order.
 *
 * Tensors travel in batches, at the exchanges of the simulation: one is needed
 * where an op reads something that was made on the other device since the last
 * exchange. A copy arrives with the last exchange before its first reader, or,
 * if the tensor is marked early, with the first exchange after its last reader
 * at home. At home it is freed when both hold: its copy has left, and nobody
 * reads it there any more.
 *
 * So every byte comes and goes with an op (outputs; the last reader of a
 * tensor) or with an exchange. The record of a tensor says which ops decide
 * (anneal/memory/readers.h); an event sums up for each op what does not depend
 * on exchanges, and counts what does. What an op writes over its inputs depends
 * on both; it is found whenever the op is scanned. What is held before each
 * block of positions, and the peaks in it, are kept as levels, together with
 * the last exchange before the block.
 *
 * A changed order is scanned from the exchange before the first changed event.
 * A block is skipped, and its level shifted by a constant, if the last exchange
 * before it is the kept one and no event near it changed; after the last change
 * that holds for all of the rest. The scan ends as soon as the violation is
 * more than what is allowed. O(moved ops * degree + positions around changed
 * events
 * + blocks), against O(ops + edges) for a walk.
 *
 * Why this is not the engine of anneal/memory/memory.h: there a transfer
 * belongs to an op, here to an exchange, whose position depends on all ops
 * before it. Records and residents are shared; events and profile are not.
 */
#ifndef REGAL_ANNEAL_ORDER_MEMORY_H
#define REGAL_ANNEAL_ORDER_MEMORY_H

#include "anneal/memory/residents.h"
#include "anneal/order/order.h"
#include "base/random.h"

/* Ops that decide when a tensor comes and goes. */
typedef struct regal_order_record {
  uint32_t
      local; /* the last reader on its producer's device, or the producer */
  uint32_t first, last; /* readers on the other device, or REGAL_NONE */
  uint32_t home;        /* the producer's device */
} regal_order_record;

/* What an op does to its device's memory. */
typedef struct regal_order_event {
  int64_t during;   /* outputs and temporary bytes */
  int64_t after;    /* outputs, less what is freed whatever the exchanges */
  uint32_t firsts;  /* tensors that it is the first to read from elsewhere */
  uint32_t lasts;   /* tensors that it frees if their copy has left */
  uint32_t departs; /* tensors that leave early, after it */
} regal_order_event;

/* Before a block of positions, and in it. */
typedef struct regal_order_level {
  int64_t held[2], peak[2];
  uint32_t exchanged; /* where the last exchange before it was */
} regal_order_level;

/* How much is beyond the limits. Where layers repeat, many moments are equally
 * bad, and to mend one of them changes no peak: hence the spread. */
typedef struct regal_order_excess {
  int64_t bytes;    /* of the peaks, over devices */
  int64_t spread;   /* of the peaks of blocks, over blocks and devices */
  double violation; /* one number for both */
} regal_order_excess;

typedef struct regal_order_memory {
  const regal_problem *problem;
  regal_order *order;
  regal_order_record *records; /* [tensors] */
  uint8_t *early;              /* [tensors] as regal_walk_timely has it */
  regal_order_event *events;   /* [ops] */
  regal_order_level *levels;   /* [blocks] of what is kept */
  uint32_t bits, blocks;       /* of 1 << bits positions */
  double weight;               /* of the spread */
  regal_residents residents;
  uint64_t *taken, takes; /* [tensors] inputs that an output was written over */

  /* The move at hand. */
  regal_order_level *trial;       /* [blocks] */
  uint32_t scanned_from, scanned; /* blocks first .. end - 1 */
  int64_t base[2], rest[2]; /* more held in blocks before these, and behind */
  uint32_t *dirty;          /* [tensors] whose record may change */
  regal_order_record *old;  /* [tensors] of the dirty ones */
  uint32_t dirty_count;
  uint32_t toggled;        /* a tensor, or REGAL_NONE */
  uint32_t *stamp, stamps; /* [tensors] */
  uint32_t low, high;      /* positions with changed events */
  /* Blocks with such positions, and all up to the exchanges around them, where
   * their tensors come and go: those that carry `stamps`. */
  uint32_t *changed, *concerned; /* [blocks] */
} regal_order_memory;

static inline bool regal_order_memory_suits(const regal_problem *problem) {
  return problem->limited && regal_walk_suits_timely(problem);
}

void regal_order_memory_layout(regal_order_memory *memory, regal_carver *carver,
                               regal_order *order);
/* What does not depend on the order; once after the layout. */
void regal_order_memory_create(regal_order_memory *memory);
/* Takes over what the order has, with the `early` that there is. */
void regal_order_memory_set(regal_order_memory *memory);
/* The same after `early` is chosen: as in a plan of this order, nearly; or none
 * or all, if that is better. */
void regal_order_memory_read(regal_order_memory *memory,
                             const regal_plan *plan);
/* Of what is kept. */
regal_order_excess regal_order_memory_excess(const regal_order_memory *memory);

/* An op that has to do with what is beyond a limit, or any if nothing is. */
uint32_t regal_order_memory_draw(const regal_order_memory *memory,
                                 regal_random *random);
/* The phase that a position of what is kept is in: from an exchange to where
 * the next one is needed. */
void regal_order_memory_phase(const regal_order_memory *memory,
                              uint32_t position, uint32_t *first,
                              uint32_t *end);
/* Whether a tensor can leave early at all. */
bool regal_order_memory_may_toggle(const regal_order_memory *memory,
                                   uint32_t tensor);
/* The same of the move at hand, after regal_order_cost: exact, or when its
 * violation is more than `allowed`, any above that. `toggled` is a tensor that
 * leaves early from now on if it did not, or REGAL_NONE. Then either keep it,
 * before regal_order_keep, or take it back, before regal_order_take_back. */
regal_order_excess regal_order_memory_try(regal_order_memory *memory,
                                          uint32_t toggled, double allowed);
void regal_order_memory_keep(regal_order_memory *memory);
void regal_order_memory_take_back(regal_order_memory *memory);

/* -- Between memory_records.c and memory.c --------------------------------- */

/* All records and events, from the order and `early` alone. */
void regal_order_memory_rebuild(regal_order_memory *memory);
/* Records, events and residents follow the move at hand; `low` to `high` are
 * the positions where events changed. */
void regal_order_memory_begin(regal_order_memory *memory, uint32_t toggled);

#endif
