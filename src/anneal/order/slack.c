/* SPDX-License-Identifier: Apache-2.0 */
/* Room up to the memory limits: see anneal/order/slack.h. */
#include "anneal/order/slack.h"
#include "anneal/memory/readers.h"

void regal_order_slack_layout(regal_order_slack *slack, regal_carver *carver,
                              const regal_problem *problem) {
  slack->change = regal_carve(carver, problem->ops, 8);
  slack->bytes =
      regal_carve(carver, (size_t)problem->ops * problem->devices, 8);
}

void regal_order_slack_create(regal_order_slack *slack,
                              const regal_problem *problem) {
  for (uint32_t op = 0; op < problem->ops; op++)
    slack->change[op] =
        regal_problem_working_set(problem, op) + problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    for (REGAL_ROW(r, problem->reader_begin, p))
      slack->change[problem->reader[r]] += problem->shared_bytes[p];
  double sum = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    sum += (double)slack->change[op];
  slack->usual_change = (int64_t)(sum / problem->ops);
}

/* The device holds so many bytes at the positions first .. last. */
static void hold(const regal_order_slack *slack, uint32_t ops, uint32_t device,
                 uint32_t first, uint32_t last, int64_t bytes) {
  int64_t *row = slack->bytes + (size_t)device * ops;
  row[first] += bytes;
  if (last + 1 < ops)
    row[last + 1] -= bytes;
}

static void hold_tensor(const regal_order_slack *slack,
                        const regal_order *order, uint32_t tensor) {
  const regal_problem *problem = order->problem;
  const uint32_t *position = order->position;
  int64_t bytes = problem->bytes[tensor];
  uint32_t made = position[problem->producer[tensor]], ops = problem->ops;
  regal_memory_readers by;
  regal_memory_find_readers(problem, position, order->device_of, tensor, &by);
  uint32_t gone = position[by.local];
  for (uint64_t left = by.remote; left; left &= left - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(left);
    uint32_t first = position[by.first[device]];
    gone = first > gone ? first : gone;
    hold(slack, ops, device, problem->machine->overlapped ? first : made,
         position[by.last[device]], bytes);
  }
  hold(slack, ops, by.home, made, problem->is_final[tensor] ? ops - 1 : gone,
       bytes);
}

static void hold_residents(const regal_order_slack *slack,
                           const regal_order *order) {
  const regal_problem *problem = order->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    slack->bytes[(size_t)order->device_of[op] * problem->ops] +=
        problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++) {
    uint64_t holders = 0;
    for (REGAL_ROW(r, problem->reader_begin, p))
      holders |= UINT64_C(1) << order->device_of[problem->reader[r]];
    for (; holders; holders &= holders - 1)
      slack->bytes[(size_t)__builtin_ctzll(holders) * problem->ops] +=
          problem->shared_bytes[p];
  }
}

/* The most that a device holds, with the temporary bytes of its ops. */
static int64_t find_peak(const regal_order_slack *slack,
                         const regal_order *order, uint32_t device) {
  const regal_problem *problem = order->problem;
  const int64_t *row = slack->bytes + (size_t)device * problem->ops;
  int64_t held = 0, peak = 0;
  for (uint32_t i = 0; i < problem->ops; i++) {
    uint32_t op = order->op_at[i];
    int64_t needed = order->device_of[op] == device
                         ? problem->graph->temporary_bytes[op]
                         : 0;
    held += row[i];
    peak = regal_later(peak, held + needed);
  }
  return peak;
}

int64_t regal_order_slack_find(const regal_order_slack *slack,
                               const regal_order *order) {
  const regal_problem *problem = order->problem;
  int64_t least = INT64_MAX;
  memset(slack->bytes, 0, (size_t)problem->devices * problem->ops * 8);
  hold_residents(slack, order);
  for (uint32_t t = 0; t < problem->tensors; t++)
    if (problem->bytes[t])
      hold_tensor(slack, order, t);
  for (uint32_t a = 0; a < problem->devices; a++) {
    if (problem->limit[a] == REGAL_UNLIMITED)
      continue;
    int64_t room = problem->limit[a] - find_peak(slack, order, a);
    least = room < least ? room : least;
  }
  return least;
}

int64_t regal_order_slack_used(const regal_order_slack *slack,
                               const regal_order *order) {
  int64_t used = 0;
  if (order->shifted_from != order->shifted_to)
    used = slack->change[order->op_at[order->shifted_to]];
  for (uint32_t i = 0; i < order->flips; i++)
    used += slack->change[order->flipped[i]];
  return used;
}
