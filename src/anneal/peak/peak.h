/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing for peak memory, its parts: the state of one chain, the events of
 * tensors (memory_anneal_events.c), the memory profile along the order
 * (memory_anneal_profile.c), which op to move (memory_anneal_choice.c), moves
 * (memory_anneal_moves.c, memory_anneal_devices.c) and the annealer itself
 * (memory_anneal.c).
 *
 * A solution is an order of the ops, a device for each, and for each tensor
 * whether it travels early or late. Late: it is sent just before its first
 * reader on the device. Early, which counts only while every local use comes
 * before the first remote one and the tensor is not final: right after its
 * last local use, or its producer.
 *
 * Memory is kept as events, and events belong to ops, not to positions: `net`
 * is what an op changes on each device from before it to after it (with the
 * transfers around it), `add` what it needs on its own device while it runs. So
 * to shift an op changes the events of the tensors that it reads at most, and a
 * change of device those of the tensors that it reads and writes. Then only
 * positions between the first and the last change are looked at again, and of
 * these only the blocks where it can matter.
 *
 * Bytes are doubles that hold whole numbers below 2^53 (regal_annealer.suits
 * sees to it): sums are exact, and sums and maxima fast.
 *
 * What a move changes is written down on a trail, and undone from there when
 * the move is not accepted.
 */
#ifndef REGAL_ANNEAL_PEAK_PEAK_H
#define REGAL_ANNEAL_PEAK_PEAK_H

#include <string.h>

#include "base/carve.h"
#include "base/random.h"
#include "cost/model/fitness.h"
#include "cost/model/plan.h"

/* One change that can be taken back. */
typedef struct regal_memory_undo {
  void *where;
  uint64_t old;
  uint32_t size; /* 1, 4 or 8 bytes */
} regal_memory_undo;

/* What a solution costs. Bytes as doubles, except `soft`, a sum of them. */
typedef struct regal_memory_cost {
  double value;  /* the largest peak */
  double excess; /* beyond the limits, summed over devices */
  double soft;   /* beyond `reference`, summed over devices and positions */
  double energy; /* what is annealed */
} regal_memory_cost;

typedef struct regal_memory_chain {
  regal_context *context;
  const regal_problem *problem;
  uint32_t ops, devices;
  uint32_t shift, blocks; /* blocks of 2^shift positions */
  double unit;            /* of temperatures, in bytes; of the problem alone */
  double weight, price;   /* of `soft` and `excess` in the energy */
  regal_random random;

  /* The graph, as moves want it. */
  uint32_t *pred_begin, *pred;     /* [ops+1], distinct ops before an op */
  uint32_t *live_begin, *live;     /* [ops+1], inputs whose events depend on
                                      the order: of several uses, not empty */
  uint32_t *shared_begin, *shared; /* [ops+1], shared parameters it reads */

  /* The solution. */
  uint32_t *order, *position; /* [ops] each other's inverse */
  uint8_t *placement;         /* [ops] */
  uint8_t *early;             /* [tensors] wanted early */

  /* Events. A tensor's record, from which its events follow: `gone` is the op
   * after which (or before which, by a transfer) the producer's device frees
   * it; the rest is for several devices only. REGAL_NONE: never, nowhere. */
  uint32_t *gone;         /* [tensors] */
  uint32_t *sent;         /* [tensors] op after which it travels early */
  uint32_t *home;         /* [tensors] the producer's device */
  uint64_t *remote;       /* [tensors] a bit for each other device of readers */
  uint32_t *first, *last; /* [tensors * devices] readers on remote devices */
  uint32_t *holders;      /* [shared * devices] readers on the device */
  double *reused;         /* [ops] bytes written over inputs */
  double *add;            /* [ops] needed while it runs, on its device */
  double *net;            /* [ops * devices] change from before to after */
  double base[REGAL_MAX_DEVICES]; /* before the first op */

  /* The profile. */
  double *before;     /* [(ops+1) * devices] bytes before each position */
  double *soft;       /* [ops] of each position */
  double *block_peak; /* [devices * blocks] */
  double *block_soft; /* [blocks] */
  double reference[REGAL_MAX_DEVICES]; /* whole bytes */
  double reference_of;                 /* the best value that it is for */
  double peak[REGAL_MAX_DEVICES];
  uint32_t peak_block[REGAL_MAX_DEVICES]; /* where it is reached */
  regal_memory_cost cost;

  /* The move under way. `serial` is its number; what carries it is marked. */
  uint64_t serial;
  uint64_t *tensor_mark;            /* [tensors] is in `dirty` */
  uint64_t *reuse_mark;             /* [ops] is in `rewrite` */
  uint64_t *member_mark;            /* [ops] is one of those that are moved */
  uint64_t *block_mark;             /* [blocks] holds something that changed */
  uint64_t *taken, taken_now;       /* [tensors] input was written over */
  uint32_t *dirty, dirty_count;     /* [tensors] records to look at */
  uint32_t *rewrite, rewrite_count; /* [ops] whose reuse may have changed */
  uint32_t low, high; /* positions from the first to the last change */
  uint32_t *window, window_low, window_count; /* [ops] the order before */
  uint32_t *members;                          /* [ops] scratch for moves */
  regal_memory_undo *trail;
  uint32_t trail_count, trail_room;
  bool overflow; /* the trail is full: the move must be undone */

  /* What moves are about. */
  uint32_t *holding, holding_count; /* [ops] with parameters; none if there is
                                       one device */
  uint32_t *crowded, crowded_count; /* [ops] ops at positions above reference */
  uint32_t crowded_age;             /* moves since they were listed */
  uint32_t goal; /* a position that the op should get past, or REGAL_NONE */

  /* The best solution. */
  uint32_t *best_order;
  uint8_t *best_placement, *best_early;
  double best_value, best_excess;
} regal_memory_chain;

