/* SPDX-License-Identifier: Apache-2.0 */
/* Room up to the memory limits, from nothing: see anneal/order/slack.h. */
#include "anneal/order/slack.h"
#include "anneal/memory/readers.h"

#include <string.h>

void regal_order_slack_layout(regal_order_slack *slack, regal_carver *carver,
                              const regal_order *order) {
  size_t devices = order->problem->devices;
  slack->order = order;
  slack->row = regal_carve(carver, order->problem->ops * devices, 8);
  slack->least = regal_carve(carver, devices, 8);
  slack->common = regal_carve(carver, devices, 8);
  slack->resident = regal_carve(carver, devices, 8);
  regal_residents_layout(&slack->residents, carver, order->problem);
}

void regal_order_slack_create(regal_order_slack *slack) {
  const regal_problem *problem = slack->order->problem;
  double sum = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    sum += (double)(regal_problem_working_set(problem, op) +
                    problem->resident_bytes[op]);
  for (uint32_t p = 0; p < problem->shared; p++)
    sum += (double)problem->shared_bytes[p] *
           (problem->reader_begin[p + 1] - problem->reader_begin[p]);
  slack->usual_change = (int64_t)(sum / problem->ops);
  regal_residents_create(&slack->residents, problem);
}

/* -- From nothing ---------------------------------------------------------- */

/* Rows are differences at first: the device holds so many bytes at the
 * positions first .. last. */
static void hold(regal_order_slack *slack, uint32_t device, uint32_t first,
                 uint32_t last, int64_t bytes) {
  int64_t *row = regal_order_slack_row(slack, device);
  row[first] += bytes;
  if (last + 1 < slack->order->problem->ops)
    row[last + 1] -= bytes;
}

static void hold_tensor(regal_order_slack *slack, uint32_t tensor) {
  const regal_order *order = slack->order;
  const regal_problem *problem = order->problem;
  const uint32_t *position = order->position;
  int64_t bytes = problem->bytes[tensor];
  uint32_t made = position[problem->producer[tensor]];
  regal_memory_readers by;
  regal_memory_find_readers(problem, position, order->device_of, tensor, &by);
  uint32_t gone = position[by.local];
  for (uint64_t left = by.remote; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    uint32_t first = position[by.first[device]];
    gone = first > gone ? first : gone;
    hold(slack, device, problem->machine->overlapped ? first : made,
         position[by.last[device]], bytes);
  }
  hold(slack, by.home, made,
       problem->is_final[tensor] ? problem->ops - 1 : gone, bytes);
}

static void hold_residents(regal_order_slack *slack) {
  const regal_order *order = slack->order;
  regal_residents_count(&slack->residents, order->problem, order->device_of,
                        slack->resident);
  for (uint32_t a = 0; a < order->problem->devices; a++) {
    *regal_order_slack_row(slack, a) += slack->resident[a];
    slack->resident[a] = 0;
  }
}

/* From differences to room, with the temporary bytes of its ops. */
static int64_t find_room(regal_order_slack *slack, uint32_t device) {
  const regal_order *order = slack->order;
  const regal_problem *problem = order->problem;
  int64_t *row = regal_order_slack_row(slack, device);
  int64_t held = 0, least = INT64_MAX, limit = problem->limit[device];
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = order->op_at[i];
    int64_t needed = order->device_of[op] == device
                         ? problem->graph->temporary_bytes[op]
                         : 0;
    held += row[i];
    row[i] = limit - held - needed;
    least = row[i] < least ? row[i] : least;
  }
  return least;
}

int64_t regal_order_slack_find(regal_order_slack *slack) {
  const regal_problem *problem = slack->order->problem;
  int64_t least = INT64_MAX;
  memset(slack->row, 0, (size_t)problem->devices * problem->ops * 8);
  hold_residents(slack);
  for (uint32_t t = 0; t < problem->tensors; t++)
    if (problem->bytes[t])
      hold_tensor(slack, t);
  for (uint32_t a = 0; a < problem->devices; a++) {
    slack->common[a] = 0;
    slack->least[a] = regal_order_slack_is_limited(slack, a)
                          ? find_room(slack, a)
                          : INT64_MAX;
    least = slack->least[a] < least ? slack->least[a] : least;
  }
  return least;
}
