/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters on devices: see anneal/memory/residents.h. A change of device
 * costs O(shared parameters of the op). */
#include "anneal/memory/residents.h"

void regal_residents_layout(regal_residents *residents, regal_carver *carver,
                            const regal_problem *problem) {
  size_t ops = problem->ops;
  size_t readers = problem->shared ? problem->reader_begin[problem->shared] : 0;
  residents->shared_begin = regal_carve(carver, ops + 1, 4);
  residents->shared = regal_carve(carver, readers, 4);
  residents->holders =
      regal_carve(carver, (size_t)problem->shared * problem->devices, 4);
}

void regal_residents_create(regal_residents *residents,
                            const regal_problem *problem) {
  memset(residents->shared_begin, 0, ((size_t)problem->ops + 1) * 4);
  if (problem->shared)
    regal_rows_transpose(problem->shared, problem->reader_begin,
                         problem->reader, problem->ops, residents->shared_begin,
                         residents->shared);
}

void regal_residents_count(regal_residents *residents,
                           const regal_problem *problem,
                           const uint8_t *placement, int64_t *held) {
  size_t d = problem->devices;
  memset(held, 0, d * sizeof *held);
  memset(residents->holders, 0, problem->shared * d * 4);
  for (uint32_t op = 0; op < problem->ops; op++)
    held[placement[op]] += problem->resident_bytes[op];
  for (uint32_t p = 0; p < problem->shared; p++)
    for (REGAL_ROW(r, problem->reader_begin, p)) {
      uint32_t device = placement[problem->reader[r]];
      if (residents->holders[p * d + device]++ == 0)
        held[device] += problem->shared_bytes[p];
    }
}

void regal_residents_move(regal_residents *residents,
                          const regal_problem *problem, uint32_t op,
                          uint32_t from, uint32_t to, int64_t *held) {
  held[from] -= problem->resident_bytes[op];
  held[to] += problem->resident_bytes[op];
  for (REGAL_ROW(k, residents->shared_begin, op)) {
    uint32_t p = residents->shared[k];
    uint32_t *holders = residents->holders + (size_t)p * problem->devices;
    if (--holders[from] == 0)
      held[from] -= problem->shared_bytes[p];
    if (holders[to]++ == 0)
      held[to] += problem->shared_bytes[p];
  }
}
