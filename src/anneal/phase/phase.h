/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing: the state of one chain. The annealer is phase.c, its moves
 * moves.c and many.c, plans are read and written in plan.c.
 *
 * Every op has a phase and a device, together its place. Between phases all
 * devices wait for each other and what is pending travels, so a plan takes
 *
 *   sum over phases of the largest load of a device in it
 *   + sum over tensors of the transfers to devices with a reader.
 *
 * Blocking transfers between two devices are such barriers, so that there every
 * plan is a solution of the same cost (without control edges that wait). With
 * more devices only two of them meet at a transfer, and an op that waits for
 * another one meets nobody: there this is an upper bound.
 *
 * The order of phases enters the cost nowhere; only legality depends on it. So
 * the change of the cost by a move is a difference of two loads in two phases
 * and of the transfers of the tensors that the op reads and writes: exact
 * integers, O(degree + devices), whatever the size of the graph. An order of
 * ops (anneal/order) has to be simulated from the change on; this
 * representation is several times as fast for each move, and it can merge and
 * split phases.
 *
 * Invariants:
 * - Legal: an edge i -> j has phase(i) < phase(j), or both are in the same
 * place (phase and device). So ops by phase, then by index, are in topological
 *   order.
 * - `load`, `readers`, `cost` and the lists of members belong to `at`.
 * - The best solution is `at` if `best_is_present`, else `best_at`. They differ
 *   in the ops of `changed` at most, unless `renumbered`.
 */
#ifndef REGAL_ANNEAL_PHASE_PHASE_H
#define REGAL_ANNEAL_PHASE_PHASE_H

#include "base/random.h"
#include "decode/walk.h"

/* The most devices: the loads take 2 * ops * devices numbers. */
#define REGAL_PHASE_DEVICES 16
#define REGAL_PHASE_OPS (1u << 24)
/* The most ops that one move can touch, except for whole phases. */
#define REGAL_PHASE_CLUSTER 128
#define REGAL_PHASE_CHANCES 1024
/* The most blocks of phases in which memory is counted. */
#define REGAL_PHASE_BLOCKS 128

typedef struct regal_phase {
  regal_context *context;
  const regal_problem *problem;
  uint32_t ops, shift, mask;
  uint32_t phases; /* in use are 0 .. phases - 1, at most 2 * ops + 1 */
  bool restricted; /* some op cannot run everywhere */
  double mean_ns;  /* the unit of temperatures */
  double temperature_ns;
  regal_random random;
  uint64_t until_tidy; /* moves */
  uint64_t until_many; /* likewise, until one of many ops */

  /* Ops that an op depends on, then ops that depend on it, all distinct: from
   * near_begin[2 * op] and near_begin[2 * op + 1]. */
  uint32_t *near_begin; /* [2 * ops + 1] */
  uint32_t *near;

  int64_t *send_ns; /* [2 * tensors] from either of two devices to the other;
                       NULL with more, and when transfers are free */

  /* The present solution. A place is phase << shift | device. */
  uint32_t *at;      /* [ops] */
  int64_t *load;     /* [places] */
  uint32_t *first;   /* [phases] a member or REGAL_NONE */
  uint32_t *next;    /* [ops] the next member of the phase */
  uint32_t *before;  /* [ops] the one before, or REGAL_NONE */
  uint32_t *readers; /* [tensors << shift] consumers on each device; NULL
                        when transfers are free */
  int64_t cost;

  uint32_t *best_at; /* [ops] in numbers of its own after a tidying */
  int64_t best_cost;
  bool best_is_present, renumbered;
  uint8_t *is_changed; /* [ops] */
  uint32_t *changed;   /* [ops] */
  uint32_t changes;

  /* The compound move that is being tried. */
  uint32_t *tried, *tried_from; /* [ops] in the order of the steps */
  uint32_t tries;
  int64_t cost_before;
  uint32_t *stamp, stamps; /* [ops] marks of members of a cluster */
  uint32_t cluster[REGAL_PHASE_CLUSTER];
  uint32_t members;

  /* The phases that a move of many ops would lead to. */
  uint32_t *by_fold, *fold_at; /* [ops] each other's inverse */
  uint32_t *draft;             /* [ops] their phases */
  int64_t *draft_load;         /* [(ops + 1) << shift] */

  /* Towards memory limits (anneal/phase/held.h). */
  bool heeds;
  int64_t *held; /* [2 * REGAL_PHASE_BLOCKS] bytes of a device in a block */
  uint32_t block_bits, blocks; /* of 1 << block_bits phases */
  int64_t over;                /* bytes beyond the limits, summed over blocks */
  double price;                /* of each of them, in ns */
  uint32_t *dirty;             /* [tensors] of the compound move */
  uint32_t *dirty_stamp, dirty_stamps, dirties; /* [tensors] */

  float minus_log[REGAL_PHASE_CHANCES]; /* -log of evenly spread chances */

  /* For tidying, reading and writing. */
  uint32_t *bucket; /* [2 * ops + 3] */
  uint32_t *order;  /* [ops] */
  uint8_t *placement;
  regal_walk walk;
} regal_phase;

/* How much worse a move may be, by Metropolis' rule. */
static inline double regal_phase_tolerance(regal_phase *s) {
  uint64_t r = regal_random_next(&s->random);
  return s->temperature_ns * (double)s->minus_log[r % REGAL_PHASE_CHANCES];
}

static inline uint32_t regal_phase_of(const regal_phase *s, uint32_t place) {
  return place >> s->shift;
}

/* The largest load of a phase, whose loads begin there. */
static inline int64_t regal_phase_largest(const regal_phase *s,
                                          const int64_t *load) {
  int64_t largest = load[0];
  for (uint32_t a = 1; a <= s->mask; a++)
    largest = regal_later(largest, load[a]);
  return largest;
}

/* Everything about `at` anew, and its cost. O(ops + uses + phases). */
void regal_phase_recompute(regal_phase *s);
/* Copies the best solution if it is the present one: before this changes for
 * the worse. O(ops changed since the last time). */
void regal_phase_save_best(regal_phase *s);

static inline void regal_phase_note_best(regal_phase *s) {
  if (s->cost < s->best_cost) {
    s->best_cost = s->cost;
    s->best_is_present = true;
  }
}

/* Drops empty phases, merges neighbours where that is legal and cheaper, and
 * leaves an empty phase before each and after the last. */
void regal_phase_tidy(regal_phase *s);
/* Ops by phase, then by index, into `order`; bucket[k] is where phase k ends.
 * `phases` is above all of them. */
void regal_phase_sort(regal_phase *s, const uint32_t *at, uint32_t phases);
/* Adds the loads of a phase to those of the one before it, if together they
 * cost less, or `if_equal` no more. */
bool regal_phase_join(const regal_phase *s, int64_t *group, const int64_t *load,
                      bool if_equal);

void regal_phase_read(regal_phase *s, const regal_plan *plan);
/* The best solution of a regal_phase. */
void regal_phase_write(void *state, regal_plan *plan);

/* So many moves. */
void regal_phase_run(regal_phase *s, uint32_t moves);

/* One move of many ops. */
void regal_phase_flip_many(regal_phase *s);

#endif
