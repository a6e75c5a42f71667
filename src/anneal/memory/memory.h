/* SPDX-License-Identifier: Apache-2.0 */
/* What an order of ops with a device for each holds in memory, and what a
 * changed one would: exactly, without walking over all of it.
 *
 * The solution is the caller's order, a device for each op, and for each tensor
 * whether it travels early or late. Late: it is sent just before its first
 * reader on the device. Early, which counts only while every local use comes
 * before the first remote one and the tensor is not final: right after its last
 * local use, or its producer; or after a later op of its device that it is kept
 * for, which then counts as a use. Neither early nor late may do: a tensor that
 * is read again much later must leave before its device needs the room, and not
 * before the other device has it.
 *
 * Records. For each tensor the ops that decide when a device holds it: its last
 * reader at home, and the first and last reader on each other device. They
 * depend on the order of its readers alone. For each shared parameter the
 * number of its readers on each device (anneal/memory/residents.h).
 *
 * Events. Every byte comes and goes with an op, so that events belong to ops,
 * not to positions: `net` is what an op changes on each device from before it
 * to after it (with the transfers around it), `add` what it needs on its own
 * device while it runs. To shift an op changes only records of the tensors that
 * it reads; a change of device those of the tensors that it reads and writes.
 *
 * Profile. The bytes before each position are a running sum of events. The
 * peak, and what is above a reference, are kept for each block of positions. A
 * move changes the profile between its first and its last event only, and of
 * the blocks in between those without an event by a constant for each device.
 *
 * So a move costs O(degree of the moved ops) for records and events, and the
 * blocks from the first to the last event for the profile; a block that stays
 * below the reference costs O(devices). What a move changes is noted on a
 * trail, and undone from there when the move is refused. Bytes are doubles that
 * hold whole numbers below 2^53: sums are exact, and sums and maxima fast.
 *
 * Two annealers use this room. The one for peak memory (anneal/peak) uses the
 * profile described above. The one for run time under a limit (anneal/order)
 * wants to know only what is beyond the limits, on few of many devices: where
 * transfers are late it uses the records and events with the profile of
 * anneal/memory/limits.h. With blocking transfers between two devices
 * (anneal/order/memory.h) it uses records and residents, but has events and a
 * profile of its own: there tensors travel in batches, at exchanges, whose
 * positions follow from the whole order. An event has no op that it belongs to;
 * a shift of one op can move the arrival of many tensors.
 */
#ifndef REGAL_ANNEAL_MEMORY_MEMORY_H
#define REGAL_ANNEAL_MEMORY_MEMORY_H

#include "anneal/memory/residents.h"
#include "cost/model/fitness.h"

/* One change that can be taken back. */
typedef struct regal_memory_change {
  void *where;
  uint64_t old;
  uint32_t size; /* 1, 4 or 8 bytes */
} regal_memory_change;

/* What a solution costs. Bytes as doubles, except `soft`, a sum of them. */
typedef struct regal_memory_cost {
  double value;  /* the largest peak */
  double excess; /* beyond the limits, summed over devices */
  double soft;   /* beyond `reference`, summed over devices and positions */
  double energy; /* what is annealed */
} regal_memory_cost;

typedef struct regal_memory {
  const regal_problem *problem;
  uint32_t ops, devices;
  uint32_t shift, blocks; /* blocks of 2^shift positions */
  double weight, price;   /* of `soft` and `excess` in the energy */

  /* The solution. */
  const uint32_t *order, *position; /* [ops] the caller's */
  uint8_t *placement;               /* [ops] */
  uint8_t *early;                   /* [tensors] wanted early */
  uint32_t *kept_for;               /* [tensors] the op, or REGAL_NONE */
  uint32_t *keeps;                  /* [ops] the tensor, or REGAL_NONE */

  /* Records: `gone` is the op after which (or before which, by a transfer) the
   * producer's device frees the tensor; the rest is for several devices only.
   * REGAL_NONE: never, nowhere. */
  uint32_t *live_begin, *live; /* [ops+1], inputs whose records depend on the
                                  order: of several uses, not empty */
  uint32_t *gone;              /* [tensors] */
  uint32_t *sent;              /* [tensors] op after which it travels early */
  uint32_t *home;              /* [tensors] the producer's device */
  uint64_t *remote;       /* [tensors] a bit for each other device of readers */
  uint32_t *first, *last; /* [tensors * devices] readers on remote devices */
  regal_residents residents;

  /* Events. */
  double *reused; /* [ops] bytes written over inputs */
  double *add;    /* [ops] needed while it runs, on its device */
  double *net;    /* [ops * devices] change from before to after */
  double base[REGAL_MAX_DEVICES]; /* before the first op */

  /* The profile. */
  double *before;     /* [(ops+1) * devices] bytes before each position */
  double *soft;       /* [ops] of each position */
  double *block_peak; /* [devices * blocks] */
  double *block_soft; /* [blocks] */
  double reference[REGAL_MAX_DEVICES]; /* whole bytes */
  double peak[REGAL_MAX_DEVICES];
  uint32_t peak_block[REGAL_MAX_DEVICES]; /* where it is reached */
  regal_memory_cost cost;

  /* The move under way. `serial` is its number; what carries it is marked. */
  uint64_t serial;
  uint64_t *tensor_mark;            /* [tensors] is in `dirty` */
  uint64_t *reuse_mark;             /* [ops] is in `rewrite` */
  uint64_t *block_mark;             /* [blocks] holds something that changed */
  uint64_t *block_devices;          /* [blocks] if so: a bit for each device */
  uint64_t *taken, taken_now;       /* [tensors] input was written over */
  uint32_t *dirty, dirty_count;     /* [tensors] records to look at */
  uint32_t *rewrite, rewrite_count; /* [ops] whose reuse may have changed */
  uint32_t low, high; /* positions from the first to the last change */
  bool by_device;     /* changes are noted by device, too */
  uint64_t touched;   /* a bit for each device with changes; on these: */
  uint32_t touched_low[REGAL_MAX_DEVICES], touched_high[REGAL_MAX_DEVICES];
  uint32_t window_low, window_count; /* positions that were rearranged */
  regal_memory_change *trail;
  uint32_t trail_count, trail_room;
  bool overflow; /* the trail is full: the move must be undone */
} regal_memory;

