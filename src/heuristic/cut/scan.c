/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts on the bench: costed exactly by decode/walk.h, and moved one at a time,
 * each to the best of some places between its neighbours (coordinate descent),
 * until none moves or the budget of walks is used up.
 */
#include <string.h>

#include "heuristic/cut/parts.h"

void regal_cut_bench_layout(regal_cut_bench *bench, regal_carver *carver,
                            const regal_problem *problem) {
  bench->placement = regal_carve(carver, problem->ops, 1);
  bench->stages.arrived = regal_carve(carver, problem->tensors, 4);
  bench->stages.sent = regal_carve(carver, problem->tensors, 1);
  regal_cut_grid_layout(&bench->grid, carver, problem);
  regal_walk_layout(&bench->walk, carver, problem);
}

void regal_cut_bench_begin(regal_cut_bench *bench,
                           const regal_problem *problem) {
  bench->problem = problem;
  bench->stages.problem = problem;
  bench->stages.running = &bench->walk.running;
}

static regal_fitness walk(regal_cut_bench *bench, const regal_cut_plan *tried,
                          regal_plan *plan) {
  const uint32_t *order = tried->order->order;
  return tried->batched ? regal_walk_batched(bench->problem, &bench->walk,
                                             order, bench->placement, plan)
                        : regal_walk_late(bench->problem, &bench->walk, order,
                                          bench->placement, plan);
}

void regal_cut_place_plan(const regal_cut_bench *bench,
                          const regal_cut_plan *plan, uint8_t *placement) {
  regal_cuts_place(bench->problem, plan->axis->rank, plan->cuts, plan->device,
                   placement);
}

regal_status regal_cut_write(regal_cut_bench *bench, regal_context *context,
                             const regal_cut_plan *found, regal_plan **plan) {
  REGAL_TRY(
      regal_plan_create(context, regal_plan_most_steps(bench->problem), plan));
  regal_cut_place_plan(bench, found, bench->placement);
  walk(bench, found, *plan);
  return REGAL_OK;
}

bool regal_cut_try(regal_cut_bench *bench, regal_cut_plan *tried,
                   regal_cut_plan *best) {
  regal_cut_place_plan(bench, tried, bench->placement);
  tried->fitness = walk(bench, tried, NULL);
  bench->walks++;
  if (!regal_fitness_less(tried->fitness, best->fitness))
    return false;
  *best = *tried;
  return true;
}

void regal_cut_begin(regal_cut_bench *bench, const regal_cut_axis *axis,
                     const regal_cut_order *order, regal_cut_plan *best) {
  const regal_problem *problem = bench->problem;
  *best = (regal_cut_plan){.fitness = REGAL_FITNESS_WORST,
                           .axis = axis,
                           .order = order,
                           .batched = !problem->machine->overlapped &&
                                      !regal_problem_needs_memory(problem)};
  regal_cuts_stages_begin(&bench->stages, axis, order);
  if (problem->limited && problem->objective == REGAL_RUNTIME)
    regal_cut_grid_limit(&bench->grid, &bench->stages);
}

void regal_cut_try_starts(regal_cut_bench *bench, const uint8_t *device,
                          uint32_t rounds, regal_cut_plan *best) {
  const regal_problem *problem = bench->problem;
  regal_cut_plan tried = *best;
  bool fits = false;
  tried.device = device;
  for (uint32_t s = 0; s <= problem->devices; s++)
    tried.cuts[s] = s ? problem->ops : 0; /* all in the first stage */
  regal_cut_try(bench, &tried, best);
  for (int aim = REGAL_CUT_BALANCE; aim <= REGAL_CUT_CHEAP; aim++)
    if (problem->objective == REGAL_RUNTIME &&
        regal_cuts_plan_stages(&bench->grid, problem, device,
                               (regal_cut_aim)aim, tried.cuts)) {
      fits = true;
      regal_cut_try(bench, &tried, best);
    }
  if (fits)
    return;
  regal_cuts_least_peak(&bench->grid, &bench->stages, device, rounds,
                        tried.cuts);
  regal_cut_try(bench, &tried, best);
}

/* -- Moving cuts ----------------------------------------------------------- */

static bool try_cut(regal_cut_bench *bench, regal_cut_plan *best, uint32_t k,
                    uint32_t rank) {
  regal_cut_plan tried = *best;
  tried.cuts[k] = rank;
  return rank != best->cuts[k] && regal_cut_try(bench, &tried, best);
}

/* Ever closer around the best. */
static void narrow(regal_cut_bench *bench, regal_cut_plan *best, uint32_t k,
                   uint32_t step, uint32_t walks) {
  uint32_t low = best->cuts[k - 1], high = best->cuts[k + 1];
  uint32_t end = bench->walks + walks;
  for (; step > 0 && bench->walks < end; step /= 2) {
    uint32_t at = best->cuts[k];
    if (at - low >= step && try_cut(bench, best, k, at - step))
      continue;
    if (high - at >= step)
      try_cut(bench, best, k, at + step);
  }
}

/* Moves one cut between its neighbours: some points of the grid first. */
static void scan_cut(regal_cut_bench *bench, regal_cut_plan *best, uint32_t k,
                     uint32_t walks) {
  const regal_cut_grid *grid = &bench->grid;
  uint32_t low = best->cuts[k - 1], high = best->cuts[k + 1];
  uint32_t first = 0, last = grid->points - 1, begun = bench->walks;
  while (first < last && grid->at[first] < low)
    first++;
  while (last > first && grid->at[last] > high)
    last--;
  uint32_t coarse = walks * 2 / 3 + 1, step = high - low;
  uint32_t stride = (last - first) / coarse + 1;
  for (uint32_t g = first; g <= last; g += stride)
    if (grid->at[g] >= low && grid->at[g] <= high)
      try_cut(bench, best, k, grid->at[g]);
  if (last > first)
    step = (uint32_t)((uint64_t)step * stride / (last - first));
  uint32_t used = bench->walks - begun;
  narrow(bench, best, k, step / 2, walks > used ? walks - used : 0);
}

void regal_cut_scan(regal_cut_bench *bench, regal_cut_plan *best,
                    uint32_t walks) {
  uint32_t d = bench->problem->devices, end = bench->walks + walks;
  uint32_t each = walks / (d > 1 ? d - 1 : 1);
  each = each < 5 ? 5 : each;
  for (bool moved = d > 1; moved && bench->walks < end; each = each / 2 + 2) {
    moved = false;
    for (uint32_t k = 1; k < d && bench->walks < end; k++) {
      uint32_t before = best->cuts[k];
      scan_cut(bench, best, k, each);
      moved |= best->cuts[k] != before && d > 2;
    }
  }
}