/* -- Events ---------------------------------------------------------------- */

/* All events, from order, placement and early alone. */
void regal_memory_rebuild_events(regal_memory_chain *chain);
/* Parts of a move. The device of an op; the record of a tensor may change. */
void regal_memory_place(regal_memory_chain *chain, uint32_t op,
                        uint32_t device);
void regal_memory_touch_tensor(regal_memory_chain *chain, uint32_t tensor);
/* After the parts: brings all events up to date. */
void regal_memory_settle(regal_memory_chain *chain);
/* Takes the whole move back. */
void regal_memory_undo_move(regal_memory_chain *chain);
/* The op after which an early tensor travels; REGAL_NONE if it is late. */
uint32_t regal_memory_sent_after(const regal_problem *problem,
                                 const uint32_t *position,
                                 const uint8_t *placement, uint32_t tensor);

/* -- Profile --------------------------------------------------------------- */

/* All of the profile and the cost, from the events and the reference. */
void regal_memory_rebuild_profile(regal_memory_chain *chain);
/* The cost after the move under way, when its energy is at most `allowed`. */
bool regal_memory_evaluate(regal_memory_chain *chain, double allowed,
                           regal_memory_cost *cost);
/* Makes the move final; `cost` is what evaluate said. */
void regal_memory_commit(regal_memory_chain *chain,
                         const regal_memory_cost *cost);

/* -- Which op -------------------------------------------------------------- */

/* Lists crowded ops anew, if so many moves more are too many for the list. */
void regal_memory_find_crowded(regal_memory_chain *chain, uint32_t moves);
uint32_t regal_memory_draw_op(regal_memory_chain *chain); /* and the goal */
/* One of the list, which must not be empty. */
uint32_t regal_memory_draw_crowded(regal_memory_chain *chain);

/* -- Moves ----------------------------------------------------------------- */

/* Makes a random move, without its settling. False: nothing changed. */
bool regal_memory_move(regal_memory_chain *chain);
/* Those that change devices. `op` may be moved already. */
bool regal_memory_flip_op(regal_memory_chain *chain, uint32_t op);
bool regal_memory_move_devices(regal_memory_chain *chain, uint32_t op);
/* Some ops of the window that was rearranged, those that are marked, go to one
 * device. */
void regal_memory_pack(regal_memory_chain *chain);

/* -- Small things ---------------------------------------------------------- */

static inline uint32_t regal_memory_draw(regal_memory_chain *chain,
                                         uint32_t below) {
  return (uint32_t)regal_random_below(&chain->random, below);
}

static inline void regal_memory_begin_move(regal_memory_chain *chain) {
  chain->serial++;
  chain->dirty_count = chain->rewrite_count = 0;
  chain->trail_count = chain->window_count = 0;
  chain->low = UINT32_MAX;
  chain->high = 0;
  chain->overflow = false;
}

/* Position `at` changes. */
static inline void regal_memory_touch(regal_memory_chain *chain, uint32_t at) {
  chain->low = at < chain->low ? at : chain->low;
  chain->high = at > chain->high ? at : chain->high;
  chain->block_mark[at >> chain->shift] = chain->serial;
}

#endif
