/* SPDX-License-Identifier: Apache-2.0 */
/* The problem as constraints: every op and every possible transfer is a step,
 * each op has a literal for every device, and the rest follows from what is
 * asked for. docs/cp-sat.md has the formulas.
 *
 * Steps start on one or two axes. On the clock they take their run time, and
 * what uses one device or link must not overlap. On the places of the plan each
 * takes one, and memory is counted there; steps may share a place, which can
 * only look worse than either order of them. Where both are needed, run time
 * within memory limits, any two steps of one device or link have the same order
 * on both (formulation_order.c); all others may be anywhere in the plan, where
 * memory is least, as in a plan.
 *
 * For every plan within the bounds that were set there is a solution that is as
 * good, and every solution gives a plan that is no worse. So the solver's bound
 * holds for plans, too.
 */
#ifndef REGAL_EXACT_FORMULATION_H
#define REGAL_EXACT_FORMULATION_H

#include "cost/model/plan.h"
#include "exact/cp_model.h"

typedef enum regal_exact_goal {
  REGAL_EXACT_RUNTIME, /* least run time */
  REGAL_EXACT_PEAK,    /* least peak memory, on slots */
  REGAL_EXACT_EXCESS,  /* least excess over the memory limits, on slots */
} regal_exact_goal;

typedef struct regal_exact_request {
  regal_exact_goal goal;
  bool limits;      /* only plans within the memory limits */
  int64_t at_least; /* known bound of the goal, ns or bytes */
  int64_t at_most;  /* the goal of a plan that is known */
  int64_t excess;   /* bytes that such plans may be beyond the limits */
} regal_exact_request;

/* An output that may take over an input. */
typedef struct regal_exact_reuse {
  uint32_t output, input; /* tensors */
  int32_t taken;          /* literal */
} regal_exact_reuse;

/* Why an input lives on after an op: a reader there comes later, or a transfer
 * from there to a reader elsewhere; or it is final, and made there. */
typedef struct regal_exact_life {
  uint32_t op, input;
  uint32_t reader; /* or NONE: final */
  uint32_t to;     /* or NONE: no transfer */
  int32_t literal;
} regal_exact_life;

/* Where steps start, in units of time or places. */
typedef struct regal_exact_axis {
  bool timed; /* steps take their time; else one place */
  int64_t horizon;
  int32_t *start;       /* [ops] variable */
  int32_t *sent;        /* [tensors * devices] variable, or NONE */
  int64_t *head, *tail; /* [ops] least before the op; with it and after */
} regal_exact_axis;

/* Two steps that may meet on a device or link, and the literals that say which
 * of them is first, if they do. Transfers count from `ops` on. */
typedef struct regal_exact_pair {
  uint32_t step[2];
  int32_t first[2];
} regal_exact_pair;

typedef struct regal_formulation {
  const regal_problem *problem;
  regal_exact_request request;
  regal_cp_model model;
  bool timed, memory; /* there is a clock; there are places */
  bool limits_kept;   /* solutions are within the limits, except for `excess` */
  bool limits_held;   /* what solutions hold is, with any one working set */
  bool both_ways;     /* a tensor's two transfers are one step: d = 2 */
  int64_t unit_ns, unit_bytes;
  int64_t all_bytes; /* the sum of all sizes, not in units */
  uint32_t devices;
  regal_exact_axis clock, places;
  int32_t makespan, peak; /* or NONE */

  /* Variables, literals and intervals; NONE or FALSE where there is none. */
  int32_t *on;        /* [ops * devices] literal: runs there */
  int32_t *runs;      /* [ops * devices] interval on the clock */
  int32_t *sent;      /* [tensors * devices] literal: transfer to there */
  int32_t *arrives;   /* [tensors * devices] interval, any sender */
  int32_t *leaves;    /* [(tensor * devices + to) * devices + from] interval */
  int32_t *leaves_if; /* the same, literal */
  int32_t *held;      /* [tensors * devices] literal: is there at some time */
  int32_t *from, *until, *length; /* [tensors * devices] variables */
  int32_t *made;                  /* [tensors] when bytes begin to count */
  int32_t *hold;                  /* [shared * devices] literal */
  int32_t *room;   /* [devices] for tensors, beside what is resident */
  int32_t *excess; /* [devices] beyond the limit */
  regal_exact_reuse *reuse;
  size_t reuse_count, reuse_room;
  regal_exact_life *lives;
  size_t life_count, life_room;
  regal_exact_pair *pairs;
  size_t pair_count, pair_room;
  void *block;
} regal_formulation;

