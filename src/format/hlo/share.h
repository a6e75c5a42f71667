/* SPDX-License-Identifier: Apache-2.0 */
/* Which outputs XLA writes over an operand. */
#ifndef REGAL_FORMAT_HLO_SHARE_H
#define REGAL_FORMAT_HLO_SHARE_H

#include "format/hlo/module.h"

/* Outputs that must be in the memory of an operand: calls `pair` with a leaf of
 * the output, the operand's number and a leaf of it, for each. */
typedef struct regal_hlo_pairs {
  void (*pair)(struct regal_hlo_pairs *pairs, uint32_t output, uint32_t operand,
               uint32_t leaf);
} regal_hlo_pairs;
void regal_hlo_in_place(const regal_hlo_module *module,
                        const regal_hlo_computation *computation,
                        const regal_hlo_instruction *instruction,
                        regal_hlo_pairs *pairs);

/* Whether an output may be written over the operand's leaf, if that is not
 * needed any more. */
bool regal_hlo_may_share(const regal_hlo_module *module,
                         const regal_hlo_computation *computation,
                         const regal_hlo_instruction *instruction,
                         uint32_t output, uint32_t operand, uint32_t leaf);

/* Whether the body of a while loop returns this leaf of its parameter as it
 * was. */
bool regal_hlo_passes(const regal_hlo_computation *body, uint32_t leaf);

/* Sets `elementwise` of all instructions. What is called has been traced. */
void regal_hlo_trace(regal_hlo_module *module,
                     regal_hlo_computation *computation);

#endif