/* The order and the position are the caller's to set. The profile is one for
 * peaks (anneal/memory/profile.c), or the caller has another one. */
void regal_memory_layout(regal_memory *m, regal_carver *carver,
                         const regal_problem *problem);
void regal_memory_layout_profile(regal_memory *m, regal_carver *carver);
/* What does not depend on the solution; once after the layout. */
void regal_memory_create(regal_memory *m);

/* -- Events ---------------------------------------------------------------- */

/* All events, from order, placement and early alone. */
void regal_memory_rebuild_events(regal_memory *m);
/* The op after which an early tensor travels; REGAL_NONE if it is late. */
uint32_t regal_memory_sent_after(const regal_problem *problem,
                                 const uint32_t *position,
                                 const uint8_t *placement, uint32_t tensor,
                                 uint32_t kept_for);
/* No tensor is early, and none is kept. */
void regal_memory_all_late(regal_memory *m);
/* Whether the tensor can be kept for an op, whatever the order. */
bool regal_memory_may_keep(const regal_problem *problem, uint32_t tensor);

/* Parts of a move, after regal_memory_begin_move. The device of an op; whether
 * a tensor travels early, and is kept for nothing; that it does, and is kept
 * for an op that keeps no other; the caller has rearranged the positions low ..
 * high; and an op has changed sides with a reader of what it reads. */
void regal_memory_place(regal_memory *m, uint32_t op, uint32_t device);
void regal_memory_toggle_early(regal_memory *m, uint32_t tensor);
void regal_memory_keep(regal_memory *m, uint32_t tensor, uint32_t op);
void regal_memory_touch_window(regal_memory *m, uint32_t low, uint32_t high);
void regal_memory_touch_inputs(regal_memory *m, uint32_t op);
/* After the parts: brings all events up to date. */
void regal_memory_settle(regal_memory *m);
/* Takes the whole move back, except for the caller's order. */
void regal_memory_undo(regal_memory *m);

static inline void regal_memory_begin_move(regal_memory *m) {
  m->serial++;
  m->dirty_count = m->rewrite_count = 0;
  m->trail_count = m->window_count = 0;
  m->low = UINT32_MAX;
  m->high = 0;
  m->touched = 0;
  m->overflow = false;
}

/* Position `at` changes on a device. */
static inline void regal_memory_touch(regal_memory *m, uint32_t at,
                                      uint32_t device) {
  uint32_t block = at >> m->shift;
  m->low = at < m->low ? at : m->low;
  m->high = at > m->high ? at : m->high;
  if (m->by_device) {
    uint64_t bit = UINT64_C(1) << device;
    uint32_t *low = &m->touched_low[device], *high = &m->touched_high[device];
    uint64_t others =
        m->block_mark[block] == m->serial ? m->block_devices[block] : 0;
    m->block_devices[block] = others | bit;
    *low = !(m->touched & bit) || at < *low ? at : *low;
    *high = !(m->touched & bit) || at > *high ? at : *high;
    m->touched |= bit;
  }
  m->block_mark[block] = m->serial;
}

/* No event changed: the same plan. After regal_memory_settle. */
static inline bool regal_memory_is_unchanged(const regal_memory *m) {
  return m->low > m->high;
}

/* -- Profile --------------------------------------------------------------- */

/* All of the profile and the cost, from the events and the reference. */
void regal_memory_rebuild_profile(regal_memory *m);
/* The cost after the move under way, when its energy is at most `allowed`. */
bool regal_memory_evaluate(regal_memory *m, double allowed,
                           regal_memory_cost *cost);
/* Makes the move final; `cost` is what evaluate said. */
void regal_memory_commit(regal_memory *m, const regal_memory_cost *cost);

#endif
