/* SPDX-License-Identifier: Apache-2.0 */
/* What each device would hold, for decoders that choose devices op by op.
 *
 * An estimate of what regal_running_cost counts once the plan stands: who will
 * read a tensor where is not known yet. A tensor is taken to be where it was
 * used last, until all its uses are over: a transfer (just before the reader)
 * moves it. That is right when later readers follow it, and decoders that look
 * for memory learn to let them; counting it on every device that ever read it
 * makes worse plans. Final tensors stay wherever they were.
 */
#ifndef REGAL_DECODE_MEMORY_ESTIMATE_H
#define REGAL_DECODE_MEMORY_ESTIMATE_H

#include "base/carve.h"
#include "cost/model/running_cost.h"

typedef struct regal_memory_estimate {
  /* Fixed for the problem. */
  int64_t *resident; /* [ops] at a group's first op: of the whole group */
  int64_t *high;     /* [ops] outputs and temporary bytes */
  int64_t *kept;     /* [ops] bytes of its outputs that outlive it */
  uint32_t *uses;    /* [tensors] consumers, and the end if it is final */
  uint32_t *parameter_begin; /* [ops+1] shared parameters that an op (or the
                                group whose first it is) reads */
  uint32_t *parameter;
  /* Of one chromosome. */
  uint32_t *left;    /* [tensors] uses to come */
  uint64_t *present; /* [tensors] bit per device that has it */
  uint64_t *holders; /* [shared] bit per device that has the parameter */
  uint8_t *placed;   /* [ops] at a group's first op: the group has a device */
  int64_t memory[REGAL_MAX_DEVICES];
  int64_t peak[REGAL_MAX_DEVICES];
} regal_memory_estimate;

/* What a device would hold if it ran an op next. */
typedef struct regal_device_memory {
  int64_t peak;   /* of the plan so far */
  int64_t memory; /* after the op */
} regal_device_memory;

void regal_memory_estimate_layout(regal_memory_estimate *estimate,
                                  regal_carver *carver,
                                  const regal_problem *problem);
void regal_memory_estimate_fill(regal_memory_estimate *estimate,
                                const regal_problem *problem);
void regal_memory_estimate_begin(regal_memory_estimate *estimate,
                                 const regal_problem *problem);

/* Bytes of the op's outputs that could take over an input which dies. */
static inline int64_t
regal_memory_estimate_reused(regal_memory_estimate *estimate,
                             const regal_problem *problem, uint32_t op) {
  if (!problem->reuses || !problem->reuses[op])
    return 0;
  return regal_problem_reuse(problem, op, estimate->left, 1);
}
/* Bytes that the device would hold for the whole plan because of the op. */
int64_t
regal_memory_estimate_more_resident(const regal_memory_estimate *estimate,
                                    const regal_problem *problem, uint32_t op,
                                    uint32_t device);
/* `reused` is regal_memory_estimate_reused of the op. */
static inline regal_device_memory
regal_memory_estimate_try(const regal_memory_estimate *estimate,
                          const regal_problem *problem, uint32_t op,
                          uint32_t device, int64_t reused) {
  int64_t resident =
      regal_memory_estimate_more_resident(estimate, problem, op, device);
  int64_t memory = estimate->memory[device] + resident, freed = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    int64_t bytes = problem->bytes[t];
    memory += estimate->present[t] >> device & 1 ? 0 : bytes;
    freed += estimate->left[t] == 1 ? bytes : 0;
  }
  return (regal_device_memory){
      regal_later(estimate->peak[device] + resident,
                  memory + estimate->high[op] - reused),
      memory + estimate->kept[op] - freed};
}

/* The op runs there; `made` is what regal_memory_estimate_try said. */
void regal_memory_estimate_run(regal_memory_estimate *estimate,
                               const regal_problem *problem, uint32_t op,
                               uint32_t device, regal_device_memory made);

/* The same, tried first. */
static inline void regal_memory_estimate_take(regal_memory_estimate *estimate,
                                              const regal_problem *problem,
                                              uint32_t op, uint32_t device) {
  int64_t reused = regal_memory_estimate_reused(estimate, problem, op);
  regal_memory_estimate_run(
      estimate, problem, op, device,
      regal_memory_estimate_try(estimate, problem, op, device, reused));
}

/* By how much the op would bring the device further beyond its limit. */
static inline int64_t
regal_memory_estimate_excess(const regal_memory_estimate *estimate,
                             const regal_problem *problem, uint32_t device,
                             regal_device_memory made) {
  int64_t limit = regal_later(problem->limit[device], estimate->peak[device]);
  return regal_later(0, made.peak - limit);
}

#endif
