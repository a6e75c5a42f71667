/* SPDX-License-Identifier: Apache-2.0 */
/* What the verifier reads off a plan before it judges it: who runs where, who
 * sends what; and the verifier's own reading of an op's run time.
 */
#include <math.h>
#include <string.h>

#include "cost/verify/parts.h"

regal_status regal_reading_begin(regal_reading *reading) {
  const regal_graph *graph = reading->graph;
  size_t items = (size_t)graph->tensors + graph->ops;
  reading->run_step =
      regal_alloc(reading->context, graph->ops, sizeof(uint32_t));
  reading->send_begin =
      regal_alloc(reading->context, items + 2, sizeof(uint32_t));
  if (!reading->run_step || !reading->send_begin)
    return regal_fail_memory(reading->context);
  memset(reading->run_step, 0xff, graph->ops * sizeof(uint32_t));
  return REGAL_OK;
}

void regal_reading_free(regal_reading *reading) {
  regal_release(reading->context, reading->run_step);
  regal_release(reading->context, reading->send_begin);
  regal_release(reading->context, reading->send_step);
}

regal_status regal_reading_list_sends(regal_reading *reading) {
  const regal_graph *graph = reading->graph;
  const regal_plan *plan = reading->plan;
  size_t items = (size_t)graph->tensors + graph->ops;
  uint32_t *begin = reading->send_begin, transfers = 0;
  /* Counted two entries up, begin[item + 1] is where the item's next send goes
   * while the list is filled, and where they end once it is full. */
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (plan->steps[i].port != REGAL_RUN) {
      begin[regal_verify_item(graph, &plan->steps[i]) + 2]++;
      transfers++;
    }
  for (size_t item = 0; item < items; item++)
    begin[item + 2] += begin[item + 1];
  reading->send_step =
      regal_alloc(reading->context, transfers, sizeof(uint32_t));
  if (!reading->send_step)
    return regal_fail_memory(reading->context);
  for (uint32_t i = 0; i < plan->step_count; i++)
    if (plan->steps[i].port != REGAL_RUN) {
      uint32_t item = regal_verify_item(graph, &plan->steps[i]);
      reading->send_step[begin[item + 1]++] = i;
    }
  return REGAL_OK;
}

uint32_t regal_verify_item(const regal_graph *graph, const regal_step *step) {
  return step->port < 0 ? graph->tensors + step->op
                        : graph->output_begin[step->op] + (uint32_t)step->port;
}

uint32_t regal_verify_producer(const regal_graph *graph, uint32_t item) {
  return item < graph->tensors ? graph->producer[item] : item - graph->tensors;
}

uint32_t regal_verify_device(const regal_reading *reading, uint32_t op) {
  return reading->plan->steps[reading->run_step[op]].device;
}

uint32_t regal_verify_arrival(const regal_reading *reading, uint32_t item,
                              uint32_t device) {
  uint32_t producer = regal_verify_producer(reading->graph, item);
  if (regal_verify_device(reading, producer) == device)
    return reading->run_step[producer];
  for (REGAL_ROW(k, reading->send_begin, item))
    if (reading->plan->steps[reading->send_step[k]].to == device)
      return reading->send_step[k];
  return REGAL_NONE;
}

/* The op's row of own times on the devices, or NULL when it has none. */
static const int64_t *own_times(const regal_machine *machine, uint32_t op) {
  uint32_t low = 0, high = machine->timed_ops;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (machine->timed_op[middle] < op)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == machine->timed_ops || machine->timed_op[low] != op)
    return NULL;
  return machine->timed_ns + (size_t)low * machine->devices;
}

int64_t regal_verify_run_ns(const regal_graph *graph,
                            const regal_machine *machine, uint32_t op,
                            uint32_t device) {
  const int64_t *own = own_times(machine, op);
  if (own && own[device] != REGAL_USUAL)
    return own[device];
  if (machine->speed[device] == 1)
    return graph->run_ns[op];
  double ns = round((double)graph->run_ns[op] / machine->speed[device]);
  return ns < 0x1p63 ? (int64_t)ns : REGAL_NEVER - 1;
}
