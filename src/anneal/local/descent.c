/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbourhood, and moves in it (anneal/local/descent.h). A scan tries
 * changes of device first, op by op, then exchanges from the first step to the
 * last; of equally good neighbours the first is taken.
 */
#include "anneal/local/descent.h"

/* -- Making ---------------------------------------------------------------- */

static void layout_memory(regal_descent *d, regal_carver *carver, size_t most) {
  const regal_problem *problem = d->problem;
  d->peaks_ahead = regal_carve(carver, (most + 1) * problem->devices, 8);
  regal_running_cost_layout(&d->before, carver, problem);
  regal_running_cost_layout(&d->memory, carver, problem);
}

static void layout_time(regal_descent *d, regal_carver *carver, size_t most) {
  const regal_problem *problem = d->problem;
  size_t devices = problem->devices;
  bool overlapped = problem->machine->overlapped;
  d->clock = regal_carve(carver, devices, 8);
  d->end_ns = regal_carve(carver, problem->ops, 8);
  d->kept_end_ns = regal_carve(carver, problem->ops, 8);
  d->clocks = regal_carve(carver, overlapped ? 0 : (most + 1) * devices, 8);
  d->arrival_ns =
      regal_carve(carver, overlapped ? problem->tensors * devices : 0, 8);
  d->link_ns = regal_carve(carver, overlapped ? devices * devices : 0, 8);
}

static void layout(void *made, regal_carver *carver) {
  regal_descent *d = made;
  const regal_problem *problem = d->problem;
  size_t ops = problem->ops, most = regal_plan_most_steps(problem);
  size_t routes = (size_t)problem->tensors * problem->devices;
  d->steps = regal_carve(carver, most, sizeof *d->steps);
  d->spare = regal_carve(carver, most, sizeof *d->spare);
  d->placement = regal_carve(carver, ops, 1);
  d->at = regal_carve(carver, ops, 4);
  d->send_at = regal_carve(carver, routes, 4);
  d->after = regal_carve(carver, most, 4);
  d->next_member = regal_carve(carver, ops, 4);
  d->extras = regal_carve(carver, most, sizeof *d->extras);
  d->extra_before = regal_carve(carver, most + 1, 4);
  d->skipped = regal_carve(carver, most, 1);
  d->skips = regal_carve(carver, most, 4);
  d->seen = regal_carve(carver, problem->tensors, 4);
  if (d->timed)
    layout_time(d, carver, most);
  if (d->remembers)
    layout_memory(d, carver, most);
}

/* Ops of a group, from its leader on. */
static void link_groups(regal_descent *d) {
  const regal_problem *problem = d->problem;
  memset(d->next_member, 0xff, problem->ops * sizeof *d->next_member);
  for (uint32_t op = problem->ops; problem->leader && op-- > 0;) {
    uint32_t leader = problem->leader[op];
    if (leader == op)
      continue;
    d->next_member[op] = d->next_member[leader];
    d->next_member[leader] = op;
  }
}

regal_status regal_descent_create(regal_context *context,
                                  const regal_problem *problem, bool eager,
                                  regal_descent **descent) {
  regal_descent plain = {
      .context = context,
      .problem = problem,
      .eager = eager,
      .timed = problem->objective == REGAL_RUNTIME,
      .remembers = regal_problem_needs_memory(problem),
  };
  regal_descent *d = regal_carve_struct(context, &plain, sizeof plain, layout);
  if (!d)
    return regal_fail_memory(context);
  memset(d->extra_before, 0xff,
         ((size_t)regal_plan_most_steps(problem) + 1) *
             sizeof *d->extra_before);
  link_groups(d);
  *descent = d;
  return REGAL_OK;
}

void regal_descent_free(regal_descent *descent) {
  if (descent)
    regal_release(descent->context, descent);
}

/* -- Starting -------------------------------------------------------------- */

static regal_fitness fitness_of(const regal_descent *d, int64_t runtime,
                                const int64_t *peaks) {
  regal_fitness fitness = {0, runtime, 0};
  int64_t peak = 0;
  for (uint32_t a = 0; d->remembers && a < d->problem->devices; a++) {
    peak = regal_later(peak, peaks[a]);
    fitness.excess += regal_later(0, peaks[a] - d->problem->limit[a]);
  }
  if (!d->timed)
    fitness.value = peak;
  return fitness;
}

/* After every change of the list. */
static void settle(regal_descent *d) {
  int64_t peaks[REGAL_MAX_DEVICES];
  regal_descent_index(d);
  if (d->timed)
    regal_descent_keep_time(d);
  if (d->remembers)
    regal_descent_keep_memory(d, peaks);
  d->fitness = fitness_of(d, d->runtime_ns, peaks);
  d->next_op = d->next_device = d->next_swap = 0;
  d->best_fitness = d->fitness;
}

void regal_descent_begin(regal_descent *d, const uint32_t *order,
                         const uint8_t *placement) {
  memcpy(d->placement, placement, d->problem->ops);
  d->count = d->problem->ops;
  for (uint32_t i = 0; i < d->count; i++)
    d->steps[i] = (regal_descent_step){order[i], REGAL_DESCENT_RUN};
  for (uint32_t i = 0; i < d->count; i++)
    d->at[order[i]] = i;
  memset(d->send_at, 0xff,
         (size_t)d->problem->tensors * d->problem->devices *
             sizeof *d->send_at);
  regal_descent_add_transfers(d);
  settle(d);
}