/* REGAL_BAD_INPUT for a problem that is too large or whose numbers are. */
regal_status regal_formulate(regal_context *context,
                             const regal_problem *problem,
                             const regal_exact_request *request,
                             regal_formulation *formulation);
void regal_formulation_free(regal_formulation *formulation);

/* What the plan means for every variable: values[model.variables]. The plan
 * must be within the request's bounds; `cost` is its cost. */
regal_status regal_formulation_assign(const regal_formulation *formulation,
                                      const regal_plan *plan,
                                      const regal_cost *cost, int64_t *values);
/* The plan of a solution. */
regal_status regal_formulation_plan(const regal_formulation *formulation,
                                    const int64_t *values, regal_plan **plan);
/* The goal in ns or bytes that a value of the model's goal promises. */
int64_t regal_formulation_goal(const regal_formulation *formulation,
                               int64_t value);

/* Where ops are, and when steps start and end on one axis. */
typedef struct regal_exact_times {
  uint8_t *placement;             /* [ops] */
  int64_t *start, *end;           /* [ops] */
  int64_t *sent_start, *sent_end; /* [tensors * devices] */
  void *block;
} regal_exact_times;

regal_status regal_exact_times_create(regal_context *context,
                                      const regal_problem *problem,
                                      regal_exact_times *times);
/* A plan from times, which it frees: steps by start, then end, then as the
 * graph goes. */
regal_status regal_exact_plan(regal_context *context,
                              const regal_problem *problem,
                              regal_exact_times *times, regal_plan **plan);

/* Whether the placement needs the transfer of the tensor to the device. */
bool regal_exact_needs(const regal_problem *problem, const uint8_t *placement,
                       uint32_t tensor, uint32_t to);

/* Parts: formulation_time.c, formulation_order.c, formulation_memory.c. When
 * memory is out the model has failed. */
void regal_formulate_time(regal_formulation *formulation);
void regal_formulate_order(regal_formulation *formulation);
void regal_formulate_reuse(regal_formulation *formulation);
void regal_formulate_memory(regal_formulation *formulation);
void regal_formulate_held(regal_formulation *formulation);
/* What an op needs while it runs, whatever its outputs are written over. */
int64_t regal_exact_working_set(const regal_problem *problem, uint32_t op);

/* later >= end of the op, when the condition holds. */
void regal_exact_after_op(regal_formulation *formulation,
                          const regal_exact_axis *axis, int32_t later,
                          uint32_t op, int32_t condition);
/* The literal that a step uses the resource: devices, and after them, where
 * transfers overlap, links. */
int32_t regal_exact_uses(const regal_formulation *formulation, uint32_t step,
                         uint32_t resource);
uint32_t regal_exact_resources(const regal_formulation *formulation);
/* The variable of a step's start. */
static inline int32_t regal_exact_start(const regal_formulation *formulation,
                                        const regal_exact_axis *axis,
                                        uint32_t step) {
  uint32_t ops = formulation->problem->ops;
  return step < ops ? axis->start[step] : axis->sent[step - ops];
}
/* Whether a transfer has the same variables as the one the other way. */
static inline bool regal_exact_is_twin(const regal_formulation *formulation,
                                       size_t at) {
  return formulation->both_ways && at % 2 == 1 &&
         formulation->sent[at] != REGAL_CP_FALSE &&
         formulation->sent[at] == formulation->sent[at - 1];
}

/* How long steps take on an axis. */
static inline int64_t regal_exact_run(const regal_formulation *formulation,
                                      const regal_exact_axis *axis, uint32_t op,
                                      uint32_t device) {
  return axis->timed ? regal_problem_run_ns(formulation->problem, op, device) /
                           formulation->unit_ns
                     : 1;
}

static inline int64_t regal_exact_send(const regal_formulation *formulation,
                                       const regal_exact_axis *axis,
                                       uint32_t tensor, uint32_t from,
                                       uint32_t to) {
  return axis->timed ? regal_problem_transfer_ns(formulation->problem, tensor,
                                                 from, to) /
                           formulation->unit_ns
                     : 1;
}

/* The literal that an op runs on a device. */
static inline int32_t regal_exact_on(const regal_formulation *formulation,
                                     uint32_t op, uint32_t device) {
  return formulation->on[(size_t)op * formulation->devices + device];
}

static inline bool regal_exact_can_run(const regal_formulation *formulation,
                                       uint32_t op, uint32_t device) {
  return regal_exact_on(formulation, op, device) != REGAL_CP_FALSE;
}

#endif
