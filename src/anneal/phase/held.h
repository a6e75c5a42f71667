/* SPDX-License-Identifier: Apache-2.0 */
/* Phase annealing towards memory limits: about what each device holds, phase by
 * phase.
 *
 * The annealer knows no order of the ops of a phase, and knows when tensors
 * travel only up to phases. That is not enough to keep a limit, but enough to
 * come near it: a tensor counts at home from its producer's phase to that of
 * its last reader there, or of the first one elsewhere, and elsewhere from the
 * first reader's phase to the last one's. Bytes beyond the limits, summed over
 * blocks of phases, have a price, which is added to the cost. So plans that are
 * fast and hold about as much as they may are found with a few times as many
 * moves as an order of ops allows (anneal/order), where they are made to fit.
 *
 * Parameters that several ops share are left out.
 *
 * A move changes the spans of the tensors that its ops read and make. Of each
 * span only the difference is written: O(readers + blocks in it).
 */
#ifndef REGAL_ANNEAL_PHASE_HELD_H
#define REGAL_ANNEAL_PHASE_HELD_H

#include "anneal/phase/phase.h"

#define REGAL_PHASE_MOST_PENALTY 0x1p60 /* ns */

/* Whether the phases of this problem are guided by limits. */
bool regal_phase_heeds(const regal_problem *problem);
/* All of it from `at`. */
void regal_phase_count_held(regal_phase *s);
/* Before the op is put into another place; and if it is not. */
void regal_phase_hold(regal_phase *s, uint32_t op, uint32_t to);
void regal_phase_release(regal_phase *s, uint32_t op, uint32_t to);

/* After all ops of a compound move were put into their places; and before they
 * are put back. */
void regal_phase_hold_tried(regal_phase *s);
void regal_phase_release_tried(regal_phase *s);

/* What the bytes beyond the limits cost; where a limit is next to nothing, no
 * more than can be added up. */
static inline int64_t regal_phase_penalty(const regal_phase *s) {
  double ns = s->price * (double)s->over;
  return ns < REGAL_PHASE_MOST_PENALTY ? (int64_t)ns
                                       : (int64_t)REGAL_PHASE_MOST_PENALTY;
}

#endif
