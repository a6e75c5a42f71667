/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier: rules first, then time, then memory, each in its own file and
 * each as close to the text of docs/model.md as possible. Nothing here is
 * shared with the simulator or the decoders, so that an error must be made
 * twice to remain undetected.
 */
#include "cost/verify/verify.h"

#include "cost/verify/parts.h"

void regal_timeline_free(regal_timeline *timeline) {
  if (!timeline)
    return;
  regal_release(timeline->context, timeline->start_ns);
  regal_release(timeline->context, timeline->end_ns);
  regal_release(timeline->context, timeline->during_bytes);
  regal_release(timeline->context, timeline->after_bytes);
  regal_release(timeline->context, timeline->reused);
  *timeline = (regal_timeline){.context = timeline->context};
}

static regal_status make_timeline(const regal_reading *reading,
                                  regal_timeline *timeline) {
  regal_context *context = reading->context;
  uint32_t steps = reading->plan->step_count;
  *timeline = (regal_timeline){.context = context, .steps = steps};
  timeline->start_ns = regal_alloc(context, steps, sizeof(int64_t));
  timeline->end_ns = regal_alloc(context, steps, sizeof(int64_t));
  timeline->during_bytes = regal_alloc(context, steps, 2 * sizeof(int64_t));
  timeline->after_bytes = regal_alloc(context, steps, 2 * sizeof(int64_t));
  timeline->reused =
      regal_alloc(context, reading->graph->tensors, sizeof(uint32_t));
  bool whole = timeline->start_ns && timeline->end_ns &&
               timeline->during_bytes && timeline->after_bytes &&
               timeline->reused;
  return whole ? REGAL_OK : regal_fail_memory(context);
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
