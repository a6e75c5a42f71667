/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/bound/bound.h"

regal_status regal_bound_compute(regal_context *context,
                                 const regal_problem *problem,
                                 regal_bound *bound) {
  regal_bound made;
  REGAL_TRY(regal_bound_runtime(context, problem, &made.runtime_ns));
  REGAL_TRY(regal_bound_memory(context, problem, &made.peak_bytes));
  *bound = made;
  return REGAL_OK;
}
