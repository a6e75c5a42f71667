/* SPDX-License-Identifier: Apache-2.0 */
/* From plans back to genes, for warm starts. */
#ifndef REGAL_DECODE_ENCODE_H
#define REGAL_DECODE_ENCODE_H

#include "decode/decoder.h"

/* Affinities that give a plan's placement. Devices are renumbered where they
 * are interchangeable, so that the pinned op is on device 0: `relabel` maps the
 * plan's devices to the genes'. */
void regal_encode_placement(const regal_problem *problem,
                            const regal_plan *plan, regal_gene *affinity,
                            uint8_t relabel[REGAL_MAX_DEVICES]);

/* Priorities that fall along the plan: with genes of 24 bits they differ up to
 * 2^24 steps. */
void regal_encode_order(const regal_plan *plan, regal_gene *priority);

static inline regal_gene regal_encode_position(const regal_plan *plan,
                                               uint32_t step) {
  return REGAL_GENE_LARGEST -
         (regal_gene)((uint64_t)step * REGAL_GENE_LARGEST / plan->step_count);
}

#endif
