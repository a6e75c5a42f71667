/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds behind bound.h, each in its own file, and what they share. */
#ifndef REGAL_COST_BOUND_PARTS_H
#define REGAL_COST_BOUND_PARTS_H

#include "base/compare.h"
#include "cost/bound/lags.h"
#include "cost/model/problem.h"

/* -- Memory: live.c, cut.c ------------------------------------------------- */

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

/* The largest CUT(v) over the ops v, if above `at_least`, else `at_least`.
 * CUT(v) is the least memory in which v can run, on all devices together: over
 * all sets D of ops that may have run before v (with each op all that it
 * depends on; not v), the bytes of tensors from D that are final or that an op
 * outside of D reads, with v's outputs and temporary memory. It is at least
 * LIVE(v) (see above), where v's outputs over its inputs, resident bytes and
 * parameters are treated likewise.
 *
 * Each CUT(v) is a maximum flow. The file's own order bounds CUT(v) from above:
 * ops are tried by that, largest first. Stops after about `effort` steps. */
regal_status regal_bound_cut(regal_context *context,
                             const regal_problem *problem, uint64_t effort,
                             int64_t at_least, int64_t *bytes);

/* All ops by falling bytes in memory while each runs in the file's own order:
 * at least LIVE(v) and CUT(v), for that order is one of those they hold for.
 * Keys are minus the bytes. `readers` [tensors] is scratch. */
void regal_rank_by_file_order(const regal_problem *problem, uint32_t *readers,
                              regal_keyed *promising);

/* What some device holds at least of `count` items, ascending, that cannot be
 * split; not less than at_least. */
int64_t regal_bound_pigeonhole(const regal_keyed *item, size_t count,
                               uint32_t devices, int64_t at_least);

/* How much an op's outputs can save by being written over its inputs: at most
 * regal_most_reused, whichever of the inputs die. These are the inputs that can
 * die while the op runs. */
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

/* -- Run time: transfer.c, devices.c, crossing.c, capacity.c, single.c ----- */

/* head[j] and tail[j] are lower bounds on the time before and after op j, and
 * shortest[j] is its least run time. The first two functions raise heads and
 * tails to what holds when tensors take time to get to another device. */

/* By windows (window.h), which become lags. Takes about `effort` small steps,
 * and O(n + e) time and memory. */
regal_status regal_bound_windows(regal_context *context,
                                 const regal_problem *problem,
                                 const int64_t *shortest, uint64_t effort,
                                 regal_lags *lags, int64_t *head,
                                 int64_t *tail);

/* By where ops may run. Nothing if all may run everywhere, equally fast. Raises
 * *found to a bound on the run time. O(d (n + e)) for d devices. */
regal_status regal_bound_devices(regal_context *context,
                                 const regal_problem *problem,
                                 const regal_lags *lags, int64_t *head,
                                 int64_t *tail, int64_t *found);

/* Raises heads by what memory limits force on long paths. */
regal_status regal_bound_crossing(regal_context *context,
                                  const regal_problem *problem,
                                  const regal_lags *lags,
                                  const int64_t *shortest, int64_t *head);

/* Raises *found by the work that memory limits keep from small devices. */
regal_status regal_bound_capacity(regal_context *context,
                                  const regal_problem *problem, int64_t *found);

/* Raises *found by what each device, link and group must do one at a time.
 * `lags` is NULL where transfers are free. O((n + e) log n). */
regal_status regal_bound_single(regal_context *context,
                                const regal_problem *problem,
                                const regal_lags *lags, const int64_t *shortest,
                                const int64_t *head, const int64_t *tail,
                                int64_t *found);

#endif
