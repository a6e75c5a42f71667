/* SPDX-License-Identifier: Apache-2.0 */
/* What people ask of a pipeline's plan: its bubble rate, the share of device
 * time that is idle, and its throughput. */
#include "cost/model/plan.h"
#include "pipeline/pipeline.h"

/* The sum of the run times of all ops where they run. */
static double work_of(const regal_result *result) {
  double work_ns = 0;
  for (uint32_t i = 0; i < result->plan->step_count; i++) {
    const regal_step *step = &result->plan->steps[i];
    if (regal_step_runs(step))
      work_ns +=
          (double)regal_problem_run_ns(result->problem, step->op, step->device);
  }
  return work_ns;
}

regal_rates regal_result_rates(const regal_result *result) {
  double runtime_ns = (double)result->cost.runtime_ns;
  regal_rates rates = {regal_graph_microbatches(result->problem->graph), 0, 0};
  if (!rates.microbatches || runtime_ns <= 0)
    return rates;
  rates.bubble = 1 - work_of(result) / result->problem->devices / runtime_ns;
  rates.microbatches_per_second = rates.microbatches / runtime_ns * 1e9;
  return rates;
}
