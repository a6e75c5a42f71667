/* SPDX-License-Identifier: Apache-2.0 */
/* What is left to run always fits: memory along a safe order.
 *
 * A list scheduler that only looks at what is held now gets stuck: it fills a
 * device with results that wait for ops which no longer fit. So there is a
 * second order, the safe one: a serial order of all ops, known to fit. At any
 * moment the ops that have not run yet could be run in the safe order, each
 * transfer just before its first reader. An op may run now, ahead of its place
 * there, only if the rest still fits in that way. Its outputs are then held
 * from now until its old place; copies of inputs that it is the first to read
 * as well; inputs that it was the last to read are gone. After its old place
 * nothing differs. So the test is a range-add for each of these tensors and one
 * prefix-maximum, on the op's own device: elsewhere memory only shrinks. The
 * next op of the safe order always passes. O(degree log n).
 *
 * A device's memory grows only with its own ops (outputs, and copies that
 * arrive for an op), so the profile of a device has a leaf for each op on it,
 * in the safe order: n leaves in all. The leaf is what is held during the op.
 *
 * Outputs that may be written over inputs count in full, which is more than
 * the model says: what is held to be safe is.
 */
#ifndef REGAL_HEURISTIC_FIT_SAFE_H
#define REGAL_HEURISTIC_FIT_SAFE_H

#include "base/carve.h"
#include "cost/model/problem.h"
#include "heuristic/fit/profile.h"

/* A tensor on a device: where it is made, or where some op reads it. */
typedef struct regal_safe_slot {
  int64_t bytes;
  uint32_t reader_begin; /* in `readers`, by position */
  uint32_t readers_left; /* the first so many: later ones have run */
  uint32_t low, high;    /* leaves during which it is held */
  uint32_t home_until;   /* a copy: leaves of the tensor's home before it can
                            be sent */
  uint16_t device;
  bool there;  /* it was made or has arrived */
  bool needed; /* somebody still wants it */
} regal_safe_slot;

/* What a trial changed. */
typedef struct regal_safe_change {
  regal_safe_slot *slot;
  regal_safe_slot old;
} regal_safe_change;

typedef struct regal_safe {
  const regal_problem *problem;
  const uint8_t *placement; /* [ops] the caller's */
  const uint32_t *order;    /* [ops] the safe order, the caller's */
  uint8_t *done;            /* [ops] */
  uint32_t *leaf;           /* [ops] ops of its device before it */
  uint32_t *slot_begin;     /* [tensors+1] the first is at home */
  regal_safe_slot *slots;   /* [tensors + uses] */
  uint32_t *slot_of_input;  /* [uses] where the reader finds its input */
  uint32_t *readers;        /* [uses] by slot */
  uint32_t next;            /* position of the first op that has not run */

  regal_profile_node *nodes; /* [nodes_room] */
  regal_profile profile[REGAL_MAX_DEVICES];
  int64_t
      room[REGAL_MAX_DEVICES]; /* limit, less what stays for the whole plan */
  int64_t now[REGAL_MAX_DEVICES];      /* held after the ops that have run */
  uint32_t version[REGAL_MAX_DEVICES]; /* changes with the memory of a device */

  regal_safe_change *changes; /* [most inputs and outputs of an op] */
  uint32_t change_count;
} regal_safe;

/* Whether sums of bytes are small enough for it. */
bool regal_safe_suits(const regal_problem *problem);
void regal_safe_layout(regal_safe *safe, regal_carver *carver,
                       const regal_problem *problem);
/* Nothing has run. Returns whether the safe order fits; only then the rest may
 * be called. */
bool regal_safe_begin(regal_safe *safe, const uint32_t *order,
                      const uint8_t *placement);
/* Runs a ready op if what is left still fits. */
bool regal_safe_run(regal_safe *safe, uint32_t op);

/* The op that the safe order has next. */
static inline uint32_t regal_safe_next(const regal_safe *safe) {
  return safe->order[safe->next];
}

#endif
