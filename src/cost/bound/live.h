/* SPDX-License-Identifier: Apache-2.0 */
/* The live-set bound on memory. */
#ifndef REGAL_COST_BOUND_LIVE_H
#define REGAL_COST_BOUND_LIVE_H

#include "cost/model/problem.h"

/* The largest LIVE(v) over the ops v: bytes of v's outputs and temporary
 * memory, and of all tensors whose producer is an ancestor of v and that are
 * final, or read by v or a descendant of v. Resident bytes and parameters are
 * left out. Outputs that may be written over an input count only as far as they
 * exceed the inputs that may die with v: those that are not final and that no
 * descendant of v reads. (Of any other input that dies on v's device there is
 * one more, elsewhere, that is counted.)
 *
 * O(n (e + t) / 64) for n ops, e edges and t tensors in the worst case, but the
 * file's own order bounds LIVE(v) from above, and only ops that could still be
 * the largest are looked at. Stops after about `effort` word operations; what
 * it has found by then is a bound too. */
regal_status regal_bound_live(regal_context *context,
                              const regal_problem *problem, uint64_t effort,
                              int64_t *live_bytes);

#endif
