/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of what stays on a device (heuristic/list/holding.h). */
#include "heuristic/list/holding.h"

#include <string.h>

#include "graph/rows.h"

void regal_holding_layout(regal_holding *holding, regal_carver *carver,
                          const regal_problem *problem) {
  size_t ops = problem->ops, shared = problem->shared;
  size_t readers = shared ? problem->reader_begin[shared] : 0;
  holding->problem = problem;
  holding->shared_begin = regal_carve(carver, ops + 1, 4);
  holding->shared = regal_carve(carver, readers, 4);
  holding->holders = regal_carve(carver, shared, 8);
  holding->bytes = regal_carve(carver, ops, 8);
}

void regal_holding_begin(regal_holding *holding) {
  const regal_problem *problem = holding->problem;
  memset(holding->shared_begin, 0, ((size_t)problem->ops + 1) * 4);
  if (problem->shared)
    regal_rows_transpose(problem->shared, problem->reader_begin,
                         problem->reader, problem->ops, holding->shared_begin,
                         holding->shared);
  memset(holding->holders, 0, problem->shared * sizeof *holding->holders);
  memset(holding->held, 0, sizeof holding->held);
  memset(holding->bytes, 0, problem->ops * sizeof *holding->bytes);
  for (uint32_t op = 0; op < problem->ops; op++)
    holding->bytes[regal_problem_leader(problem, op)] +=
        problem->resident_bytes[op];
}

int64_t regal_holding_added(const regal_holding *holding, uint32_t leader,
                            uint32_t device) {
  int64_t bytes = holding->bytes[leader];
  for (REGAL_ROW(k, holding->shared_begin, leader)) {
    uint32_t p = holding->shared[k];
    if (!(holding->holders[p] >> device & 1))
      bytes += holding->problem->shared_bytes[p];
  }
  return bytes;
}

void regal_holding_put(regal_holding *holding, uint32_t leader,
                       uint32_t device) {
  holding->held[device] += regal_holding_added(holding, leader, device);
  for (REGAL_ROW(k, holding->shared_begin, leader))
    holding->holders[holding->shared[k]] |= UINT64_C(1) << device;
}
