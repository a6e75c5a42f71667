/* SPDX-License-Identifier: Apache-2.0 */
/* Steepest descent on the schedule of the paper's appendix: one total order of
 * all ops and of the transfers that the placement needs, each of them a step of
 * its own.
 *
 * The neighbours of a solution are all changes of one op's (or group's) device,
 * and all exchanges of two adjacent steps that do not depend on each other. A
 * change of device takes away transfers that nobody needs any more; one that is
 * missing, or too late for its first reader, is put just before that reader
 * (late) or right behind its producer (eager). All other transfers stay where
 * they are.
 *
 * Every neighbour is costed exactly, without simulating the whole plan.
 *
 * Run time, blocking transfers. The clocks before every step are kept, so that
 * a trial begins at the first step that it changes. Clocks are maxima and sums
 * of earlier clocks, hence monotone: once no changed step lies ahead, no clock
 * is below the kept one, and no op that ended sooner is still waited for, the
 * rest cannot end sooner either, and the trial ends there as no improvement.
 * Most trials take a few steps. Waits are looked up at the op that waits, in
 * the end times of all ops, so that nothing but these has to be restored.
 *
 * Run time, overlapped transfers: a trial simulates all steps, until a clock
 * has passed the best neighbour's run time.
 *
 * Memory. When two adjacent steps change places, everything is as before once
 * both are done. Only these two are simulated; the peaks of the others are
 * known. A change of device simulates all steps, or as many as it takes to
 * reach the best neighbour's peak.
 */
#ifndef REGAL_ANNEAL_LOCAL_DESCENT_H
#define REGAL_ANNEAL_LOCAL_DESCENT_H

#include "cost/model/plan.h"
#include "cost/model/running_cost.h"

#define REGAL_DESCENT_RUN UINT16_MAX

typedef struct regal_descent_step {
  uint32_t what; /* the op that runs, or the tensor that is sent */
  uint16_t to;   /* the device that it is sent to, or REGAL_DESCENT_RUN */
} regal_descent_step;

/* A transfer that a change of device adds. */
typedef struct regal_descent_extra {
  regal_descent_step step;
  uint32_t before; /* which step */
  uint32_t next;   /* another one there, or REGAL_NONE */
} regal_descent_extra;

/* A neighbour: the op goes to the device; or, if there is no op, steps `swap`
 * and swap + 1 change places. */
typedef struct regal_descent_move {
  uint32_t op, device, swap;
} regal_descent_move;

typedef struct regal_descent {
  regal_context *context;
  const regal_problem *problem;
  bool eager;
  bool timed, remembers; /* run time counts; memory counts */

  /* The present solution. */
  regal_descent_step *steps, *spare; /* [most steps] */
  uint32_t count;
  uint8_t *placement; /* [ops] */
  regal_fitness fitness;

  /* What follows from it. */
  uint32_t *at;          /* [ops] its step */
  uint32_t *send_at;     /* [tensors * devices] its step, or REGAL_NONE */
  uint32_t *after;       /* [most steps] the last step that it must follow, or
                            REGAL_NONE */
  uint32_t *next_member; /* [ops] of the same group, or REGAL_NONE */
  int64_t *clocks;       /* [(most steps + 1) * devices] before each step;
                            blocking */
  int64_t *kept_end_ns;  /* [ops] */
  int64_t *peaks_ahead;  /* [(most steps + 1) * devices] of this step and all
                            that follow */
  int64_t runtime_ns;

  /* The change of device at hand. */
  regal_descent_extra *extras; /* [most steps] */
  uint32_t extra_count;
  uint32_t *extra_before; /* [most steps + 1] the first extra there, or
                             REGAL_NONE */
  uint8_t *skipped;       /* [most steps] transfers that are taken away */
  uint32_t *skips;        /* [most steps] */
  uint32_t skip_count;
  uint32_t *seen, trial; /* [tensors] the last trial that looked at it */
  uint32_t first, last;  /* steps that the neighbour at hand changes */

  /* The neighbours that were tried, from the beginning of the scan. */
  uint32_t next_op, next_device, next_swap;
  regal_descent_move best;
  regal_fitness best_fitness;

  /* Scratch of simulations. */
  int64_t *clock;            /* [devices] */
  int64_t *end_ns;           /* [ops] */
  int64_t *arrival_ns;       /* [tensors * devices]; overlapped */
  int64_t *link_ns;          /* [devices^2]; overlapped */
  regal_running_cost before; /* memory before step next_swap */
  regal_running_cost memory; /* of a change of device */
} regal_descent;

regal_status regal_descent_create(regal_context *context,
                                  const regal_problem *problem, bool eager,
                                  regal_descent **descent);
void regal_descent_free(regal_descent *descent);

/* Starts from an order of all ops with a device for each; or from a plan with
 * its transfers where they are. */
void regal_descent_begin(regal_descent *d, const uint32_t *order,
                         const uint8_t *placement);
void regal_descent_begin_plan(regal_descent *d, const regal_plan *plan);

/* Tries the next neighbours, at most so many, and returns how many there were:
 * fewer when all have been tried. */
uint64_t regal_descent_scan(regal_descent *d, uint64_t most);
/* Goes to the best of the neighbours that were tried, from where the next scan
 * begins anew. False: none of them is better. */
bool regal_descent_move_on(regal_descent *d);

/* `plan` has room for all steps. */
void regal_descent_write(const regal_descent *d, regal_plan *plan);

/* -- Parts ----------------------------------------------------------------- */

/* anneal/local/change.c: changes the placement, and finds which transfers come
 * and go (extras, skips), and the first and last step that changes. */
void regal_descent_flip(regal_descent *d, uint32_t op, uint32_t device);
/* Back; `from` is the device before. */
void regal_descent_unflip(regal_descent *d, uint32_t op, uint32_t from);
/* Makes the change at hand: the list with the extras and without the skips. */
void regal_descent_rebuild(regal_descent *d);
/* Adds the transfers that the placement needs to a list of ops. */
void regal_descent_add_transfers(regal_descent *d);
/* Where every step is, after the list has changed. */
void regal_descent_index(regal_descent *d);

/* anneal/local/trial.c: the run time of the change at hand, or `most` if it is
 * not less; what is kept of the present solution. */
int64_t regal_descent_try_time(regal_descent *d, int64_t most);
void regal_descent_keep_time(regal_descent *d);

/* anneal/local/trial_memory.c: peaks of the change at hand, which may be less
 * than they are if one of them is `most` or more; what is kept. */
void regal_descent_flip_memory(regal_descent *d, int64_t most, int64_t *peaks);
void regal_descent_swap_memory(regal_descent *d, uint32_t swap, int64_t *peaks);
void regal_descent_pass_memory(regal_descent *d, uint32_t step);
void regal_descent_keep_memory(regal_descent *d, int64_t *peaks);

static inline bool regal_descent_runs(regal_descent_step step) {
  return step.to == REGAL_DESCENT_RUN;
}

static inline uint32_t regal_descent_home(const regal_descent *d,
                                          uint32_t tensor) {
  return d->placement[d->problem->producer[tensor]];
}

/* Excess and value decide: of two plans with the same peak neither is a step
 * down. */
static inline bool regal_descent_better(regal_fitness a, regal_fitness b) {
  return a.excess != b.excess ? a.excess < b.excess : a.value < b.value;
}

#endif
