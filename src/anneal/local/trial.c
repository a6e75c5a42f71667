/* SPDX-License-Identifier: Apache-2.0 */
/* The run time of a neighbour, without simulating what it leaves as it is
 * (anneal/local/descent.h says why that is exact).
 */
#include "anneal/local/descent.h"

/* -- Steps ----------------------------------------------------------------- */

/* The end of the last op that this one waits for, or 0. */
REGAL_INLINE int64_t wait_ns(const regal_descent *d, uint32_t op) {
  const regal_graph *graph = d->problem->graph;
  int64_t latest = 0;
  if (d->problem->has_waits)
    for (REGAL_ROW(c, graph->control_in_begin, op))
      latest = regal_later(latest, d->end_ns[graph->control_in[c]]);
  return latest;
}

REGAL_INLINE int64_t finish(regal_descent *d, uint32_t op, int64_t start) {
  uint32_t device = d->placement[op];
  int64_t end = regal_later(start, d->clock[device]) +
                regal_problem_run_ns(d->problem, op, device);
  d->clock[device] = end;
  d->end_ns[op] = end;
  return end;
}

REGAL_INLINE void send_blocking(regal_descent *d, regal_descent_step step) {
  uint32_t home = regal_descent_home(d, step.what);
  int64_t end = regal_later(d->clock[home], d->clock[step.to]) +
                regal_problem_transfer_ns(d->problem, step.what, home, step.to);
  d->clock[home] = end;
  d->clock[step.to] = end;
}

static int64_t last_clock(const regal_descent *d) {
  int64_t latest = 0;
  for (uint32_t a = 0; a < d->problem->devices; a++)
    latest = regal_later(latest, d->clock[a]);
  return latest;
}

/* -- Blocking transfers ---------------------------------------------------- */

/* The last step at which somebody waits for the op. */
static uint32_t last_waiter(const regal_descent *d, uint32_t op) {
  const regal_problem *problem = d->problem;
  uint32_t last = 0;
  if (problem->has_waits)
    for (REGAL_ROW(w, problem->wait_begin, op)) {
      uint32_t at = d->at[problem->waiter[w]];
      last = at > last ? at : last;
    }
  return last;
}

REGAL_INLINE bool no_clock_is_below(const regal_descent *d, uint32_t step) {
  uint32_t devices = d->problem->devices;
  const int64_t *kept = d->clocks + (size_t)step * devices;
  bool below = false;
  for (uint32_t a = 0; a < devices; a++)
    below |= d->clock[a] < kept[a];
  return !below;
}

/* Simulates from `first` on; returns the step at which it is clear that the run
 * time does not fall, or the number of steps; the latter if it is wanted all
 * the same. */
static uint32_t run_blocking(regal_descent *d, bool wanted) {
  uint32_t settled = d->last; /* no sooner than after this step */
  for (uint32_t i = d->first; i < d->count; i++) {
    for (uint32_t e = d->extra_before[i]; e != REGAL_NONE;
         e = d->extras[e].next)
      send_blocking(d, d->extras[e].step);
    if (d->skipped[i])
      continue;
    regal_descent_step step = d->steps[i];
    if (!regal_descent_runs(step)) {
      send_blocking(d, step);
    } else if (finish(d, step.what, wait_ns(d, step.what)) <
               d->kept_end_ns[step.what]) {
      uint32_t waiter = last_waiter(d, step.what);
      settled = waiter > settled ? waiter : settled;
    }
    if (!wanted && i >= settled && no_clock_is_below(d, i + 1))
      return i;
  }
  return d->count;
}

static int64_t try_blocking(regal_descent *d, int64_t most) {
  uint32_t devices = d->problem->devices;
  memcpy(d->clock, d->clocks + (size_t)d->first * devices,
         devices * sizeof *d->clock);
  uint32_t settled = run_blocking(d, most > d->runtime_ns);
  for (uint32_t i = d->first; i < d->count && i <= settled; i++)
    if (regal_descent_runs(d->steps[i]))
      d->end_ns[d->steps[i].what] = d->kept_end_ns[d->steps[i].what];
  return settled < d->count ? most : last_clock(d);
}

/* -- Overlapped transfers -------------------------------------------------- */

static void send_overlapped(regal_descent *d, regal_descent_step step) {
  const regal_problem *problem = d->problem;
  uint32_t producer = problem->producer[step.what];
  uint32_t home = d->placement[producer];
  int64_t *link = &d->link_ns[home * problem->devices + step.to];
  *link = regal_later(*link, d->end_ns[producer]) +
          regal_problem_transfer_ns(problem, step.what, home, step.to);
  d->arrival_ns[(size_t)step.what * problem->devices + step.to] = *link;
}

static int64_t arrival_of_inputs(const regal_descent *d, uint32_t op) {
  const regal_problem *problem = d->problem;
  uint32_t device = d->placement[op];
  int64_t latest = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    if (regal_descent_home(d, tensor) != device)
      latest = regal_later(
          latest, d->arrival_ns[(size_t)tensor * problem->devices + device]);
  }
  return latest;
}

static int64_t try_overlapped(regal_descent *d, int64_t most) {
  size_t devices = d->problem->devices;
  memset(d->clock, 0, devices * sizeof *d->clock);
  memset(d->link_ns, 0, devices * devices * sizeof *d->link_ns);
  for (uint32_t i = 0; i < d->count; i++) {
    for (uint32_t e = d->extra_before[i]; e != REGAL_NONE;
         e = d->extras[e].next)
      send_overlapped(d, d->extras[e].step);
    regal_descent_step step = d->steps[i];
    if (d->skipped[i])
      continue;
    if (!regal_descent_runs(step)) {
      send_overlapped(d, step);
      continue;
    }
    int64_t arrival = arrival_of_inputs(d, step.what);
    int64_t start = regal_later(arrival, wait_ns(d, step.what));
    if (finish(d, step.what, start) >= most)
      return most;
  }
  return last_clock(d);
}

/* -- Both ------------------------------------------------------------------ */

int64_t regal_descent_try_time(regal_descent *d, int64_t most) {
  int64_t runtime = d->problem->machine->overlapped ? try_overlapped(d, most)
                                                    : try_blocking(d, most);
  return runtime < most ? runtime : most;
}

void regal_descent_keep_time(regal_descent *d) {
  uint32_t devices = d->problem->devices;
  if (d->problem->machine->overlapped) {
    d->runtime_ns = try_overlapped(d, INT64_MAX);
    return;
  }
  memset(d->clock, 0, devices * sizeof *d->clock);
  for (uint32_t i = 0; i < d->count; i++) {
    regal_descent_step step = d->steps[i];
    memcpy(d->clocks + (size_t)i * devices, d->clock,
           devices * sizeof *d->clock);
    if (regal_descent_runs(step))
      d->kept_end_ns[step.what] = finish(d, step.what, wait_ns(d, step.what));
    else
      send_blocking(d, step);
  }
  memcpy(d->clocks + (size_t)d->count * devices, d->clock,
         devices * sizeof *d->clock);
  d->runtime_ns = last_clock(d);
}
