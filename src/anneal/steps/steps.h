/* SPDX-License-Identifier: Apache-2.0 */
/* All steps of a plan in one list, transfers among them, and moves on it.
 *
 * The other annealers order ops; when a tensor is sent follows from that by a
 * rule (decode/walk.h). Some plans no such rule makes: a link that is idle
 * could carry a tensor which is needed later, the inputs of one op could be
 * sent in the order in which they are made, and with blocking transfers two
 * devices need not meet for all that is pending. Here every transfer has a
 * place of its own.
 *
 * A move takes a step to another place, or ops to other devices, in a list that
 * may then be wrong. One pass over the list repairs and costs it (`replay`): a
 * transfer that nobody needs any more, or that comes before its producer, is
 * left out; an input that has not been sent when its reader comes is sent just
 * before it. So any list whose ops are in a topological order becomes a valid
 * plan, and a move need not care about transfers. O(steps + uses) for a move:
 * this annealer is for small graphs, and for the last steps to a good plan.
 */
#ifndef REGAL_ANNEAL_STEPS_STEPS_H
#define REGAL_ANNEAL_STEPS_STEPS_H

#include "anneal/driver/annealer.h"
#include "base/random.h"
#include "cost/model/running_cost.h"

#define REGAL_STEPS_RUN UINT16_MAX

typedef struct regal_steps_entry {
  uint32_t what; /* the op that runs, or the tensor that is sent */
  uint16_t to;   /* the device that it is sent to, or REGAL_STEPS_RUN */
} regal_steps_entry;

typedef struct regal_steps_list {
  regal_steps_entry *entries; /* [most steps] */
  uint32_t count;
} regal_steps_list;

typedef struct regal_steps {
  regal_context *context;
  const regal_problem *problem;
  regal_random random;
  regal_steps_list now, trial, best;
  uint8_t *placement, *best_placement; /* [ops] */
  uint32_t *at;          /* [ops] entry of `now` that runs the op */
  uint32_t *next_member; /* [ops] of the same group, or REGAL_NONE */

  /* What the move at hand has changed. */
  uint32_t moved_from, moved_to; /* entries; equal: none */
  uint32_t *flipped;             /* [ops] */
  uint8_t *flipped_from;         /* [ops] */
  uint32_t flips;

  /* Of a replay. */
  uint64_t *sent; /* [tensors] bit for each device that has it */
  uint8_t *ran;   /* [ops] */
  regal_running_cost running;

  regal_fitness fitness, best_fitness;
  double unit_ns; /* mean run time */
  double price;   /* of a byte beyond the limit */
  double energy;
} regal_steps;

/* Repairs `now` into `trial` and costs it. A run time above `most_ns` may be
 * any number above that. */
regal_fitness regal_steps_replay(regal_steps *s, int64_t most_ns);

/* One random move, without its cost, and back. */
void regal_steps_move(regal_steps *s);
void regal_steps_take_back(regal_steps *s);
/* Where the ops are, after a list has become `now`. */
void regal_steps_index(regal_steps *s);

#endif
