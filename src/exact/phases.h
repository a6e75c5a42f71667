/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices, free blocking transfers: the plan as a row of phases, between
 * which all transfers happen. In a phase each device runs its ops without
 * regard to the other; the phase takes as long as the busier one. Good plans of
 * 50 to 200 ops come out fast, but not every plan is such a row (an op that
 * waits by a control edge need not begin a phase), so that this gives no
 * bound.
 */
#ifndef REGAL_EXACT_PHASES_H
#define REGAL_EXACT_PHASES_H

#include "cost/model/plan.h"
#include "exact/cp_model.h"

typedef struct regal_phases {
  const regal_problem *problem;
  regal_cp_model model;
  uint32_t phases;
  int32_t *in;    /* [(op * phases + phase) * 2 + device] literal */
  int32_t *since; /* [op * phases + phase] literal: not before this phase */
  int32_t *takes; /* [phases] variable */
  int32_t *on;    /* [ops] literal of a group: on device 0 */
  void *block;
} regal_phases;

/* Whether the problem is of this kind. */
bool regal_phases_apply(const regal_problem *problem);

/* `known` is a plan to start from; it sets how many phases there are, and is
 * the hint if they are not too many. */
regal_status regal_phases_create(regal_context *context,
                                 const regal_problem *problem,
                                 const regal_plan *known, regal_phases *made);
void regal_phases_free(regal_phases *phases);
regal_status regal_phases_plan(const regal_phases *phases,
                               const int64_t *values, regal_plan **plan);

#endif
