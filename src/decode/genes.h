/* SPDX-License-Identifier: Apache-2.0 */
/* From genes to a placement, by affinity: each op (or group of ops) goes to the
 * allowed device with the largest gene, the lower device where genes are equal.
 * And from plans back to genes, for warm starts. */
#ifndef REGAL_DECODE_GENES_H
#define REGAL_DECODE_GENES_H

#include "cost/model/running_cost.h"
#include "decode/decoder.h"

REGAL_INLINE uint8_t regal_best_device(const regal_gene *affinity,
                                       uint64_t allowed) {
  uint32_t best = (uint32_t)__builtin_ctzll(allowed);
  for (uint64_t rest = allowed & (allowed - 1); rest; rest &= rest - 1) {
    uint32_t device = (uint32_t)__builtin_ctzll(rest);
    best = affinity[device] > affinity[best] ? device : best;
  }
  return (uint8_t)best;
}

REGAL_INLINE void regal_place_by_affinity(const regal_problem *problem,
                                          const regal_gene *affinity,
                                          uint8_t *placement) {
  uint32_t d = problem->devices;
  if (d == 2 && !problem->restricted) {
    for (uint32_t op = 0; op < problem->ops; op++)
      placement[op] = affinity[2 * op + 1] > affinity[2 * op];
  } else {
    for (uint32_t op = 0; op < problem->ops; op++)
      placement[op] =
          regal_best_device(affinity + (size_t)op * d, problem->allowed[op]);
  }
  if (problem->pinned != REGAL_NONE)
    placement[problem->pinned] = 0;
  if (problem->leader)
    for (uint32_t op = 0; op < problem->ops; op++)
      placement[op] = placement[problem->leader[op]];
}

/* For decoders that choose devices op by op. placed[op], at a group's first op,
 * says that the group has a device: the only one that is left to its ops. */
static inline uint64_t regal_devices_left(const regal_problem *problem,
                                          const uint8_t *placed,
                                          const uint8_t *placement,
                                          uint32_t op) {
  if (problem->leader && placed[problem->leader[op]])
    return UINT64_C(1) << placement[problem->leader[op]];
  return problem->allowed[op];
}

static inline void regal_place_op(const regal_problem *problem, uint8_t *placed,
                                  uint8_t *placement, uint32_t op,
                                  uint32_t device) {
  placement[op] = (uint8_t)device;
  if (problem->leader) {
    placement[problem->leader[op]] = (uint8_t)device;
    placed[problem->leader[op]] = 1;
  }
}

/* Affinities that are largest for the plan's devices, renamed by `relabel`
 * unless that is NULL. */
void regal_encode_devices(const regal_problem *problem, const regal_plan *plan,
                          const uint8_t *relabel, regal_gene *affinity);

/* Affinities that give a plan's placement. Devices are renumbered where they
 * are interchangeable, so that the pinned op is on device 0: `relabel` maps the
 * plan's devices to the genes'. */
void regal_encode_placement(const regal_problem *problem,
                            const regal_plan *plan, regal_gene *affinity,
                            uint8_t relabel[REGAL_MAX_DEVICES]);

/* Priorities that fall along the plan: with genes of 24 bits they differ up to
 * 2^24 steps. */
void regal_encode_order(const regal_plan *plan, regal_gene *priority);

/* The same for the transfers of a plan; others keep their genes. */
void regal_encode_transfers(const regal_problem *problem,
                            const regal_plan *plan, const uint8_t *relabel,
                            regal_gene *transfer);

static inline regal_gene regal_encode_position(const regal_plan *plan,
                                               uint32_t step) {
  return REGAL_GENE_LARGEST -
         (regal_gene)((uint64_t)step * REGAL_GENE_LARGEST / plan->step_count);
}

#endif
