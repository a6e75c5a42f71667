/* SPDX-License-Identifier: Apache-2.0 */
/* The estimate's bookkeeping: tables that are fixed for the problem, the start
 * of a chromosome, and what a run of an op changes. Trying an op on a device is
 * inlined from the header, because decoders try every op on every device.
 */
#include "decode/memory_estimate.h"

void regal_memory_estimate_layout(regal_memory_estimate *estimate,
                                  regal_carver *carver,
                                  const regal_problem *problem) {
  size_t ops = problem->ops, tensors = problem->tensors;
  size_t readers = problem->shared ? problem->reader_begin[problem->shared] : 0;
  estimate->resident = regal_carve(carver, ops, 8);
  estimate->high = regal_carve(carver, ops, 8);
  estimate->kept = regal_carve(carver, ops, 8);
  estimate->uses = regal_carve(carver, tensors, 4);
  estimate->parameter_begin = regal_carve(carver, ops + 1, 4);
  estimate->parameter = regal_carve(carver, readers, 4);
  estimate->left = regal_carve(carver, tensors, 4);
  estimate->present = regal_carve(carver, tensors, 8);
  estimate->holders = regal_carve(carver, problem->shared, 8);
  estimate->placed = regal_carve(carver, ops, 1);
}

/* The arrays are new, and so zero. */
void regal_memory_estimate_fill(regal_memory_estimate *estimate,
                                const regal_problem *problem) {
  if (problem->shared)
    regal_rows_transpose(problem->shared, problem->reader_begin,
                         problem->reader, problem->ops,
                         estimate->parameter_begin, estimate->parameter);
  for (uint32_t op = 0; op < problem->ops; op++) {
    estimate->resident[regal_problem_leader(problem, op)] +=
        problem->resident_bytes[op];
    estimate->high[op] = problem->graph->temporary_bytes[op];
  }
  for (uint32_t t = 0; t < problem->tensors; t++) {
    estimate->uses[t] = problem->use_begin[t + 1] - problem->use_begin[t] +
                        problem->is_final[t];
    estimate->high[problem->producer[t]] += problem->bytes[t];
    if (estimate->uses[t])
      estimate->kept[problem->producer[t]] += problem->bytes[t];
  }
}

void regal_memory_estimate_begin(regal_memory_estimate *estimate,
                                 const regal_problem *problem) {
  size_t devices = problem->devices;
  memcpy(estimate->left, estimate->uses, problem->tensors * 4);
  memset(estimate->holders, 0, problem->shared * sizeof *estimate->holders);
  memset(estimate->placed, 0, problem->ops);
  memset(estimate->memory, 0, devices * sizeof *estimate->memory);
  memset(estimate->peak, 0, devices * sizeof *estimate->peak);
}

int64_t
regal_memory_estimate_more_resident(const regal_memory_estimate *estimate,
                                    const regal_problem *problem, uint32_t op,
                                    uint32_t device) {
  uint32_t leader = regal_problem_leader(problem, op);
  if (estimate->placed[leader])
    return 0;
  int64_t bytes = estimate->resident[leader];
  for (REGAL_ROW(p, estimate->parameter_begin, leader)) {
    uint32_t parameter = estimate->parameter[p];
    if (!(estimate->holders[parameter] >> device & 1))
      bytes += problem->shared_bytes[parameter];
  }
  return bytes;
}

/* Frees a tensor wherever it is, but not on `device`, where that is done. */
static void free_elsewhere(regal_memory_estimate *estimate, uint32_t tensor,
                           int64_t bytes, uint32_t device) {
  uint64_t elsewhere = estimate->present[tensor] & ~(UINT64_C(1) << device);
  for (; elsewhere; elsewhere &= elsewhere - 1)
    estimate->memory[__builtin_ctzll(elsewhere)] -= bytes;
}

void regal_memory_estimate_run(regal_memory_estimate *estimate,
                               const regal_problem *problem, uint32_t op,
                               uint32_t device, regal_device_memory made) {
  uint64_t here = UINT64_C(1) << device;
  uint32_t leader = regal_problem_leader(problem, op);
  estimate->peak[device] = made.peak;
  estimate->memory[device] = made.memory;
  if (!estimate->placed[leader]) {
    estimate->placed[leader] = 1;
    for (REGAL_ROW(p, estimate->parameter_begin, leader))
      estimate->holders[estimate->parameter[p]] |= here;
  }
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    bool last = --estimate->left[t] == 0;
    bool moves = !problem->is_final[t] && !(estimate->present[t] & here);
    if (last || moves)
      free_elsewhere(estimate, t, problem->bytes[t], device);
    estimate->present[t] = moves ? here : estimate->present[t] | here;
  }
  for (REGAL_ROW(t, problem->output_begin, op))
    estimate->present[t] = here;
}
