/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the verifier share: where each op runs and who sends what,
 * read once from the plan. For src/cost/verify and the reports that explain
 * what the verifier found.
 *
 * An "item" is what a transfer carries: item t < tensors is tensor t, item
 * tensors + j is the end of op j (a control transfer, port -1).
 */
#ifndef REGAL_COST_VERIFY_PARTS_H
#define REGAL_COST_VERIFY_PARTS_H

#include "cost/verify/verify.h"

typedef struct regal_reading {
  regal_context *context;
  const regal_graph *graph;
  const regal_machine *machine;
  const regal_plan *plan;
  uint32_t *run_step;   /* [ops] the step that runs the op, or REGAL_NONE */
  uint32_t *send_begin; /* [tensors + ops + 2] the sends of an item */
  uint32_t *send_step;  /* [transfers] steps, ascending within an item */
} regal_reading;

/* Run time of an op where it is placed; REGAL_NEVER where it cannot run. */
int64_t regal_verify_run_ns(const regal_graph *graph,
                            const regal_machine *machine, uint32_t op,
                            uint32_t device);

/* Fills `reading` and checks every rule, or fails as REGAL_INVALID_PLAN. The
 * caller frees it in either case. */
regal_status regal_verify_rules(regal_reading *reading);
void regal_reading_free(regal_reading *reading);

/* The two halves of filling a reading: all but the sends, whose items can be
 * told only once every step is known to name an output that exists. */
regal_status regal_reading_begin(regal_reading *reading);
regal_status regal_reading_list_sends(regal_reading *reading);

/* Where an op runs. */
uint32_t regal_verify_device(const regal_reading *reading, uint32_t op);

/* The step that brings `item` to `device`: the send, or the run of its
 * producer where that is on `device`; REGAL_NONE when there is none. */
uint32_t regal_verify_arrival(const regal_reading *reading, uint32_t item,
                              uint32_t device);

/* The item that a send step carries, and the op that makes an item. */
uint32_t regal_verify_item(const regal_graph *graph, const regal_step *step);
uint32_t regal_verify_producer(const regal_graph *graph, uint32_t item);

/* Only for plans that keep the rules: fill their part of timeline and cost. */
regal_status regal_verify_time(const regal_reading *reading,
                               regal_timeline *timeline, regal_cost *cost);
regal_status regal_verify_memory(const regal_reading *reading,
                                 regal_timeline *timeline, regal_cost *cost);

#endif