void regal_descent_begin_plan(regal_descent *d, const regal_plan *plan) {
  regal_plan_ops(plan, NULL, d->placement);
  d->count = plan->step_count;
  for (uint32_t i = 0; i < d->count; i++) {
    const regal_step *step = &plan->steps[i];
    d->steps[i] = regal_step_runs(step)
                      ? (regal_descent_step){step->op, REGAL_DESCENT_RUN}
                      : (regal_descent_step){
                            regal_plan_tensor(d->problem, step), step->to};
  }
  settle(d);
}

void regal_descent_write(const regal_descent *d, regal_plan *plan) {
  plan->step_count = 0;
  for (uint32_t i = 0; i < d->count; i++) {
    uint32_t what = d->steps[i].what;
    if (regal_descent_runs(d->steps[i]))
      regal_plan_add_run(plan, what, d->placement[what]);
    else
      regal_plan_add_send(plan, d->problem, what, regal_descent_home(d, what),
                          d->steps[i].to);
  }
}

/* -- Neighbours ------------------------------------------------------------ */

/* No run time from here on can be better than the best neighbour's: while all
 * fits, and a neighbour has to fit, too. */
static int64_t most_time(const regal_descent *d) {
  return d->best_fitness.excess == 0 ? d->best_fitness.value : INT64_MAX;
}

/* Likewise for a peak, where nothing but the largest one counts. */
static int64_t most_memory(const regal_descent *d) {
  return d->timed || d->problem->limited ? INT64_MAX : d->best_fitness.value;
}

static void weigh(regal_descent *d, regal_fitness fitness,
                  regal_descent_move move) {
  if (!regal_descent_better(fitness, d->best_fitness))
    return;
  d->best_fitness = fitness;
  d->best = move;
}

static void try_flip(regal_descent *d, uint32_t op, uint32_t device) {
  int64_t peaks[REGAL_MAX_DEVICES], most = most_time(d), runtime = 0;
  uint32_t from = d->placement[op];
  regal_descent_flip(d, op, device);
  if (d->timed)
    runtime = regal_descent_try_time(d, most);
  if (!d->timed || runtime < most || most == INT64_MAX) {
    if (d->remembers)
      regal_descent_flip_memory(d, most_memory(d), peaks);
    weigh(d, fitness_of(d, runtime, peaks),
          (regal_descent_move){op, device, 0});
  }
  regal_descent_unflip(d, op, from);
}

static void exchange(regal_descent *d, uint32_t swap) {
  regal_descent_step first = d->steps[swap];
  d->steps[swap] = d->steps[swap + 1];
  d->steps[swap + 1] = first;
}

static void try_swap(regal_descent *d, uint32_t swap) {
  int64_t peaks[REGAL_MAX_DEVICES], most = most_time(d), runtime = 0;
  d->first = swap;
  d->last = swap + 1;
  if (d->timed) {
    exchange(d, swap);
    runtime = regal_descent_try_time(d, most);
    exchange(d, swap);
  }
  if (d->timed && runtime >= most && most != INT64_MAX)
    return;
  if (d->remembers)
    regal_descent_swap_memory(d, swap, peaks);
  weigh(d, fitness_of(d, runtime, peaks),
        (regal_descent_move){REGAL_NONE, 0, swap});
}

/* -- Scans ----------------------------------------------------------------- */

static uint64_t scan_flips(regal_descent *d, uint64_t most) {
  const regal_problem *problem = d->problem;
  uint64_t tried = 0;
  for (; d->next_op < problem->ops; d->next_op++, d->next_device = 0) {
    uint32_t op = d->next_op;
    if (regal_problem_leader(problem, op) != op)
      continue;
    for (; d->next_device < problem->devices; d->next_device++) {
      uint32_t device = d->next_device;
      if (device == d->placement[op] || !(problem->allowed[op] >> device & 1))
        continue;
      if (tried == most)
        return tried;
      try_flip(d, op, device);
      tried++;
    }
  }
  return tried;
}

uint64_t regal_descent_scan(regal_descent *d, uint64_t most) {
  uint64_t tried = scan_flips(d, most);
  for (; tried < most && d->next_swap + 1 < d->count; d->next_swap++) {
    if (d->after[d->next_swap + 1] != d->next_swap) {
      try_swap(d, d->next_swap);
      tried++;
    }
    if (d->remembers)
      regal_descent_pass_memory(d, d->next_swap);
  }
  return tried;
}

bool regal_descent_move_on(regal_descent *d) {
  bool better = regal_descent_better(d->best_fitness, d->fitness);
  if (better && d->best.op != REGAL_NONE) {
    regal_descent_flip(d, d->best.op, d->best.device);
    regal_descent_rebuild(d);
  } else if (better) {
    exchange(d, d->best.swap);
  }
  if (better)
    settle(d);
  return better;
}
