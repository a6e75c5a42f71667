/* The problem as constraints: every op and every possible transfer is a step
 * with a start, each op has a literal for every device, and the rest follows
 * from what is asked for. docs/cp-sat.md has the formulas.
 *
 * One axis serves for two things. It is time, where steps take their run time
 * and what runs on one device must not overlap; or it is the order of the plan,
 * where every step takes one slot and steps may share a slot, which can only
 * look worse than either order of them. Memory is counted along the axis
 * either way: the steps of a device follow each other in time as they do in
 * the plan, as long as transfers block. Steps of no length would be overlooked
 * then, so every step gets a little longer: `stretch` ticks for each unit of
 * time, and one more, with fewer steps than ticks.
 *
 * For every plan within the bounds that were set there is a solution that is as
 * good, and every solution gives a plan that is no worse, but for outputs
 * written over inputs, where the model may choose what the rule of first fit
 * does not. So the solver's bound holds for plans, too.
 */
#ifndef REGAL_EXACT_FORMULATION_H
#define REGAL_EXACT_FORMULATION_H

#include "cost/plan.h"
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
} regal_exact_request;

/* An output that may take over an input. */
typedef struct regal_exact_reuse {
  uint32_t output, input; /* tensors */
  int32_t taken;          /* literal */
} regal_exact_reuse;

typedef struct regal_formulation {
  const regal_problem *problem;
  regal_exact_request request;
  regal_cp_model model;
  bool timed, memory;
  bool limits_kept;         /* solutions are within the limits */
  bool both_ways;           /* a tensor's two transfers are one step: d = 2 */
  int64_t unit_ns, stretch; /* see above; stretch 1: nothing is added */
  int64_t unit_bytes;
  int64_t horizon;
  uint32_t devices;
  int32_t makespan, peak; /* or NONE */

  /* Variables, literals and intervals; NONE or FALSE where there is none. */
  int32_t *start;      /* [ops] */
  int32_t *on;         /* [ops * devices] literal: runs there */
  int32_t *runs;       /* [ops * devices] interval */
  int32_t *sent;       /* [tensors * devices] literal: transfer to there */
  int32_t *sent_start; /* [tensors * devices] */
  int32_t *arrives;    /* [tensors * devices] interval, any sender */
  int32_t *leaves;     /* [(tensor * devices + to) * devices + from] interval */
  int32_t *leaves_if;  /* the same, literal */
  int32_t *held;       /* [tensors * devices] literal: is there at some time */
  int32_t *from, *until, *length;  /* [tensors * devices] variables */
  int32_t *made;                   /* [tensors] when its bytes begin to count */
  int32_t *hold;                   /* [shared * devices] literal */
  int32_t room[REGAL_MAX_DEVICES]; /* for tensors, beside what is resident */
  int32_t excess[REGAL_MAX_DEVICES]; /* beyond the limit */
  regal_exact_reuse *reuse;
  size_t reuse_count, reuse_room;
  int64_t *head, *tail; /* [ops] least ticks before it; with it and after */
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

/* A plan from starts: steps by start, then end, then as the graph goes.
 * sent_start has an entry for each (tensor, device). */
regal_status regal_exact_plan(regal_context *context,
                              const regal_problem *problem,
                              const uint8_t *placement, const int64_t *start,
                              const int64_t *end, const int64_t *sent_start,
                              const int64_t *sent_end, regal_plan **plan);

/* Parts (formulation.c, formulation_memory.c). */
regal_status regal_formulate_memory(regal_formulation *formulation,
                                    int64_t all_bytes);

static inline int64_t regal_exact_ticks(const regal_formulation *formulation,
                                        int64_t ns) {
  return ns / formulation->unit_ns * formulation->stretch +
         (formulation->stretch > 1);
}

/* How long steps take on the axis. */
static inline int64_t regal_exact_run(const regal_formulation *formulation,
                                      uint32_t op, uint32_t device) {
  if (!formulation->timed)
    return 1;
  return regal_exact_ticks(
      formulation, regal_problem_run_ns(formulation->problem, op, device));
}

static inline int64_t regal_exact_send(const regal_formulation *formulation,
                                       uint32_t tensor, uint32_t from,
                                       uint32_t to) {
  if (!formulation->timed)
    return 1;
  return regal_exact_ticks(
      formulation,
      regal_problem_transfer_ns(formulation->problem, tensor, from, to));
}

static inline bool regal_exact_can_run(const regal_formulation *formulation,
                                       uint32_t op, uint32_t device) {
  return formulation->on[(size_t)op * formulation->devices + device] !=
         REGAL_CP_FALSE;
}

#endif
