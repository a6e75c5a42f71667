/* SPDX-License-Identifier: Apache-2.0 */
/* What a stage holds in memory. The running cost of the first device stands for
 * the device that runs the stage; everything else is elsewhere. */
#include "heuristic/cut/parts.h"

void regal_cuts_stages_begin(regal_cut_stages *stages,
                             const regal_cut_axis *axis,
                             const regal_cut_order *order) {
  stages->axis = axis;
  stages->order = order->order;
  stages->contiguous = axis->along == order;
}

typedef struct span {
  uint32_t low, length;
} span;

static bool is_here(const regal_cut_stages *stages, span stage, uint32_t op) {
  return stages->axis->rank[op] - stage.low < stage.length;
}

static int64_t resident_bytes(const regal_cut_stages *stages, span stage) {
  const regal_problem *problem = stages->problem;
  int64_t bytes = 0;
  uint32_t begin = stages->contiguous ? stage.low : 0;
  uint32_t end = stages->contiguous ? begin + stage.length : problem->ops;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t op = stages->order[i];
    bytes += is_here(stages, stage, op) ? problem->resident_bytes[op] : 0;
  }
  for (uint32_t p = 0; p < problem->shared; p++) {
    bool held = false;
    for (uint32_t r = problem->reader_begin[p];
         r < problem->reader_begin[p + 1] && !held; r++)
      held = is_here(stages, stage, problem->reader[r]);
    bytes += held ? problem->shared_bytes[p] : 0;
  }
  return bytes;
}

static uint32_t *uses_left(const regal_cut_stages *stages, uint32_t tensor) {
  return &stages->running->left[(size_t)tensor * stages->problem->devices];
}

static uint32_t count_uses(const regal_cut_stages *stages, span stage,
                           uint32_t tensor) {
  const regal_problem *problem = stages->problem;
  uint32_t uses = 0;
  for (REGAL_ROW(u, problem->use_begin, tensor))
    uses += is_here(stages, stage, problem->consumer[u]);
  return uses;
}

/* An op of the stage: copies of its inputs arrive, then it runs. */
static void run_here(regal_cut_stages *stages, span stage, uint32_t op) {
  const regal_problem *problem = stages->problem;
  regal_running_cost *running = stages->running;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    if (stages->arrived[t] == stages->looks)
      continue;
    stages->arrived[t] = stages->looks;
    *uses_left(stages, t) = count_uses(stages, stage, t);
    running->memory[0] += problem->bytes[t];
  }
  running->peak[0] = regal_later(running->peak[0], running->memory[0]);
  for (REGAL_ROW(t, problem->output_begin, op)) {
    uint32_t all = problem->use_begin[t + 1] - problem->use_begin[t];
    uint32_t here = count_uses(stages, stage, t);
    *uses_left(stages, t) = here + (here < all) + problem->is_final[t];
    stages->arrived[t] = stages->looks;
    stages->sent[t] = 0;
  }
  regal_running_cost_run_memory(running, problem, op, 0);
}

/* An op elsewhere: what it reads from here leaves, the first time. */
static void run_elsewhere(regal_cut_stages *stages, span stage, uint32_t op) {
  const regal_problem *problem = stages->problem;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t t = problem->input[i];
    if (!is_here(stages, stage, problem->producer[t]) || stages->sent[t])
      continue;
    stages->sent[t] = 1;
    if (--*uses_left(stages, t) == 0)
      stages->running->memory[0] -= problem->bytes[t];
  }
}

int64_t regal_cuts_stage_peak(regal_cut_stages *stages, uint32_t low,
                              uint32_t high) {
  span stage = {low, high - low};
  regal_running_cost *running = stages->running;
  if (low == high)
    return 0;
  stages->looks++;
  running->memory[0] = running->peak[0] = resident_bytes(stages, stage);
  uint32_t begin = stages->contiguous ? low : 0;
  uint32_t end = stages->contiguous ? high : stages->problem->ops;
  stages->peak_at = begin;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t op = stages->order[i];
    int64_t before = running->peak[0];
    if (is_here(stages, stage, op))
      run_here(stages, stage, op);
    else
      run_elsewhere(stages, stage, op);
    stages->peak_at = running->peak[0] > before ? i : stages->peak_at;
  }
  return running->peak[0];
}
