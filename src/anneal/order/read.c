/* SPDX-License-Identifier: Apache-2.0 */
/* An order from a plan.
 *
 * In a plan a blocking transfer says itself when its devices meet. In an order
 * they meet at the first op that needs something from the other device. So
 * after the transfers of a plan such an op has to come first: were it listed
 * behind others that need nothing, these would run before the devices meet, and
 * the other device would wait for them.
 */
#include "anneal/order/order.h"

typedef struct reader {
  const regal_problem *problem;
  uint32_t *op_at;
  const uint8_t *placement;
  uint32_t count;      /* ops in op_at */
  uint32_t *position;  /* [ops] or REGAL_NONE */
  uint32_t *waiting;   /* [ops] for so many predecessors */
  uint32_t *exchanged; /* [d * d] ops before the last exchange of a pair */
  int64_t *meets;      /* [d * d] whether a pair does now */
} reader;

static void take(reader *r, uint32_t op) {
  const regal_problem *problem = r->problem;
  r->position[op] = r->count;
  r->op_at[r->count++] = op;
  for (REGAL_ROW(k, problem->successor_begin, op))
    r->waiting[problem->successor[k]]--;
}

static void set_meets(reader *r, uint32_t a, uint32_t b, bool meets) {
  uint32_t d = r->problem->devices;
  r->meets[a * d + b] = r->meets[b * d + a] = meets;
}

static void exchange(reader *r, uint32_t a, uint32_t b) {
  uint32_t d = r->problem->devices;
  r->exchanged[a * d + b] = r->exchanged[b * d + a] = r->count;
  set_meets(r, a, b, false);
}

/* Another device, which is to meet the op's now, that has made an input of it
 * since they last met; or REGAL_NONE. */
static uint32_t meets_for(const reader *r, uint32_t op) {
  const regal_problem *problem = r->problem;
  uint32_t device = r->placement[op], d = problem->devices;
  for (REGAL_ROW(k, problem->input_begin, op)) {
    uint32_t made_by = problem->producer[problem->input[k]];
    uint32_t pair = device * d + r->placement[made_by];
    if (r->placement[made_by] != device && r->meets[pair] &&
        r->position[made_by] >= r->exchanged[pair])
      return r->placement[made_by];
  }
  return REGAL_NONE;
}

/* The transfers of steps first .. ops - 1 and the ops of ops .. end - 1: for
 * each pair of devices that meets one that needs it, then all others as they
 * are. */
static void take_steps(reader *r, const regal_step *steps, uint32_t first,
                       uint32_t ops, uint32_t end) {
  bool blocking = !r->problem->machine->overlapped;
  for (uint32_t i = first; blocking && i < ops; i++)
    set_meets(r, steps[i].device, steps[i].to, true);
  for (uint32_t i = ops; first < ops && i < end; i++) {
    uint32_t op = steps[i].op;
    uint32_t other = r->waiting[op] ? REGAL_NONE : meets_for(r, op);
    if (other == REGAL_NONE)
      continue;
    exchange(r, r->placement[op], other);
    take(r, op);
  }
  for (uint32_t i = first; i < ops; i++) /* those that nobody needed */
    set_meets(r, steps[i].device, steps[i].to, false);
  for (uint32_t i = ops; i < end; i++)
    if (r->position[steps[i].op] == REGAL_NONE)
      take(r, steps[i].op);
}

static void begin(reader *r, const regal_plan *plan, uint8_t *placement) {
  const regal_problem *problem = r->problem;
  size_t pairs = (size_t)problem->devices * problem->devices;
  for (uint32_t op = 0; op < problem->ops; op++) {
    r->position[op] = REGAL_NONE;
    r->waiting[op] = problem->predecessors[op];
  }
  memset(r->exchanged, 0, pairs * sizeof *r->exchanged);
  memset(r->meets, 0, pairs * sizeof *r->meets);
  regal_plan_ops(plan, NULL, placement);
}

void regal_order_read(regal_order *order, const regal_plan *plan,
                      uint32_t *op_at, uint8_t *placement) {
  reader r = {.problem = order->problem,
              .op_at = op_at,
              .placement = placement,
              .position = order->position,
              .waiting = order->flipped,
              .exchanged = order->exchanged,
              .meets = order->pending};
  begin(&r, plan, placement);
  for (uint32_t i = 0; i < plan->step_count;) {
    uint32_t first = i;
    while (i < plan->step_count && !regal_step_runs(&plan->steps[i]))
      i++;
    uint32_t ops = i;
    while (i < plan->step_count && regal_step_runs(&plan->steps[i]))
      i++;
    take_steps(&r, plan->steps, first, ops, i);
  }
}
