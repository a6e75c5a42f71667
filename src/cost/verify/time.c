/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier's clocks: when each step starts and ends.
 *
 * Blocking: a clock per device; a transfer starts when both devices are free
 * and sets both clocks. Overlapped: devices run ops only; a link per ordered
 * pair of devices carries one transfer at a time, in plan order.
 */
#include <string.h>

#include "base/compare.h"
#include "cost/verify/parts.h"

#define NS_PER_SECOND 1000000000

typedef struct clocks {
  int64_t device[REGAL_MAX_DEVICES];
  int64_t link[REGAL_MAX_DEVICES][REGAL_MAX_DEVICES]; /* [from][to] */
} clocks;

/* Latency and bytes / bandwidth rounded up; INT64_MAX when it does not fit.
 * A control transfer takes no time at all. */
static int64_t transfer_ns(const regal_reading *reading,
                           const regal_step *step) {
  if (step->port < 0)
    return 0;
  const regal_machine *machine = reading->machine;
  uint32_t tensor = regal_verify_item(reading->graph, step);
  int64_t latency = machine->latency_ns[step->device][step->to];
  int64_t bandwidth = machine->bandwidth[step->device][step->to];
  if (!bandwidth)
    return latency;
  unsigned __int128 scaled =
      (unsigned __int128)reading->graph->bytes[tensor] * NS_PER_SECOND;
  unsigned __int128 ns = (scaled + bandwidth - 1) / bandwidth + latency;
  return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

static int64_t op_start(const regal_reading *reading, const clocks *now,
                        const regal_timeline *timeline,
                        const regal_step *step) {
  const regal_graph *graph = reading->graph;
  uint32_t op = step->op;
  int64_t start = now->device[step->device];
  for (REGAL_ROW(k, graph->input_begin, op))
    start = regal_larger(start, timeline->end_ns[regal_verify_arrival(
                                    reading, graph->input[k], step->device)]);
  for (REGAL_ROW(k, graph->control_in_begin, op)) {
    uint32_t before = graph->control_in[k];
    uint32_t awaited = reading->machine->control_transfers
                           ? regal_verify_arrival(
                                 reading, graph->tensors + before, step->device)
                           : reading->run_step[before];
    start = regal_larger(start, timeline->end_ns[awaited]);
  }
  return start;
}

static int64_t transfer_start(const regal_reading *reading, const clocks *now,
                              const regal_timeline *timeline,
                              const regal_step *step) {
  if (reading->machine->overlapped)
    return regal_larger(timeline->end_ns[reading->run_step[step->op]],
                        now->link[step->device][step->to]);
  return regal_larger(now->device[step->device], now->device[step->to]);
}

static void set_clocks(const regal_machine *machine, clocks *now,
                       const regal_step *step, int64_t end) {
  if (step->port == REGAL_RUN) {
    now->device[step->device] = end;
  } else if (machine->overlapped) {
    now->link[step->device][step->to] = end;
  } else {
    now->device[step->device] = end;
    now->device[step->to] = end;
  }
}

regal_status regal_verify_time(const regal_reading *reading,
                               regal_timeline *timeline, regal_cost *cost) {
  const regal_plan *plan = reading->plan;
  clocks now;
  memset(&now, 0, sizeof now);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    bool runs = step->port == REGAL_RUN;
    int64_t start = runs ? op_start(reading, &now, timeline, step)
                         : transfer_start(reading, &now, timeline, step);
    int64_t takes = runs ? regal_verify_run_ns(reading->graph, reading->machine,
                                               step->op, step->device)
                         : transfer_ns(reading, step);
    int64_t end;
    if (__builtin_add_overflow(start, takes, &end) || end == INT64_MAX)
      return regal_fail(reading->context, REGAL_BAD_INPUT,
                        "step %u: it ends later than 64 bits can count in "
                        "nanoseconds",
                        i);
    timeline->start_ns[i] = start;
    timeline->end_ns[i] = end;
    if (runs)
      timeline->busy_ns[step->device] += takes;
    set_clocks(reading->machine, &now, step, end);
    cost->runtime_ns = regal_larger(cost->runtime_ns, end);
  }
  return REGAL_OK;
}
