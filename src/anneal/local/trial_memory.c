/* SPDX-License-Identifier: Apache-2.0 */
/* The peaks of a neighbour. Two adjacent steps that change places leave memory
 * before and after them as it is, so that only they are simulated; for a change
 * of device all steps are.
 */
#include "anneal/local/descent.h"

/* Where the step adds to what is held. */
static uint32_t device_of(const regal_descent *d, regal_descent_step step) {
  return regal_descent_runs(step) ? d->placement[step.what] : step.to;
}

static void take(const regal_descent *d, regal_running_cost *memory,
                 regal_descent_step step) {
  const regal_problem *problem = d->problem;
  if (regal_descent_runs(step))
    regal_running_cost_run_memory(memory, problem, step.what,
                                  d->placement[step.what]);
  else
    regal_running_cost_send_memory(memory, problem, step.what,
                                   regal_descent_home(d, step.what), step.to);
}

/* The counts of uses to come as they were before the step. */
static void put_back(const regal_descent *d, regal_running_cost *memory,
                     regal_descent_step step) {
  const regal_problem *problem = d->problem;
  size_t devices = problem->devices;
  if (!regal_descent_runs(step)) {
    memory->left[step.what * devices + regal_descent_home(d, step.what)]++;
    return;
  }
  for (REGAL_ROW(i, problem->input_begin, step.what))
    memory->left[problem->input[i] * devices + d->placement[step.what]]++;
}

static void begin(const regal_descent *d, regal_running_cost *memory) {
  regal_running_cost_place_resident(memory, d->problem, d->placement);
  regal_running_cost_count_uses(memory, d->problem, d->placement);
}

void regal_descent_flip_memory(regal_descent *d, int64_t most, int64_t *peaks) {
  begin(d, &d->memory);
  for (uint32_t i = 0; i < d->count; i++) {
    for (uint32_t e = d->extra_before[i]; e != REGAL_NONE;
         e = d->extras[e].next)
      take(d, &d->memory, d->extras[e].step);
    if (d->skipped[i])
      continue;
    take(d, &d->memory, d->steps[i]);
    if (d->memory.peak[device_of(d, d->steps[i])] >= most)
      break;
  }
  memcpy(peaks, d->memory.peak, d->problem->devices * sizeof *peaks);
}

/* The list is as it is without the swap. */
void regal_descent_swap_memory(regal_descent *d, uint32_t swap,
                               int64_t *peaks) {
  uint32_t devices = d->problem->devices;
  size_t size = devices * sizeof(int64_t);
  const int64_t *ahead = d->peaks_ahead + ((size_t)swap + 2) * devices;
  regal_running_cost *memory = &d->before;
  int64_t kept[REGAL_MAX_DEVICES], kept_peak[REGAL_MAX_DEVICES];
  memcpy(kept, memory->memory, size);
  memcpy(kept_peak, memory->peak, size);
  take(d, memory, d->steps[swap + 1]);
  take(d, memory, d->steps[swap]);
  for (uint32_t a = 0; a < devices; a++)
    peaks[a] = regal_later(memory->peak[a], ahead[a]);
  put_back(d, memory, d->steps[swap]);
  put_back(d, memory, d->steps[swap + 1]);
  memcpy(memory->memory, kept, size);
  memcpy(memory->peak, kept_peak, size);
}

void regal_descent_pass_memory(regal_descent *d, uint32_t step) {
  take(d, &d->before, d->steps[step]);
}

/* What each step alone reaches, backwards. */
static void keep_peaks_ahead(regal_descent *d) {
  uint32_t devices = d->problem->devices;
  for (uint32_t i = d->count; i-- > 0;) {
    int64_t *here = d->peaks_ahead + (size_t)i * devices;
    for (uint32_t a = 0; a < devices; a++)
      here[a] = regal_later(here[a], here[a + devices]);
  }
}

void regal_descent_keep_memory(regal_descent *d, int64_t *peaks) {
  uint32_t devices = d->problem->devices;
  size_t size = devices * sizeof *peaks;
  memset(d->peaks_ahead, 0, ((size_t)d->count + 1) * size);
  begin(d, &d->before);
  memcpy(peaks, d->before.peak, size);
  for (uint32_t i = 0; i < d->count; i++) {
    regal_descent_step step = d->steps[i];
    uint32_t a = device_of(d, step);
    d->before.peak[a] = 0;
    take(d, &d->before, step);
    d->peaks_ahead[(size_t)i * devices + a] = d->before.peak[a];
  }
  keep_peaks_ahead(d);
  for (uint32_t a = 0; a < devices; a++)
    peaks[a] = regal_later(peaks[a], d->peaks_ahead[a]);
  begin(d, &d->before);
}
