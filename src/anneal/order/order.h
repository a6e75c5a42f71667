/* SPDX-License-Identifier: Apache-2.0 */
/* An order of all ops with a device for each, its run time, and moves on it
 * that are costed without simulating all of it again.
 *
 * Transfers follow from order and placement: with blocking transfers they are
 * batched (decode/pending.h), with links each is late, just before its first
 * reader (decode/walk.h). So the run time is a function of the order and the
 * placement alone. Between several devices under a memory limit blocking
 * transfers may be late, too (`late`): this takes longer, but what such an
 * order holds can be counted move by move (anneal/order/within.h).
 *
 * A move is tried in place: shifts and flips change the order and the
 * placement, and note which positions they touch (anneal/order/touch.c); `cost`
 * finds what the changed order would cost, and then it is either kept or taken
 * back. Costs are exact: tests compare them with a walk over the whole order.
 *
 * The state of the simulation before every block of positions is kept (a mark).
 * A changed order is simulated from the mark before the first position that the
 * move touches; where it meets an old mark again (for blocking transfers: apart
 * from a constant added to all clocks), nothing else is left to be known. Most
 * moves are refused: for these the tails, which say how long the rest takes
 * from each device's clock, settle the cost as soon as nothing touched lies
 * ahead. anneal/order/blocking.c and anneal/order/links.c have the details of
 * the two kinds of machines.
 */
#ifndef REGAL_ANNEAL_ORDER_ORDER_H
#define REGAL_ANNEAL_ORDER_ORDER_H

#include "base/carve.h"
#include "cost/model/running_cost.h"
#include "decode/walk.h"

#define REGAL_ORDER_POINTS 64 /* touched stretches that are kept apart */

/* Loop heads: the uses of all that an op makes; and the slots of all that it
 * makes in arrays [tensors * devices]. */
#define REGAL_ORDER_USES(u, problem, op)                                       \
  uint32_t u = (problem)->use_begin[(problem)->output_begin[op]];              \
  u < (problem)->use_begin[(problem)->output_begin[(op) + 1]];                 \
  u++
#define REGAL_ORDER_SLOTS(slot, problem, op)                                   \
  size_t slot = (size_t)(problem)->output_begin[op] * (problem)->devices;      \
  slot < (size_t)(problem)->output_begin[(op) + 1] * (problem)->devices;       \
  slot++

/* What the simulation needs of an op, together. */
typedef struct regal_order_cell {
  int64_t run_ns;   /* on its device */
  int64_t cross_ns; /* two devices: of the tensors that leave its device */
  uint32_t remote;  /* inputs that come from other devices */
  uint32_t leaves;  /* pairs of an output and another device that reads it */
  uint32_t waits;   /* ops of other devices that it waits for */
  uint16_t device;
  bool awaited; /* others wait for it */
} regal_order_cell;

/* Positions first .. last. */
typedef struct regal_order_stretch {
  uint32_t first, last;
} regal_order_stretch;

/* Two devices, blocking: all there is before a position. */
typedef struct regal_order_mark {
  int64_t clock[2], pending_ns;
  uint32_t exchanged; /* position of the last exchange */
  uint32_t awaited;   /* up to here ops wait for one of the other device that
                         ran since then */
} regal_order_mark;

/* Links: where a tensor is sent to a device. */
typedef struct regal_order_sent {
  uint32_t at;    /* position of its first reader there, or REGAL_NONE */
  uint32_t trial; /* that set it */
} regal_order_sent;

typedef struct regal_order_undo {
  size_t slot;
  regal_order_sent sent;
} regal_order_undo;

typedef struct regal_order_first {
  size_t slot;
  uint32_t op;
} regal_order_first;

typedef struct regal_order regal_order;

struct regal_order {
  const regal_problem *problem;
  uint32_t *op_at, *position; /* [ops] each other's inverse */
  regal_order_cell *cells;    /* [ops] */
  uint8_t *device_of;         /* [ops] as in the cells: what inputs are looked
                                 up in is small */
  uint32_t *made_by;          /* [uses] which op makes an input */
  uint32_t *readers;          /* [tensors * devices] */
  uint32_t *next_member;      /* [ops] of the same group, ascending, or
                                 REGAL_NONE; where there are groups */
  int64_t load_ns[REGAL_MAX_DEVICES]; /* run times of each device's ops */
  int64_t runtime_ns;                 /* of what is kept */
  bool late; /* blocking transfers are; set before the order */

