/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds: no plan that is within the memory limits can cost less,
 * whatever its transfers and control edges cost. And one upper bound: on what a
 * device can hold. */
#ifndef REGAL_COST_BOUND_BOUND_H
#define REGAL_COST_BOUND_BOUND_H

#include "cost/model/problem.h"

/* Critical path, work over devices, head-tail energy, groups of ops that share
 * a device. O((n + e) log n) for n ops and e edges when devices are alike. */
regal_status regal_bound_runtime(regal_context *context,
                                 const regal_problem *problem,
                                 int64_t *runtime_ns);

/* The same with no other transfers than those between ops that cannot share a
 * device: a tenth of the time or less. */
regal_status regal_bound_runtime_quick(regal_context *context,
                                       const regal_problem *problem,
                                       int64_t *runtime_ns);

/* The largest working set, resident and final bytes, and the live set
 * (live.c). The live set is exact when it can be had within about a
 * second; on larger graphs it is that of the most promising ops only. */
regal_status regal_bound_memory(regal_context *context,
                                const regal_problem *problem,
                                int64_t *peak_bytes);

/* The same with no more than about so many seconds for the live set. */
regal_status regal_bound_memory_within(regal_context *context,
                                       const regal_problem *problem,
                                       double seconds, int64_t *peak_bytes);

/* Why no plan can be within the memory limits, in one line of text; "" if that
 * is not proven. With `quick` it leaves out what takes more than O((n + e) log
 * n) time. */
regal_status regal_bound_shortage(regal_context *context,
                                  const regal_problem *problem, bool quick,
                                  char *text, size_t size);

/* Both: of run time and of memory. */
regal_status regal_bound_compute(regal_context *context,
                                 const regal_problem *problem,
                                 regal_bound *bound);

/* Whether a plan can exceed a memory limit, as far as is known (most.c): false
 * is a proof that none can. O(n (n + e) / 64) for n ops and e edges, and for
 * large graphs O(n + e). */
regal_status regal_bound_limits(regal_context *context,
                                const regal_problem *problem, bool *binding);

#endif
