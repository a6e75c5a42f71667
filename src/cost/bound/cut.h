/* SPDX-License-Identifier: Apache-2.0 */
/* The bound on memory by minimum cuts. */
#ifndef REGAL_COST_BOUND_CUT_H
#define REGAL_COST_BOUND_CUT_H

#include "cost/model/problem.h"

/* The largest CUT(v) over the ops v, if above `at_least`, else `at_least`.
 * CUT(v) is the least memory in which v can run, on all devices together: over
 * all sets D of ops that may have run before v (with each op all that it
 * depends on; not v), the bytes of tensors from D that are final or that an op
 * outside of D reads, with v's outputs and temporary memory. It is at least
 * LIVE(v) (bound_live.h), where v's outputs over its inputs, resident bytes and
 * parameters are treated likewise.
 *
 * Each CUT(v) is a maximum flow. The file's own order bounds CUT(v) from above:
 * ops are tried by that, largest first. Stops after about `effort` steps. */
regal_status regal_bound_cut(regal_context *context,
                             const regal_problem *problem, uint64_t effort,
                             int64_t at_least, int64_t *bytes);

#endif