  /* What the move at hand has changed. */
  uint32_t shifted_from, shifted_to; /* positions; equal: none */
  uint32_t *flipped;                 /* [ops] */
  uint8_t *flipped_from;             /* [ops] */
  uint32_t flips;
  regal_order_stretch touched[REGAL_ORDER_POINTS];
  uint32_t touched_count;
  bool crowded; /* more than fit: one stretch from the first to the last;
                   always with links */
  /* Blocking: readers of the flipped ops are not among the touched, but looked
   * for on the way: exchanges may have made them the same as before. */
  bool seeks_readers;
  /* Links: from these positions on the tails bound what is left; the first
   * those that know of no queues at links. */
  uint32_t bounded, settled;

  /* Blocks of `block` positions, a power of two. */
  uint32_t block, block_bits, marks_count;
  regal_order_mark *marks;  /* [marks] two devices, blocking */
  int64_t *mark_ns;         /* [marks * mark_size] other machines */
  uint32_t *mark_exchanged; /* [marks * devices^2] blocking, other machines */
  uint32_t *mark_awaited;   /* [marks] as in regal_order_mark */
  uint32_t mark_size;
  int64_t *tails;   /* [marks * devices]; links: [marks * (mark_size +
                       devices)] */
  bool has_tails;   /* they are of what is kept */
  uint32_t refused; /* moves since the tails became stale */

  /* End times, where something but clocks depends on them. */
  int64_t *end_ns, *new_end_ns; /* [ops] the new ones with blocking only */

  /* Links only. A trial writes over what is kept, and notes what was there. */
  regal_order_sent *sent; /* [tensors * devices] */
  int64_t *trial_mark_ns; /* [marks * mark_size] */
  int64_t *undo_end_ns;   /* [ops] by position */
  regal_order_undo *undo; /* [min(tensors * devices, uses)] */
  uint32_t undo_count, trial;
  uint32_t changed_from, changed_to; /* positions that a trial simulated */
  uint32_t tails_from;   /* position: from here on there are tails */
  uint32_t tails_wanted; /* a trial would have needed them from here on */

  /* Blocking and late only: the first reader of a tensor on a device, as an op
   * or REGAL_NONE; and what a move has changed of this. */
  uint32_t *first_reader;       /* [tensors * devices] */
  regal_order_first *old_first; /* [2 * uses] */
  uint32_t old_firsts;

  /* Scratch of simulations. */
  int64_t *clock, *pending, *link; /* [d], [d * d], [d * d] */
  uint32_t *exchanged;             /* [d * d] */
  uint32_t awaited;
  int64_t *tail_end;  /* [ops] from an op's start; blocking: waits only */
  int64_t *tail_sent; /* [tensors * devices] links only: from its producer */
  int64_t *tail_free; /* [ops] links only: as tail_end, but without queues */
  int64_t *tail_free_sent;          /* [tensors * devices] */
  struct regal_order_exchange *log; /* [ops * min(d - 1, inputs)] */
  uint32_t log_count;
};

/* An exchange between devices a and b before a position. */
typedef struct regal_order_exchange {
  int64_t cost_ns;
  uint32_t position;
  uint16_t a, b;
} regal_order_exchange;

void regal_order_layout(regal_order *order, regal_carver *carver,
                        const regal_problem *problem);
/* Whether transfers can be made late by setting `late`. */
static inline bool regal_order_may_be_late(const regal_problem *problem) {
  return problem->limited && problem->devices > 2 &&
         !problem->machine->overlapped;
}
/* Takes over an order and a placement, and simulates it. */
void regal_order_set(regal_order *order, const uint32_t *op_at,
                     const uint8_t *placement);
/* The order and the placement of a plan, for regal_order_set; the order itself
 * lends its memory. */
void regal_order_read(regal_order *order, const regal_plan *plan,
                      uint32_t *op_at, uint8_t *placement);

