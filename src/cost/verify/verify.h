/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier: one slow, obvious implementation of the whole model
 * (docs/model.md). It shares no code with the simulator or the decoders, and
 * reads only the graph, the machine and the plan.
 */
#ifndef REGAL_COST_VERIFY_VERIFY_H
#define REGAL_COST_VERIFY_VERIFY_H

#include "cost/model/machine.h"

/* What happened at each step of a plan. A step touches two devices at most:
 * entry 0 is steps[i].device, entry 1 is steps[i].to (the same for a run). */
typedef struct regal_timeline {
  regal_context *context;
  void *block; /* with the arrays */
  uint32_t steps;
  int64_t *start_ns, *end_ns; /* [steps] */
  int64_t (*during_bytes)[2]; /* [steps] memory in use during the step */
  int64_t (*after_bytes)[2];  /* [steps] and right after it */
  uint32_t *reused;           /* [tensors] the input that it was written over
                               * while it was made, or REGAL_NONE */
  /* Parameters that ops share: how many a device holds, and their bytes. */
  uint32_t parameters[REGAL_MAX_DEVICES];
  int64_t parameter_bytes[REGAL_MAX_DEVICES];
  int64_t busy_ns[REGAL_MAX_DEVICES]; /* spent running ops */
  /* First step at the device's peak; REGAL_NONE when no step touches it. */
  uint32_t peak_step[REGAL_MAX_DEVICES];
} regal_timeline;

/* Checks every rule and simulates the plan. On a broken rule:
 * REGAL_INVALID_PLAN and a message "step 12: ..." (steps count from 0).
 * `timeline` may be NULL; otherwise it is filled, and must be freed by the
 * caller when the call succeeded. O((steps + uses) * devices) at worst. */
regal_status regal_verify_plan(regal_context *context, const regal_graph *graph,
                               const regal_machine *machine,
                               const regal_plan *plan, regal_cost *cost,
                               regal_timeline *timeline);
void regal_timeline_free(regal_timeline *timeline);

#endif
