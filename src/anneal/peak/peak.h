/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing for peak memory, its parts: the state of one chain, which op to
 * move (anneal/peak/choice.c), moves of the order (moves.c) and of devices
 * (devices.c), plans (plan.c) and the annealer itself (peak.c). What a move
 * costs is found by anneal/memory/memory.h.
 */
#ifndef REGAL_ANNEAL_PEAK_PEAK_H
#define REGAL_ANNEAL_PEAK_PEAK_H

#include "anneal/memory/memory.h"
#include "base/random.h"
#include "cost/model/plan.h"

typedef struct regal_peak {
  regal_context *context;
  const regal_problem *problem;
  uint32_t ops, devices;
  double unit; /* of temperatures, in bytes; of the problem alone */
  regal_random random;
  uint32_t *pred_begin, *pred; /* [ops+1], distinct ops before an op */

  uint32_t *order, *position; /* [ops] each other's inverse */
  regal_memory memory;        /* of that order; it has the placement */
  double reference_of;        /* the best value that its reference is for */

  /* The move under way. */
  uint64_t *member_mark; /* [ops] is one of those that are moved */
  uint32_t *window;      /* [ops] the order before, where it was rearranged */
  uint32_t *members;     /* [ops] scratch for moves */

  /* What moves are about. */
  uint32_t *holding, holding_count; /* [ops] with parameters; none if there is
                                       one device */
  uint32_t *crowded, crowded_count; /* [ops] ops at positions above reference */
  uint32_t crowded_age;             /* moves since they were listed */
  uint32_t goal; /* a position that the op should get past, or REGAL_NONE */

  /* The best solution. */
  uint32_t *best_order;
  uint8_t *best_placement, *best_early;
  uint32_t *best_kept_for;
  double best_value, best_excess;
} regal_peak;

/* Takes over an order, which may be the chain's own; the placement and `early`
 * are set. */
void regal_peak_set_order(regal_peak *chain, const uint32_t *order);

/* -- Which op -------------------------------------------------------------- */

/* Lists crowded ops anew, if so many moves more are too many for the list. */
void regal_peak_find_crowded(regal_peak *chain, uint32_t moves);
uint32_t regal_peak_draw_op(regal_peak *chain); /* and the goal */
/* One of the list, which must not be empty. */
uint32_t regal_peak_draw_crowded(regal_peak *chain);

static inline uint32_t regal_peak_draw(regal_peak *chain, uint32_t below) {
  return (uint32_t)regal_random_below(&chain->random, below);
}

/* -- Moves: begin, change, settle, then commit (the memory) or undo -------- */

/* Makes a random move, without its settling. False: nothing changed. */
bool regal_peak_move(regal_peak *chain);
void regal_peak_shift(regal_peak *chain, uint32_t op, uint32_t to);
/* Those that change devices. `op` may be moved already. */
bool regal_peak_flip_op(regal_peak *chain, uint32_t op);
bool regal_peak_move_devices(regal_peak *chain, uint32_t op);
/* Some ops of the window that was rearranged, those that are marked, go to one
 * device. */
void regal_peak_pack(regal_peak *chain);
void regal_peak_undo(regal_peak *chain);

/* -- Plans ----------------------------------------------------------------- */

/* Order, placement and early transfers of a plan; events are not rebuilt. */
void regal_peak_read(regal_peak *chain, const regal_plan *plan);
/* The best solution of a regal_peak. */
void regal_peak_write(void *state, regal_plan *plan);

#endif