/* -- One move: begin, change, cost, then keep or take back ----------------- */

void regal_order_begin_move(regal_order *order);
/* The first and last position to which an op can be shifted. */
void regal_order_range(const regal_problem *problem, const uint32_t *position,
                       uint32_t op, uint32_t *first, uint32_t *last);
/* At most one shift in a move, before any flip. */
void regal_order_shift(regal_order *order, uint32_t op, uint32_t to);
/* To another device: one op, or all of its group. */
void regal_order_flip(regal_order *order, uint32_t op, uint32_t device);
void regal_order_flip_group(regal_order *order, uint32_t op, uint32_t device);
/* The run time of the changed order; or, when it is more than `allowed`, any
 * number above that. */
int64_t regal_order_cost(regal_order *order, int64_t allowed);
/* `cost` has said `runtime_ns`. */
void regal_order_keep(regal_order *order, int64_t runtime_ns);
void regal_order_take_back(regal_order *order);

/* What a walk over a whole order says, memory included, with transfers as the
 * simulation has them (batched if they block and are not said to be late), or
 * later where that fits a memory limit better. `plan` is NULL, or gets the
 * steps. O(ops + edges). */
regal_fitness regal_order_walk(const regal_problem *problem, regal_walk *walk,
                               const uint32_t *op_at, const uint8_t *placement,
                               regal_plan *plan);

/* -- What a move touches (anneal/order/touch.c) ---------------------------- */

void regal_order_touch_shift(regal_order *order);
/* The op has been on device `from`. */
void regal_order_touch_flip(regal_order *order, uint32_t op, uint32_t from);
/* The move is complete: sorts the stretches, and joins those that share a
 * block. Where transfers block and are late, first readers follow the move. */
void regal_order_join_touched(regal_order *order);
/* The first op that reads the tensor on the device, or REGAL_NONE. */
uint32_t regal_order_find_first(const regal_order *order, uint32_t tensor,
                                uint32_t device);
/* Blocking: the first reader at or after a position of what the k-th flipped op
 * makes, or REGAL_NONE. */
uint32_t regal_order_next_reader(const regal_order *order, uint32_t k,
                                 uint32_t position);

/* -- Simulations, one for each kind of machine ----------------------------- */

typedef struct regal_order_kind {
  int64_t (*cost)(regal_order *order, int64_t allowed);
  void (*keep)(regal_order *order);
  void (*reset)(regal_order *order); /* marks and runtime_ns, from nothing */
  void (*find_tails)(regal_order *order);
  void (*undo)(regal_order *order); /* a trial, or NULL: nothing to do */
  /* Tails pay once so many moves have been refused since the last one kept. */
  uint32_t patience;
} regal_order_kind;

extern const regal_order_kind regal_order_two;   /* blocking, two devices */
extern const regal_order_kind regal_order_many;  /* blocking */
extern const regal_order_kind regal_order_late;  /* blocking, late transfers */
extern const regal_order_kind regal_order_links; /* overlapped */

static inline const regal_order_kind *
regal_order_kind_of(const regal_order *order) {
  const regal_problem *problem = order->problem;
  if (problem->machine->overlapped)
    return &regal_order_links;
  if (problem->devices == 2)
    return &regal_order_two;
  return order->late ? &regal_order_late : &regal_order_many;
}

/* Two devices: whether an input of the op was made on the other device since
 * the last exchange. */
REGAL_INLINE bool regal_order_needs_exchange(const regal_order *order,
                                             uint32_t op, uint32_t device,
                                             uint32_t exchanged) {
  const regal_problem *problem = order->problem;
  const uint32_t *made_by = order->made_by + problem->input_begin[op];
  const uint32_t *end = order->made_by + problem->input_begin[op + 1];
  for (; made_by < end; made_by++) {
    if (order->device_of[*made_by] != device &&
        order->position[*made_by] >= exchanged)
      return true;
  }
  return false;
}

/* Whether the shifted op has crossed the exchange at this position. */
static inline bool regal_order_is_crossed(const regal_order *order,
                                          uint32_t at) {
  uint32_t from = order->shifted_from, to = order->shifted_to;
  return from < to ? at > from && at <= to : at > to && at <= from;
}

#endif
