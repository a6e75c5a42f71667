/* SPDX-License-Identifier: Apache-2.0 */
/* How much an op's outputs can save by being written over its inputs, for
 * bounds: at most this, whichever of the inputs die. */
#ifndef REGAL_COST_BOUND_REUSE_H
#define REGAL_COST_BOUND_REUSE_H

#include "cost/model/problem.h"

/* The op's inputs that can die while it runs. */
typedef struct regal_dying {
  int64_t bytes, largest;
} regal_dying;

static inline void regal_dying_add(regal_dying *dying, int64_t bytes) {
  dying->bytes += bytes;
  if (bytes > dying->largest)
    dying->largest = bytes;
}

static inline bool regal_may_reuse(const regal_problem *problem, uint32_t op) {
  return problem->reuses && problem->reuses[op];
}

/* No more than the marked outputs that fit some input, nor than the inputs. */
static inline int64_t regal_most_reused(const regal_problem *problem,
                                        uint32_t op, regal_dying dying) {
  int64_t reusing = 0;
  for (REGAL_ROW(t, problem->output_begin, op))
    if (problem->may_reuse[t] && problem->bytes[t] <= dying.largest)
      reusing += problem->bytes[t];
  return reusing < dying.bytes ? reusing : dying.bytes;
}

#endif
