/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier: rules first, then time, then memory, each in its own file and
 * each as close to the text of docs/model.md as possible. Nothing here is
 * shared with the simulator or the decoders, so that an error must be made
 * twice to remain undetected.
 */
#include "cost/verify/verify.h"

#include "base/carve.h"
#include "cost/verify/parts.h"

void regal_timeline_free(regal_timeline *timeline) {
  if (!timeline)
    return;
  regal_release(timeline->context, timeline->block);
  *timeline = (regal_timeline){.context = timeline->context};
}

static void layout(regal_timeline *timeline, regal_carver *carver,
                   uint32_t tensors) {
  size_t steps = timeline->steps;
  timeline->start_ns = regal_carve(carver, steps, sizeof(int64_t));
  timeline->end_ns = regal_carve(carver, steps, sizeof(int64_t));
  timeline->during_bytes = regal_carve(carver, steps, 2 * sizeof(int64_t));
  timeline->after_bytes = regal_carve(carver, steps, 2 * sizeof(int64_t));
  timeline->reused = regal_carve(carver, tensors, sizeof(uint32_t));
}

static regal_status make_timeline(const regal_reading *reading,
                                  regal_timeline *timeline) {
  regal_carver carver = {NULL, 0};
  timeline->steps = reading->plan->step_count;
  REGAL_TRY(
      REGAL_CARVE_BLOCK(reading->context, carver,
                        layout(timeline, &carver, reading->graph->tensors)));
  timeline->block = carver.base;
  return REGAL_OK;
}

static regal_status check_everything(regal_reading *reading,
                                     regal_timeline *timeline,
                                     regal_cost *cost) {
  REGAL_TRY(regal_verify_rules(reading));
  REGAL_TRY(make_timeline(reading, timeline));
  REGAL_TRY(regal_verify_time(reading, timeline, cost));
  return regal_verify_memory(reading, timeline, cost);
}

regal_status regal_verify_plan(regal_context *context, const regal_graph *graph,
                               const regal_machine *machine,
                               const regal_plan *plan, regal_cost *cost,
                               regal_timeline *timeline) {
  regal_reading reading = {
      .context = context, .graph = graph, .machine = machine, .plan = plan};
  regal_timeline made = {.context = context};
  regal_cost found = {0};
  regal_status status = check_everything(&reading, &made, &found);
  regal_reading_free(&reading);
  if (status == REGAL_OK)
    *cost = found;
  if (status == REGAL_OK && timeline)
    *timeline = made;
  else
    regal_timeline_free(&made);
  return status;
}
